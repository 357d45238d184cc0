/** What `make mutants` mutates: the modules where a wrong operator is a broken promise, each pure or nearly so. */
export interface Area {
  name: string;
  /** Files, not patterns: a file that is renamed is missed, and Stryker says so. */
  mutate: string[];
  /** For vitest. Only tests that are fast: they run for each mutant. */
  tests: string[];
  /** Under this share of mutants caught the run fails. */
  goalPercent: number;
}

const inFolder = (folder: string, ...names: string[]): string[] =>
  names.map((name) => `${folder}/${name}.ts`);

export const AREAS: Area[] = [
  {
    name: 'limits',
    mutate: inFolder('crds', 'quantity', 'limits', 'identity', 'spec-problem', 'expansion'),
    tests: ['crds/{quantity,limits,identity,spec-problem,expansion}.test.ts'],
    goalPercent: 90,
  },
  {
    name: 'placement',
    mutate: inFolder('controller/placement', 'amounts', 'checks', 'messages', 'place'),
    tests: ['controller/placement/**/*.test.ts'],
    goalPercent: 80,
  },
  {
    name: 'controller',
    mutate: [
      ...inFolder('controller/sandbox', 'decide', 'changes', 'pictures'),
      ...inFolder(
        'controller/sandbox/checks',
        'bound',
        'deleting',
        'expired',
        'held',
        'lost',
        'placing',
        'refused',
        'replaced',
      ),
    ],
    tests: ['controller/sandbox/{changes,decide,decide-words}.test.ts'],
    goalPercent: 90,
  },
  {
    name: 'verdict',
    mutate: inFolder(
      'runtime/verdict',
      'checks',
      'end',
      'judge',
      'memory',
      'oom',
      'start-refusal',
      'wording',
    ),
    tests: ['runtime/verdict/{judge,judge-words,start-refusal,wording}.test.ts'],
    goalPercent: 90,
  },
  {
    name: 'capabilities',
    mutate: inFolder('runtime/capabilities', 'limit-capabilities'),
    tests: ['runtime/capabilities/**/*.test.ts', 'runtime/drivers/docker/map-info.test.ts'],
    goalPercent: 80,
  },
  {
    name: 'agent',
    mutate: [
      'runtime/agent/sandbox/decide.ts',
      ...inFolder(
        'runtime/agent/sandbox/checks',
        'asking',
        'bound',
        'ended',
        'exited',
        'facts',
        'fencing',
        'gate',
        'leaving',
        'limits-now',
        'making',
        'no-room',
        'overrides',
        'replaced',
        'running',
        'stopping',
        'time-limit',
      ),
    ],
    tests: ['runtime/agent/sandbox/decide*.test.ts'],
    goalPercent: 90,
  },
  {
    name: 'agent-parts',
    mutate: inFolder(
      'runtime/agent/sandbox',
      'apply-change',
      'cgroup-paths',
      'command',
      'counters',
      'outcome-of',
      'picture',
      'receipt',
      'recover-record',
      'requested-limits',
      'room-for',
      'spec-facts',
    ),
    tests: ['runtime/agent/sandbox/*.test.ts'],
    goalPercent: 80,
  },
  {
    name: 'framing',
    mutate: inFolder('runtime/link', 'frame', 'frame-writer', 'fields', 'messages'),
    tests: ['runtime/link/{frame,frame-writer,messages}.test.ts'],
    goalPercent: 90,
  },
  {
    name: 'link',
    mutate: inFolder('runtime/link', 'channel-stream', 'stdin-queue', 'time-limit'),
    tests: ['runtime/link/{channel-stream,stdin-queue,time-limit}.test.ts'],
    goalPercent: 80,
  },
  {
    name: 'docker',
    mutate: inFolder(
      'runtime/drivers/docker',
      'demux',
      'image-reference',
      'json-lines',
      'map-container',
      'map-create',
      'map-errors',
      'map-event',
      'map-info',
      'map-limits',
    ),
    tests: ['runtime/drivers/docker/{demux,json-lines,map-answers,map-create,map-info,map-limits}.test.ts'],
    goalPercent: 80,
  },
  {
    name: 'kube',
    mutate: inFolder(
      'kube',
      'backoff',
      'bounded-map',
      'conditions',
      'equal',
      'line-decoder',
      'status',
      'token-bucket',
    ),
    tests: ['kube/{backoff,bounded-map,conditions,equal,line-decoder,status,token-bucket}.test.ts'],
    goalPercent: 80,
  },
  {
    name: 'selectors',
    mutate: inFolder('local/selectors', 'field', 'label'),
    tests: ['local/selectors/*.test.ts'],
    goalPercent: 80,
  },
];

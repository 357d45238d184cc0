/** The kernel files of a sandbox, found from /proc/PID/cgroup of its PID 1 and never guessed by name (L11). */
export interface LimitFiles {
  version: 1 | 2;
  memory: string;
  /** v1: memory and swap together; v2: swap alone. */
  swap: string;
  cpuQuota: string;
  /** v1 alone: v2 has both in one file. */
  cpuPeriod?: string;
  pids: string;
}

export interface CounterFiles {
  version: 1 | 2;
  oomKills: string;
  limitHits: string[];
  peak: string;
}

const ROOT = '/sys/fs/cgroup';

/** controller -> path below its hierarchy; '' is cgroup v2's. */
function parseCgroup(text: string): Map<string, string> {
  const paths = new Map<string, string>();
  for (const line of text.split('\n')) {
    const match = /^\d+:([^:]*):(\/.*)$/.exec(line);
    if (match === null) continue;
    const [, controllers = '', path = ''] = match;
    for (const controller of controllers.split(',')) paths.set(controller, path);
  }
  return paths;
}

/** `version` is the runtime's word: on a hybrid host, v2 is mounted beside v1 with no controllers in it. */
export function limitFiles(cgroup: string, version: 1 | 2): LimitFiles | undefined {
  const paths = parseCgroup(cgroup);
  if (version === 2) {
    const path = paths.get('');
    if (path === undefined) return undefined;
    const at = (file: string): string => join(ROOT, path, file);
    return {
      version,
      memory: at('memory.max'),
      swap: at('memory.swap.max'),
      cpuQuota: at('cpu.max'),
      pids: at('pids.max'),
    };
  }
  const at = (controller: string, file: string): string =>
    join(ROOT, controller, paths.get(controller) ?? '/holdfast-no-such-controller', file);
  return {
    version,
    memory: at('memory', 'memory.limit_in_bytes'),
    swap: at('memory', 'memory.memsw.limit_in_bytes'),
    cpuQuota: at('cpu', 'cpu.cfs_quota_us'),
    cpuPeriod: at('cpu', 'cpu.cfs_period_us'),
    pids: at('pids', 'pids.max'),
  };
}

export function counterFiles(cgroup: string, version: 1 | 2): CounterFiles | undefined {
  const paths = parseCgroup(cgroup);
  if (version === 2) {
    const path = paths.get('');
    if (path === undefined) return undefined;
    return {
      version,
      oomKills: join(ROOT, path, 'memory.events'),
      // Own hits alone: memory.events counts those of the cgroups below as well.
      limitHits: [join(ROOT, path, 'memory.events.local')],
      peak: join(ROOT, path, 'memory.peak'),
    };
  }
  const path = paths.get('memory');
  if (path === undefined) return undefined;
  const at = (file: string): string => join(ROOT, 'memory', path, file);
  return {
    version,
    oomKills: at('memory.oom_control'),
    limitHits: [at('memory.failcnt'), at('memory.memsw.failcnt')],
    peak: at('memory.max_usage_in_bytes'),
  };
}

function join(...parts: string[]): string {
  return parts.join('/').replaceAll(/\/+/g, '/');
}

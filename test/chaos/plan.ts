import { SeededRandom } from './random.ts';

const CONTROLLERS = ['controller-1', 'controller-2'] as const;
export const AGENTS = ['agent-a', 'agent-b'] as const;
export const COMPONENTS = [...CONTROLLERS, ...AGENTS] as const;
export type Component = (typeof COMPONENTS)[number];

/** What the network between a component and the API server does for a while. */
export type NetworkFault =
  /** Nothing passes; nothing is refused. `afterwards`: what becomes of the connections that were there. */
  | { kind: 'silent'; afterwards: 'go on' | 'break' }
  | { kind: 'delay'; ms: number }
  /** A share of the calls is answered with this status, some of them although the server did what was asked. */
  | { kind: 'errors'; status: 409 | 410 | 429 | 500 | 503; share: number }
  /** Each watch breaks off in the middle of an event. */
  | { kind: 'truncate' };

export type Step = { atMs: number } & (
  | { do: 'kill'; who: Component }
  | { do: 'reset'; who: Component }
  | { do: 'network'; who: Component; fault: NetworkFault; forMs: number }
  | { do: 'restart'; what: 'kube-apiserver' | 'etcd'; forMs: number }
  | { do: 'compact' }
  | { do: 'create'; name: string; kind: SandboxKind; onNodeLoss: 'Keep' | 'Replace' }
  | { do: 'delete' | 'suspend' | 'resume' | 'resize' | 'replace'; name: string }
);
export type SandboxKind = 'retained' | 'job' | 'failing job';

export interface Plan {
  seed: number;
  /** Of each component's wall clock against that of the machine. */
  clockOffsetMs: Record<Component, number>;
  /** In the order of time. */
  steps: Step[];
}

export interface PlanOptions {
  seed: number;
  seconds: number;
  /** Of a node's lease. */
  leaseSeconds: number;
}

const MOST_ALIVE = 12;
const KINDS: readonly SandboxKind[] = ['retained', 'retained', 'retained', 'retained', 'job', 'failing job'];
const EACH_ONCE = [
  'kill',
  'reset',
  'cut',
  'delay',
  'errors',
  'truncate',
  'kube-apiserver',
  'compact',
] as const;
type FaultKind = (typeof EACH_ONCE)[number] | 'etcd' | 'silent' | 'long cut';
const LATER: readonly FaultKind[] = [
  ...EACH_ONCE,
  'kill',
  'kill',
  'kill',
  'etcd',
  'silent',
  'long cut',
  'long cut',
];

/** Everything that will be done, from the seed alone: the same seed, the same plan. */
export function makePlan({ seed, seconds, leaseSeconds }: PlanOptions): Plan {
  const random = new SeededRandom(seed);
  const offsets = random.fork('clocks');
  const clockOffsetMs = Object.fromEntries(
    COMPONENTS.map((who) => [who, offsets.between(-60_000, 60_000)]),
  ) as Record<Component, number>;
  const faults = faultSteps(random.fork('faults'), { endMs: seconds * 1000, leaseSeconds });
  const user = userSteps(random.fork('user'), seconds * 1000);
  return { seed, clockOffsetMs, steps: [...faults, ...user].sort((a, b) => a.atMs - b.atMs) };
}

/** After its start an API server needs a while until everybody has found it again. */
const API_PAUSE_MS = 8000;

function faultSteps(random: SeededRandom, options: { endMs: number; leaseSeconds: number }): Step[] {
  const steps: Step[] = [];
  // Each kind once, in a chance order, and after that whatever comes.
  const queue: FaultKind[] = shuffled(random, EACH_ONCE);
  /** Until when the network of a component, or the API server, has its fault already. */
  const busyMs = new Map<string, number>();
  const free = (name: string, atMs: number): boolean => (busyMs.get(name) ?? 0) <= atMs;
  let atMs = 1500;
  while (atMs < options.endMs) {
    const due = queue.shift();
    const kind = due ?? random.pick(LATER) ?? 'kill';
    const step = faultStep(random, kind, atMs, {
      ...options,
      components: COMPONENTS.filter((who) => free(who, atMs)),
      apiServer: free('kube-apiserver', atMs),
    });
    steps.push(step);
    // It could not be had now: later.
    if (due !== undefined && due !== 'kill' && step.do === 'kill') queue.push(due);
    if (step.do === 'network') busyMs.set(step.who, atMs + step.forMs);
    if (step.do === 'restart' || step.do === 'compact') busyMs.set('kube-apiserver', atMs + API_PAUSE_MS);
    atMs += random.between(400, 2000);
  }
  return steps;
}

function faultStep(
  random: SeededRandom,
  kind: FaultKind,
  atMs: number,
  world: { leaseSeconds: number; endMs: number; components: readonly Component[]; apiServer: boolean },
): Step {
  const forMs = random.between(500, 4000);
  const anybody = random.pick(COMPONENTS) ?? 'agent-a';
  const who = random.pick(world.components);
  const kill: Step = { atMs, do: 'kill', who: anybody };
  switch (kind) {
    case 'kill':
      return kill;
    case 'reset':
      return { atMs, do: 'reset', who: anybody };
    case 'compact':
      return world.apiServer ? { atMs, do: 'compact' } : kill;
    case 'kube-apiserver':
    case 'etcd':
      return world.apiServer ? { atMs, do: 'restart', what: kind, forMs: random.between(0, 2000) } : kill;
    case 'cut':
    case 'long cut': {
      const agent = random.pick(AGENTS.filter((name) => world.components.includes(name)));
      if (agent === undefined) return kill;
      // Longer than the lease, or longer than twice that time, when its sandboxes are placed anew.
      const leases = kind === 'cut' ? 1.3 : 3.5;
      if (kind === 'long cut' && atMs + leases * world.leaseSeconds * 1000 > world.endMs) return kill;
      const fault = { kind: 'silent', afterwards: fateOf(random) } as const;
      return {
        atMs,
        do: 'network',
        who: agent,
        forMs: Math.round(leases * world.leaseSeconds * 1000),
        fault,
      };
    }
    default:
      if (who === undefined) return kill;
      return { atMs, do: 'network', who, forMs, fault: networkFault(random, kind) };
  }
}

function networkFault(random: SeededRandom, kind: 'silent' | 'delay' | 'errors' | 'truncate'): NetworkFault {
  switch (kind) {
    case 'delay':
      return { kind, ms: random.between(50, 1500) };
    case 'errors':
      return {
        kind,
        status: random.pick([409, 410, 429, 500, 503] as const) ?? 500,
        share: random.between(2, 10) / 10,
      };
    case 'truncate':
      return { kind };
    case 'silent':
      return { kind, afterwards: fateOf(random) };
  }
}

function fateOf(random: SeededRandom): 'go on' | 'break' {
  return random.chance(0.5) ? 'go on' : 'break';
}

function userSteps(random: SeededRandom, endMs: number): Step[] {
  const steps: Step[] = [];
  const alive = new Map<string, { kind: SandboxKind; suspended: boolean }>();
  let made = 0;
  let atMs = 200;
  while (atMs < endMs) {
    const name = random.pick([...alive.keys()]);
    const known = name === undefined ? undefined : alive.get(name);
    const choice = random.next();
    if (name === undefined || known === undefined || (choice < 0.5 && alive.size < MOST_ALIVE)) {
      const kind = random.pick<SandboxKind>(KINDS) ?? 'job';
      const fresh = `s${made++}`;
      alive.set(fresh, { kind, suspended: false });
      const onNodeLoss = random.chance(0.3) ? 'Replace' : 'Keep';
      steps.push({ atMs, do: 'create', name: fresh, kind, onNodeLoss });
    } else if (choice < 0.68) {
      alive.delete(name);
      steps.push({ atMs, do: 'delete', name });
    } else if (choice < 0.8 && known.kind === 'retained') {
      known.suspended = !known.suspended;
      steps.push({ atMs, do: known.suspended ? 'suspend' : 'resume', name });
    } else if (choice < 0.9 && known.kind === 'retained') steps.push({ atMs, do: 'resize', name });
    // The same name, another object.
    else {
      known.suspended = false;
      steps.push({ atMs, do: 'replace', name });
    }
    atMs += random.between(200, 1600);
  }
  return steps;
}

function shuffled<T>(random: SeededRandom, items: readonly T[]): T[] {
  return items
    .map((item) => ({ item, order: random.next() }))
    .sort((a, b) => a.order - b.order)
    .map(({ item }) => item);
}

/** One line, to be read beside a log. */
export function describeStep(step: Step): string {
  const { atMs, ...rest } = step;
  return `${(atMs / 1000).toFixed(1).padStart(6)} s  ${Object.values(rest)
    .map((value) => (typeof value === 'object' ? JSON.stringify(value) : String(value)))
    .join(' ')}`;
}

import type { Limits } from '../../crds/limits.ts';
import type { Condition } from '../../crds/meta.ts';
import { parseCPU, parseMemory } from '../../crds/quantity.ts';
import type { NodeRuntime, SandboxNode } from '../../crds/sandbox-node.ts';
import { cores, size } from './amounts.ts';
import type { Candidate, CheckName, Decline, Heartbeat, LimitObjection, NodeView, Request } from './types.ts';

export const DEFAULT_MAX_SANDBOXES = 100;

export interface Check<T> {
  name: CheckName;
  /** The objection in words, or nothing. */
  objects(target: T, request: Request): string | undefined;
}

/** Of a whole node, in this order; the first objection is the one that is told. */
export const nodeChecks: readonly Check<NodeView>[] = [
  { name: 'unschedulable', objects: unschedulable },
  { name: 'selector', objects: selector },
  { name: 'heartbeat', objects: heartbeat },
];

/** Of one runtime of a node that passed the above, in this order. */
export const candidateChecks: readonly Check<Candidate>[] = [
  { name: 'runtime', objects: runtimeReady },
  { name: 'readiness', objects: readiness },
  { name: 'limits', objects: (candidate, request) => limitsText(limitObjections(candidate, request)) },
  { name: 'decline', objects: declined },
  { name: 'storage', objects: storage },
  { name: 'count', objects: count },
  { name: 'capacity', objects: capacity },
];

function unschedulable({ node }: NodeView): string | undefined {
  if (node.spec?.drain === true) return 'it is being drained (spec.drain)';
  return node.spec?.unschedulable === true ? 'it is unschedulable (spec.unschedulable)' : undefined;
}

function selector({ node }: NodeView, { spec }: Request): string | undefined {
  if (spec.nodeSelector === undefined) return undefined;
  const missing = Object.entries(spec.nodeSelector)
    .filter(([key, value]) => node.metadata.labels?.[key] !== value)
    .map(([key, value]) => `${key}=${value}`);
  return missing.length > 0 ? `it lacks the label ${missing.join(', ')} of spec.nodeSelector` : undefined;
}

const SILENCE: Readonly<Record<Heartbeat, string | undefined>> = {
  Alive: undefined,
  Unproven: 'its agent has not been seen alive yet',
  Released: 'its agent was stopped',
  Expired: 'its agent sends no heartbeat',
  Missing: 'its agent has sent no heartbeat',
};

function heartbeat(view: NodeView): string | undefined {
  return SILENCE[view.heartbeat];
}

function readiness({ view }: Candidate): string | undefined {
  const ready = conditionOf(view.node, 'Ready');
  if (ready?.status === 'True') return undefined;
  if (ready === undefined) return 'its agent has not said that it is ready';
  return `it is not ready: ${ready.message || ready.reason}`;
}

function runtimeReady({ runtime }: Candidate): string | undefined {
  return runtime.ready ? undefined : `${runtime.name} is not ready${because(runtime.message)}`;
}

/**
 * Every requested limit that the runtime cannot be relied on to enforce. The default limit on processes is not
 * requested: where it cannot be had it is left out (L8). Swap is no limit of its own (L4).
 */
export function limitObjections({ runtime, view }: Candidate, { limits }: Request): LimitObjection[] {
  const objections: LimitObjection[] = [];
  for (const limit of LIMITS) {
    const capability = runtime.limits[limit];
    if (!isAsked(limit, limits) || capability.enforced === 'Yes') continue;
    objections.push({
      limit,
      unreadable: capability.enforced === 'Unknown',
      why: capability.reason,
      fix: capability.fix,
    });
  }
  if (objections.length > 0 || view.decline?.about !== 'Limits') return objections;
  return declinedLimits(view.decline, limits);
}

const LIMITS = ['cpu', 'memory', 'pids'] as const;

function isAsked(limit: LimitObjection['limit'], limits: Limits): boolean {
  if (limit === 'pids') return limits.pids !== undefined;
  return (limit === 'cpu' ? limits.cpuMillis : limits.memoryBytes) !== undefined;
}

/** It said that it could, and found at the launch that it cannot: its later word counts. */
function declinedLimits(decline: Decline, limits: Limits): LimitObjection[] {
  return LIMITS.filter(
    (limit) => isAsked(limit, limits) && (decline.limit === undefined || decline.limit === limit),
  ).map((limit) => ({
    limit,
    unreadable: decline.unreadable === true,
    why: decline.message,
    fix: undefined,
  }));
}

function limitsText(objections: LimitObjection[]): string | undefined {
  if (objections.length === 0) return undefined;
  return objections
    .map(({ limit, unreadable, why, fix }) => {
      const head = unreadable ? `${limit} may not be enforced` : `${limit} cannot be enforced`;
      return `${head}: ${sentence(why)}${fix === undefined ? '' : ` Fix: ${sentence(fix)}`}`;
    })
    .join(' ');
}

function declined({ view }: Candidate): string | undefined {
  return view.decline === undefined ? undefined : `it declined: ${view.decline.message}`;
}

/** A verdict there must be to object: what is unmeasured is not low (S6). */
function storage({ view }: Candidate): string | undefined {
  const low = conditionOf(view.node, 'StorageReserveLow');
  return low?.status === 'True' ? `its storage reserve is low${because(low.message)}` : undefined;
}

function count({ view }: Candidate): string | undefined {
  const most = view.node.spec?.maxSandboxes ?? DEFAULT_MAX_SANDBOXES;
  return view.load.sandboxes < most
    ? undefined
    : `it has ${view.load.sandboxes} of at most ${most} sandboxes (spec.maxSandboxes)`;
}

function capacity(candidate: Candidate, { limits }: Request): string | undefined {
  const room = roomOf(candidate);
  const short: string[] = [];
  if (limits.cpuMillis !== undefined && room.cpu !== undefined && limits.cpuMillis > room.cpu.free) {
    short.push(
      `cpu ${cores(limits.cpuMillis)} asked, ${cores(room.cpu.free)} of ${cores(room.cpu.total)} free`,
    );
  }
  if (
    limits.memoryBytes !== undefined &&
    room.memory !== undefined &&
    limits.memoryBytes > room.memory.free
  ) {
    short.push(
      `memory ${size(limits.memoryBytes)} asked, ${size(room.memory.free)} of ${size(room.memory.total)} free`,
    );
  }
  return short.length > 0 ? short.join('; ') : undefined;
}

export interface Room {
  free: number;
  total: number;
}

/**
 * What a runtime has less what is reserved less the limits of the sandboxes of the node; never below 0. undefined:
 * it does not say how much it has, and then nothing can be said against a size.
 */
export function roomOf({ view, runtime }: Candidate): { cpu: Room | undefined; memory: Room | undefined } {
  const reserved = view.node.spec?.reserved;
  return {
    cpu: room(
      runtime.cpus === undefined ? undefined : Math.floor(runtime.cpus * 1000),
      reserved?.cpu === undefined ? 0 : valueOf(parseCPU(reserved.cpu)),
      view.load.cpuMillis,
    ),
    memory: room(
      runtime.memoryBytes,
      reserved?.memory === undefined ? 0 : valueOf(parseMemory(reserved.memory)),
      view.load.memoryBytes,
    ),
  };
}

function room(total: number | undefined, reserved: number, used: number): Room | undefined {
  return total === undefined ? undefined : { total, free: Math.max(0, total - reserved - used) };
}

/** What is not a quantity the schema refuses; one that got past it reserves nothing. */
function valueOf(parsed: { ok: true; value: number } | { ok: false }): number {
  return parsed.ok ? parsed.value : 0;
}

function conditionOf(node: SandboxNode, type: string): Condition | undefined {
  return node.status?.conditions?.find((condition) => condition.type === type);
}

function because(text: string | undefined): string {
  return text === undefined || text === '' ? '' : `: ${text.replace(/\.$/, '')}`;
}

function sentence(text: string): string {
  return /[.!?]$/.test(text) ? text : `${text}.`;
}

const NO_RUNTIMES: readonly NodeRuntime[] = [];

export function runtimesOf(view: NodeView, wanted: NodeRuntime['name'] | undefined): readonly NodeRuntime[] {
  const all = view.node.status?.runtimes ?? NO_RUNTIMES;
  return wanted === undefined ? all : all.filter(({ name }) => name === wanted);
}

import {
  candidateChecks,
  DEFAULT_MAX_SANDBOXES,
  limitObjections,
  nodeChecks,
  roomOf,
  runtimesOf,
} from './checks.ts';
import { storageMessage, unenforceableMessage, unschedulableMessage } from './messages.ts';
import type { NodeRuntime } from '../../crds/sandbox-node.ts';
import type { Candidate, NodeView, Objection, Placement, Request } from './types.ts';

/**
 * Chooses a node and one of its runtimes, or says why each was passed over (K4, L9). Pure; the order of `nodes` does
 * not matter.
 */
export function place(request: Request, nodes: readonly NodeView[]): Placement {
  if (nodes.length === 0) {
    return {
      found: false,
      reason: 'NoNodes',
      unenforceable: false,
      enforceable: undefined,
      storageLow: undefined,
      message: 'No node agent has registered a SandboxNode.',
    };
  }
  const objections: Objection[] = [];
  const eligible: Candidate[] = [];
  let best: Best | undefined;
  for (const view of nodes) {
    const runtimes = runtimesOf(view, request.spec.runtime);
    const objection = nodeObjection(view, runtimes, request);
    if (objection !== undefined) {
      objections.push(objection);
      continue;
    }
    for (const runtime of runtimes) {
      const candidate = { view, runtime };
      eligible.push(candidate);
      const found = candidateObjection(candidate, request);
      if (found === undefined) best = better(best, candidate, request);
      else objections.push(found);
    }
  }
  if (best !== undefined) {
    const { view, runtime } = best.candidate;
    return { found: true, node: view.node.metadata.name, runtime: runtime.name };
  }
  return (
    unenforceable(request, eligible) ?? {
      found: false,
      reason: 'Unschedulable',
      unenforceable: false,
      enforceable: eligible.length > 0 ? true : undefined,
      storageLow: storageMessage(objections.filter(isAboutStorage(nodes))),
      message: unschedulableMessage(objections, nodes.length),
    }
  );
}

function nodeObjection(
  view: NodeView,
  runtimes: readonly NodeRuntime[],
  request: Request,
): Objection | undefined {
  const node = view.node.metadata.name;
  for (const check of nodeChecks) {
    const why = check.objects(view, request);
    if (why !== undefined) return { node, runtime: undefined, check: check.name, why };
  }
  if (runtimes.length > 0) return undefined;
  const wanted = request.spec.runtime ?? 'container runtime';
  return { node, runtime: undefined, check: 'runtime', why: `it has no ${wanted}` };
}

function candidateObjection(candidate: Candidate, request: Request): Objection | undefined {
  for (const check of candidateChecks) {
    const why = check.objects(candidate, request);
    if (why === undefined) continue;
    return {
      node: candidate.view.node.metadata.name,
      runtime: candidate.runtime.name,
      check: check.name,
      why,
    };
  }
  return undefined;
}

function isAboutStorage(nodes: readonly NodeView[]): (objection: Objection) => boolean {
  const declined = new Set(
    nodes.filter(({ decline }) => decline?.about === 'Storage').map(({ node }) => node.metadata.name),
  );
  return ({ check, node }) => check === 'storage' || (check === 'decline' && declined.has(node));
}

/** L9: every runtime that was asked objects to a limit; undefined where one of them does not. */
function unenforceable(request: Request, eligible: readonly Candidate[]): Placement | undefined {
  if (eligible.length === 0) return undefined;
  const asked = eligible.map((candidate) => ({ candidate, objections: limitObjections(candidate, request) }));
  if (asked.some(({ objections }) => objections.length === 0)) return undefined;
  const all = asked.flatMap(({ objections }) => objections);
  const limits = new Set(all.map(({ limit }) => limit));
  const [only] = limits;
  const reasons = {
    cpu: 'CPUUnenforceable',
    memory: 'MemoryUnenforceable',
    pids: 'PIDsUnenforceable',
  } as const;
  return {
    found: false,
    reason: all.every(({ unreadable }) => unreadable)
      ? 'RuntimeUnreadable'
      : limits.size === 1 && only !== undefined
        ? reasons[only]
        : 'LimitsUnenforceable',
    unenforceable: true,
    enforceable: false,
    storageLow: undefined,
    message: unenforceableMessage(asked),
  };
}

interface Best {
  candidate: Candidate;
  fullness: number;
}

/** The emptiest: by the fullest of its dimensions once the sandbox is there; then by name, to be predictable. */
function better(best: Best | undefined, candidate: Candidate, request: Request): Best {
  const fullness = fullnessOf(candidate, request);
  if (best === undefined || fullness < best.fullness) return { candidate, fullness };
  if (fullness > best.fullness) return best;
  const order =
    compare(candidate.view.node.metadata.name, best.candidate.view.node.metadata.name) ||
    compare(candidate.runtime.name, best.candidate.runtime.name);
  return order < 0 ? { candidate, fullness } : best;
}

function fullnessOf(candidate: Candidate, { limits }: Request): number {
  const { cpu, memory } = roomOf(candidate);
  const most = candidate.view.node.spec?.maxSandboxes ?? DEFAULT_MAX_SANDBOXES;
  return Math.max(
    (candidate.view.load.sandboxes + 1) / most,
    cpu === undefined ? 0 : 1 - (cpu.free - (limits.cpuMillis ?? 0)) / cpu.total,
    memory === undefined ? 0 : 1 - (memory.free - (limits.memoryBytes ?? 0)) / memory.total,
  );
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

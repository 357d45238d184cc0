import type { Sandbox } from '../../../crds/sandbox.ts';
import { amountInForce, amountOf, isOver, lackOfRoom } from '../registration/room.ts';
import type { Run } from '../run.ts';
import type { Runtime } from '../runtimes/runtime.ts';
import type { Services } from '../services.ts';
import type { SpecFacts } from './types.ts';

/**
 * Why the node has no room for a spec that has changed since the controller chose the node: it has counted the old one
 * (K4). undefined: there is room, or nothing has changed. From the first to the last line nothing else is looked at:
 * of two that want the same room one gets it.
 */
export function roomFor(
  services: Services,
  run: Run,
  runtime: Runtime,
  sandbox: Sandbox,
  spec: SpecFacts,
): string | undefined {
  run.waitsForRoom = false;
  const answer = runtime.last;
  if (sandbox.status?.nodeName !== services.nodeName || answer?.state !== 'Ok') return undefined;
  if (!hasChanged(run, sandbox, spec)) return undefined;
  const others = { cpuMillis: 0, memoryBytes: 0 };
  for (const other of services.lister.list()) {
    const { uid } = other.metadata;
    if (uid === undefined || uid === run.uid) continue;
    const known = services.runs.get(uid);
    const amount = amountOf(other, known?.record?.limits, known?.waitsForRoom ?? false);
    others.cpuMillis += amount.cpuMillis;
    others.memoryBytes += amount.memoryBytes;
  }
  const lack = lackOfRoom({
    want: spec.limits,
    // The room of one that has ended may have been given away.
    has: amountInForce(isOver(sandbox) ? undefined : run.record?.limits),
    others,
    total: answer.info,
    reserved: services.nodeSpec()?.reserved,
  });
  run.waitsForRoom = lack !== undefined;
  return lack;
}

function hasChanged(run: Run, sandbox: Sandbox, spec: SpecFacts): boolean {
  const { record } = run;
  if (record !== undefined) {
    return record.specHash !== spec.specHash || record.limitsHash !== spec.limitsHash;
  }
  const conditions = sandbox.status?.conditions ?? [];
  // It has been here before, and what was decided about its room then holds.
  if (conditions.some(({ type }) => type === 'LimitsEnforced')) return false;
  const placed = conditions.find(({ type }) => type === 'Scheduled')?.observedGeneration;
  return placed !== undefined && placed !== sandbox.metadata.generation;
}

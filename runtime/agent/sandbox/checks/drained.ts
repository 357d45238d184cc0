import { paint, together } from '../picture.ts';
import type { Decision, Observation, StatusChange } from '../types.ts';
import { context, hasBegun, isLive } from './facts.ts';
import { stopStatus } from './stopping.ts';
import { wantsFence } from './fencing.ts';

/**
 * The node is to be emptied: what may run elsewhere is ended here and given back (`SandboxNode.spec.drain`). What has
 * begun and may not stays until it ends or is deleted; so does what has ended.
 */
export function drained(seen: Observation): Decision | undefined {
  const { record, container } = seen;
  if (seen.draining !== true) return undefined;
  const begun = hasBegun(record);
  if (begun && !wantsFence(seen)) return undefined;
  const because = 'the node is being drained';
  const ended = record?.outcome?.ended;
  if (begun && isLive(seen) && ended === undefined) {
    return { because, status: stopStatus(seen, 'Drained'), act: { do: 'stop', reason: 'Drained' } };
  }
  // What has no verdict gets one first, and an end that stands is nothing to be moved.
  if (begun && (ended === undefined || ended === 'Succeeded' || ended === 'Failed' || ended === 'Stalled'))
    return undefined;
  if (record?.refusal !== undefined) return undefined;
  if (container !== undefined || record !== undefined) {
    const termination = record?.outcome?.termination;
    return {
      because,
      status: together(gone(seen), {
        conditions: [],
        ...(termination === undefined ? {} : { set: { lastTermination: termination } }),
      }),
      writeFirst: true,
      act: { do: 'discard' },
    };
  }
  return { because, status: gone(seen), act: { do: 'hand-back' } };
}

function gone(seen: Observation): StatusChange {
  const message = `Node ${seen.nodeName} is being drained: the sandbox is placed anew.`;
  const had = (type: string): boolean =>
    seen.sandbox?.status?.conditions?.some((condition) => condition.type === type) ?? false;
  const change = together(
    paint({ is: 'Working', reason: 'Draining', message, phase: 'Pending' }, context(seen)),
    {
      conditions: [{ type: 'Scheduled', status: 'False', reason: 'Draining', message }],
      unset: ['startedAt', 'setup', 'limits', 'containerID', 'containerName', 'imageID', 'specHash'],
    },
  );
  for (const type of ['LimitsEnforced', 'SetupComplete'] as const) {
    if (had(type)) change.conditions.push({ type, status: 'False', reason: 'NotLaunched', message });
  }
  return change;
}

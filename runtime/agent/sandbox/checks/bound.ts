import { paint } from '../picture.ts';
import type { Decision, Observation } from '../types.ts';
import { context, isDeleting } from './facts.ts';

/** Nothing is begun by an agent that does not hold its node name: another one may run the same sandboxes. */
export function bound(seen: Observation): Decision | undefined {
  if (seen.nameHeld || isDeleting(seen) || seen.container !== undefined || seen.record !== undefined) {
    return undefined;
  }
  return {
    because: 'another agent holds the node name',
    status: paint(
      {
        is: 'Working',
        reason: 'NodeNameTaken',
        message: `Another agent holds the node name "${seen.nodeName}"; this one launches nothing.`,
        phase: 'Pending',
      },
      context(seen),
    ),
    againMs: 5000,
  };
}

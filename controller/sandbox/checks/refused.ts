import { specProblem } from '../../../crds/spec-problem.ts';
import { stalled, statusWith } from '../pictures.ts';
import type { Decision, Observation } from '../types.ts';

/** No node could do it right, whatever becomes of the nodes: stops until the spec is changed (K9). */
export function refused(seen: Observation): Decision | undefined {
  const problem = specProblem(seen.sandbox.spec);
  if (problem === undefined) return undefined;
  const { reason, message } = problem;
  return {
    because: `its spec is refused: ${problem.field}`,
    status: statusWith(seen, {
      phase: 'Stalled',
      conditions: [
        { type: 'Scheduled', status: 'False', reason, message },
        ...stalled(seen, reason, message),
      ],
      without: ['LimitUnenforceable', 'StorageReserveLow'],
    }),
    event: { type: 'Warning', reason: 'FailedScheduling', message },
  };
}

import { statusWith, suspended } from '../pictures.ts';
import type { Decision, Observation } from '../types.ts';

/** Suspended before it began: it is given to no node until it is resumed (K10). */
export function held(seen: Observation): Decision | undefined {
  if (seen.sandbox.spec.suspend !== true) return undefined;
  const message = 'spec.suspend is true: the sandbox is held back before it begins.';
  return {
    because: 'it is suspended and has not begun',
    status: statusWith(seen, {
      phase: 'Suspended',
      conditions: [
        { type: 'Scheduled', status: 'False', reason: 'SuspendedByUser', message },
        ...suspended(seen, message),
      ],
      without: ['LimitUnenforceable', 'StorageReserveLow'],
    }),
  };
}

import { together } from '../picture.ts';
import { noRoomMessage } from './no-room.ts';
import type { Observation, StatusChange } from '../types.ts';

/** Drift, and a change of limits in place that failed. */
export function limitsNow(seen: Observation): StatusChange | undefined {
  return together(roomNow(seen), inForce(seen));
}

function roomNow(seen: Observation): StatusChange | undefined {
  if (seen.noRoom === undefined) return undefined;
  const message = `${noRoomMessage(seen, seen.noRoom)} The old limits stay in force.`;
  return {
    conditions: [
      { type: 'LimitUnenforceable', status: 'True', reason: 'NoRoom', message },
      { type: 'Stalled', status: 'True', reason: 'NoRoom', message },
    ],
  };
}

function inForce(seen: Observation): StatusChange | undefined {
  const drift = seen.session?.drift;
  const last = seen.record?.refusedLimits;
  // A change of our own that could not be undone is nobody else's.
  const ours = last?.restored === false && last.hash === seen.spec?.limitsHash;
  if (!ours && drift !== undefined && drift.length > 0) {
    const message = `Changed from outside: ${drift.join('; ')}.`;
    return { conditions: [{ type: 'LimitsEnforced', status: 'False', reason: 'Drifted', message }] };
  }
  const refused = seen.record?.refusedLimits;
  if (refused === undefined || refused.hash !== seen.spec?.limitsHash) return undefined;
  if (refused.reason === 'ReadBackMismatch') {
    return {
      conditions: [
        { type: 'LimitsEnforced', status: 'False', reason: 'ReadBackMismatch', message: refused.message },
      ],
    };
  }
  return {
    conditions: [
      { type: 'LimitUnenforceable', status: 'True', reason: 'LimitsUnenforceable', message: refused.message },
      { type: 'Stalled', status: 'True', reason: 'LimitsUnenforceable', message: refused.message },
    ],
  };
}

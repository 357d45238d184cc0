import { paint, together } from '../picture.ts';
import type { Decision, Observation, StatusChange } from '../types.ts';
import { deadlineLeftMs } from './asking.ts';
import { context } from './facts.ts';
import { enforced } from './gate.ts';
import { cannotFence, fencing, fenceStatus } from './fencing.ts';
import { limitsNow } from './limits-now.ts';
import { timeLimit } from './time-limit.ts';

/** Main has begun in this start of the container. */
export function running(seen: Observation): Decision | undefined {
  const { record, container, session } = seen;
  if (record?.main === undefined || container === undefined) return undefined;
  if (container.state === 'paused') {
    const message = 'The container was paused from outside; docker unpause lets it run on.';
    return {
      because: 'it was paused from outside',
      status: together(paint({ is: 'Impaired', reason: 'Paused', message }, context(seen)), since(seen)),
    };
  }
  if (container.state !== 'running') return { because: `the container is ${container.state}`, againMs: 2000 };
  if (session?.main?.state === 'exited') {
    if (record.main.closing === undefined) {
      return { because: 'main has ended', act: { do: 'collect', launch: 'main' } };
    }
    if (!session.released) {
      return {
        because: 'main has ended and init was not told to go',
        act: { do: 'release', launch: 'main' },
      };
    }
    return { because: 'main has ended; the container is on its way out', againMs: 2000 };
  }
  if (session === undefined && seen.probe.ready && !seen.listening) {
    return { because: 'the probe is new', act: { do: 'listen' } };
  }
  if (session === undefined) {
    // The probe is being made again, or the container has ended and nobody has said so: what was said stays true until
    // something else is seen.
    return { because: 'init is not connected', againMs: 5000 };
  }
  if (session.receipt === undefined && isBehind(seen)) {
    return { because: 'what was said of the limits may be old', act: { do: 'receipt' } };
  }
  const other = timeLimit(seen, 'main') ?? fencing(seen);
  if (other !== undefined) return other;
  const message = `${record.retained ? 'The sandbox is open for processes.' : 'The command runs.'}${cannotFence(seen)}`;
  const leftMs = deadlineLeftMs(seen);
  return {
    because: 'it runs',
    status: together(
      paint({ is: 'Running', message }, context(seen)),
      session.receipt === undefined ? undefined : enforced(seen, session.receipt),
      limitsNow(seen),
      since(seen),
      { conditions: [], set: fenceStatus(seen) },
    ),
    ...(leftMs === undefined ? {} : { againMs: Math.max(leftMs, 1) }),
  };
}

/** Adopted from an agent that may have changed limits, or found them changed, and died before it could say so. */
function isBehind(seen: Observation): boolean {
  const { status, metadata } = seen.sandbox ?? {};
  const enforced = status?.conditions?.find((condition) => condition.type === 'LimitsEnforced');
  return status?.observedGeneration !== metadata?.generation || enforced?.status !== 'True';
}

function since(seen: Observation): StatusChange {
  const startedAt = seen.record?.main?.startedAt ?? seen.record?.main?.intendedAt;
  return { conditions: [], ...(startedAt === undefined ? {} : { set: { startedAt } }) };
}

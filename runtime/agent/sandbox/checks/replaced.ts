import { paint, together } from '../picture.ts';
import { declined, noRoomMessage } from './no-room.ts';
import type { Decision, Observation } from '../types.ts';
import { context, hasBegun, isLive } from './facts.ts';
import { stopStatus } from './stopping.ts';

/** What is here was made for another spec (K11). */
export function replaced(seen: Observation): Decision | undefined {
  const { record, spec, container } = seen;
  if (spec === undefined) return undefined;
  if (record === undefined) return undefined;
  const sameSpec = record.specHash === spec.specHash;
  const sameLimits = record.limitsHash === spec.limitsHash;
  if (sameSpec && sameLimits) return undefined;
  if (seen.noRoom !== undefined) return withoutRoom(seen, seen.noRoom);
  if (sameSpec && inPlace(seen)) return changeInPlace(seen);
  if (isLive(seen) && hasBegun(record)) {
    return {
      because: 'the spec changed under a running container',
      status: stopStatus(seen, 'Replaced'),
      act: { do: 'stop', reason: 'Replaced' },
    };
  }
  const fresh = paint(
    { is: 'Working', reason: 'Recreating', message: 'The spec changed: the container is being replaced.' },
    context(seen),
  );
  return {
    because:
      container === undefined ? 'the spec changed' : 'the spec changed; the old container is in the way',
    // First: once the record is gone, the status is all that says whether user code has begun.
    status: together(fresh, takenBack(seen)),
    writeFirst: true,
    act: { do: 'discard' },
  };
}

/**
 * The node has no room for what the spec asks for now (K4). What runs goes on with its old limits, and so does what is
 * kept for a sandbox that has begun; of anything else nothing is lost when the controller looks for another place.
 */
function withoutRoom(seen: Observation, lack: string): Decision | undefined {
  const { record, container } = seen;
  const begun = hasBegun(record);
  // The end of what ran is judged first.
  if (begun && (isLive(seen) || record?.outcome === undefined)) return undefined;
  if (begun && record?.retained === true) {
    if (container !== undefined) return undefined;
    const message = noRoomMessage(seen, lack);
    return {
      because: 'there is no room for the changed spec; the workspace is kept',
      status: paint({ is: 'Stalled', reason: 'NoRoom', message }, context(seen)),
    };
  }
  const termination = record?.outcome?.termination;
  return declined(
    seen,
    lack,
    together(takenBack(seen), {
      conditions: [],
      ...(termination === undefined ? {} : { set: { lastTermination: termination } }),
    }),
  );
}

/** What was said about the old container and is not true of the next. */
function takenBack(seen: Observation): ReturnType<typeof together> {
  const had = (type: string): boolean =>
    seen.sandbox?.status?.conditions?.some((condition) => condition.type === type) ?? false;
  const message = 'The spec has changed since; nothing of the new one was launched yet.';
  const change = together({ conditions: [], unset: ['finishedAt', 'startedAt', 'setup', 'limits'] });
  if (had('OOMKilled')) {
    change.conditions.push({ type: 'OOMKilled', status: 'False', reason: 'NotLaunched', message });
  }
  if (had('LimitsEnforced')) {
    change.conditions.push({ type: 'LimitsEnforced', status: 'False', reason: 'NotLaunched', message });
  }
  if (had('SetupComplete')) {
    change.conditions.push({ type: 'SetupComplete', status: 'False', reason: 'NotLaunched', message });
  }
  return change;
}

/** Limits of a retained sandbox that has its container and has not come to an end; one that is suspended has not. */
function inPlace(seen: Observation): boolean {
  const { record, container } = seen;
  return (
    record !== undefined &&
    record.retained &&
    (record.outcome === undefined || record.outcome.ended === 'Stopped') &&
    record.refusal === undefined &&
    container !== undefined &&
    (container.state === 'running' || container.state === 'exited') &&
    (!record.hasSetup || hasBegun(record))
  );
}

function changeInPlace(seen: Observation): Decision | undefined {
  const refused = seen.record?.refusedLimits;
  if (refused !== undefined && refused.hash === seen.spec?.limitsHash) return undefined;
  // The gate has to be passed first: the receipt of the first limits is not skipped.
  if (isLive(seen) && seen.record?.main?.start !== seen.record?.starts) return undefined;
  return { because: 'the limits of a live sandbox changed', act: { do: 'update-limits' } };
}

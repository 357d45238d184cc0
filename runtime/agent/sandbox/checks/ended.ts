import type { Reason } from '../../../../crds/conditions.ts';
import type { LedgerRecord, Outcome } from '../../ledger/record.ts';
import { paint, together } from '../picture.ts';
import type { Decision, Observation, StatusChange } from '../types.ts';
import { context, hasBegun, isLive } from './facts.ts';

/** The last launch has a verdict, or a reason not to launch at all: publish it, then take the container away. */
export function ended(seen: Observation): Decision | undefined {
  const { record } = seen;
  if (record?.refusal !== undefined && record.outcome?.ended !== 'Stalled')
    return refused(seen, record.refusal);
  if (record?.outcome === undefined) return undefined;
  const { outcome } = record;
  const status = outcomeStatus(seen, outcome);
  if (outcome.ended === 'Restart') {
    const leftMs = restartInMs(seen, record);
    if (leftMs > 0) return { because: 'it ends again and again; its restart waits', status, againMs: leftMs };
    return { because: 'it is to be started again', status, writeFirst: true, act: { do: 'restart' } };
  }
  if (outcome.ended === 'Anew') {
    return {
      because: 'it is to be made anew',
      // Once the record is gone, the status is all that says whether user code has begun: of the next it has not.
      status: together(status, { conditions: [], unset: ['startedAt', 'limits', 'setup'] }),
      writeFirst: true,
      act: { do: 'discard' },
    };
  }
  if (outcome.ended === 'Stopped') return undefined;
  if (seen.container === undefined) return { because: 'it has ended', status };
  return { because: 'it has ended', status, writeFirst: true, act: { do: 'remove-container' } };
}

const RESTART_MAX_MS = 60_000;

/** Nothing at first; a growing wait for what keeps ending soon after its start. */
function restartInMs(seen: Observation, record: LedgerRecord): number {
  const quick = record.quickRestarts ?? 0;
  if (quick === 0 || record.outcome === undefined) return 0;
  const waitMs = Math.min(1000 * 2 ** (quick - 1), RESTART_MAX_MS);
  const sinceMs = seen.nowMs - Date.parse(record.outcome.termination.finishedAt);
  // A clock that was set back must not make it wait for ever.
  return sinceMs < 0 ? 0 : waitMs - sinceMs;
}

/** What a retained sandbox has in its filesystem is kept, whatever became of its limits. */
function refused(seen: Observation, refusal: NonNullable<LedgerRecord['refusal']>): Decision {
  const status = paint({ is: 'Stalled', ...refusal }, context(seen));
  if (refusal.reason === 'ReadBackMismatch' || refusal.reason === 'ReadBackFailed') {
    status.conditions.push({ type: 'LimitsEnforced', status: 'False', ...refusal });
  }
  if (seen.container === undefined) return { because: 'the launch was refused', status };
  if (seen.record?.retained === true && hasBegun(seen.record)) {
    if (!isLive(seen)) return { because: 'the launch was refused; its filesystem is kept', status };
    return { because: 'the launch was refused', status, act: { do: 'stop', reason: 'LimitsUnproven' } };
  }
  return { because: 'the launch was refused', status, writeFirst: true, act: { do: 'remove-container' } };
}

function outcomeStatus(seen: Observation, outcome: Outcome): StatusChange {
  const { termination } = outcome;
  const set: NonNullable<StatusChange['set']> = { lastTermination: termination };
  if (termination.launch === 'Setup') set.setup = termination;
  // A short command may have ended before it was ever said that it runs.
  else if (seen.record?.main?.startedAt !== undefined) set.startedAt = seen.record.main.startedAt;
  if (seen.record?.setup?.termination !== undefined) set.setup = seen.record.setup.termination;
  if (termination.launch === 'Main' && outcome.ended !== 'Restart' && outcome.ended !== 'Anew') {
    set.finishedAt = termination.finishedAt;
  }
  const change: StatusChange = { conditions: [...killed(outcome)], set };
  if (termination.launch === 'Setup' && (outcome.ended === 'Stalled' || outcome.ended === 'Failed')) {
    change.conditions.push({
      type: 'SetupComplete',
      status: 'False',
      reason: setupReason(outcome),
      message: termination.message,
    });
  }
  return together(picture(seen, outcome), change);
}

function picture(seen: Observation, outcome: Outcome): StatusChange {
  const { message, launch, cause } = outcome.termination;
  switch (outcome.ended) {
    case 'Succeeded':
      return paint({ is: 'Succeeded', message }, context(seen));
    case 'Failed':
      if (cause === 'Suspended' && seen.sandbox?.spec.suspend === true) {
        return paint({ is: 'Suspended', message, ended: true }, context(seen));
      }
      return paint({ is: 'Failed', message }, context(seen));
    case 'Stalled':
      return paint(
        {
          is: 'Stalled',
          reason: launch === 'Setup' ? setupReason(outcome) : stallReason(outcome),
          message,
          // Killed by a restart, or lost: whether the work was done is not known, so it has not completed (K10).
          ended: launch === 'Main' && cause !== 'RuntimeRestarted' && cause !== 'ContainerLost',
        },
        context(seen),
      );
    case 'Restart':
      return paint(
        { is: 'Working', reason: stallReason(outcome), message: `${message} It is being started again.` },
        context(seen),
      );
    case 'Anew':
      return paint(
        { is: 'Working', reason: stallReason(outcome), message: `${message} A new container is being made.` },
        context(seen),
      );
    case 'Stopped':
      return { conditions: [] };
  }
}

function killed(outcome: Outcome): StatusChange['conditions'] {
  const { termination, oom } = outcome;
  if (termination.cause === 'OOMKilled') {
    return [{ type: 'OOMKilled', status: 'True', reason: termination.verdict, message: termination.message }];
  }
  return oom === undefined
    ? []
    : [{ type: 'OOMKilled', status: 'True', reason: oom.verdict, message: oom.message }];
}

function setupReason(outcome: Outcome): Reason {
  switch (outcome.termination.cause) {
    case 'OOMKilled':
      return 'SetupOOMKilled';
    case 'Timeout':
    case 'Deadline':
      return 'SetupTimedOut';
    case 'Exited':
    case 'Stopped':
      return 'SetupFailed';
    default:
      return stallReason(outcome);
  }
}

function stallReason(outcome: Outcome): Reason {
  switch (outcome.termination.cause) {
    case 'Exited':
    case 'Stopped':
      return 'Failed';
    case 'Deadline':
    case 'Timeout':
      return 'DeadlineExceeded';
    case 'Suspended':
      return 'SuspendedByUser';
    case 'Deleted':
      return 'Deleting';
    case 'Replaced':
      return 'Recreating';
    case 'Drained':
      return 'Draining';
    case 'LimitsUnproven':
      return 'ReadBackFailed';
    case 'Unknown':
      return 'UnknownCause';
    default:
      return outcome.termination.cause;
  }
}

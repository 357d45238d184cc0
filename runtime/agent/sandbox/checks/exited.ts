import type { LedgerRecord } from '../../ledger/record.ts';
import type { Decision, Observation } from '../types.ts';
import { hasBegun, isLive, setupDone } from './facts.ts';

/** The container has ended or is not there any more, and nobody has said yet what that means. */
export function exited(seen: Observation): Decision | undefined {
  const { record, container } = seen;
  if (record === undefined || record.starts === 0) return undefined;
  if (isLive(seen) || container?.state === 'created') return undefined;
  if (container === undefined && seen.runtime.state === 'Unavailable') {
    return { because: 'the runtime cannot be asked about the container', againMs: 5000 };
  }
  if (!hasBegun(record)) {
    if (container === undefined)
      return { because: 'the container went before user code began', act: { do: 'discard' } };
    if (container.oomKilled) return { because: 'the limit killed init', act: tooSmall(seen) };
    return {
      because: 'the container ended before user code began',
      act: {
        do: 'give-up',
        reason: 'StartFailed',
        message: `The container ended before user code began (exit code ${container.exitCode}${container.error === '' ? '' : `: ${container.error}`}).`,
      },
    };
  }
  if (record.outcome === undefined && container !== undefined && isBetweenStarts(record)) {
    return { because: 'it was to be started again, and has not come to its gate', act: { do: 'restart' } };
  }
  if (record.outcome === undefined) {
    if (seen.runtime.state === 'Unavailable') {
      // Whether the runtime went down with it is part of the verdict: wait until it answers again.
      return { because: 'the runtime does not answer; the verdict waits for it', againMs: 2000 };
    }
    return { because: 'the launch has no verdict yet', act: { do: 'conclude' } };
  }
  if (record.outcome.ended !== 'Stopped') return undefined;
  if (container === undefined) return { because: 'the kept container was removed', act: { do: 'conclude' } };
  if (!setupDone(record)) return { because: 'whether setup ended is unknown', act: { do: 'discard' } };
  return { because: 'it is not suspended any more', act: { do: 'restart' } };
}

/** A restart was written down, and nothing of a user's has run in it. */
function isBetweenStarts(record: LedgerRecord): boolean {
  return (
    record.retained && setupDone(record) && record.main !== undefined && record.main.start < record.starts
  );
}

function tooSmall(seen: Observation): NonNullable<Decision['act']> {
  const bytes = seen.record?.limits.memoryBytes;
  return {
    do: 'refuse',
    reason: 'StartFailed',
    message: `The memory limit${bytes === undefined ? '' : ` of ${bytes} bytes`} is too low to start the sandbox at all; raise spec.resources.memory.`,
  };
}

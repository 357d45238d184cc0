import type { StopReason } from '../../ledger/record.ts';
import { paint } from '../picture.ts';
import type { Decision, Observation, StatusChange } from '../types.ts';
import { context, graceMs, isDeleting, isLive } from './facts.ts';

const WORDS: Record<StopReason, string> = {
  Suspended: 'The sandbox is being suspended.',
  Deleted: 'The sandbox is being deleted.',
  Deadline: 'The sandbox reached activeDeadlineSeconds and is being stopped.',
  Replaced: 'The spec changed: the container is being replaced.',
  Drained: 'The node is being drained: the sandbox is being stopped, and will be placed anew.',
  Stopped: 'The sandbox is being stopped.',
  SetupTimeout: 'Setup ran into its time limit and is being stopped.',
  LimitsUnproven: 'The limits in force are not the ones asked for: the sandbox is being stopped.',
};

/** A deletion that is done by then is told once, at its end. */
const UNTOLD_MS = 2000;
/** How long a SIGKILL to the command alone may take to end the container. */
const KILL_MS = 3000;

/** A stop of ours is under way: it is seen through, whatever the spec says meanwhile. */
export function stopping(seen: Observation): Decision | undefined {
  const stop = seen.record?.stop;
  if (stop === undefined || !isLive(seen)) return undefined;
  if (seen.container?.state === 'paused') {
    // A frozen process acts on no signal.
    return { because: 'a paused container is to be stopped', act: { do: 'unpause' } };
  }
  if (seen.session === undefined && seen.probe.ready && !seen.listening) {
    return { because: 'the probe is new', act: { do: 'listen' } };
  }
  const status = stopStatus(seen, stop.reason);
  const exited = seen.session?.main?.state === 'exited' ? 'main' : undefined;
  if (exited !== undefined && seen.record?.main?.closing === undefined) {
    return { because: 'main has ended after a stop of ours', status, act: { do: 'collect', launch: exited } };
  }
  if (exited !== undefined && seen.session?.released === false) {
    return { because: 'main has ended and init was not told to go', act: { do: 'release', launch: exited } };
  }
  if (!seen.stopSent)
    return { because: 'a stop was written down, and perhaps not sent', act: { do: 'stop-again' } };
  const leftMs = graceMs(seen) - (seen.stoppingMs ?? 0);
  const untoldMs = isDeleting(seen) ? UNTOLD_MS - (seen.stoppingMs ?? 0) : 0;
  if (leftMs > untoldMs && untoldMs > 0)
    return { because: 'a deletion has just begun, and may soon be over', againMs: untoldMs };
  if (leftMs > 0) return { because: 'a stop of ours is within its grace period', status, againMs: leftMs };
  if (!stop.signals.includes('SIGKILL') || leftMs < -KILL_MS) {
    return { because: 'the grace period is over', status, act: { do: 'kill' } };
  }
  return { because: 'SIGKILL was sent', status, againMs: KILL_MS + leftMs + 1 };
}

export function stopStatus(seen: Observation, reason: StopReason): StatusChange {
  const message = WORDS[reason];
  if (isDeleting(seen)) {
    return paint(
      { is: 'Working', reason: 'Deleting', message: WORDS.Deleted, phase: 'Terminating' },
      context(seen),
    );
  }
  switch (reason) {
    case 'Suspended':
      return paint({ is: 'Working', reason: 'Suspending', message }, context(seen));
    case 'Replaced':
      return paint({ is: 'Working', reason: 'Recreating', message }, context(seen));
    case 'Drained':
      return paint({ is: 'Working', reason: 'Draining', message }, context(seen));
    case 'Deadline':
      return paint({ is: 'Working', reason: 'DeadlineExceeded', message }, context(seen));
    default:
      return paint({ is: 'Working', reason: 'Launching', message }, context(seen));
  }
}

import type { Clock } from '../../../kube/clock.ts';
import { DriverError } from '../../driver.ts';

/** What may stop one call: the caller's signal, or its time limit. */
export interface CallWatch {
  readonly stopped: boolean;
  /** Sets the time limit anew, or lifts it. */
  limit(ms: number | undefined, message?: string): void;
  /** Called once with the reason, at once when it has already happened. */
  onStop(listener: (reason: Error) => void): void;
  /** The error to report: the reason of the stop where there was one, else `error`. */
  explain(error: unknown): unknown;
  /** Lets go of the signal and the timer. */
  end(): void;
}

/**
 * The caller's signal usually lives as long as the process, so it gets one listener a call, which is removed
 * again: AbortSignal.any would retain memory for each call.
 */
export function watchCall(signal: AbortSignal | undefined, clock: Clock): CallWatch {
  let reason: unknown;
  let stopped = false;
  let cancelTimer: (() => void) | undefined;
  const listeners: ((reason: Error) => void)[] = [];

  const stop = (why: unknown): void => {
    if (stopped) return;
    stopped = true;
    reason = why;
    end();
    const error = why instanceof Error ? why : new Error(String(why));
    for (const listener of listeners) listener(error);
  };
  const onAbort = (): void => stop(signal?.reason);
  const end = (): void => {
    cancelTimer?.();
    cancelTimer = undefined;
    signal?.removeEventListener('abort', onAbort);
  };

  if (signal?.aborted) stop(signal.reason);
  else signal?.addEventListener('abort', onAbort, { once: true });

  return {
    get stopped() {
      return stopped;
    },
    limit(ms, message = 'timed out') {
      cancelTimer?.();
      cancelTimer = undefined;
      if (ms === undefined || stopped) return;
      cancelTimer = clock.setTimer(ms, () => stop(new DriverError('Unavailable', message)));
    },
    onStop(listener) {
      listeners.push(listener);
      if (stopped) listener(reason instanceof Error ? reason : new Error(String(reason)));
    },
    explain: (error) => (stopped ? reason : error),
    end,
  };
}

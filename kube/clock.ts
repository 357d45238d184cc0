/** Cancels the timer; harmless when it has fired or was cancelled. */
export type CancelTimer = () => void;

/**
 * Time comes in as an argument everywhere. `now` is the wall clock and may jump; measure spans with `monotonicMs`.
 */
export interface Clock {
  now(): Date;
  /** Milliseconds since some moment in the past; never goes back. */
  monotonicMs(): number;
  /** Calls `fn` once, `ms` from now at the earliest; any finite span, also beyond the 24.8 days of setTimeout. */
  setTimer(ms: number, fn: () => void): CancelTimer;
}

/** setTimeout fires at once for anything longer. */
const LONGEST_TIMEOUT_MS = 2 ** 31 - 1;

export const systemClock: Clock = {
  now: () => new Date(),
  monotonicMs: () => performance.now(),
  setTimer(ms, fn) {
    let handle: NodeJS.Timeout;
    const arm = (leftMs: number): void => {
      handle =
        leftMs > LONGEST_TIMEOUT_MS
          ? setTimeout(() => arm(leftMs - LONGEST_TIMEOUT_MS), LONGEST_TIMEOUT_MS)
          : setTimeout(fn, Math.max(0, leftMs));
    };
    arm(ms);
    return () => clearTimeout(handle);
  },
};

/** Resolves after `ms`, or at once when the signal aborts; never rejects: look at the signal afterwards. */
export function sleep(clock: Clock, ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal?.aborted) {
      resolve();
      return;
    }
    const end = (): void => {
      cancel();
      signal?.removeEventListener('abort', end);
      resolve();
    };
    const cancel = clock.setTimer(ms, end);
    signal?.addEventListener('abort', end, { once: true });
  });
}

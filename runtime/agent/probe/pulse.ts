import { type Clock, sleep } from '../../../kube/clock.ts';
import type { Probe } from '../../link/types.ts';

/** Between two questions to a probe that nobody else may have asked anything. */
const ASK_EVERY_MS = 10_000;
/** A probe does nothing but answer: one that takes longer is frozen, or not at the other end any more. */
const ANSWER_MS = 10_000;

/** Asks again and again until the signal aborts (false), or an answer does not come in time (true). Never rejects. */
export async function keepAsking(
  probe: Probe,
  clock: Clock,
  random: () => number,
  signal: AbortSignal,
): Promise<boolean> {
  for (;;) {
    await sleep(clock, ASK_EVERY_MS * (0.9 + random() / 5), signal);
    if (signal.aborted) return false;
    try {
      await answersInTime(probe.ping({ timeoutMs: ANSWER_MS }), ANSWER_MS, clock, 'no answer', signal);
    } catch {
      return !signal.aborted;
    }
  }
}

/** The answer, or an error with the message where it does not come in time. */
export async function answersInTime<T>(
  answer: Promise<T>,
  ms: number,
  clock: Clock,
  message: string,
  signal: AbortSignal,
): Promise<T> {
  const done = new AbortController();
  const stop = (): void => done.abort();
  signal.addEventListener('abort', stop, { once: true });
  const late = sleep(clock, ms, done.signal).then(() => {
    throw new Error(signal.aborted ? 'it is being stopped' : `${message} (${ms / 1000} s)`);
  });
  late.catch(() => undefined);
  try {
    return await Promise.race([answer, late]);
  } finally {
    stop();
    signal.removeEventListener('abort', stop);
  }
}

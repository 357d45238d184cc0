import { LinkError } from './link-error.ts';

/** The other end answers in a moment, or it is stopped or gone. */
export const REQUEST_TIMEOUT_MS = 10_000;
/** A start also waits for exec, which may have to read the program from a slow disk. */
export const START_TIMEOUT_MS = 15_000;

/** What a timer of Node can wait; longer ones would fire at once. */
const LONGEST_MS = 2 ** 31 - 1;

/** Calls `late` with the error, once, unless what it returns is called before. */
export function timeLimit(timeoutMs: number, what: string, late: (error: LinkError) => void): () => void {
  const timer = setTimeout(
    () => late(new LinkError('TimedOut', `${what} did not answer within ${timeoutMs} ms`)),
    Math.min(timeoutMs, LONGEST_MS),
  );
  return () => clearTimeout(timer);
}

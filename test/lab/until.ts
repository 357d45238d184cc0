import { setTimeout as pause } from 'node:timers/promises';

/** Polls until `look` gives something other than undefined or false; fails with what was waited for at the deadline. */
export async function until<T>(
  what: string,
  look: () => Promise<T | undefined | false> | T | undefined | false,
  deadlineMs = 150_000,
): Promise<T> {
  const end = performance.now() + deadlineMs;
  for (;;) {
    const found = await look();
    if (found !== undefined && found !== false) return found;
    if (performance.now() > end) throw new Error(`${what}: not within ${deadlineMs / 1000} s`);
    await pause(20);
  }
}

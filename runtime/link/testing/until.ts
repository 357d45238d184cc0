import { setTimeout as sleep } from 'node:timers/promises';

/** Polls until the condition holds; throws, naming it, after the deadline. */
export async function until(
  what: string,
  condition: () => boolean | Promise<boolean>,
  deadlineMs = 20_000,
): Promise<void> {
  const end = performance.now() + deadlineMs;
  while (!(await condition())) {
    if (performance.now() > end) throw new Error(`waited ${deadlineMs} ms in vain for ${what}`);
    await sleep(5);
  }
}

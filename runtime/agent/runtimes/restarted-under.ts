import type { RuntimeBreak } from './runtime.ts';

/** A daemon that goes down ends its containers a little before it stops answering, and finds them ended when it is back. */
const BEFORE_MS = 20_000;
const AFTER_MS = 15_000;

/** Whether the runtime restarted under a container that ended then (Unix ms). Unknown: it does not answer yet. */
export function restartedUnder(
  breaks: readonly RuntimeBreak[],
  endMs: number,
  nowMs: number,
): 'Yes' | 'No' | 'Unknown' {
  const under = breaks.filter(
    ({ fromMs, toMs }) => endMs >= fromMs - BEFORE_MS && endMs <= (toMs ?? nowMs) + AFTER_MS,
  );
  if (under.some(({ restarted }) => restarted)) return 'Yes';
  return under.some(({ toMs }) => toMs === undefined) ? 'Unknown' : 'No';
}

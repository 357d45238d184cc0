import { conditionOf } from '../pictures.ts';
import type { Decision, Observation } from '../types.ts';

/** A wall clock that jumps must not leave a timer of years behind. */
const LONGEST_LOOK_MS = 60 * 60_000;

/** Deletes a sandbox that has ended `ttlSecondsAfterFinished` ago (K10). */
export function expired(seen: Observation): Decision | undefined {
  const ttlSeconds = seen.sandbox.spec.ttlSecondsAfterFinished;
  if (ttlSeconds === undefined || conditionOf(seen, 'Complete')?.status !== 'True') return undefined;
  const finishedAt = Date.parse(seen.sandbox.status?.finishedAt ?? '');
  if (Number.isNaN(finishedAt)) return undefined;
  const leftMs = finishedAt + ttlSeconds * 1000 - seen.now.getTime();
  if (leftMs > 0) return { because: 'it has ended and is kept', afterMs: Math.min(leftMs, LONGEST_LOOK_MS) };
  return { because: 'its time to live after its end is over', act: 'Delete' };
}

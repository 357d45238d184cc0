import type { Action, Decision, Observation } from '../types.ts';
import { isLive } from './facts.ts';

/** Rules that hold for certain acts, whoever decided on them. */

/** How long an init that may still come is waited for before a stop goes past it. */
const INIT_MS = 3000;

/**
 * A stop goes through init where there is one: only init can tell our signal from somebody else's. A signal through the
 * runtime looks to it like any other from outside (O9).
 */
export function throughInit(seen: Observation, decision: Decision): Decision {
  const { act } = decision;
  if (act?.do !== 'stop' && act?.do !== 'stop-again') return decision;
  if (seen.session !== undefined || !isLive(seen) || seen.container?.state === 'paused') return decision;
  if (seen.probe.ready && !seen.listening) {
    return { because: `${decision.because}; the probe is new`, act: { do: 'listen' } };
  }
  const leftMs = INIT_MS - (seen.silentMs ?? 0);
  if (leftMs <= 0) return decision;
  return { because: `${decision.because}; its init may still come`, againMs: leftMs };
}

const BEGINNINGS: ReadonlySet<Action['do']> = new Set([
  'create',
  'start',
  'restart',
  'start-setup',
  'start-main',
]);
const NAME_MS = 2000;

/**
 * An agent that does not hold its node name begins nothing: another may have begun the same. Nor does it discard what it
 * has no record of: the other may just have made it.
 */
export function onlyHolder(seen: Observation, decision: Decision): Decision {
  const { act } = decision;
  if (seen.nameHeld || act === undefined) return decision;
  const anothers = act.do === 'discard' && seen.record === undefined;
  if (!BEGINNINGS.has(act.do) && !anothers) return decision;
  return { because: `${decision.because}; the node name is not held`, againMs: NAME_MS };
}

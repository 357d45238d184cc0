import type { Decision, Observation } from './types.ts';
import { deleting } from './checks/deleting.ts';
import { expired } from './checks/expired.ts';
import { bound } from './checks/bound.ts';
import { replaced } from './checks/replaced.ts';
import { held } from './checks/held.ts';
import { placing } from './checks/placing.ts';
import { refused } from './checks/refused.ts';

type Check = (seen: Observation) => Decision | undefined;

/** In this order; the first that has something to say decides. */
const checks: readonly Check[] = [deleting, expired, replaced, bound, refused, held];

/** What is to be done about one sandbox. Pure. */
export function decide(seen: Observation): Decision {
  for (const check of checks) {
    const decision = check(seen);
    if (decision !== undefined) return decision;
  }
  return placing(seen);
}

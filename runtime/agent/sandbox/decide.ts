import { asking } from './checks/asking.ts';
import { bound } from './checks/bound.ts';
import { drained } from './checks/drained.ts';
import { ended } from './checks/ended.ts';
import { exited } from './checks/exited.ts';
import { fenced } from './checks/fencing.ts';
import { gate } from './checks/gate.ts';
import { leaving } from './checks/leaving.ts';
import { making } from './checks/making.ts';
import { onlyHolder, throughInit } from './checks/overrides.ts';
import { replaced } from './checks/replaced.ts';
import { running } from './checks/running.ts';
import { stopping } from './checks/stopping.ts';
import type { Check, Decision, Observation } from './types.ts';

/** In this order; the first that has something to say decides. */
const checks: readonly Check[] = [
  leaving,
  fenced,
  bound,
  stopping,
  drained,
  replaced,
  ended,
  asking,
  exited,
  making,
  gate,
  running,
];

/** What to do about one sandbox now. Pure. */
export function decide(seen: Observation): Decision {
  for (const check of checks) {
    const decision = check(seen);
    if (decision !== undefined) return onlyHolder(seen, throughInit(seen, decision));
  }
  return { because: 'nothing to do' };
}

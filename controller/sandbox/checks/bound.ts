import type { Decision, Observation } from '../types.ts';
import { lostStatus } from './lost.ts';

/** A node has it: the status is its agent's to write, but for the node being lost (K3). */
export function bound(seen: Observation): Decision | undefined {
  if (seen.home === undefined) return undefined;
  const lost = lostStatus(seen);
  return lost === undefined ? { because: 'its node has it' } : { because: 'its node is lost', ...lost };
}

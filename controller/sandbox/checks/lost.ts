import { conditionOf, statusWith } from '../pictures.ts';
import type { Decision, Observation } from '../types.ts';

/**
 * A node is lost when nobody speaks for it: its agent is silent, or its SandboxNode was deleted and its agent had given
 * its lease back. The object alone decides nothing: an agent that is heard makes it anew, and until then both would
 * write over each other's word without end.
 */
export function isLost({ node, heartbeat }: NonNullable<Observation['home']>): boolean {
  if (heartbeat === 'Expired' || heartbeat === 'Missing') return true;
  return node === undefined && heartbeat === 'Released';
}

/**
 * What is said of a sandbox whose node is lost: Ready=Unknown, and nothing else, for the rest is the agent's last
 * word. Nothing where the node is not lost, or where the sandbox had ended before.
 */
export function lostStatus(seen: Observation, more = ''): Pick<Decision, 'status' | 'event'> | undefined {
  if (seen.home === undefined) return undefined;
  const { name, node } = seen.home;
  if (conditionOf(seen, 'Complete')?.status === 'True' || !isLost(seen.home)) return undefined;
  const why =
    node === undefined
      ? `The SandboxNode ${name} was deleted.`
      : `The agent of node ${name} sends no heartbeat: its lease has expired.`;
  const message = `${why} What the sandbox does is unknown.${more === '' ? '' : ` ${more}`}`;
  const told = conditionOf(seen, 'Ready')?.reason === 'NodeLost';
  return {
    status: statusWith(seen, {
      conditions: [{ type: 'Ready', status: 'Unknown', reason: 'NodeLost', message }],
      phase: 'Unknown',
    }),
    ...(!told && { event: { type: 'Warning', reason: 'NodeLost', message: why } }),
  };
}

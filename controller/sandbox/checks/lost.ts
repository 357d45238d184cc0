import { conditionOf, statusWith } from '../pictures.ts';
import type { Decision, Observation } from '../types.ts';

/**
 * What is said of a sandbox whose node is lost: Ready=Unknown, and nothing else, for the rest is the agent's last
 * word. Nothing where the node is not lost, or where the sandbox had ended before.
 */
export function lostStatus(seen: Observation, more = ''): Pick<Decision, 'status' | 'event'> | undefined {
  if (seen.home === undefined) return undefined;
  const { name, node, heartbeat } = seen.home;
  if (conditionOf(seen, 'Complete')?.status === 'True') return undefined;
  const gone = node === undefined;
  if (!gone && heartbeat !== 'Expired' && heartbeat !== 'Missing') return undefined;
  const why = gone
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

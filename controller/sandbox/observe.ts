import type { Sandbox } from '../../crds/sandbox.ts';
import type { Commitments } from '../commitments.ts';
import type { Declines } from '../declines.ts';
import type { Listers } from '../listers.ts';
import type { NodeHealth } from '../node-health.ts';
import type { Observation } from './types.ts';

/** All of it from memory: no call to the API. */
export function observe(
  sandbox: Sandbox,
  known: {
    listers: Listers;
    now: Date;
    commitments: Commitments;
    declines: Declines;
    health: NodeHealth;
  },
): Observation {
  const { listers, now, commitments, declines, health } = known;
  const uid = sandbox.metadata.uid ?? '';
  const name = sandbox.status?.nodeName ?? '';
  if (name !== '') {
    const home = {
      name,
      node: listers.nodes.get(name),
      heartbeat: health.of(name),
      silentMs: health.silentMs(name),
    };
    return { now, sandbox, home, nodes: [], declinedForMs: undefined };
  }
  const nodes = listers.nodes.list().map((node) => ({
    node,
    heartbeat: health.of(node.metadata.name),
    load: commitments.loadOf(node.metadata.name, uid),
    decline: declines.of(uid, node.metadata.name),
  }));
  return { now, sandbox, home: undefined, nodes, declinedForMs: declines.nextMs(uid) };
}

import type { SandboxNode } from '../../crds/sandbox-node.ts';
import type { Sandbox } from '../../crds/sandbox.ts';
import type { Heartbeat, NodeView } from '../placement/types.ts';
import type { Observation } from '../sandbox/types.ts';
import { sandboxNode, view } from './objects.ts';

/** For tests of decisions: one node that can do everything, and what a case has otherwise. */

export const NOW = new Date('2026-01-01T01:00:00Z');
export const nodeA = sandboxNode('a');

export function seen(
  object: Sandbox,
  change: {
    nodes?: NodeView[];
    node?: SandboxNode | undefined;
    heartbeat?: Heartbeat;
    silentMs?: number;
    declinedForMs?: number;
  } = {},
): Observation {
  const name = object.status?.nodeName ?? '';
  const node = 'node' in change ? change.node : nodeA;
  return {
    now: NOW,
    sandbox: object,
    home:
      name === ''
        ? undefined
        : { name, node, heartbeat: change.heartbeat ?? 'Alive', silentMs: change.silentMs ?? 0 },
    nodes: name === '' ? (change.nodes ?? [view(nodeA)]) : [],
    declinedForMs: change.declinedForMs,
  };
}

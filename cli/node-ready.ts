import type { Logger } from 'pino';
import type { SandboxNode } from '../crds/sandbox-node.ts';
import type { KubeClient } from '../kube/client.ts';
import { systemClock, type Clock } from '../kube/clock.ts';
import { getCondition } from '../kube/conditions.ts';
import { Lister } from '../kube/lister.ts';
import { Reflector } from '../kube/reflector.ts';
import { SANDBOX_NODES } from '../kube/resources.ts';

export interface NodeState {
  ready: boolean;
  node: SandboxNode | undefined;
}

/**
 * Waits until the node says that it is ready, as it was written since `since`; at the latest after `withinMs` with
 * what it says then.
 */
export async function nodeReady(options: {
  client: KubeClient;
  nodeName: string;
  since: Date;
  withinMs: number;
  stop: AbortSignal;
  log: Logger;
  clock?: Clock;
}): Promise<NodeState> {
  const { client, nodeName, stop, log, clock = systemClock } = options;
  const lister = new Lister<SandboxNode>({ log });
  const reflector = new Reflector<SandboxNode>({
    client,
    resource: SANDBOX_NODES,
    options: { fieldSelector: `metadata.name=${nodeName}` },
    lister,
    clock,
    random: Math.random,
    log,
  });
  const end = new AbortController();
  const endNow = (): void => end.abort();
  const cancel = clock.setTimer(options.withinMs, endNow);
  stop.addEventListener('abort', endNow, { once: true });
  if (stop.aborted) endNow();
  lister.onChange((_key, _old, node) => {
    if (node && isReady(node, options.since)) endNow();
  });
  await reflector.run(end.signal);
  cancel();
  stop.removeEventListener('abort', endNow);
  const node = lister.get(nodeName);
  return { ready: node !== undefined && isReady(node, options.since), node };
}

function isReady(node: SandboxNode, since: Date): boolean {
  // Whole seconds: what an earlier run left behind is older than that.
  const startedAt = Date.parse(node.status?.agent?.startedAt ?? '');
  if (!(startedAt >= Math.floor(since.getTime() / 1000) * 1000)) return false;
  return getCondition(node.status?.conditions, 'Ready')?.status === 'True';
}

import type { SandboxNode } from '../crds/sandbox-node.ts';
import type { Sandbox } from '../crds/sandbox.ts';
import type { KubeClient } from '../kube/client.ts';
import type { Clock } from '../kube/clock.ts';
import type { Lease } from '../kube/lease.ts';
import { Lister } from '../kube/lister.ts';
import { Reflector } from '../kube/reflector.ts';
import { LEASES, SANDBOX_NODES, SANDBOXES } from '../kube/resources.ts';
import type { Logger } from 'pino';
import { SYSTEM_NAMESPACE } from './system-namespace.ts';

/** Everything the controller looks at. */
export interface Listers {
  /** Index `node`: by `status.nodeName`, '' for those that no node has. */
  sandboxes: Lister<Sandbox>;
  nodes: Lister<SandboxNode>;
  leases: Lister<Lease>;
}

export function makeListers(log: Logger): Listers {
  return {
    sandboxes: new Lister<Sandbox>({ log, indexes: { node: (sandbox) => [sandbox.status?.nodeName ?? ''] } }),
    nodes: new Lister<SandboxNode>({ log }),
    leases: new Lister<Lease>({ log }),
  };
}

/** Keeps the listers true; resolves when the signal has aborted and no request is left. */
export function reflect(
  listers: Listers,
  options: { client: KubeClient; clock: Clock; random: () => number; log: Logger },
  signal: AbortSignal,
): { synced: Promise<void>; done: Promise<void> } {
  const reflectors = [
    new Reflector({ ...options, resource: SANDBOXES, lister: listers.sandboxes }),
    new Reflector({ ...options, resource: SANDBOX_NODES, lister: listers.nodes }),
    new Reflector({
      ...options,
      resource: LEASES,
      options: { namespace: SYSTEM_NAMESPACE },
      lister: listers.leases,
    }),
  ];
  return {
    /** Never rejects: a stop before the first list is seen by the signal. */
    synced: Promise.all(reflectors.map((reflector) => reflector.synced)).then(
      () => undefined,
      () => undefined,
    ),
    done: Promise.all(reflectors.map((reflector) => reflector.run(signal))).then(() => undefined),
  };
}

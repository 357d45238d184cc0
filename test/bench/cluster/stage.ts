import pino from 'pino';
import type { Sandbox } from '../../../crds/sandbox.ts';
import { sandboxSpec } from '../../../controller/testing/objects.ts';
import type { KubeClient } from '../../../kube/client.ts';
import { systemClock } from '../../../kube/clock.ts';
import { createKubeClient } from '../../../kube/http-client.ts';
import { SANDBOXES } from '../../../kube/resources.ts';
import { type Cluster, startCluster } from '../../cluster/start.ts';
import { Arrivals } from '../../scale/arrivals.ts';
import { type ControllerProcess, startControllerProcess } from '../../scale/controller-process.ts';
import { installKinds } from '../../scale/install-kinds.ts';
import { SimulatedNodes } from '../../scale/simulated-nodes.ts';

/** A kube-apiserver with our kinds, simulated nodes, a watching user, and, once asked for, the controller. */
export interface Stage {
  cluster: Cluster;
  client: KubeClient;
  arrivals: Arrivals;
  nodes: SimulatedNodes;
  startController(): Promise<ControllerProcess>;
  create(name: string): Promise<Sandbox>;
  close(): Promise<void>;
}

const NAMESPACE = 'default';

/** What an interrupt has to end. */
const open = new Set<() => Promise<void>>();
for (const signal of ['SIGINT', 'SIGTERM'] as const)
  process.once(signal, () => {
    void Promise.allSettled([...open].map((close) => close())).then(() => process.exit(1));
  });

export async function openStage(options: { nodes: number; maxSandboxes?: number }): Promise<Stage> {
  const cluster = await startCluster({ controllerManager: false });
  const access = { server: cluster.url, insecureSkipTLSVerify: true, token: cluster.token };
  const client = createKubeClient({ ...access, userAgent: 'bench' });
  const arrivals = new Arrivals();
  let controller: ControllerProcess | undefined;
  let started = 0;
  const nodes = new SimulatedNodes({
    client,
    clock: systemClock,
    names: Array.from({ length: options.nodes }, (_, index) => `node-${String(index).padStart(4, '0')}`),
    ...(options.maxSandboxes !== undefined && { maxSandboxes: options.maxSandboxes }),
  });
  const close = async (): Promise<void> => {
    open.delete(close);
    await controller?.stop();
    await nodes.stop();
    await arrivals.stop();
    client.close();
    await cluster.close();
  };
  open.add(close);
  try {
    await installKinds(client);
    await nodes.start();
    await arrivals.start(client, pino({ level: 'silent' }));
  } catch (error) {
    await close();
    throw error;
  }
  return {
    cluster,
    client,
    arrivals,
    nodes,
    create: (name) => client.create<Sandbox>(SANDBOXES, manifest(name)),
    async startController() {
      controller = await startControllerProcess(access);
      // Placing the first shows that it leads and has seen the nodes.
      started += 1;
      await client.create(SANDBOXES, manifest(`first-${started}`));
      await arrivals.of(`first-${started}`);
      return controller;
    },
    close,
  };
}

/** What a user writes: with limits, so that there is something to count. */
function manifest(name: string): Sandbox {
  return {
    apiVersion: 'holdfast.dev/v1alpha1',
    kind: 'Sandbox',
    metadata: { namespace: NAMESPACE, name },
    spec: sandboxSpec({ command: ['sleep', '600'], resources: { cpu: '100m', memory: '64Mi', pids: 64 } }),
  };
}

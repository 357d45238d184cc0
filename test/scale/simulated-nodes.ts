import type { SandboxNode } from '../../crds/sandbox-node.ts';
import { docker, lease, sandboxNode } from '../../controller/testing/objects.ts';
import type { KubeClient } from '../../kube/client.ts';
import { type Clock, sleep } from '../../kube/clock.ts';
import { isAlreadyExists, isConflict } from '../../kube/errors.ts';
import type { Lease } from '../../kube/lease.ts';
import { LEASES, NAMESPACES, SANDBOX_NODES } from '../../kube/resources.ts';

const NAMESPACE = 'holdfast-system';
/** As the real agent. */
const RENEW_MS = 10_000;
const AT_ONCE = 16;
const GiB = 1024 ** 3;

export interface SimulatedNodesOptions {
  client: KubeClient;
  clock: Clock;
  names: string[];
  cpus?: number;
  memoryBytes?: number;
  maxSandboxes?: number;
}

/** Many nodes in one process, without any container: their SandboxNodes, and leases renewed as agents renew theirs. */
export class SimulatedNodes {
  readonly #options: SimulatedNodesOptions;
  readonly #leases = new Map<string, Lease>();
  readonly #stop = new AbortController();
  #beating: Promise<void> = Promise.resolve();
  /** Renewals that the API refused or did not answer. */
  failures = 0;

  constructor(options: SimulatedNodesOptions) {
    this.#options = options;
  }

  /** Resolves when every node is there; the leases are renewed until `stop`. */
  async start(): Promise<void> {
    const { client, clock, names } = this.#options;
    await client
      .create(NAMESPACES, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: NAMESPACE } })
      .catch((error: unknown) => {
        if (!isAlreadyExists(error)) throw error;
      });
    await atOnce(AT_ONCE, names, (name) => this.#register(name));
    const everyMs = RENEW_MS / names.length;
    // Spread over the ten seconds, as those of machines that were started at different times.
    this.#beating = (async () => {
      const startedMs = clock.monotonicMs();
      for (let beat = 0; !this.#stop.signal.aborted; beat += 1) {
        const waitMs = startedMs + beat * everyMs - clock.monotonicMs();
        if (waitMs > 1) await sleep(clock, waitMs, this.#stop.signal);
        if (this.#stop.signal.aborted) return;
        void this.#renew(names[beat % names.length] ?? '');
      }
    })();
  }

  async stop(): Promise<void> {
    this.#stop.abort();
    await this.#beating;
  }

  async #register(name: string): Promise<void> {
    const { client, clock, cpus = 64, memoryBytes = 256 * GiB, maxSandboxes = 100 } = this.#options;
    const { status, metadata, ...rest } = sandboxNode(name, {
      runtimes: [docker({ cpus, memoryBytes })],
      spec: { maxSandboxes },
    });
    const made = await client.create<SandboxNode>(SANDBOX_NODES, {
      ...rest,
      metadata: { name: metadata.name },
    });
    await client.update<SandboxNode>(
      SANDBOX_NODES,
      { ...made, ...(status && { status }) },
      { subresource: 'status' },
    );
    const fresh = lease(name, clock.now());
    this.#leases.set(
      name,
      await client.create<Lease>(LEASES, { ...fresh, metadata: { namespace: NAMESPACE, name } }),
    );
  }

  async #renew(name: string): Promise<void> {
    const { client, clock } = this.#options;
    const held = this.#leases.get(name);
    const { spec } = lease(name, clock.now());
    if (held === undefined || spec === undefined) return;
    try {
      this.#leases.set(name, await client.update<Lease>(LEASES, { ...held, spec }));
    } catch (error) {
      this.failures += 1;
      if (isConflict(error))
        this.#leases.set(name, await client.get<Lease>(LEASES, { namespace: NAMESPACE, name }));
    }
  }
}

/** Calls for each item, so many at a time. */
export async function atOnce<T>(
  count: number,
  items: readonly T[],
  call: (item: T) => Promise<unknown>,
): Promise<void> {
  let next = 0;
  const worker = async (): Promise<void> => {
    while (next < items.length) {
      const item = items[next++] as T;
      await call(item);
    }
  };
  await Promise.all(Array.from({ length: Math.min(count, items.length) }, worker));
}

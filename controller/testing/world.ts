import pino from 'pino';
import type { SandboxNode } from '../../crds/sandbox-node.ts';
import type { Sandbox, SandboxSpec, SandboxStatus } from '../../crds/sandbox.ts';
import { type KubeClient, ApiError } from '../../kube/client.ts';
import type { Clock } from '../../kube/clock.ts';
import { isAlreadyExists } from '../../kube/errors.ts';
import type { Lease } from '../../kube/lease.ts';
import { LEASES, NAMESPACES, SANDBOX_NODES, SANDBOXES } from '../../kube/resources.ts';
import { type RunningController, startController } from '../start.ts';
import { lease, sandboxSpec } from './objects.ts';

/** For tests: an API (any), a controller on it, and the part of agents and users played by hand. */
export class World {
  readonly client: KubeClient;
  readonly clock: Clock;
  readonly namespace: string;
  #controller: RunningController | undefined;

  constructor(options: { client: KubeClient; clock: Clock; namespace?: string }) {
    this.client = options.client;
    this.clock = options.clock;
    this.namespace = options.namespace ?? 'default';
  }

  start(
    options: { leaderElection?: boolean; identity?: string; client?: KubeClient } = {},
  ): RunningController {
    this.#controller = startController({
      client: options.client ?? this.client,
      clock: this.clock,
      log: pino({ level: process.env['HOLDFAST_TEST_LOG'] ?? 'silent' }),
      random: Math.random,
      identity: options.identity ?? 'controller-1',
      leaderElection: options.leaderElection ?? false,
    });
    return this.#controller;
  }

  async stop(): Promise<void> {
    await this.#controller?.stop();
    this.#controller = undefined;
  }

  /** As an agent does: the SandboxNode, its status, its lease. */
  async node(object: SandboxNode): Promise<void> {
    await this.client.create(NAMESPACES, namespace('holdfast-system')).catch(ignoreExisting);
    const { status, metadata, ...rest } = object;
    const { uid: _, ...named } = metadata;
    const created = await this.client.create(SANDBOX_NODES, { ...rest, metadata: named });
    if (status) await this.client.update(SANDBOX_NODES, { ...created, status }, { subresource: 'status' });
    await this.beat(metadata.name);
  }

  async nodeStatus(name: string, change: (node: SandboxNode) => SandboxNode['status']): Promise<void> {
    await retried(async () => {
      const node = await this.client.get<SandboxNode>(SANDBOX_NODES, { name });
      const status = change(node);
      await this.client.update(
        SANDBOX_NODES,
        { ...node, ...(status && { status }) },
        { subresource: 'status' },
      );
    });
  }

  /** Renews the lease of a node, or makes it. */
  async beat(name: string): Promise<void> {
    const fresh = lease(name, this.clock.now());
    const ref = { namespace: 'holdfast-system', name };
    await retried(async () => {
      const before = await this.client.get<Lease>(LEASES, ref).catch(ignoreMissing);
      if (before) await this.client.update(LEASES, { ...before, ...(fresh.spec && { spec: fresh.spec }) });
      else await this.client.create(LEASES, { ...fresh, metadata: ref });
    });
  }

  async create(name: string, spec: Partial<SandboxSpec> = {}): Promise<Sandbox> {
    return this.client.create<Sandbox>(SANDBOXES, {
      apiVersion: 'holdfast.dev/v1alpha1',
      kind: 'Sandbox',
      metadata: { namespace: this.namespace, name },
      spec: sandboxSpec(spec),
    });
  }

  async get(name: string): Promise<Sandbox | undefined> {
    return this.client.get<Sandbox>(SANDBOXES, { namespace: this.namespace, name }).catch(ignoreMissing);
  }

  async edit(name: string, spec: Partial<SandboxSpec>): Promise<void> {
    await this.client.patch(SANDBOXES, { namespace: this.namespace, name }, { spec }, { type: 'merge' });
  }

  /** As the agent of its node does. */
  async agentSays(name: string, change: (status: SandboxStatus) => SandboxStatus): Promise<void> {
    await retried(async () => {
      const sandbox = await this.client.get<Sandbox>(SANDBOXES, { namespace: this.namespace, name });
      const status = change(sandbox.status ?? {});
      await this.client.update(SANDBOXES, { ...sandbox, status }, { subresource: 'status' });
    });
  }

  async delete(name: string): Promise<void> {
    await this.client.delete(SANDBOXES, { namespace: this.namespace, name });
  }

  /** The sandbox once `holds` of it; throws with what it was last when that does not come about. */
  async until(name: string, holds: (sandbox: Sandbox | undefined) => boolean): Promise<Sandbox> {
    let last: Sandbox | undefined;
    await eventually(
      async () => {
        last = await this.get(name);
        return holds(last);
      },
      () => JSON.stringify(last?.status),
    );
    return last as Sandbox;
  }
}

/** Looks again and again until it holds, with one deadline for all. */
export async function eventually(
  holds: () => Promise<boolean> | boolean,
  describe: () => string = () => '',
  deadlineMs = 60_000,
): Promise<void> {
  const end = performance.now() + deadlineMs;
  while (!(await holds())) {
    if (performance.now() > end) throw new Error(`did not come about: ${describe()}`);
    await new Promise((resolve) => setTimeout(resolve, 1));
  }
}

export function condition(sandbox: Sandbox | undefined, type: string): string {
  const found = sandbox?.status?.conditions?.find((one) => one.type === type);
  return found === undefined ? 'none' : `${found.status} ${found.reason}`;
}

async function retried(call: () => Promise<void>): Promise<void> {
  for (let tries = 0; ; tries += 1) {
    try {
      await call();
      return;
    } catch (error) {
      if (!(error instanceof ApiError) || error.code !== 409 || tries > 20) throw error;
    }
  }
}

function namespace(name: string): { apiVersion: string; kind: string; metadata: { name: string } } {
  return { apiVersion: 'v1', kind: 'Namespace', metadata: { name } };
}

function ignoreExisting(error: unknown): undefined {
  if (!isAlreadyExists(error)) throw error;
  return undefined;
}

function ignoreMissing(error: unknown): undefined {
  if (!(error instanceof ApiError) || error.code !== 404) throw error;
  return undefined;
}

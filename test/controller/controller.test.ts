import { randomBytes } from 'node:crypto';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import {
  condition as conditionObject,
  docker,
  limitsAll,
  sandboxNode,
} from '../../controller/testing/objects.ts';
import { condition, eventually, World } from '../../controller/testing/world.ts';
import { FINALIZER } from '../../crds/group.ts';
import type { SandboxNode } from '../../crds/sandbox-node.ts';
import type { Sandbox } from '../../crds/sandbox.ts';
import type { KubeObject } from '../../kube/client.ts';
import { isNotFound } from '../../kube/errors.ts';
import { systemClock } from '../../kube/clock.ts';
import type { Lease } from '../../kube/lease.ts';
import { EVENTS, LEASES, NAMESPACES, SANDBOX_NODES, SANDBOXES } from '../../kube/resources.ts';
import { type RunningAPI, testAPIs } from './apis.ts';

const Gi = 1024 ** 3;

/** The controller on a whole API server: what its unit tests show on one in memory, on the wire. */
describe.each(testAPIs())('the controller on the $name API', ({ start }) => {
  let api: RunningAPI;
  let world: World;
  let run: string;

  beforeAll(async () => {
    api = await start();
  });

  afterAll(async () => {
    await api.stop();
  });

  beforeEach(async () => {
    run = randomBytes(4).toString('hex');
    const namespace = `test-${run}`;
    await api.client.create(NAMESPACES, {
      apiVersion: 'v1',
      kind: 'Namespace',
      metadata: { name: namespace },
    });
    world = new World({ client: api.client, clock: systemClock, namespace });
  });

  afterEach(async () => {
    await world.stop();
    for (const sandbox of (await api.client.list<Sandbox>(SANDBOXES, { namespace: world.namespace })).items) {
      const ref = { namespace: world.namespace, name: sandbox.metadata.name };
      await api.client.patch(SANDBOXES, ref, { metadata: { finalizers: null } }, { type: 'merge' });
      await api.client.delete(SANDBOXES, ref).catch(() => undefined);
    }
    for (const node of (await api.client.list<SandboxNode>(SANDBOX_NODES, {})).items) {
      await api.client.delete(SANDBOX_NODES, { name: node.metadata.name });
    }
  });

  it('[K3] [K4] binds with the finalizer, tells it in an Event, and deletes when the agent has let go', async () => {
    await world.node(sandboxNode(`a-${run}`));
    world.start();
    await world.create('s', { resources: { cpu: '500m', memory: '1g' }, command: ['true'] });
    const bound = await world.until('s', (sandbox) => sandbox?.status?.nodeName === `a-${run}`);
    expect(bound.metadata.finalizers).toEqual([FINALIZER]);
    expect(condition(bound, 'Scheduled')).toBe('True Bound');
    expect(condition(bound, 'Complete')).toBe('False NotFinished');
    await eventually(async () => {
      const events = await api.client.list<KubeObject & { reason: string }>(EVENTS, {
        namespace: world.namespace,
      });
      return events.items.some(({ reason }) => reason === 'Scheduled');
    });
    await world.delete('s');
    await world.agentSays('s', (status) => ({
      ...status,
      conditions: [
        ...(status.conditions ?? []),
        conditionObject('ContainerGone', 'True', 'ContainerRemoved'),
      ],
    }));
    await world.until('s', (sandbox) => sandbox === undefined);
  });

  it('[K1] [K3] an agent can watch its own sandboxes alone, by status.nodeName', async () => {
    await world.node(sandboxNode(`a-${run}`));
    world.start();
    await world.create('s');
    await world.create('t', { resources: { memory: '64Gi' } });
    await world.until('s', (sandbox) => sandbox?.status?.nodeName === `a-${run}`);
    const own = await api.client.list<Sandbox>(SANDBOXES, { fieldSelector: `status.nodeName=a-${run}` });
    expect(own.items.map(({ metadata }) => metadata.name)).toEqual(['s']);
  });

  it('[L9] stops where no node can enforce, and starts by itself when one becomes able', async () => {
    const unable = docker({
      limits: limitsAll({ enforced: 'No', reason: 'no controller', fix: 'delegate it' }),
    });
    await world.node(sandboxNode(`a-${run}`, { runtimes: [unable] }));
    world.start();
    await world.create('s', { resources: { memory: '1g' } });
    const stalled = await world.until(
      's',
      (sandbox) => condition(sandbox, 'Stalled') === 'True MemoryUnenforceable',
    );
    expect(stalled.status?.conditions?.find(({ type }) => type === 'LimitUnenforceable')?.message).toContain(
      `a-${run} (docker): memory: no controller. Fix: delegate it.`,
    );
    await world.nodeStatus(`a-${run}`, (node) => ({ ...node.status, runtimes: [docker()] }));
    await world.until('s', (sandbox) => sandbox?.status?.nodeName === `a-${run}`);
  });

  it('[K4] forty at once on two nodes: no node is promised more than it has', async () => {
    await world.node(sandboxNode(`a-${run}`, { runtimes: [docker({ memoryBytes: 8 * Gi })] }));
    await world.node(sandboxNode(`b-${run}`, { runtimes: [docker({ memoryBytes: 4 * Gi })] }));
    world.start();
    await Promise.all(
      Array.from({ length: 40 }, async (_, i) => world.create(`s${i}`, { resources: { memory: '1g' } })),
    );
    const all = async (): Promise<Sandbox[]> =>
      (await api.client.list<Sandbox>(SANDBOXES, { namespace: world.namespace })).items;
    await eventually(async () =>
      (await all()).every((sandbox) => condition(sandbox, 'Scheduled') !== 'none'),
    );
    const nodes = (await all()).map((sandbox) => sandbox.status?.nodeName);
    expect(nodes.filter((node) => node === `a-${run}`)).toHaveLength(8);
    expect(nodes.filter((node) => node === `b-${run}`)).toHaveLength(4);
  });

  it('[K1] a name of 253 characters is placed, told in an Event and deleted like any other', async () => {
    const name = `${'n'.repeat(250)}.${run.slice(0, 2)}`;
    await world.node(sandboxNode(`a-${run}`));
    world.start();
    await world.create(name);
    const bound = await world.until(name, (sandbox) => sandbox?.status?.nodeName === `a-${run}`);
    await eventually(async () => {
      const events = await api.client.list<KubeObject & { involvedObject: { uid: string } }>(EVENTS, {
        namespace: world.namespace,
      });
      return events.items.some(({ involvedObject }) => involvedObject.uid === bound.metadata.uid);
    });
  });

  it('[K6] a node whose lease is not renewed is lost within its duration', async () => {
    await world.node(sandboxNode(`a-${run}`));
    const ref = { namespace: 'holdfast-system', name: `a-${run}` };
    const lease = await api.client.get<Lease>(LEASES, ref);
    await api.client.update(LEASES, { ...lease, spec: { ...lease.spec, leaseDurationSeconds: 2 } });
    world.start();
    await world.create('s');
    await world.until('s', (sandbox) => sandbox?.status?.nodeName === `a-${run}`);
    await world.until('s', (sandbox) => condition(sandbox, 'Ready') === 'Unknown NodeLost');
  });

  it('[K3] [K5] a namespace that is deleted goes, once the agents have let go of what is in it', async () => {
    await world.node(sandboxNode(`a-${run}`));
    world.start();
    await world.create('bound');
    await world.create('unbound', { resources: { memory: '64Gi' } });
    await world.until('bound', (sandbox) => sandbox?.status?.nodeName === `a-${run}`);
    await api.client.delete(NAMESPACES, { name: world.namespace });
    await world.until('unbound', (sandbox) => sandbox === undefined);
    await world.until('bound', (sandbox) => sandbox?.metadata.deletionTimestamp !== undefined);
    await world.agentSays('bound', (status) => ({
      ...status,
      conditions: [conditionObject('ContainerGone', 'True', 'ContainerRemoved')],
    }));
    await eventually(async () =>
      api.client.get(NAMESPACES, { name: world.namespace }).then(
        () => false,
        (error: unknown) => isNotFound(error),
      ),
    );
  });

  it('[K3] [K5] status, labels and finalizers that somebody edits by hand: what is bound is not bound again, what is not is placed', async () => {
    await world.node(sandboxNode(`a-${run}`));
    world.start();
    const ref = (name: string): { namespace: string; name: string } => ({ namespace: world.namespace, name });
    const byHand = async (name: string, patch: object, subresource?: 'status'): Promise<unknown> =>
      api.client.patch(SANDBOXES, ref(name), patch, {
        type: 'merge',
        ...(subresource !== undefined && { subresource }),
      });
    // Nonsense before it is placed.
    await world.create('s', { suspend: true });
    await world.until('s', (sandbox) => condition(sandbox, 'Suspended') === 'True SuspendedByUser');
    const lies = [conditionObject('Ready', 'True', 'Running'), conditionObject('Scheduled', 'True', 'Bound')];
    await byHand('s', { status: { phase: 'Running', conditions: lies } }, 'status');
    await byHand('s', { metadata: { labels: { a: 'b' }, finalizers: ['example.org/other'] } });
    await world.edit('s', { suspend: false });
    const bound = await world.until('s', (sandbox) => sandbox?.status?.nodeName === `a-${run}`);
    expect(bound.metadata.finalizers).toEqual(['example.org/other', FINALIZER]);
    expect(condition(bound, 'Ready')).toBe('False Bound');
    // After it: the agent's to put right, and nothing of it is decided again.
    await byHand('s', { status: { conditions: [] } }, 'status');
    await byHand('s', { metadata: { labels: null, finalizers: ['example.org/other'] } });
    await world.create('next');
    await world.until('next', (sandbox) => sandbox?.status?.nodeName === `a-${run}`);
    expect((await world.get('s'))?.status?.nodeName).toBe(`a-${run}`);
    // Without our finalizer nothing of ours holds it; somebody else's is left to them.
    await world.delete('s');
    await world.until('s', (sandbox) => sandbox?.metadata.deletionTimestamp !== undefined);
    expect((await world.get('s'))?.metadata.finalizers).toEqual(['example.org/other']);
    await byHand('s', { metadata: { finalizers: null } });
    await world.until('s', (sandbox) => sandbox === undefined);
  });

  it('[K10] deletes what has ended when its time to live is over', async () => {
    await world.node(sandboxNode(`a-${run}`));
    world.start();
    await world.create('s', { command: ['true'], ttlSecondsAfterFinished: 0 });
    await world.until('s', (sandbox) => sandbox?.status?.nodeName === `a-${run}`);
    await world.agentSays('s', (status) => ({
      ...status,
      finishedAt: new Date().toISOString(),
      conditions: [
        conditionObject('Complete', 'True', 'Succeeded'),
        conditionObject('ContainerGone', 'True', 'ContainerRemoved'),
      ],
    }));
    await world.until('s', (sandbox) => sandbox === undefined);
  });
});

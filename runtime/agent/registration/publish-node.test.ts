import { describe, expect, it } from 'vitest';
import type { SandboxNode } from '../../../crds/sandbox-node.ts';
import { ApiError, type KubeObject } from '../../../kube/client.ts';
import { Lister } from '../../../kube/lister.ts';
import { Reflector } from '../../../kube/reflector.ts';
import { NODES, SANDBOX_NODES } from '../../../kube/resources.ts';
import { FakeKubeClient } from '../../../kube/testing/fake-client.ts';
import { FakeClock } from '../../../kube/testing/fake-clock.ts';
import { half, silent } from '../../../kube/testing/fixtures.ts';
import { plainSteps } from '../../../kube/fault-points.ts';
import type { Runtime } from '../runtimes/runtime.ts';
import { NodePublisher, type NodePublisherOptions } from './publish-node.ts';

const yes = { enforced: 'Yes' as const, reason: 'it has the controller' };
const runtime = {
  driver: { name: 'docker' },
  probe: { probe: {}, why: '' },
  ask: () =>
    Promise.resolve({
      state: 'Ok',
      info: { name: 'docker', limits: { cpu: yes, memory: yes, swap: yes, pids: yes } },
    }),
} as unknown as Runtime;

async function setUp(more: Partial<NodePublisherOptions> = {}, objects: KubeObject[] = []) {
  const clock = new FakeClock();
  const client = new FakeKubeClient({ now: () => clock.now() });
  for (const object of objects) await client.create(NODES, object);
  const stop = new AbortController();
  const publisher = new NodePublisher({
    client,
    clock,
    nodeName: 'n',
    agent: { version: '1', instance: 'i', startedAt: '2026-01-01T00:00:00Z' },
    runtimes: [runtime],
    reserve: { memory: '2Gi' },
    reserveForKubelet: false,
    ...more,
    log: silent,
    step: plainSteps,
  });
  const lister = new Lister<SandboxNode>();
  lister.onChange((_key, _old, node) => {
    if (publisher.seen(node)) void publisher.publish(stop.signal);
  });
  const running = new Reflector<SandboxNode>({
    client,
    resource: SANDBOX_NODES,
    options: { fieldSelector: 'metadata.name=n' },
    lister,
    clock,
    random: half,
    log: silent,
  }).run(stop.signal);
  await publisher.publish(stop.signal);
  await clock.advance(100);
  return {
    clock,
    client,
    publisher,
    stop,
    node: () => client.get<SandboxNode>(SANDBOX_NODES, { name: 'n' }),
    end: async () => {
      stop.abort();
      client.closeWatches();
      await running;
    },
  };
}

const kubelet = (memory: string) => ({
  apiVersion: 'v1',
  kind: 'Node',
  metadata: { name: 'n' },
  status: { allocatable: { cpu: '3920m', memory } },
});

describe('the SandboxNode of a live agent', () => {
  it('[K7] is made with all that the kubelet may give reserved, where the agent was told so', async () => {
    const { node, end } = await setUp({ reserve: {}, reserveForKubelet: true }, [kubelet('8388608Ki')]);
    expect((await node()).spec).toEqual({ reserved: { cpu: '3920m', memory: 8 * 1024 ** 3 } });
    const { conditions } = (await node()).status ?? {};
    expect(conditions?.find(({ type }) => type === 'MemoryOverlap')?.reason).toBe('HeldBack');
    await end();
  });

  it('[K7] is not made while it cannot be known what the kubelet may give', async () => {
    const clock = new FakeClock();
    const client = new FakeKubeClient({ now: () => clock.now() });
    client.before = ({ plural }) => {
      if (plural === 'nodes') throw new ApiError('no', { code: 503 });
    };
    const publisher = new NodePublisher({
      client,
      clock,
      nodeName: 'n',
      agent: { version: '1', instance: 'i', startedAt: '2026-01-01T00:00:00Z' },
      runtimes: [runtime],
      reserve: {},
      reserveForKubelet: true,
      log: silent,
      step: plainSteps,
    });
    await expect(publisher.publish(new AbortController().signal)).rejects.toThrow('no');
    expect(client.writes).toEqual([]);
  });

  it('[K4] is made with what the agent was told to reserve, and says what the kubelet of the node could promise too', async () => {
    const { client, clock, publisher, stop, node, end } = await setUp();
    expect((await node()).spec).toEqual({ reserved: { memory: '2Gi' } });
    const condition = async () =>
      (await node()).status?.conditions?.find(({ type }) => type === 'MemoryOverlap')?.status;
    expect(await condition()).toBeUndefined();
    await client.create(NODES, kubelet('8Gi'));
    await clock.advance(30_000);
    await publisher.publish(stop.signal);
    expect(await condition()).toBe('True');
    const seen = await node();
    await client.update<SandboxNode>(SANDBOX_NODES, {
      ...seen,
      spec: { ...seen.spec, reserved: { memory: '8Gi' } } as NonNullable<SandboxNode['spec']>,
    });
    await clock.advance(1000);
    expect(await condition()).toBe('False');
    await client.delete(NODES, { name: 'n' });
    await clock.advance(30_000);
    await publisher.publish(stop.signal);
    expect(await condition()).toBeUndefined();
    await end();
  });

  it('[K5] is written once, and what the agent sees of its own writes makes it write nothing', async () => {
    const { client, clock, end } = await setUp();
    expect(client.writes.map(({ verb }) => verb)).toEqual(['create', 'update']);
    await clock.advance(30_000);
    expect(client.writes).toHaveLength(2);
    await end();
  });

  it('[K6] is made again when somebody deletes it', async () => {
    const { client, clock, node, end } = await setUp();
    await client.delete(SANDBOX_NODES, { name: 'n' });
    await clock.advance(1000);
    expect((await node()).status?.conditions?.[0]).toMatchObject({ type: 'Ready', status: 'True' });
    await end();
  });

  it('[K6] is put right when somebody writes over its status, and left alone where nothing of it is wrong', async () => {
    const { client, clock, node, end } = await setUp();
    const before = await node();
    const status = { ...before.status, runtimes: [] };
    await client.update<SandboxNode>(SANDBOX_NODES, { ...before, status }, { subresource: 'status' });
    await clock.advance(1000);
    expect((await node()).status?.runtimes).toHaveLength(1);
    const { length } = client.writes;
    const labelled = await node();
    await client.update<SandboxNode>(SANDBOX_NODES, {
      ...labelled,
      metadata: { ...labelled.metadata, labels: { a: 'b' } },
    });
    await clock.advance(1000);
    expect(client.writes).toHaveLength(length + 1);
    await end();
  });

  it('[K5] costs one look for all who ask while one is under way', async () => {
    const { client, publisher, stop, end } = await setUp();
    client.calls.length = 0;
    publisher.seen(undefined);
    const asked = [1, 2, 3, 4].map(() => publisher.publish(stop.signal));
    await Promise.all(asked);
    expect(
      client.calls.filter(({ verb, plural }) => verb === 'get' && plural === 'sandboxnodes'),
    ).toHaveLength(1);
    await end();
  });
});

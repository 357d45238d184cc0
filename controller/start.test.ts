import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { FINALIZER } from '../crds/group.ts';
import { ApiError, type KubeClient, type KubeObject } from '../kube/client.ts';
import { TransportError } from '../kube/errors.ts';
import { LEASES, SANDBOX_NODES } from '../kube/resources.ts';
import { FakeClock } from '../kube/testing/fake-clock.ts';
import { FakeKubeClient } from '../kube/testing/fake-client.ts';
import { condition as conditionObject, docker, limitsAll, sandboxNode } from './testing/objects.ts';
import { condition, eventually, World } from './testing/world.ts';

const Gi = 1024 ** 3;
let clock: FakeClock;
let client: FakeKubeClient;
let world: World;

/** Time runs, a little at each look, so that debounced work and backoffs come about. */
async function passing(holds: () => Promise<boolean> | boolean, stepMs = 20): Promise<void> {
  await eventually(async () => {
    await clock.advance(stepMs);
    return holds();
  });
}

function without<T extends object, K extends keyof T>(object: T, ...keys: K[]): Omit<T, K> {
  const rest = { ...object };
  for (const key of keys) Reflect.deleteProperty(rest, key);
  return rest;
}

beforeEach(() => {
  clock = new FakeClock();
  client = new FakeKubeClient({ now: () => clock.now() });
  world = new World({ client, clock });
});

afterEach(async () => {
  client.before = undefined;
  await world.stop();
  expect(clock.pending).toBe(0);
});

describe('the controller', { timeout: 90_000 }, () => {
  it('[K3] [K4] binds a sandbox: the finalizer first, then one status write', async () => {
    await world.node(sandboxNode('a'));
    world.start();
    await world.create('s', { resources: { memory: '1g' } });
    const bound = await world.until('s', (sandbox) => sandbox?.status?.nodeName === 'a');
    expect(bound.metadata.finalizers).toEqual([FINALIZER]);
    expect(bound.status).toMatchObject({ runtime: 'docker', phase: 'Pending' });
    expect(condition(bound, 'Scheduled')).toBe('True Bound');
    const writes = client.writes.filter(({ plural }) => plural === 'sandboxes').slice(1);
    expect(writes.map(({ verb, subresource }) => `${verb} ${subresource ?? ''}`)).toEqual([
      'patch ',
      'update status',
    ]);
    await passing(() => client.writes.some(({ plural }) => plural === 'events'));
  });

  it('[K5] lists once at the start and never again, and writes nothing when nothing changes', async () => {
    await world.node(sandboxNode('a'));
    world.start();
    for (let i = 0; i < 20; i += 1)
      await world.create(`s${i}`, { resources: { memory: i < 10 ? '256m' : '64Gi' } });
    await passing(async () => {
      const states = await Promise.all(Array.from({ length: 20 }, async (_, i) => world.get(`s${i}`)));
      return states.every(
        (sandbox, i) => condition(sandbox, 'Scheduled') === (i < 10 ? 'True Bound' : 'False Unschedulable'),
      );
    });
    const writes = (): number => client.writes.filter(({ plural }) => plural !== 'leases').length;
    let before = writes();
    await passing(() => {
      const now = writes();
      const quiet = now === before;
      before = now;
      return quiet;
    }, 5_000);
    for (let i = 0; i < 60; i += 1) {
      await clock.advance(10_000);
      await world.beat('a');
      if (i % 7 === 0) client.closeWatches();
    }
    expect(writes()).toBe(before);
    expect(client.calls.filter(({ verb }) => verb === 'list')).toHaveLength(3);
  });

  it('[K4] never promises a node more than it has, however many are placed at once', async () => {
    await world.node(sandboxNode('a', { runtimes: [docker({ memoryBytes: 4 * Gi })] }));
    await world.node(sandboxNode('b', { runtimes: [docker({ memoryBytes: 2 * Gi })] }));
    await Promise.all(
      Array.from({ length: 20 }, async (_, i) => world.create(`s${i}`, { resources: { memory: '1g' } })),
    );
    world.start();
    await passing(async () => {
      const states = await Promise.all(Array.from({ length: 20 }, async (_, i) => world.get(`s${i}`)));
      return states.every((sandbox) => condition(sandbox, 'Scheduled') !== 'none');
    });
    const states = await Promise.all(Array.from({ length: 20 }, async (_, i) => world.get(`s${i}`)));
    const on = (node: string): number =>
      states.filter((sandbox) => sandbox?.status?.nodeName === node).length;
    expect([on('a'), on('b')]).toEqual([4, 2]);
  });

  it('[K4] what waits is placed when room becomes free', async () => {
    await world.node(sandboxNode('a', { runtimes: [docker({ memoryBytes: Gi })] }));
    world.start();
    await world.create('first', { resources: { memory: '1g' }, command: ['true'] });
    await world.until('first', (sandbox) => sandbox?.status?.nodeName === 'a');
    await world.create('second', { resources: { memory: '1g' } });
    await world.until('second', (sandbox) => condition(sandbox, 'Scheduled') === 'False Unschedulable');
    await world.agentSays('first', (status) => ({
      ...status,
      finishedAt: '2026-01-01T00:00:00Z',
      conditions: [conditionObject('Complete', 'True', 'Succeeded')],
    }));
    await passing(async () => (await world.get('second'))?.status?.nodeName === 'a');
  });

  it('[L9] stops where no node can enforce a limit, and starts by itself when one becomes able', async () => {
    const unable = docker({
      limits: limitsAll({ enforced: 'No', reason: 'no controller', fix: 'delegate it' }),
    });
    await world.node(sandboxNode('a', { runtimes: [unable] }));
    world.start();
    await world.create('s', { resources: { pids: 64 } });
    const stalled = await world.until(
      's',
      (sandbox) => condition(sandbox, 'Stalled') === 'True PIDsUnenforceable',
    );
    expect(condition(stalled, 'LimitUnenforceable')).toBe('True PIDsUnenforceable');
    expect(stalled.metadata.finalizers).toBeUndefined();
    await world.nodeStatus('a', (node) => ({ ...node.status, runtimes: [docker()] }));
    await passing(async () => (await world.get('s'))?.status?.nodeName === 'a');
    const bound = await world.get('s');
    expect(condition(bound, 'LimitUnenforceable')).toBe('False Enforceable');
    expect(condition(bound, 'Stalled')).toBe('False AsRequested');
  });

  it('[S2] a declined handover goes back to the queue, is offered elsewhere, and to the same node later', async () => {
    await world.node(sandboxNode('a'));
    world.start();
    await world.create('s');
    await world.until('s', (sandbox) => sandbox?.status?.nodeName === 'a');
    const decline = async (): Promise<void> =>
      world.agentSays('s', (status) => ({
        ...without(status, 'nodeName', 'runtime'),
        conditions: [
          conditionObject('Scheduled', 'False', 'Declined', 'Node a handed it back'),
          conditionObject('StorageReserveLow', 'True', 'ReserveLow', '900 MiB of 1024 MiB'),
        ],
      }));
    await decline();
    const waits = await world.until(
      's',
      (sandbox) => condition(sandbox, 'Scheduled') === 'False Unschedulable',
    );
    expect(condition(waits, 'StorageReserveLow')).toBe('True ReserveLow');
    await passing(async () => (await world.get('s'))?.status?.nodeName === 'a', 1_000);
    expect(condition(await world.get('s'), 'StorageReserveLow')).toBe('False Bound');
    await decline();
    await world.until('s', (sandbox) => condition(sandbox, 'Scheduled') === 'False Unschedulable');
    await world.node(sandboxNode('b'));
    await passing(async () => (await world.get('s'))?.status?.nodeName === 'b');
  });

  it('[K9] a spec that this version cannot do stops, and is placed once it is corrected', async () => {
    await world.node(sandboxNode('a'));
    world.start();
    await world.create('s', { network: { runtime: { allow: ['example.org'] } } });
    await world.until('s', (sandbox) => condition(sandbox, 'Stalled') === 'True NetworkUnsupported');
    await world.edit('s', { network: { runtime: { allow: [] } } });
    await world.until('s', (sandbox) => sandbox?.status?.nodeName === 'a');
  });

  it('[K10] a suspended sandbox is held back until it is resumed', async () => {
    await world.node(sandboxNode('a'));
    world.start();
    await world.create('s', { suspend: true });
    const held = await world.until(
      's',
      (sandbox) => condition(sandbox, 'Suspended') === 'True SuspendedByUser',
    );
    expect(held.status?.nodeName).toBeUndefined();
    await world.edit('s', { suspend: false });
    await world.until('s', (sandbox) => sandbox?.status?.nodeName === 'a');
  });

  it('[K3] deletes what no node has at once, and what a node has when the agent says so', async () => {
    await world.node(sandboxNode('a'));
    world.start();
    await world.create('bound');
    await world.until('bound', (sandbox) => sandbox?.status?.nodeName === 'a');
    await world.create('unbound', { resources: { memory: '64Gi' } });
    await world.until('unbound', (sandbox) => condition(sandbox, 'Scheduled') === 'False Unschedulable');
    await world.delete('unbound');
    await world.until('unbound', (sandbox) => sandbox === undefined);
    await world.delete('bound');
    await clock.advance(60_000);
    expect((await world.get('bound'))?.metadata.deletionTimestamp).toBeDefined();
    await world.agentSays('bound', (status) => ({
      ...status,
      conditions: [conditionObject('ContainerGone', 'True', 'ContainerRemoved')],
    }));
    await world.until('bound', (sandbox) => sandbox === undefined);
  });

  it('[K6] a lost node shows as Ready=Unknown, takes no more, and a deletion ends with its SandboxNode', async () => {
    await world.node(sandboxNode('a'));
    world.start();
    await world.create('s');
    await world.until('s', (sandbox) => sandbox?.status?.nodeName === 'a');
    await passing(async () => condition(await world.get('s'), 'Ready') === 'Unknown NodeLost', 5_000);
    await world.create('late');
    await world.until('late', (sandbox) => condition(sandbox, 'Scheduled') === 'False Unschedulable');
    await world.delete('s');
    await clock.advance(1_000);
    expect(await world.get('s')).toBeDefined();
    await client.delete(SANDBOX_NODES, { name: 'a' });
    await world.until('s', (sandbox) => sandbox === undefined);
  });

  it('[K3] [K5] a SandboxNode deleted under a living agent: nothing is written over its word, or let go before it', async () => {
    await world.node(sandboxNode('a'));
    world.start();
    await world.create('s');
    await world.until('s', (sandbox) => sandbox?.status?.nodeName === 'a');
    const running = conditionObject('Ready', 'True', 'Running');
    const says = async (message: string): Promise<void> =>
      world.agentSays('s', (status) => ({ ...status, conditions: [{ ...running, message }] }));
    await says('begun');
    await clock.advance(10_000);
    await world.beat('a');
    await client.delete(SANDBOX_NODES, { name: 'a' });
    for (let i = 0; i < 6; i += 1) {
      await clock.advance(10_000);
      await world.beat('a');
      await says(`beat ${i}`);
      expect(condition(await world.get('s'), 'Ready')).toBe('True Running');
    }
    await world.delete('s');
    await clock.advance(10_000);
    expect(await world.get('s')).toBeDefined();
    await passing(async () => (await world.get('s')) === undefined, 5_000);
  });

  describe('onNodeLoss: Replace', () => {
    const runs = async (): Promise<void> => {
      await world.create('s', { onNodeLoss: 'Replace', resources: { memory: '1g' } });
      await world.until('s', (sandbox) => sandbox?.status?.nodeName === 'a');
      await world.agentSays('s', (status) => ({
        ...status,
        fenceSeconds: 40,
        containerID: 'c1',
        startedAt: '2026-01-01T00:00:00Z',
        conditions: [conditionObject('Ready', 'True', 'Running')],
      }));
    };
    const home = async (): Promise<string> => (await world.get('s'))?.status?.nodeName ?? '';

    it('[K6] is placed anew after twice the time of its fence, never before, and told in an Event', async () => {
      await world.node(sandboxNode('a'));
      world.start();
      await runs();
      await world.node(sandboxNode('b'));
      const seen = new Map<string, number>();
      for (let seconds = 0; seconds < 90; seconds += 1) {
        if (seconds % 10 === 0) await world.beat('b');
        await clock.advance(1000);
        await new Promise((resolve) => setImmediate(resolve));
        const now = await world.get('s');
        const state = `${now?.status?.nodeName ?? ''} ${condition(now, 'Ready').split(' ')[0]}`;
        if (!seen.has(state)) seen.set(state, seconds + 1);
      }
      expect(seen.get('a Unknown')).toBeGreaterThanOrEqual(40);
      expect(seen.get('a Unknown')).toBeLessThanOrEqual(42);
      expect(await home()).toBe('b');
      expect(seen.get('b False')).toBeGreaterThanOrEqual(80);
      expect((await world.get('s'))?.status?.lastTermination?.cause).toBe('NodeLost');
      await passing(() => client.writes.some(({ plural }) => plural === 'events'));
    });

    it('[K5] [K6] a watch that has gone silent does not make a living node lost: its lease is looked at afresh', async () => {
      let muted = false;
      const deaf = Object.create(client) as FakeKubeClient;
      deaf.watch = async function* <T extends KubeObject>(...rest: Parameters<KubeClient['watch']>) {
        for await (const event of client.watch<T>(...rest)) if (!muted || rest[0] !== LEASES) yield event;
      };
      for (const verb of ['get', 'list', 'create', 'update', 'patch', 'delete'] as const)
        Object.assign(deaf, { [verb]: client[verb].bind(client) });
      await world.node(sandboxNode('a'));
      world.start({ client: deaf });
      await runs();
      muted = true;
      for (let seconds = 0; seconds < 100; seconds += 10) {
        await world.beat('a');
        await passing(() => true, 10_000);
      }
      expect(await home()).toBe('a');
      // It had been taken for lost all the same.
      expect(condition(await world.get('s'), 'Ready')).toBe('Unknown NodeLost');
    });

    it('[K6] a clock of the node that is a minute off changes nothing', async () => {
      await world.node(sandboxNode('a'));
      world.start();
      await runs();
      for (const off of [-60_000, 60_000]) {
        for (let beats = 0; beats < 10; beats += 1) {
          await passing(() => true, 10_000);
          clock.jump(off);
          await world.beat('a');
          clock.jump(-off);
        }
        expect(await home()).toBe('a');
        expect(condition(await world.get('s'), 'Ready')).toBe('True Running');
      }
    });
  });

  it('[K6] what waited for a silent node is placed when it is heard again', async () => {
    await world.node(sandboxNode('a'));
    world.start();
    await clock.advance(60_000);
    await world.create('s');
    await world.until('s', (sandbox) => condition(sandbox, 'Scheduled') === 'False Unschedulable');
    await world.beat('a');
    await passing(async () => (await world.get('s'))?.status?.nodeName === 'a');
  });

  it('[K10] deletes what has ended when its time to live is over', async () => {
    await world.node(sandboxNode('a'));
    world.start();
    await world.create('s', { command: ['true'], ttlSecondsAfterFinished: 30 });
    await world.until('s', (sandbox) => sandbox?.status?.nodeName === 'a');
    await world.agentSays('s', (status) => ({
      ...status,
      finishedAt: clock.now().toISOString(),
      conditions: [
        conditionObject('Complete', 'True', 'Succeeded'),
        conditionObject('ContainerGone', 'True', 'ContainerRemoved'),
      ],
    }));
    await clock.advance(20_000);
    expect((await world.get('s'))?.metadata.deletionTimestamp).toBeUndefined();
    await passing(async () => (await world.get('s')) === undefined, 1_000);
  });

  it('[K5] a name that is used again is another sandbox', async () => {
    await world.node(sandboxNode('a', { runtimes: [docker({ memoryBytes: Gi })] }));
    world.start();
    await world.create('s', { resources: { memory: '64Gi' } });
    await world.until('s', (sandbox) => condition(sandbox, 'Scheduled') === 'False Unschedulable');
    await world.delete('s');
    await world.until('s', (sandbox) => sandbox === undefined);
    await world.create('s', { resources: { memory: '1g' } });
    await world.until('s', (sandbox) => sandbox?.status?.nodeName === 'a');
  });

  it.each([
    ['refuses', () => new ApiError('conflict', { code: 409, reason: 'Conflict' })],
    ['fails', () => new ApiError('internal error', { code: 500 })],
    ['is too busy', () => new ApiError('later', { code: 429, retryAfterSeconds: 1 })],
    ['does not answer', () => new TransportError('Timeout', 'no answer')],
  ])('[K5] comes to the same end when the API %s at every write once', async (_, error) => {
    await world.node(sandboxNode('a', { runtimes: [docker({ memoryBytes: 3 * Gi })] }));
    const failed = new Set<string>();
    client.before = (call) => {
      if (call.plural !== 'sandboxes' || !['patch', 'update'].includes(call.verb)) return;
      const id = `${call.verb} ${call.key}`;
      if (failed.has(id)) return;
      failed.add(id);
      throw error();
    };
    world.start();
    for (let i = 0; i < 6; i += 1) await world.create(`s${i}`, { resources: { memory: '1g' } });
    const states = async (): Promise<string[]> =>
      Promise.all(
        Array.from({ length: 6 }, async (_, i) => condition(await world.get(`s${i}`), 'Scheduled')),
      );
    await passing(async () => {
      const now = await states();
      return (
        now.filter((state) => state === 'True Bound').length === 3 &&
        now.filter((state) => state === 'False Unschedulable').length === 3
      );
    }, 500);
    expect(failed.size).toBeGreaterThanOrEqual(9);
  });

  it('[K3] [K5] a binding that was written though no answer came is kept, and is not made again', async () => {
    await world.node(sandboxNode('a', { runtimes: [docker({ memoryBytes: Gi })] }));
    await world.node(sandboxNode('b', { runtimes: [docker({ memoryBytes: Gi })] }));
    const answering = client.update.bind(client);
    let lost = 0;
    client.update = async (resource, object, options) => {
      const answer = await answering(resource, object, options);
      if (resource.plural === 'sandboxes' && lost++ === 0) throw new TransportError('Unreachable', 'reset');
      return answer;
    };
    world.start();
    await world.create('s', { resources: { memory: '1g' } });
    await world.until('s', (sandbox) => sandbox?.status?.nodeName === 'a');
    await clock.advance(5_000);
    expect((await world.get('s'))?.status?.nodeName).toBe('a');
    await world.create('t', { resources: { memory: '1g' } });
    await world.until('t', (sandbox) => sandbox?.status?.nodeName === 'b');
  });
});

describe('leader election', { timeout: 90_000 }, () => {
  it('[K6] one of two controllers works; the other takes over when it stops', async () => {
    await world.node(sandboxNode('a'));
    const first = world.start({ leaderElection: true, identity: 'one' });
    await world.create('s');
    await world.until('s', (sandbox) => sandbox?.status?.nodeName === 'a');
    const other = new World({ client, clock });
    const second = other.start({ leaderElection: true, identity: 'two' });
    await clock.advance(5_000);
    await first.stop();
    await world.create('t');
    await passing(async () => {
      await world.beat('a');
      return (await world.get('t'))?.status?.nodeName === 'a';
    }, 1_000);
    await second.stop();
  });

  it('stops though the API was never there', async () => {
    client.before = () => {
      throw new TransportError('Unreachable', 'refused');
    };
    const controller = world.start({ leaderElection: true });
    await clock.advance(1_000);
    await controller.stop();
    await expect(controller.done).resolves.toBeUndefined();
  });
});

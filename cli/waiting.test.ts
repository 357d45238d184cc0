import { pino } from 'pino';
import { describe, expect, it } from 'vitest';
import type { SandboxNode } from '../crds/sandbox-node.ts';
import type { KubeObject } from '../kube/client.ts';
import { setCondition, timestamp } from '../kube/conditions.ts';
import { SANDBOX_NODES, SANDBOXES } from '../kube/resources.ts';
import { writeStatus } from '../kube/status.ts';
import { FakeKubeClient } from '../kube/testing/fake-client.ts';
import { FakeClock } from '../kube/testing/fake-clock.ts';
import { nodeReady } from './node-ready.ts';
import { untilGone } from './until-gone.ts';

const log = pino({ level: 'silent' });

function setUp() {
  const clock = new FakeClock();
  const client = new FakeKubeClient({ now: () => clock.now() });
  const write = async (ready: boolean): Promise<void> => {
    const node = await client.get<SandboxNode>(SANDBOX_NODES, { name: 'n' });
    const conditions = setCondition(
      node.status?.conditions,
      { type: 'Ready', status: ready ? 'True' : 'False', reason: 'AsRequested' },
      { now: clock.now(), observedGeneration: 1 },
    );
    const agent = { version: '1', instance: 'i', startedAt: timestamp(clock.now()) };
    await writeStatus(client, SANDBOX_NODES, node, { ...node.status, agent, conditions });
  };
  const create = async (): Promise<void> => {
    const node = { apiVersion: 'holdfast.dev/v1alpha1', kind: 'SandboxNode', metadata: { name: 'n' } };
    await client.create<KubeObject>(SANDBOX_NODES, node);
  };
  const ready = (stop = new AbortController().signal) =>
    nodeReady({ client, nodeName: 'n', since: clock.now(), withinMs: 20_000, stop, log, clock });
  return { clock, client, write, create, ready };
}

describe('nodeReady', () => {
  it('waits for what this run says, not for what an earlier one left behind', async () => {
    const { clock, write, create, ready } = setUp();
    await create();
    await write(true);
    await clock.advance(60_000);
    const waiting = ready();
    let settled = false;
    void waiting.then(() => (settled = true));
    await clock.advance(5_000);
    expect(settled).toBe(false);
    await write(false);
    await clock.advance(100);
    expect(settled).toBe(false);
    await write(true);
    await clock.advance(0);
    expect(await waiting).toMatchObject({ ready: true });
    expect(clock.pending).toBe(0);
  });

  it('ends at its time with what the node says, and at once when told to stop', async () => {
    const { clock, write, create, ready } = setUp();
    await create();
    await write(false);
    const waiting = ready();
    await clock.advance(20_000);
    expect(await waiting).toMatchObject({ ready: false, node: { metadata: { name: 'n' } } });
    const stop = new AbortController();
    const stopped = ready(stop.signal);
    stop.abort();
    expect((await stopped).ready).toBe(false);
    expect(clock.pending).toBe(0);
  });
});

describe('untilGone', () => {
  const ref = { namespace: 'default', name: 'a' };
  const sandbox = (): KubeObject => ({
    apiVersion: 'holdfast.dev/v1alpha1',
    kind: 'Sandbox',
    metadata: { ...ref },
  });

  it('ends when the very sandbox is gone, also when another has its name', async () => {
    const { clock, client } = setUp();
    const { uid = '' } = (await client.create(SANDBOXES, sandbox())).metadata;
    const { signal } = new AbortController();
    const gone = untilGone({ client, ref, uid, signal, clock });
    await clock.advance(0);
    await client.patch(SANDBOXES, ref, { metadata: { labels: { a: 'b' } } }, { type: 'merge' });
    await clock.advance(0);
    await client.delete(SANDBOXES, ref);
    await client.create(SANDBOXES, sandbox());
    await clock.advance(0);
    expect(await gone).toBe(true);
    expect(await untilGone({ client, ref, uid, signal, clock })).toBe(true);
  });

  it('ends when told to', async () => {
    const { clock, client } = setUp();
    const { uid = '' } = (await client.create(SANDBOXES, sandbox())).metadata;
    const stop = new AbortController();
    const gone = untilGone({ client, ref, uid, signal: stop.signal, clock });
    await clock.advance(0);
    stop.abort();
    expect(await gone).toBe(false);
    expect(await untilGone({ client, ref, uid, signal: stop.signal, clock })).toBe(false);
  });
});

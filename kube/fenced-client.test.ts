import { expect, it } from 'vitest';
import type { KubeClient, KubeObject } from './client.ts';
import { FencedError, fencedClient } from './fenced-client.ts';
import { SANDBOXES } from './resources.ts';
import { FakeKubeClient } from './testing/fake-client.ts';
import { FakeClock } from './testing/fake-clock.ts';

const ref = { namespace: 'default', name: 'a' };
const thing: KubeObject = { apiVersion: 'holdfast.dev/v1alpha1', kind: 'Sandbox', metadata: ref };
const writes: [string, (client: KubeClient) => Promise<unknown>][] = [
  ['create', (client) => client.create(SANDBOXES, thing)],
  ['update', (client) => client.update(SANDBOXES, thing)],
  ['patch', (client) => client.patch(SANDBOXES, ref, {}, { type: 'merge' })],
  ['delete', (client) => client.delete(SANDBOXES, ref)],
];

function setUp(leftMs: () => number) {
  const clock = new FakeClock();
  const inner = new FakeKubeClient({ now: () => clock.now() });
  return { clock, inner, client: fencedClient(inner, { leftMs, what: 'it is over' }, clock) };
}

it.each(writes)('[K6] lets a %s through while there is time, and nothing after', async (verb, call) => {
  let left = 1000;
  const { clock, inner, client } = setUp(() => left);
  if (verb !== 'create') await inner.create(SANDBOXES, thing);
  const before = inner.writes.length;
  await call(client).catch(() => undefined);
  expect(inner.writes.length).toBe(before + 1);
  left = 0;
  await expect(call(client)).rejects.toBeInstanceOf(FencedError);
  expect(inner.writes.length).toBe(before + 1);
  expect(clock.pending).toBe(0);
});

it('[K6] reads go through', async () => {
  const { inner, client } = setUp(() => 0);
  await inner.create(SANDBOXES, thing);
  expect((await client.get(SANDBOXES, ref)).metadata.name).toBe('a');
  expect((await client.list(SANDBOXES, {})).items).toHaveLength(1);
});

it('[K6] breaks off what is under way when the time is over, and asks once more before it is sent', async () => {
  let left = 1000;
  const clock = new FakeClock();
  const inner = new FakeKubeClient({ now: () => clock.now() });
  let asked: (() => void) | undefined;
  let signal: AbortSignal | undefined;
  inner.create = (_, __, options) => {
    asked = options?.beforeSend;
    signal = options?.signal;
    return new Promise((_resolve, reject) => {
      signal?.addEventListener('abort', () => reject(signal?.reason as Error));
    });
  };
  const client = fencedClient(inner, { leftMs: () => left, what: 'it is over' }, clock);
  const call = client.create(SANDBOXES, thing);
  expect(() => asked?.()).not.toThrow();
  left = -5;
  expect(() => asked?.()).toThrow(FencedError);
  await Promise.all([expect(call).rejects.toBeInstanceOf(FencedError), clock.advance(1000)]);
  expect(signal?.aborted).toBe(true);
  expect(clock.pending).toBe(0);
});

it('ends with the reason of the caller, and leaves nothing on its signal', async () => {
  const { client } = setUp(() => 1000);
  const reason = new Error('stopped');
  await expect(client.create(SANDBOXES, thing, { signal: AbortSignal.abort(reason) })).rejects.toBe(reason);
});

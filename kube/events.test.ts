import { describe, expect, it } from 'vitest';
import { ApiError, type KubeObject } from './client.ts';
import { EventRecorder } from './events.ts';
import { EVENTS } from './resources.ts';
import { FakeKubeClient } from './testing/fake-client.ts';
import { FakeClock } from './testing/fake-clock.ts';
import { half, silent, thing } from './testing/fixtures.ts';

interface WrittenEvent extends KubeObject {
  reason: string;
  message: string;
  count: number;
  type: string;
  involvedObject: Record<string, string>;
  firstTimestamp: string;
  lastTimestamp: string;
  source: unknown;
}

function setUp(options: { maxQueued?: number; quietMs?: number } = {}) {
  const clock = new FakeClock();
  const client = new FakeKubeClient({ now: () => clock.now() });
  const recorder = new EventRecorder({
    client,
    clock,
    random: half,
    log: silent,
    component: 'holdfast-agent',
    instance: 'node-a',
    ...options,
  });
  const events = async (): Promise<WrittenEvent[]> =>
    (await client.list<WrittenEvent>(EVENTS, {})).items.toSorted((a, b) =>
      a.metadata.name < b.metadata.name ? -1 : 1,
    );
  return { clock, client, recorder, events };
}

describe('EventRecorder', () => {
  it('[O4] writes an event as kubectl describe wants it', async () => {
    const { clock, recorder, events } = setUp();
    recorder.record(thing('a'), 'Warning', 'OOMKilled', 'main was killed at 32Mi');
    await clock.advance(0);
    expect(await events()).toMatchObject([
      {
        kind: 'Event',
        metadata: { namespace: 'default' },
        involvedObject: {
          apiVersion: 'holdfast.dev/v1alpha1',
          kind: 'Sandbox',
          namespace: 'default',
          name: 'a',
          uid: 'uid-a',
          resourceVersion: '1',
        },
        type: 'Warning',
        reason: 'OOMKilled',
        message: 'main was killed at 32Mi',
        source: { component: 'holdfast-agent', host: 'node-a' },
        firstTimestamp: '2026-01-01T00:00:00Z',
        lastTimestamp: '2026-01-01T00:00:00Z',
        count: 1,
      },
    ]);
  });

  it('counts a repeated event up, those that came while it was written together', async () => {
    const { clock, client, recorder, events } = setUp();
    for (let turn = 0; turn < 5; turn++) recorder.record(thing('a'), 'Normal', 'Pulling', 'x');
    await clock.advance(30_000);
    recorder.record(thing('a'), 'Normal', 'Pulling', 'x');
    recorder.record(thing('a'), 'Normal', 'Pulled', 'x');
    await clock.advance(0);
    expect(await events()).toMatchObject([
      { reason: 'Pulling', count: 6, lastTimestamp: '2026-01-01T00:00:30Z' },
      { reason: 'Pulled', count: 1 },
    ]);
    expect(client.writes).toHaveLength(3);
  });

  it('begins anew after ten minutes, after a jump of the clock, and when the event was removed', async () => {
    const { clock, client, recorder, events } = setUp();
    const once = async (): Promise<void> => {
      recorder.record(thing('a'), 'Normal', 'Pulling', 'x');
      await clock.advance(0);
    };
    await once();
    await clock.advance(600_000);
    await once();
    clock.jump(-3_600_000);
    await once();
    expect(await events()).toHaveLength(3);
    for (const { metadata } of await events()) {
      await client.delete(EVENTS, { namespace: 'default', name: metadata.name });
    }
    await once();
    expect(await events()).toMatchObject([{ count: 2 }]);
  });

  it('[K5] holds one object to its rate and harms no other', async () => {
    const { clock, recorder, events } = setUp();
    for (let turn = 0; turn < 100; turn++) recorder.record(thing('a'), 'Normal', 'Failed', `try ${turn}`);
    recorder.record(thing('b'), 'Normal', 'Failed', 'mine');
    await clock.advance(0);
    expect(await events()).toHaveLength(26);
    expect(recorder.stats).toEqual({ written: 26, dropped: 75 });
    await clock.advance(300_000);
    recorder.record(thing('a'), 'Normal', 'Failed', 'one more');
    await clock.advance(0);
    expect(recorder.stats.written).toBe(27);
  });

  it('[K5] never throws and never grows without bound while the API is away', async () => {
    const { clock, client, recorder, events } = setUp({ maxQueued: 10 });
    client.before = () => new Promise(() => {});
    for (let turn = 0; turn < 1_000; turn++) {
      recorder.record(thing(`a${turn}`), 'Normal', 'Created', 'x');
    }
    await clock.advance(0);
    expect(recorder.stats.dropped).toBe(990);
    client.before = undefined;
    expect(await events()).toEqual([]);
  });

  it('tries again what may pass, as long as the server asked, and drops what cannot', async () => {
    const { clock, client, recorder, events } = setUp();
    let turn = 0;
    client.before = ({ verb }) => {
      if (verb === 'list') return;
      turn += 1;
      if (turn === 1) throw new ApiError('busy', { code: 429, retryAfterSeconds: 30 });
      if (turn === 3) throw new ApiError('namespace is terminating', { code: 403 });
    };
    recorder.record(thing('a'), 'Normal', 'Created', 'x');
    recorder.record(thing('b'), 'Normal', 'Created', 'x');
    recorder.record(thing('c'), 'Normal', 'Created', 'x');
    await clock.advance(29_999);
    expect(await events()).toHaveLength(0);
    await clock.advance(1);
    expect((await events()).map(({ involvedObject }) => involvedObject['name'])).toEqual(['a', 'c']);
    expect(recorder.stats).toEqual({ written: 2, dropped: 1 });
  });

  it('writes what was recorded before it stops, and waits no longer than it was told', async () => {
    const { clock, client, recorder, events } = setUp();
    recorder.record(thing('a'), 'Normal', 'Created', 'x');
    await recorder.stop();
    expect(await events()).toHaveLength(1);
    recorder.record(thing('a'), 'Normal', 'Started', 'x');
    await clock.advance(0);
    expect(await events()).toHaveLength(1);
    expect(clock.pending).toBe(0);

    const other = new EventRecorder({
      client,
      clock,
      random: half,
      log: silent,
      component: 'c',
      instance: 'i',
    });
    client.before = ({ verb }) => {
      if (verb !== 'list') throw new ApiError('down', { code: 503 });
    };
    other.record(thing('a'), 'Normal', 'Created', 'x');
    const stopped = other.stop(3_000);
    await clock.advance(3_000);
    await stopped;
    expect(other.stats).toEqual({ written: 0, dropped: 1 });
    expect(clock.pending).toBe(0);
  });

  it('has a name that the API takes for an object of 253 characters, and a namespace for one without', async () => {
    const { clock, recorder, events } = setUp();
    const name = `${'a'.repeat(235)}-.${'b'.repeat(16)}`;
    recorder.record(thing(name), 'Normal', 'Created', 'x'.repeat(2_000));
    const { namespace: _, ...metadata } = thing('node-a').metadata;
    recorder.record({ apiVersion: 'v1', kind: 'SandboxNode', metadata }, 'Normal', 'NodeLost', 'x');
    await clock.advance(0);
    const [long, cluster] = await events();
    expect(long?.metadata.name).toMatch(/^a{235}\.[0-9a-f]{15,16}$/);
    expect(long?.message).toHaveLength(1024);
    expect(cluster?.metadata.namespace).toBe('default');
  });
});

describe('EventRecorder with patience', () => {
  const messages = async (events: () => Promise<WrittenEvent[]>) =>
    (await events()).map(({ message }) => message);

  it('writes what went well once it is quiet, in order, with the time at which it happened', async () => {
    const { clock, recorder, events } = setUp({ quietMs: 250 });
    recorder.record(thing('a'), 'Normal', 'Created', 'one');
    await clock.advance(200);
    recorder.record(thing('a'), 'Normal', 'Started', 'two');
    await clock.advance(200);
    expect(await events()).toEqual([]);
    await clock.advance(50);
    expect(await messages(events)).toEqual(['one', 'two']);
    expect((await events())[0]?.firstTimestamp).toBe('2026-01-01T00:00:00Z');
    expect(clock.pending).toBe(0);
  });

  it('does not wait for ever where it is never quiet', async () => {
    const { clock, recorder, events } = setUp({ quietMs: 250 });
    for (let ms = 0; ms < 1000; ms += 100) {
      recorder.record(thing('a'), 'Normal', 'Started', `at ${ms}`);
      await clock.advance(100);
    }
    expect((await events()).length).toBe(10);
  });

  it('[O4] writes trouble at once, after what was before', async () => {
    const { clock, recorder, events } = setUp({ quietMs: 250 });
    recorder.record(thing('a'), 'Normal', 'Created', 'one');
    recorder.record(thing('a'), 'Warning', 'OOMKilled', 'two');
    await clock.advance(0);
    expect(await messages(events)).toEqual(['one', 'two']);
    expect(clock.pending).toBe(0);
  });

  it('writes what waits when it is told to, and when it ends', async () => {
    const { recorder, events } = setUp({ quietMs: 250 });
    recorder.record(thing('a'), 'Normal', 'Created', 'one');
    await recorder.flush();
    expect(await messages(events)).toEqual(['one']);
    recorder.record(thing('a'), 'Normal', 'Started', 'two');
    await recorder.stop();
    expect(await messages(events)).toEqual(['one', 'two']);
  });
});

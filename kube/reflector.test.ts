import { afterEach, describe, expect, it } from 'vitest';
import { createKubeClient } from './http-client.ts';
import { Lister } from './lister.ts';
import { Reflector, type ReflectorOptions } from './reflector.ts';
import { FakeKubeClient } from './testing/fake-client.ts';
import { FakeClock } from './testing/fake-clock.ts';
import { half, silent, thing, THINGS, type Thing } from './testing/fixtures.ts';
import {
  answer,
  answerList,
  answerStatus,
  openWatch,
  type Received,
  ScriptedServer,
  sendEvent,
  type Script,
} from './testing/scripted-server.ts';

const ends: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0).toReversed()) await end();
});

async function setUp(script: Script, options: Partial<ReflectorOptions<Thing>> = {}) {
  const server = await ScriptedServer.start(script);
  // Two clocks: a timer on the reflector's own is its wait after a failure, and nothing else.
  const clock = new FakeClock();
  const clientClock = new FakeClock();
  const client = createKubeClient({
    server: server.url,
    caData: server.caData,
    userAgent: 'test/1',
    clock: clientClock,
  });
  const lister = new Lister<Thing>({ log: silent });
  const seen: string[] = [];
  const changes = new Waiter();
  lister.onChange((key, old, object) => {
    seen.push(`${object ? (old ? 'set' : 'add') : 'delete'} ${key}`);
    changes.tell();
  });
  const reflector = new Reflector<Thing>({
    client,
    resource: THINGS,
    lister,
    clock,
    random: half,
    log: silent,
    ...options,
  });
  const stop = new AbortController();
  const running = reflector.run(stop.signal);
  ends.push(async () => {
    stop.abort();
    await running;
    client.close();
    await server.close();
  });
  return { server, clock, clientClock, lister, reflector, seen, changes, stop, running };
}

/** Waits for a condition that only events can make true. */
class Waiter {
  readonly #look = new Set<() => void>();
  tell(): void {
    for (const look of this.#look) look();
  }
  until(condition: () => boolean): Promise<void> {
    return new Promise((resolve) => {
      const look = (): void => {
        if (!condition()) return;
        this.#look.delete(look);
        resolve();
      };
      this.#look.add(look);
      look();
    });
  }
}

function isWatch(received: Received): boolean {
  return received.query.get('watch') === 'true';
}

/** Lists these and leaves watches open. */
function lists(...items: Thing[]): Script {
  return (received) => {
    if (isWatch(received)) openWatch(received);
    else answerList(received, items, '10');
  };
}

describe('Reflector', () => {
  it('lists in pages and watches from there, with bookmarks and a jittered end', async () => {
    const { server, reflector, lister, running, stop } = await setUp(
      (received) => {
        if (isWatch(received)) return openWatch(received);
        const from = received.query.get('continue');
        if (from === null) return answerList(received, [thing('a'), thing('b')], '10', 'next');
        answerList(received, [thing('c')], '10');
      },
      {
        pageSize: 2,
        random: () => 0.25,
        options: { namespace: 'default', labelSelector: 'l=1', fieldSelector: 'f=2' },
      },
    );
    await reflector.synced;
    expect(lister.keys()).toEqual(['default/a', 'default/b', 'default/c']);
    const watch = await server.received(3);
    expect(Object.fromEntries(watch.query)).toEqual({
      watch: 'true',
      resourceVersion: '10',
      allowWatchBookmarks: 'true',
      timeoutSeconds: '75',
      labelSelector: 'l=1',
      fieldSelector: 'f=2',
    });
    expect(server.requests[0]?.query.get('limit')).toBe('2');
    stop.abort();
    await running;
  });

  it('[K5] goes on from the last bookmark or event when the server ends the watch, without a list', async () => {
    const { server, clock, reflector } = await setUp(lists());
    const first = await server.received(2);
    sendEvent(first, 'ADDED', thing('a', { resourceVersion: '11' }));
    sendEvent(first, 'BOOKMARK', { metadata: { resourceVersion: '15' } });
    await clock.advance(20_000);
    first.response.end();
    const second = await server.received(3);
    expect(second.query.get('resourceVersion')).toBe('15');
    expect(reflector.stats).toMatchObject({ lists: 1, watches: 2, events: 1, failures: 0 });
  });

  it('[K5] gives up a watch that went silent within the stated bound', async () => {
    const { server, clock, clientClock, reflector } = await setUp(lists());
    await server.received(2);
    await clientClock.timerSet(100_000);
    await clientClock.advance(99_999);
    expect(reflector.stats).toMatchObject({ watches: 1, failures: 0 });
    await clientClock.advance(1);
    await clock.timerSet();
    await clock.advance(30_000);
    await server.received(3);
    expect(reflector.stats).toMatchObject({ lists: 1, watches: 2 });
  });

  it('[K5] lists anew at 410, and reports what was deleted and replaced meanwhile', async () => {
    let round = 0;
    const { server, clock, seen, changes } = await setUp((received) => {
      if (isWatch(received)) {
        if (round > 1) return openWatch(received);
        return answerStatus(received, 410, 'Expired', 'too old');
      }
      round += 1;
      answerList(
        received,
        round === 1 ? [thing('a'), thing('b')] : [thing('b', { uid: 'new', resourceVersion: '9' })],
        '10',
      );
    });
    await server.received(2);
    await clock.timerSet();
    await clock.advance(500);
    await changes.until(() => seen.length === 5);
    expect(seen).toEqual([
      'add default/a',
      'add default/b',
      'delete default/a',
      'delete default/b',
      'add default/b',
    ]);
    await server.received(4);
  });

  it('[K5] lists anew at once at 410, however long it waited before that for a server to come back', async () => {
    let broken = 8;
    const { server, clock, reflector } = await setUp((received) => {
      if (!isWatch(received)) return answerList(received, [], '10');
      if (broken-- > 0) return server.reset(received);
      if (broken === -1) return answerStatus(received, 410, 'Expired', 'too old');
      openWatch(received);
    });
    for (let failures = 1; failures <= 8; failures++) {
      await clock.timerSet();
      await clock.advance(30_000);
    }
    await clock.timerSet();
    expect(clock.nextInMs).toBeLessThanOrEqual(500);
    await clock.advance(500);
    await server.received(12);
    expect(reflector.stats.lists).toBe(2);
  });

  it('[K5] makes no hot loop of a server that answers each watch with 410', async () => {
    const { server, clock, reflector } = await setUp((received) => {
      if (isWatch(received)) answerStatus(received, 410, 'Expired', 'too old');
      else answerList(received, [], '10');
    });
    await server.received(2);
    for (let elapsedMs = 0; elapsedMs < 60_000; elapsedMs += 1_000) {
      await clock.timerSet();
      await clock.advance(1_000);
    }
    expect(reflector.stats.lists).toBeLessThan(15);
  });

  it('[K5] lists anew when a running watch says that it is too old', async () => {
    const { server, clock, reflector } = await setUp(lists());
    const watch = await server.received(2);
    sendEvent(watch, 'ERROR', { kind: 'Status', code: 410, reason: 'Expired', message: 'compacted' });
    watch.response.end();
    await clock.timerSet();
    await clock.advance(500);
    await server.received(4);
    expect(reflector.stats.lists).toBe(2);
  });

  it.each<[string, (received: Received, server: ScriptedServer) => void]>([
    ['HTTP 500', (received) => answer(received, 500, 'oops')],
    ['a reset', (received, server) => server.reset(received)],
    ['garbage', (received) => answer(received, 200, '<html>')],
    [
      'half a line',
      (received) => {
        openWatch(received);
        received.response.end('{"type":"ADD');
      },
    ],
    ['401', (received) => answerStatus(received, 401, 'Unauthorized', 'who are you')],
  ])('[K5] comes back after %s, a hundred times over', async (_, fault) => {
    for (const faulty of ['list', 'watch']) {
      let faults = 0;
      const { server, clock, reflector } = await setUp((received) => {
        const what = isWatch(received) ? 'watch' : 'list';
        if (what === faulty && faults < 100) {
          faults += 1;
          return fault(received, server);
        }
        if (what === 'watch') openWatch(received);
        else answerList(received, [thing('a')], '10');
      });
      for (let failures = 1; failures <= 100; failures++) {
        await clock.timerSet();
        await clock.advance(30_000);
      }
      await reflector.synced;
      await server.received(102);
      expect(reflector.stats).toMatchObject({ failures: 100 });
    }
  });

  it('[K5] makes no hot loop of a server that closes each watch at once', async () => {
    const { server, clock, reflector } = await setUp((received) => {
      if (isWatch(received)) {
        openWatch(received);
        received.response.end();
      } else {
        answerList(received, [], '10');
      }
    });
    await server.received(2);
    for (let elapsedMs = 0; elapsedMs < 60_000; elapsedMs += 1_000) {
      await clock.timerSet();
      await clock.advance(1_000);
    }
    expect(reflector.stats.lists).toBe(1);
    expect(reflector.stats.watches).toBeLessThan(15);
  });

  it('[K5] stays away as long as the server asked', async () => {
    let refused = 0;
    const { server, clock, reflector } = await setUp((received) => {
      if (refused++ === 0) answer(received, 503, 'later', { 'retry-after': '20' });
      else answerList(received, [], '10');
    });
    await server.received(1);
    await clock.timerSet(20_000);
    await clock.advance(19_999);
    expect(reflector.stats.lists).toBe(1);
    await clock.advance(1);
    await reflector.synced;
  });

  it('[K5] a handler that throws does not stop it', async () => {
    const { server, lister, seen, changes, reflector } = await setUp(lists(thing('a')));
    lister.onChange(() => {
      throw new Error('mine');
    });
    const watch = await server.received(2);
    sendEvent(watch, 'ADDED', thing('b', { resourceVersion: '11' }));
    sendEvent(watch, 'MODIFIED', thing('b', { resourceVersion: '12' }));
    sendEvent(watch, 'DELETED', thing('b', { resourceVersion: '13' }));
    await changes.until(() => seen.length === 4);
    expect(seen).toEqual(['add default/a', 'add default/b', 'set default/b', 'delete default/b']);
    expect(reflector.stats.failures).toBe(0);
  });

  it('[K5] has at most one request open at any moment, and none after its stop, in backoff too', async () => {
    let open = 0;
    let most = 0;
    const { server, clock, running, stop } = await setUp((received) => {
      open += 1;
      most = Math.max(most, open);
      received.response.on('close', () => {
        open -= 1;
      });
      if (isWatch(received)) answer(received, 500, 'no');
      else answerList(received, [], '10');
    });
    await server.received(2);
    for (let turn = 0; turn < 20; turn++) {
      await clock.timerSet();
      await clock.advance(30_000);
    }
    await clock.timerSet();
    const before = server.requests.length;
    stop.abort();
    await running;
    await clock.advance(600_000);
    expect(server.requests).toHaveLength(before);
    expect(most).toBe(1);
    expect(clock.pending).toBe(0);
  });

  it('ends an open watch when stopped', async () => {
    const { server, clock, running, stop } = await setUp(lists());
    const watch = await server.received(2);
    stop.abort();
    await running;
    if (!watch.response.closed) await new Promise((resolve) => watch.response.once('close', resolve));
    expect(clock.pending).toBe(0);
  });

  it('tells who waits for the first list that it was stopped before, and runs once', async () => {
    const { reflector, stop, running } = await setUp(() => {});
    await expect(reflector.run(stop.signal)).rejects.toThrow('runs already');
    const reason = new Error('stopped');
    stop.abort(reason);
    await running;
    await expect(reflector.synced).rejects.toBe(reason);
  });

  it('[K5] begins again from the first page when a continue token has expired', async () => {
    let turn = 0;
    const { server, clock, lister, reflector } = await setUp((received) => {
      turn += 1;
      if (turn === 1) return answerList(received, [thing('old')], '10', 'next');
      if (turn === 2) return answerStatus(received, 410, 'Expired', 'continue token');
      return lists(thing('a'))(received);
    });
    await server.received(2);
    await clock.timerSet();
    await clock.advance(500);
    await reflector.synced;
    expect(lister.keys()).toEqual(['default/a']);
  });

  it('[K5] a restarted API whose resourceVersions it does not know (504, 400) is listed anew', async () => {
    for (const code of [504, 400]) {
      let turn = 0;
      const { server, clock, reflector } = await setUp((received) => {
        turn += 1;
        if (turn === 2) return answerStatus(received, code, 'Timeout', 'Too large resource version');
        return lists()(received);
      });
      await server.received(2);
      await clock.timerSet();
      await clock.advance(500);
      await server.received(4);
      expect(reflector.stats.lists).toBe(2);
    }
  });
});

it('[K5] follows an API through changes of every kind', async () => {
  const client = new FakeKubeClient();
  const lister = new Lister<Thing>();
  const clock = new FakeClock();
  const reflector = new Reflector<Thing>({
    client,
    resource: THINGS,
    lister,
    clock,
    random: half,
    log: silent,
    options: { fieldSelector: 'spec.node=n' },
  });
  const stop = new AbortController();
  const running = reflector.run(stop.signal);
  await reflector.synced;
  const made = await client.create<Thing>(THINGS, thing('a', { spec: { node: 'n' } }));
  await client.create<Thing>(THINGS, thing('b', { spec: { node: 'other' } }));
  await clock.advance(0);
  expect(lister.keys()).toEqual(['default/a']);
  await client.update<Thing>(THINGS, { ...made, spec: { node: 'other' } });
  await clock.advance(0);
  expect(lister.size).toBe(0);
  stop.abort();
  await running;
});

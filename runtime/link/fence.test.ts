import { Duplex, PassThrough } from 'node:stream';
import { afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { encodeFields } from './fields.ts';
import { encodeMessage } from './frame.ts';
import { openInit } from './init.ts';
import { F, T } from './protocol.ts';
import { BUILD_TIMEOUT_MS, Bench, buildInit, isRoot } from './testing/bench.ts';
import { Recorder } from './testing/recorder.ts';
import { until } from './testing/until.ts';
import type { InitSession, Probe, StartSpec } from './types.ts';

const FAR_MS = 600_000;
/** Takes no notice of TERM, and has a child that has left its session. */
const stubborn = (id: number): StartSpec => ({
  id,
  argv: ['sh', '-c', 'trap "" TERM; setsid sleep 1000 & echo ready; while :; do sleep 0.02; done'],
  env: ['PATH=/usr/bin:/bin'],
  workingDir: '/',
});

/** A heartbeat that runs out so long after init's clock of the hello. */
const within = (session: InitSession, forMs: number): { fromBootMs: number; forMs: number } => ({
  fromBootMs: session.hello.bootMs ?? 0,
  forMs,
});

beforeAll(buildInit, BUILD_TIMEOUT_MS);

describe.skipIf(!isRoot)('the fence', { meta: { needs: 'root' } }, () => {
  let bench: Bench;
  let probe: Probe;
  beforeEach(async () => {
    bench = new Bench();
    probe = await bench.probe();
  });
  afterEach(() => bench.close());

  it('[K6] ends everything in the sandbox when no heartbeat has come for its time, and says so', async () => {
    const { session, recorder } = await bench.launch(probe, 'one');
    await session.start(stubborn(2));
    await until('ready', () => recorder.text(2) === 'ready\n');
    expect(await session.heartbeat(within(session, 300))).toMatchObject({ is: 'taken' });
    const exit = await recorder.over(2);
    expect(exit).toMatchObject({ signal: 9, endedBy: 'fence' });
    expect(recorder.fencedAt).toBeGreaterThanOrEqual((session.hello.bootMs ?? 0) + 300);
    // Nothing is begun any more, and no heartbeat comes early enough.
    expect(await session.start(stubborn(3))).toEqual({ ok: false, stage: 'fork', errno: 'ESHUTDOWN' });
    expect(await session.heartbeat(within(session, FAR_MS))).toEqual({ is: 'too-late' });
    expect(await session.heartbeat(undefined)).toEqual({ is: 'too-late' });
  });

  it('[K6] with no agent there at all, and tells the next one', async () => {
    const first = await bench.launch(probe, 'one');
    await first.session.start(stubborn(2));
    await until('ready', () => first.recorder.text(2) === 'ready\n');
    await first.session.heartbeat(within(first.session, 300));
    first.session.close();
    let next = await bench.connect();
    await until('the word of its end', async () => {
      if (next.session.hello.fencedAtBootMs !== undefined) return true;
      next.session.close();
      next = await bench.connect();
      return false;
    });
    expect(next.session.hello.processes).toMatchObject([{ id: 2, exit: { signal: 9, endedBy: 'fence' } }]);
    next.session.release(94);
    await next.session.closed;
  });

  it('[K6] a heartbeat moves it, an older one takes nothing back, and it is lifted', async () => {
    const { session, recorder } = await bench.launch(probe, 'one');
    await session.start(stubborn(2));
    await until('ready', () => recorder.text(2) === 'ready\n');
    expect(await session.heartbeat(within(session, FAR_MS))).toMatchObject({ is: 'taken' });
    expect(await session.heartbeat(within(session, 1))).toMatchObject({ is: 'taken' });
    await session.ping();
    expect(recorder.exits.has(2)).toBe(false);
    expect(await session.heartbeat(undefined)).toMatchObject({ is: 'taken' });
    expect(await session.heartbeat(within(session, 1))).toMatchObject({ is: 'taken' });
    expect(await recorder.over(2)).toMatchObject({ endedBy: 'fence' });
  });

  it('[K6] refuses a time that is still to come', async () => {
    const { session } = await bench.launch(probe, 'one');
    const ahead = (session.hello.bootMs ?? 0) + FAR_MS;
    expect(await session.heartbeat({ fromBootMs: ahead, forMs: 1000 })).toMatchObject({ is: 'refused' });
  });

  it('[K6] at the gate too, and a retained one in which nothing was started: it holds until it has told', async () => {
    const { session, recorder } = await bench.launch(probe, 'one');
    await session.heartbeat(within(session, 1));
    await until('the word of its end', () => recorder.fencedAt !== undefined);
    session.release(94);
    await session.closed;
  });
});

it.each([
  ['of version 1', [[F.PROTOCOL, 1]] as const],
  [
    'that is a gate',
    [
      [F.PROTOCOL, 2],
      [F.BOOT_MS, 5],
      [F.GATE, 1],
    ] as const,
  ],
])('[K6] an init %s is not asked: it cannot end by itself', async (_, hello) => {
  const says = new PassThrough();
  const stream = Duplex.from({ readable: says, writable: new PassThrough() });
  const opening = openInit(stream, new Recorder());
  says.write(encodeMessage(T.HELLO, 0, encodeFields([...hello])));
  const session = await opening;
  expect(await session.heartbeat({ fromBootMs: 1, forMs: 1000 })).toEqual({ is: 'unsupported' });
  session.close();
});

import { Duplex, PassThrough } from 'node:stream';
import { afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { encodeFields, type FieldList } from './fields.ts';
import { encodeMessage } from './frame.ts';
import { openInit } from './init.ts';
import { F, T } from './protocol.ts';
import { BUILD_TIMEOUT_MS, Bench, buildInit, isRoot } from './testing/bench.ts';
import { Recorder } from './testing/recorder.ts';
import { until } from './testing/until.ts';
import type { InitSession, Probe, StartSpec } from './types.ts';

const FAR_MS = 600_000;
/** Says when it may be asked to end, and ends with 3 then. */
const trapping = (id: number, more: Partial<StartSpec> = {}): StartSpec => ({
  id,
  argv: ['sh', '-c', 'trap "exit 3" TERM; echo ready; while :; do sleep 0.02; done'],
  env: ['PATH=/usr/bin:/bin'],
  workingDir: '/',
  ...more,
});

beforeAll(buildInit, BUILD_TIMEOUT_MS);

describe.skipIf(!isRoot)('the time limit of a process that runs', { meta: { needs: 'root' } }, () => {
  let bench: Bench;
  let probe: Probe;
  beforeEach(async () => {
    bench = new Bench();
    probe = await bench.probe();
  });
  afterEach(() => bench.close());

  it('[K11] made shorter, it ends the process; passed already, at once', async () => {
    const { session, recorder } = await bench.launch(probe, 'one');
    await session.start(trapping(2, { timeoutMs: FAR_MS }));
    await until('ready', () => recorder.text(2) === 'ready\n');
    expect(await session.limit(2, 1)).toBe('changed');
    const exit = await recorder.over(2);
    expect(exit).toMatchObject({ exitCode: 3, endedBy: 'timeout' });
    expect(exit.endedAtBootMs - exit.startedAtBootMs).toBeLessThan(FAR_MS);
  });

  it('[K11] counts from the start of the process, so that saying it twice does not prolong it', async () => {
    const { session, recorder } = await bench.launch(probe, 'one');
    await session.start(trapping(2));
    await until('ready', () => recorder.text(2) === 'ready\n');
    expect(await session.limit(2, 400)).toBe('changed');
    let answer: string = 'changed';
    await until('the end', async () => {
      if (!recorder.exits.has(2)) answer = await session.limit(2, 400);
      return recorder.exits.has(2);
    });
    expect(await recorder.over(2)).toMatchObject({ exitCode: 3, endedBy: 'timeout' });
    expect(['changed', 'ending', 'ended']).toContain(answer);
    expect(await session.limit(2, FAR_MS)).toBe('ended');
  });

  it.each([
    ['prolonged', FAR_MS],
    ['removed', undefined],
  ])('[K11] %s, the old one ends nothing', async (_name, timeoutMs) => {
    const { session, recorder } = await bench.launch(probe, 'one');
    // Said in one go, so that init hears of the change before the old limit can be over, however slow all is.
    const started = session.start(trapping(2, { timeoutMs: 300 }));
    expect(await session.limit(2, timeoutMs)).toBe('changed');
    expect(await started).toMatchObject({ ok: true });
    // A limit of the same length, begun later, shows when the old one would have ended it.
    await session.start(trapping(3, { timeoutMs: 300 }));
    expect(await recorder.over(3)).toMatchObject({ endedBy: 'timeout' });
    await session.ping();
    expect(recorder.exits.has(2)).toBe(false);
    session.signal(2, 9, 'group');
    expect(await recorder.over(2)).toMatchObject({ signal: 9, endedBy: 'agent' });
  });

  it('stays changed over a lost connection, and while no agent is there', async () => {
    const { session, recorder } = await bench.launch(probe, 'one');
    await session.start(trapping(2, { timeoutMs: FAR_MS }));
    await until('ready', () => recorder.text(2) === 'ready\n');
    const answer = session.limit(2, 1);
    session.close();
    expect(await answer).toBe('unanswered');
    const next = await bench.connect(recorder);
    if ((await next.session.limit(2, 1)) === 'changed') await recorder.over(2);
    expect(await recorder.over(2)).toMatchObject({ exitCode: 3, endedBy: 'timeout' });
  });

  it('once reached, it is not taken back; the grace may be changed before', async () => {
    const { session, recorder } = await bench.launch(probe, 'one');
    const deaf = 'trap "" TERM; trap "exit 4" USR1; echo ready; while :; do sleep 0.02; done';
    await session.start(trapping(2, { argv: ['sh', '-c', deaf], graceMs: 1 }));
    await until('ready', () => recorder.text(2) === 'ready\n');
    expect(await session.limit(2, 1, { graceMs: FAR_MS })).toBe('changed');
    await until('TERM', async () => (await session.limit(2, FAR_MS)) === 'ending');
    expect(recorder.exits.has(2)).toBe(false);
    session.signal(2, 10, 'leader');
    expect(await recorder.over(2)).toMatchObject({ exitCode: 4, endedBy: 'timeout' });
  });

  it('of a process that is not there, or could not be started, changes nothing', async () => {
    const { session } = await bench.launch(probe, 'one');
    expect(await session.limit(9, 1)).toBe('ended');
    await session.start(trapping(3, { argv: ['no-such-command'] }));
    expect(await session.limit(3, 1)).toBe('ended');
  });

  it('a gate has none: what it becomes is nobody we could ask', async () => {
    await probe.listen('one');
    bench.pidOne([bench.binary, 'gate', '--socket', bench.socket('one')]);
    const { session, arrival } = await bench.connect();
    expect(await session.limit(2, 1)).toBe('unsupported');
    arrival.stream.write(encodeMessage(T.TIME_LIMIT, 2, Buffer.alloc(0)));
    await session.ping();
  });
});

describe('a change of the time limit', () => {
  let says: PassThrough;
  let session: InitSession;
  const say = (type: number, fields: FieldList): boolean =>
    says.write(encodeMessage(type, type === T.HELLO ? 0 : 2, encodeFields(fields)));
  beforeEach(async () => {
    says = new PassThrough();
    const opened = openInit(
      Duplex.from({ readable: says, writable: new PassThrough().resume() }),
      new Recorder(),
    );
    say(T.HELLO, [[F.PROTOCOL, 1]]);
    session = await opened;
  });
  afterEach(() => session.close());

  it('that an older init does not know is told as such, and the session goes on', async () => {
    const asked = session.limit(2, 1000);
    say(T.ERROR, [
      [F.TYPE, T.TIME_LIMIT],
      [F.MESSAGE, 'unknown type'],
    ]);
    expect(await asked).toBe('unsupported');
    const ping = session.ping();
    say(T.PONG, []);
    await ping;
  });

  it('answers belong to the changes in their order, late ones too', async () => {
    expect(await session.limit(2, 1000, { answerMs: 1 })).toBe('unanswered');
    const answers = [session.limit(2, 1000), session.limit(2, 1000), session.limit(2, 1000)];
    say(T.TIME_LIMIT_SET, [[F.ERRNO, 'ESRCH']]);
    say(T.TIME_LIMIT_SET, []);
    say(T.TIME_LIMIT_SET, [[F.ERRNO, 'EALREADY']]);
    say(T.TIME_LIMIT_SET, [[F.ERRNO, 'ESRCH']]);
    expect(await Promise.all(answers)).toEqual(['changed', 'ending', 'ended']);
  });

  it('never rejects: neither when the connection ends, nor afterwards', async () => {
    const asked = session.limit(2, 1000);
    session.close();
    expect(await asked).toBe('unanswered');
    expect(await session.limit(2, Number.POSITIVE_INFINITY)).toBe('unanswered');
  });
});

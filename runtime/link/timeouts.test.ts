import { Duplex, PassThrough } from 'node:stream';
import { afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { encodeFields, type FieldList } from './fields.ts';
import { encodeMessage } from './frame.ts';
import { openInit } from './init.ts';
import { openProbe } from './probe.ts';
import { F, T } from './protocol.ts';
import { StartBook } from './start-book.ts';
import { BUILD_TIMEOUT_MS, Bench, buildInit, isRoot } from './testing/bench.ts';
import { Recorder } from './testing/recorder.ts';
import { until } from './testing/until.ts';
import type { InitSession, Probe, StartResult, StartSpec } from './types.ts';

const timedOut = expect.objectContaining({ name: 'LinkError', code: 'TimedOut' });
const message = (type: number, channel: number, fields: FieldList): Buffer =>
  encodeMessage(type, channel, encodeFields(fields));
const spec = (id: number, argv = ['true']): StartSpec => ({
  id,
  argv,
  env: ['PATH=/usr/bin:/bin'],
  workingDir: '/',
});

describe('requests to a probe that answers nothing', () => {
  let says: PassThrough;
  let probe: Probe;
  beforeEach(async () => {
    says = new PassThrough();
    const hears = new PassThrough().resume();
    const opened = openProbe(Duplex.from({ readable: says, writable: hears }), { onInit: () => undefined });
    says.write(
      message(T.HELLO, 0, [
        [F.PROTOCOL, 1],
        [F.CGROUP_VERSION, 'v2'],
      ]),
    );
    probe = await opened;
  });
  afterEach(() => probe.close());

  const options = { timeoutMs: 1 };
  it.each<[string, (probe: Probe) => Promise<unknown>]>([
    ['readFiles', (one) => one.readFiles(['/proc/version'], options)],
    ['process', (one) => one.process(1, options)],
    ['statfs', (one) => one.statfs('/', options)],
    ['listen', (one) => one.listen('a', options)],
    ['unlisten', (one) => one.unlisten('a', options)],
    ['listening', (one) => one.listening(options)],
    ['removeCgroup', (one) => one.removeCgroup('a', options)],
    ['ping', (one) => one.ping(options)],
  ])('%s is given up at its time limit', async (_name, ask) => {
    await expect(ask(probe)).rejects.toEqual(timedOut);
  });

  it('a late answer is ignored, and the next request gets its own', async () => {
    await expect(probe.process(7, options)).rejects.toEqual(timedOut);
    const next = probe.process(8, { timeoutMs: Number.POSITIVE_INFINITY });
    says.write(
      message(T.REPLY, 0, [
        [F.REQUEST, 1],
        [F.PID, 7],
      ]),
    );
    says.write(
      message(T.REPLY, 0, [
        [F.REQUEST, 2],
        [F.PID, 8],
      ]),
    );
    expect(await next).toMatchObject({ pid: 8 });
    const ping = probe.ping();
    says.write(message(T.PONG, 0, [[F.REQUEST, 3]]));
    await ping;
  });
});

describe('requests to an init that answers nothing', () => {
  let says: PassThrough;
  let heard: Buffer[];
  let session: InitSession;
  beforeEach(async () => {
    says = new PassThrough();
    heard = [];
    const hears = new PassThrough().on('data', (chunk: Buffer) => heard.push(chunk));
    const opened = openInit(Duplex.from({ readable: says, writable: hears }), new Recorder());
    says.write(message(T.HELLO, 0, [[F.PROTOCOL, 1]]));
    session = await opened;
  });
  afterEach(() => session.close());

  it('start and ping are given up at their time limits', async () => {
    await expect(session.start(spec(2), { timeoutMs: 1 })).rejects.toEqual(timedOut);
    await expect(session.ping({ timeoutMs: 1 })).rejects.toEqual(timedOut);
  });

  it('the pong of a ping that was given up is not taken for that of the next', async () => {
    await expect(session.ping({ timeoutMs: 1 })).rejects.toEqual(timedOut);
    let answered = false;
    const second = session.ping().then(() => {
      answered = true;
    });
    const third = session.ping();
    says.write(message(T.PONG, 0, []));
    says.write(message(T.OUTSIDE_SIGNAL, 0, [[F.SIGNAL, 1]]));
    await until('the first pong', () => says.readableLength === 0);
    expect(answered).toBe(false);
    says.write(Buffer.concat([message(T.PONG, 0, []), message(T.PONG, 0, [])]));
    await Promise.all([second, third]);
  });

  it('what became of a start that was given up is told at the next try, which sends nothing', async () => {
    await expect(session.start(spec(2), { timeoutMs: 1 })).rejects.toEqual(timedOut);
    says.write(
      message(T.STARTED, 2, [
        [F.PID, 12],
        [F.START_TICKS, 5],
      ]),
    );
    const ping = session.ping();
    says.write(message(T.PONG, 0, []));
    await ping;
    const before = Buffer.concat(heard).length;
    expect(await session.start(spec(2))).toEqual({ ok: true, pid: 12, startTicks: 5n });
    expect(Buffer.concat(heard).length).toBe(before);
  });
});

describe('answers to starts', () => {
  const started: StartResult = { ok: true, pid: 12, startTicks: 5n };
  const duplicate: StartResult = { ok: false, stage: 'duplicate', errno: 'EEXIST' };
  const noRoom: StartResult = { ok: false, stage: 'fork', errno: 'EAGAIN' };
  const missing: StartResult = { ok: false, stage: 'exec', errno: 'ENOENT' };

  /** Two tries, the first given up before any answer. */
  function retried(): { book: StartBook; results: StartResult[] } {
    const book = new StartBook();
    const results: StartResult[] = [];
    const waiting = { resolve: (result: StartResult) => results.push(result), reject: () => undefined };
    book.sent(2, waiting);
    book.giveUp(2);
    book.sent(2, waiting);
    return { book, results };
  }

  it.each<[string, StartResult[], StartResult]>([
    ['a duplicate before the true answer', [duplicate, started], started],
    ['a duplicate before the true failure', [duplicate, missing], missing],
    ['the true answer before a duplicate', [started, duplicate], started],
    ['a duplicate twice: it began on an earlier connection', [duplicate, duplicate], duplicate],
    ['no room at first', [noRoom, started], started],
    ['no room twice', [noRoom, noRoom], noRoom],
  ])('%s', (_name, answers, result) => {
    const { book, results } = retried();
    for (const answer of answers) book.answered(2, answer);
    expect(results).toEqual([result]);
    expect(book.takeLate(2)).toBeUndefined();
    expect(book.waitsFor(2)).toBe(false);
  });

  it('answers of other ids, or to nothing, change nothing', () => {
    const { book, results } = retried();
    book.answered(3, started);
    expect(results).toEqual([]);
    expect(book.waitsFor(2)).toBe(true);
    expect(book.takeLate(3)).toBeUndefined();
  });
});

beforeAll(buildInit, BUILD_TIMEOUT_MS);

describe.skipIf(!isRoot)('a paused program', { meta: { needs: 'root' } }, () => {
  let bench: Bench;
  beforeEach(() => {
    bench = new Bench();
  });
  afterEach(() => bench.close());

  it('a probe that is stopped holds nobody, and answers again when it goes on', async () => {
    const probe = await bench.probe();
    await probe.ping();
    probe.child.kill('SIGSTOP');
    await expect(probe.ping({ timeoutMs: 50 })).rejects.toEqual(timedOut);
    await expect(probe.process(1, { timeoutMs: 50 })).rejects.toEqual(timedOut);
    probe.child.kill('SIGCONT');
    await probe.ping();
  });

  it('a start that a stopped init does not answer may be tried again: it runs once', async () => {
    const probe = await bench.probe();
    const { session, recorder, arrival } = await bench.launch(probe, 'one');
    process.kill(arrival.peer.pid, 'SIGSTOP');
    const once = spec(2, ['sh', '-c', 'echo ran; exit 3']);
    await expect(session.start(once, { timeoutMs: 50 })).rejects.toEqual(timedOut);
    const again = session.start(once);
    process.kill(arrival.peer.pid, 'SIGCONT');
    expect(await again).toMatchObject({ ok: true });
    expect(await recorder.over(2)).toMatchObject({ exitCode: 3 });
    expect(recorder.text(2)).toBe('ran\n');
    expect(await session.start(once)).toMatchObject({ ok: false, stage: 'duplicate' });
  });

  it('on a new connection, `duplicate` tells that it began', async () => {
    const probe = await bench.probe();
    const { session, recorder, arrival } = await bench.launch(probe, 'one');
    process.kill(arrival.peer.pid, 'SIGSTOP');
    const once = spec(2, ['sleep', '1000']);
    await expect(session.start(once, { timeoutMs: 50 })).rejects.toEqual(timedOut);
    process.kill(arrival.peer.pid, 'SIGCONT');
    await session.ping();
    session.close();
    const next = await bench.connect(recorder);
    expect(next.session.hello.processes).toMatchObject([{ id: 2, state: 'running' }]);
    expect(await next.session.start(once)).toMatchObject({ ok: false, stage: 'duplicate' });
  });
});

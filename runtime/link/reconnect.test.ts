import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { BUILD_TIMEOUT_MS, Bench, buildInit, isRoot } from './testing/bench.ts';
import { until } from './testing/until.ts';

const start = { env: ['PATH=/usr/bin:/bin'], workingDir: '/' };

beforeAll(buildInit, BUILD_TIMEOUT_MS);

describe.skipIf(!isRoot)('after a lost connection', { meta: { needs: 'root' } }, () => {
  let bench: Bench;
  beforeEach(() => {
    bench = new Bench();
  });
  afterEach(() => bench.close());

  it('output comes again from what was acknowledged: none is lost, and none counts twice', async () => {
    const probe = await bench.probe();
    const { session, recorder } = await bench.launch(probe, 'one', { holdMs: 60_000 });
    const lines = 400_000;
    await session.start({ id: 2, argv: ['seq', '1', String(lines)], ...start });
    let current = session;
    for (const [round, mark] of [1n, 300_000n, 700_000n, 1_100_000n].entries()) {
      await until('more output', () => recorder.stream(2, 'stdout').bytes >= mark);
      current.close();
      const next = await bench.connect(recorder);
      current = next.session;
      expect(current.hello.connection).toBe(round + 2);
      expect(current.hello.processes).toMatchObject([{ id: 2 }]);
    }
    await recorder.over(2);
    const expected = createHash('sha256');
    for (let i = 1; i <= lines; i++) expected.update(`${i}\n`);
    const got = createHash('sha256').update(recorder.text(2)).digest('hex');
    expect(got).toBe(expected.digest('hex'));
    expect(recorder.gap).toBe(false);
  });

  it('what was sent and not acknowledged is sent again', async () => {
    const probe = await bench.probe();
    const { session, recorder } = await bench.launch(probe, 'one');
    recorder.crediting = false;
    await session.start({ id: 3, argv: ['sh', '-c', 'echo hello; exit 3'], ...start });
    await until('the output', () => recorder.text(3) === 'hello\n');
    await until('the exit', () => recorder.exits.has(3));
    session.close();
    const again = await bench.connect();
    await until('all of it again', () => again.recorder.ended(3));
    expect(again.recorder.text(3)).toBe('hello\n');
    expect(again.session.hello.processes).toMatchObject([{ id: 3, state: 'exited', exit: { exitCode: 3 } }]);
    again.session.close();
    // What has been acknowledged is not.
    const last = await bench.connect(recorder);
    recorder.crediting = true;
    recorder.credit(3, 'stdout');
    recorder.credit(3, 'stderr');
    await until('the ends', () => recorder.ended(3));
    expect(recorder.repeated).toBe(0);
    expect(last.session.hello.connection).toBe(3);
  });

  it('[K10] a probe killed with -9 is made again, and the sandbox dials in with all that happened meanwhile', async () => {
    const first = await bench.probe();
    const { session, recorder, arrival, exit } = await bench.launch(first, 'one', { holdMs: 60_000 });
    await session.start({
      id: 2,
      argv: ['sh', '-c', 'trap "echo term; exit 6" TERM; echo ready; while :; do sleep 0.02; done'],
      ...start,
    });
    await until('ready', () => recorder.text(2) === 'ready\n');
    first.child.kill('SIGKILL');
    await once(first.child, 'exit');
    expect((await first.closed).message).toContain('probe');
    expect((await session.closed).message).toContain('sandbox');
    await expect(first.listening()).rejects.toMatchObject({ code: 'Closed' });
    process.kill(arrival.peer.pid, 'SIGTERM');
    const second = await bench.probe();
    expect(await second.listening()).toEqual(['one']);
    await second.listen('one');
    const next = await bench.connect(recorder);
    await recorder.over(2);
    expect(next.session.hello.connection).toBe(2);
    expect([...next.session.hello.outsideSignals, ...recorder.outside]).toEqual([15]);
    expect(recorder.exits.get(2)).toMatchObject({ exitCode: 6, endedBy: 'outside' });
    expect(recorder.text(2)).toBe('ready\nterm\n');
    next.session.release();
    expect(await exit).toBe(6);
  });

  it('a failed start stays known', async () => {
    const probe = await bench.probe();
    const { session } = await bench.launch(probe, 'one', { holdMs: 60_000 });
    await session.start({ id: 2, argv: ['no-such-command'], ...start });
    session.close();
    const { session: next } = await bench.connect();
    expect(next.hello.processes).toMatchObject([
      { id: 2, state: 'exited', failed: { stage: 'exec', errno: 'ENOENT' }, exit: { exitCode: 127 } },
    ]);
  });

  it('input goes on where it stopped', async () => {
    const probe = await bench.probe();
    const { session, recorder } = await bench.launch(probe, 'one');
    await session.start({ id: 3, argv: ['cat'], stdin: true, ...start });
    session.stdin(3, Buffer.from('one '));
    await until('the echo', () => recorder.text(3) === 'one ');
    session.close();
    const { session: next } = await bench.connect(recorder);
    expect(next.hello.processes).toMatchObject([{ id: 3, stdinReceived: 4n }]);
    next.stdin(3, Buffer.from('two'));
    next.stdin(3, 'end');
    await recorder.over(3);
    expect(recorder.text(3)).toBe('one two');
  });

  it('a sandbox that is started before the probe listens waits at its gate', async () => {
    const { exit } = bench.sandbox('one');
    const probe = await bench.probe();
    await probe.listen('one');
    const { session } = await bench.connect();
    expect(session.hello.processes).toEqual([]);
    session.release(0);
    expect(await exit).toBe(0);
  });
});

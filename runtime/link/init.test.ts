import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { BUILD_TIMEOUT_MS, Bench, buildInit, isEmulated, isRoot } from './testing/bench.ts';
import { until } from './testing/until.ts';
import type { Probe, StartSpec } from './types.ts';

const ENV = ['PATH=/usr/bin:/bin'];
const sh = (id: number, script: string, more: Partial<StartSpec> = {}): StartSpec => ({
  id,
  argv: ['sh', '-c', script],
  env: ENV,
  workingDir: '/',
  ...more,
});

beforeAll(buildInit, BUILD_TIMEOUT_MS);

describe.skipIf(!isRoot)('init', { meta: { needs: 'root' } }, () => {
  let bench: Bench;
  let probe: Probe;
  beforeEach(async () => {
    bench = new Bench();
    probe = await bench.probe();
  });
  afterEach(() => bench.close());

  it('runs nothing before the word, then main; its output and exit code arrive, and the sandbox ends with its code', async () => {
    const { session, recorder, exit, arrival } = await bench.launch(probe, 'one');
    expect(arrival).toMatchObject({ sandboxID: 'one', peer: { uid: 0 } });
    expect(arrival.peer.nsPids.at(-1)).toBe(1);
    expect(session.hello).toMatchObject({
      protocol: 2,
      gate: false,
      connection: 1,
      processes: [],
      outsideSignals: [],
    });
    expect(session.hello.build).toMatch(/^[0-9a-f]{16}$/);
    expect(readFileSync(`/proc/${arrival.peer.pid}/task/${arrival.peer.pid}/children`, 'utf8')).toBe('');
    expect(await session.start(sh(2, 'echo out; echo err >&2; exit 7'))).toMatchObject({ ok: true });
    expect(await recorder.over(2)).toMatchObject({ exitCode: 7, signal: undefined, endedBy: 'itself' });
    expect([recorder.text(2), recorder.text(2, 'stderr')]).toEqual(['out\n', 'err\n']);
    session.release();
    expect(await exit).toBe(7);
  });

  it('gives a process its own session, default signals, the environment and folder asked for, and nothing else', async () => {
    const { session, recorder } = await bench.launch(probe, 'one', { unprivileged: true });
    const script =
      'pwd; env; ls -l /proc/self/fd | grep -c socket; grep -E "^Sig(Blk|Ign)" /proc/self/status';
    await session.start(sh(2, `${script}; cat /proc/self/oom_score_adj; cut -d" " -f5,6 /proc/self/stat`));
    await recorder.over(2);
    const lines = recorder.text(2).split('\n');
    expect(lines).toContain('PATH=/usr/bin:/bin');
    expect(lines.filter((line) => line.startsWith('HOME='))).toEqual([]);
    expect(lines).toContain('0'); // no socket
    expect(lines).toContain('SigBlk:\t0000000000000000');
    if (!isEmulated) expect(lines).toContain('SigIgn:\t0000000000000000');
    expect(lines).toContain('100');
    const [pgrp, sid] = (lines.at(-2) as string).split(' ');
    expect(pgrp).toBe(sid);
  });

  it('keeps its own memory and files from user code of the same user', async () => {
    const { session, recorder } = await bench.launch(probe, 'one', { unprivileged: true });
    expect(session.hello).toMatchObject({ uid: 1000, gid: 1000 });
    await session.start(
      sh(2, 'cat /proc/1/environ; ls /proc/1/fd; cat /proc/1/mem; kill -9 1; kill -TERM 1; echo on'),
    );
    expect(await recorder.over(2)).toMatchObject({ exitCode: 0 });
    expect(recorder.text(2)).toBe('on\n');
    expect(recorder.text(2, 'stderr').match(/Permission denied/g)).toHaveLength(3);
    expect(recorder.outside).toEqual([]);
  });

  it.each([
    ['no-such-command', 'exec', 'ENOENT', 127],
    ['/etc/passwd', 'exec', 'EACCES', 126],
    ['/', 'exec', 'EACCES', 126],
    ['/etc/passwd/x', 'exec', 'ENOTDIR', 127],
  ])(
    'says why %s cannot be run, and the sandbox ends as a shell would',
    async (command, stage, errno, code) => {
      const { session, exit, recorder } = await bench.launch(probe, 'one', { holdMs: 60_000 });
      expect(await session.start({ ...sh(2, ''), argv: [command] })).toEqual({ ok: false, stage, errno });
      expect(recorder.exits.size).toBe(0);
      session.release();
      expect(await exit).toBe(code);
    },
  );

  it('says when the folder is missing, and tries every directory of PATH', async () => {
    const { session, recorder } = await bench.launch(probe, 'one');
    expect(await session.start(sh(1, 'true', { workingDir: '/nowhere' }))).toEqual({
      ok: false,
      stage: 'chdir',
      errno: 'ENOENT',
    });
    const result = await session.start(
      sh(3, 'echo found', { env: ['PATH=/etc/passwd:/nowhere::/usr/bin:/bin'] }),
    );
    expect(result.ok).toBe(true);
    await recorder.over(3);
    expect(recorder.text(3)).toBe('found\n');
  });

  it('starts an id once: a second time answers duplicate and does nothing', async () => {
    const { session, recorder } = await bench.launch(probe, 'one');
    await session.start(sh(1, 'echo once'));
    expect(await session.start(sh(1, 'echo twice'))).toEqual({
      ok: false,
      stage: 'duplicate',
      errno: 'EEXIST',
    });
    await recorder.over(1);
    expect(await session.start(sh(1, 'echo twice'))).toMatchObject({ stage: 'duplicate' });
    session.forget(1);
    expect(await session.start(sh(1, 'echo twice'))).toMatchObject({ stage: 'duplicate' });
    expect(recorder.text(1)).toBe('once\n');
  });

  it.each([
    ['kill -KILL $$', { exitCode: undefined, signal: 9, endedBy: 'itself' }, 137],
    ['kill -TERM $$', { exitCode: undefined, signal: 15, endedBy: 'itself' }, 143],
    ['exit 137', { exitCode: 137, signal: undefined, endedBy: 'itself' }, 137],
    ['exit 0', { exitCode: 0, signal: undefined, endedBy: 'itself' }, 0],
  ])('reports the end of `%s`', async (script, exited, code) => {
    const { session, recorder, exit } = await bench.launch(probe, 'one');
    await session.start(sh(2, script));
    const record = await recorder.over(2);
    expect(record).toMatchObject(exited);
    expect(record.endedAtBootMs).toBeGreaterThanOrEqual(record.startedAtBootMs);
    expect(record.maxRssBytes).toBeGreaterThan(0);
    session.release();
    expect(await exit).toBe(code);
  });

  it('the goodbye may name the exit code, and ends what still runs', async () => {
    const { session, exit } = await bench.launch(probe, 'one');
    await session.start(sh(3, 'sleep 1000'));
    session.release(42);
    session.close();
    expect(await exit).toBe(42);
  });

  it('signals the leader or the whole group, and says whose signal ended it', async () => {
    const { session, recorder } = await bench.launch(probe, 'one');
    await session.start(sh(3, 'trap "echo usr1" USR1; sleep 1000 & echo ready; wait; wait'));
    await until('ready', () => recorder.text(3) === 'ready\n');
    session.signal(3, 10, 'leader');
    await until('the trap', () => recorder.text(3) === 'ready\nusr1\n');
    session.signal(3, 9, 'group');
    expect(await recorder.over(3)).toMatchObject({ signal: 9, endedBy: 'agent' });
  });

  it('a signal sent before the start is answered is not lost', async () => {
    const { session, recorder } = await bench.launch(probe, 'one');
    for (let id = 3; id < 23; id++) {
      const started = session.start(sh(id, 'sleep 1000'));
      session.signal(id, 9, 'group');
      await started;
      expect(await recorder.over(id)).toMatchObject({ signal: 9, endedBy: 'agent' });
    }
  });

  it('passes a signal from outside on to main and reports it', async () => {
    const { session, recorder, arrival } = await bench.launch(probe, 'one');
    await session.start(sh(2, 'trap "exit 5" TERM; echo ready; while :; do sleep 0.02; done'));
    await until('ready', () => recorder.text(2) === 'ready\n');
    process.kill(arrival.peer.pid, 'SIGTERM');
    const exit = await recorder.over(2);
    expect(exit).toMatchObject({ exitCode: 5, endedBy: 'outside', outside: { signal: 15 } });
    expect(recorder.outside).toEqual([15]);
    expect(recorder.outsideTimes).toEqual([exit.outside?.atBootMs]);
    expect(exit.outside?.atBootMs).toBeGreaterThanOrEqual(exit.startedAtBootMs);
    expect(exit.outside?.atBootMs).toBeLessThanOrEqual(exit.endedAtBootMs);
    // And all the same on a new connection.
    session.close();
    const { session: next } = await bench.connect(recorder);
    expect(next.hello).toMatchObject({ outsideSignals: [15], outsideSignalTimes: recorder.outsideTimes });
    expect(next.hello.processes[0]?.exit).toEqual(exit);
  });

  it.each([
    ['a reload from outside does not explain an exit', 1, 'trap "exit 1" HUP', { exitCode: 1 }, undefined],
    ['nor does a signal of its users', 10, 'trap "exit 137" USR1', { exitCode: 137 }, undefined],
    ['one that it died of is told beside', 1, ':', { signal: 1 }, { signal: 1 }],
  ])('[O9] %s', async (_name, signal, trap, exited, outside) => {
    const { session, recorder, arrival } = await bench.launch(probe, 'one');
    await session.start(sh(2, `${trap}; echo ready; while :; do sleep 0.02; done`));
    await until('ready', () => recorder.text(2) === 'ready\n');
    process.kill(arrival.peer.pid, signal);
    const exit = await recorder.over(2);
    expect(exit).toMatchObject({ ...exited, endedBy: 'itself' });
    expect(recorder.outside).toEqual([signal]);
    if (outside) expect(exit.outside).toMatchObject(outside);
    else expect(exit).not.toHaveProperty('outside');
  });

  it('stopped from outside at the gate, it ends at once; with processes and no main, it ends them and holds', async () => {
    const first = await bench.launch(probe, 'one', { holdMs: 600_000 });
    process.kill(first.arrival.peer.pid, 'SIGTERM');
    expect(await first.exit).toBe(143);
    const second = await bench.launch(probe, 'two', { holdMs: 600_000 });
    await second.session.start(sh(3, 'sleep 1000'));
    process.kill(second.arrival.peer.pid, 'SIGTERM');
    expect(await second.recorder.over(3)).toMatchObject({ signal: 15, endedBy: 'outside' });
    expect(await second.session.start(sh(4, 'true'))).toEqual({
      ok: false,
      stage: 'fork',
      errno: 'ESHUTDOWN',
    });
    second.session.release();
    expect(await second.exit).toBe(143);
  });

  it('ends a process at its time limit: group first asked, then killed', async () => {
    const { session, recorder } = await bench.launch(probe, 'one');
    await session.start(
      sh(3, 'trap "exit 3" TERM; echo ready; while :; do sleep 0.02; done', { timeoutMs: 300 }),
    );
    expect(await recorder.over(3)).toMatchObject({ exitCode: 3, endedBy: 'timeout' });
    await session.start(sh(4, 'trap "" TERM; sleep 1000 & sleep 1000', { timeoutMs: 100, graceMs: 100 }));
    expect(await recorder.over(4)).toMatchObject({ signal: 9, endedBy: 'timeout' });
    await session.start(sh(5, 'kill -STOP $$', { timeoutMs: 100, graceMs: 100 }));
    expect(await recorder.over(5)).toMatchObject({ endedBy: 'timeout' });
  });

  it('holds after main until the goodbye, and for the hold time only when nobody says it', async () => {
    const { session, recorder, exit, child } = await bench.launch(probe, 'one', { holdMs: 200 });
    await session.start(sh(2, 'exit 9'));
    await recorder.over(2);
    expect(child.exitCode).toBeNull();
    session.close();
    expect(await exit).toBe(9);
  });

  it('enforces the time limit and the hold while no probe is there', async () => {
    const { session, exit, arrival } = await bench.launch(probe, 'one', { holdMs: 100 });
    await session.start(sh(2, 'trap "" TERM; while :; do sleep 0.05; done', { timeoutMs: 300, graceMs: 50 }));
    probe.close();
    await arrival.stream
      .resume()
      .toArray()
      .catch(() => []);
    expect(await exit).toBe(137);
  });

  it('reaps every orphan, and keeps the zombie of a leader while its group lives', async () => {
    const { session, recorder, arrival } = await bench.launch(probe, 'one');
    // One orphan that stays in the group, and one that has left it and ends.
    await session.start(sh(3, 'sleep 1000 & setsid sh -c "sleep 0.05" & exit 0'));
    await until('the exit', () => recorder.exits.has(3));
    const children = (): string[] =>
      readFileSync(`/proc/${arrival.peer.pid}/task/${arrival.peer.pid}/children`, 'utf8')
        .trim()
        .split(' ')
        .filter(Boolean);
    const state = (pid: string): string => {
      try {
        return /State:\t(\w)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? '?';
      } catch {
        return '?'; // gone between two looks
      }
    };
    await until('the leader and its sleep', () => children().map(state).toSorted().join('') === 'SZ');
    // More orphans, hidden behind the zombie in the kernel's list.
    await session.start(sh(4, 'for i in 1 2 3 4 5; do setsid sh -c "sleep 0.02" & done; exit 0'));
    await until('the second exit', () => recorder.exits.has(4));
    await until('the reaping', () => children().map(state).toSorted().join('') === 'SZ');
    session.signal(3, 9, 'group');
    await until('an empty sandbox', () => children().length === 0);
  });

  it('what setup leaves running goes on', async () => {
    const { session, recorder } = await bench.launch(probe, 'one');
    await session.start(sh(1, 'sleep 1000 >/dev/null 2>&1 & echo $! ; exit 0'));
    expect(await recorder.over(1)).toMatchObject({ exitCode: 0 });
    await session.start(sh(2, `kill -0 ${recorder.text(1).trim()} && echo alive`));
    await recorder.over(2);
    expect(recorder.text(2)).toBe('alive\n');
  });

  it('feeds stdin with backpressure, and ends it', async () => {
    const { session, recorder } = await bench.launch(probe, 'one');
    const data = Buffer.alloc(900_000, 'holdfast stdin\n');
    await session.start({ ...sh(3, 'sleep 0.1; sha256sum'), stdin: true });
    session.stdin(3, data);
    expect(session.stdinWaiting(3)).toBeGreaterThan(500_000);
    expect(() => session.stdin(3, data)).toThrow(expect.objectContaining({ code: 'Overflow' }));
    session.stdin(3, 'end');
    expect(await recorder.over(3)).toMatchObject({ exitCode: 0 });
    expect(recorder.text(3)).toBe(`${createHash('sha256').update(data).digest('hex')}  -\n`);
    expect(recorder.drained).toEqual([3]);
  });

  it('input that nobody reads is swallowed once the process has closed it', async () => {
    const { session, recorder } = await bench.launch(probe, 'one');
    await session.start({ ...sh(3, 'exec <&-; echo closed; sleep 0.2'), stdin: true });
    await until('closed', () => recorder.text(3) === 'closed\n');
    session.stdin(3, Buffer.alloc(500_000));
    await until('the drain', () => recorder.drained.length > 0);
    await recorder.over(3);
  });

  it('gives a terminal with a size that changes', async () => {
    const { session, recorder } = await bench.launch(probe, 'one', { unprivileged: true });
    const script = 'tty; stty size; trap "stty size; exit 4" WINCH; echo ready; while :; do sleep 0.02; done';
    expect(await session.start({ ...sh(3, script), tty: { rows: 31, cols: 97 } })).toMatchObject({
      ok: true,
    });
    await until('ready', () => recorder.text(3).includes('ready'));
    session.resize(3, { rows: 40, cols: 120 });
    expect(await recorder.over(3)).toMatchObject({ exitCode: 4 });
    expect(
      recorder
        .text(3)
        .split('\r\n')
        .filter((line) => /^\d/.test(line)),
    ).toEqual(['31 97', '40 120']);
    await session.start({
      ...sh(4, 'read line; echo "got $line"; cat'),
      tty: { rows: 24, cols: 80 },
      stdin: true,
    });
    session.stdin(4, Buffer.from('hello\r\u0004'));
    expect(await recorder.over(4)).toMatchObject({ exitCode: 0 });
    expect(recorder.text(4)).toContain('got hello');
    await session.start({ ...sh(5, 'exec cat'), tty: { rows: 24, cols: 80 }, stdin: true });
    session.stdin(5, Buffer.from('\u0003'));
    expect(await recorder.over(5)).toMatchObject({ signal: 2, endedBy: 'itself' });
  });

  it('output backs up to the writer while nobody acknowledges it, and is all there afterwards', async () => {
    const { session, recorder } = await bench.launch(probe, 'one');
    recorder.crediting = false;
    await session.start(sh(3, 'head -c 3000000 /dev/zero | tr "\\0" x; echo done >&2'));
    await until('the first window', () => recorder.stream(3, 'stdout').bytes === 65_536n);
    expect(recorder.text(3, 'stderr')).toBe('');
    recorder.crediting = true;
    recorder.credit(3, 'stdout');
    await recorder.over(3);
    expect(recorder.stream(3, 'stdout')).toMatchObject({ bytes: 3_000_000n, total: 3_000_000n });
    expect([recorder.gap, recorder.repeated]).toEqual([false, 0]);
  });

  it('one process whose output is not taken does not hold up another', async () => {
    const { session, recorder } = await bench.launch(probe, 'one');
    recorder.crediting = false;
    await session.start(sh(3, 'yes'));
    await until('the window', () => recorder.stream(3, 'stdout').bytes === 65_536n);
    await session.start(sh(4, 'echo fine'));
    expect(await recorder.over(4)).toMatchObject({ exitCode: 0 });
    session.signal(3, 9, 'group');
    await until('the exit', () => recorder.exits.has(3));
  });

  it('says no to what it does not know, and goes on', async () => {
    const { session, recorder, arrival } = await bench.launch(probe, 'one');
    arrival.stream.write(Buffer.from([0x48, 0xee, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]));
    arrival.stream.write(Buffer.from([0x48, 0x31, 0, 0, 0, 0, 0, 9, 0, 0, 0, 3, 1, 2, 3]));
    await session.ping();
    await session.start(sh(2, 'echo on'));
    await recorder.over(2);
    expect(recorder.text(2)).toBe('on\n');
  });

  it('drops a connection that is not the protocol, and dials again', async () => {
    const { arrival } = await bench.launch(probe, 'one');
    arrival.stream.write('GET / HTTP/1.1\r\n\r\n');
    const { session } = await bench.connect();
    expect(session.hello.connection).toBe(2);
  });

  it('runs 64 processes at a time, says so when there is no room, and reuses what is forgotten', async () => {
    const { session, recorder } = await bench.launch(probe, 'one');
    const results = await Promise.all(
      Array.from({ length: 64 }, (_, i) => session.start(sh(i + 1, 'echo $0; exec sleep 1000'))),
    );
    expect(results.every((result) => result.ok)).toBe(true);
    expect(await session.start(sh(100, 'true'))).toEqual({ ok: false, stage: 'fork', errno: 'EUSERS' });
    session.signal(7, 9, 'group');
    await recorder.over(7);
    let result = await session.start(sh(100, 'true'));
    await until('a free place', async () => {
      session.forget(7);
      result = await session.start(sh(100, 'echo in'));
      return result.ok;
    });
    await recorder.over(100);
    expect(recorder.text(100)).toBe('in\n');
    // All of them fit one hello.
    session.close();
    const { session: next } = await bench.connect(recorder);
    expect(next.hello.processes.map(({ state }) => state).toSorted()).toEqual([
      'exited',
      ...Array.from({ length: 63 }, () => 'running'),
    ]);
  });

  it('refuses to be anything but PID 1', async () => {
    const { execFileSync } = await import('node:child_process');
    expect(() =>
      execFileSync(bench.binary, ['init', '--socket', join(bench.dir, 'x')], { stdio: 'pipe' }),
    ).toThrow('init has to be PID 1');
  });
});

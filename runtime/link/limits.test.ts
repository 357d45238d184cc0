import { readFileSync } from 'node:fs';
import { afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { BUILD_TIMEOUT_MS, Bench, buildInit, isEmulated, isRoot } from './testing/bench.ts';
import { until } from './testing/until.ts';
import type { Probe } from './types.ts';

const start = { env: ['PATH=/usr/bin:/bin'], workingDir: '/' };
/** With sanitizers, or emulated, it costs more than it does. */
const instrumented = process.env['HOLDFAST_INIT_INSTRUMENTED'] !== undefined;
const MIB = 1024 * 1024;

beforeAll(buildInit, BUILD_TIMEOUT_MS);

describe.skipIf(!isRoot)('what init costs', { meta: { needs: 'root' } }, () => {
  let bench: Bench;
  let probe: Probe;
  beforeEach(async () => {
    bench = new Bench();
    probe = await bench.probe();
  });
  afterEach(() => bench.close());

  const status = (pid: number, field: string): number =>
    Number(new RegExp(`^${field}:\\s+(\\d+)`, 'm').exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]);
  const residentBytes = (pid: number): number => status(pid, 'VmRSS') * 1024;

  it.skipIf(instrumented)(
    'is one task and less than 1 MB resident: at the gate, with setup and main, and full output',
    { meta: { needs: 'a program without sanitizers' } },
    async () => {
      const { session, recorder, arrival } = await bench.launch(probe, 'one', { unprivileged: true });
      const { pid } = arrival.peer;
      const measures = [residentBytes(pid)];
      await session.start({ id: 1, argv: ['sh', '-c', 'seq 1 200000'], ...start });
      await recorder.over(1);
      measures.push(residentBytes(pid));
      recorder.crediting = false;
      await session.start({ id: 2, argv: ['sh', '-c', 'yes & yes >&2'], ...start });
      await until(
        'both windows',
        () => recorder.stream(2, 'stdout').bytes + recorder.stream(2, 'stderr').bytes === 131_072n,
      );
      measures.push(residentBytes(pid));
      expect(Math.max(...measures)).toBeLessThan(MIB);
      expect(status(pid, 'Threads')).toBe(1);
    },
  );

  it.skipIf(instrumented)(
    'gives back what a long environment took',
    { meta: { needs: 'a program without sanitizers' } },
    async () => {
      const { session, recorder, arrival } = await bench.launch(probe, 'one');
      const env = Array.from({ length: 18 }, (_, i) => `V${i}=${'x'.repeat(100_000)}`);
      const result = await session.start({
        id: 2,
        argv: ['sh', '-c', 'env | grep -c ^V'],
        env: [...start.env, ...env],
        workingDir: '/',
      });
      expect(result.ok).toBe(true);
      await recorder.over(2);
      expect(recorder.text(2)).toBe('18\n');
      expect(residentBytes(arrival.peer.pid)).toBeLessThan(MIB);
    },
  );

  it('an environment that the kernel refuses is an error of the start, and one that no message holds is refused here', async () => {
    const { session } = await bench.launch(probe, 'one');
    const env = Array.from({ length: 22 }, (_, i) => `V${i}=${'x'.repeat(100_000)}`);
    expect(await session.start({ id: 3, argv: ['true'], env, workingDir: '/' })).toEqual({
      ok: false,
      stage: 'exec',
      errno: 'E2BIG',
    });
    await expect(
      session.start({ id: 4, argv: ['true'], env: ['x'.repeat(4 * MIB)], workingDir: '/' }),
    ).rejects.toMatchObject({ code: 'Invalid' });
    await expect(session.start({ id: 4, argv: ['a\0b'], env: [], workingDir: '/' })).rejects.toMatchObject({
      code: 'Invalid',
    });
    await expect(session.start({ id: 4, argv: [], env: [], workingDir: '/' })).rejects.toMatchObject({
      code: 'Invalid',
    });
    await expect(session.start({ id: 0, argv: ['true'], env: [], workingDir: '/' })).rejects.toMatchObject({
      code: 'Invalid',
    });
  });

  it.skipIf(isEmulated)(
    'says EAGAIN where the process limit is reached, and starts the same id once there is room',
    { meta: { needs: 'a processor that is not emulated' } },
    async () => {
      await probe.listen('one');
      // RLIMIT_NPROC counts a user's processes: this user has none but these.
      bench.pidOne([
        'setpriv',
        '--reuid=54321',
        '--regid=54321',
        '--clear-groups',
        '--bounding-set=-all',
        '--inh-caps=-all',
        '--pdeathsig=KILL',
        'prlimit',
        '--nproc=2',
        bench.binary,
        'init',
        '--socket',
        bench.socket('one'),
      ]);
      const { session, recorder } = await bench.connect();
      expect(await session.start({ id: 3, argv: ['sleep', '1000'], ...start })).toMatchObject({ ok: true });
      expect(await session.start({ id: 2, argv: ['echo', 'in'], ...start })).toEqual({
        ok: false,
        stage: 'fork',
        errno: 'EAGAIN',
      });
      session.signal(3, 9, 'group');
      await recorder.over(3);
      await until('room', async () => (await session.start({ id: 2, argv: ['echo', 'in'], ...start })).ok);
      await recorder.over(2);
      expect(recorder.text(2)).toBe('in\n');
    },
  );

  it('a stopped and continued init loses nothing', async () => {
    const { session, recorder, arrival } = await bench.launch(probe, 'one');
    process.kill(arrival.peer.pid, 'SIGSTOP');
    const result = session.start({ id: 2, argv: ['sh', '-c', 'echo on; exit 4'], ...start });
    process.kill(arrival.peer.pid, 'SIGCONT');
    expect(await result).toMatchObject({ ok: true });
    expect(await recorder.over(2)).toMatchObject({ exitCode: 4 });
    expect(recorder.outside.filter((signal) => signal !== 18)).toEqual([]);
  });
});

describe.skipIf(!isRoot)('gate', { meta: { needs: 'root' } }, () => {
  let bench: Bench;
  beforeEach(() => {
    bench = new Bench();
  });
  afterEach(() => bench.close());

  it('becomes the program it is told to be, as PID 1, and says why it cannot', async () => {
    const probe = await bench.probe();
    await probe.listen('one');
    const gate = bench.pidOne([bench.binary, 'gate', '--socket', bench.socket('one')]);
    const { session } = await bench.connect();
    expect(session.hello).toMatchObject({ gate: true, processes: [] });
    const started = session.start({ id: 2, argv: ['sh', '-c', 'test $$ = 1 && exit 5'], ...start });
    await expect(started).rejects.toMatchObject({ code: 'Closed' });
    expect(await gate.exit).toBe(5);
    const other = bench.pidOne([bench.binary, 'gate', '--socket', bench.socket('one')]);
    const second = await bench.connect();
    expect(await second.session.start({ id: 2, argv: ['no-such'], ...start })).toEqual({
      ok: false,
      stage: 'exec',
      errno: 'ENOENT',
    });
    expect(await other.exit).toBe(127);
  });

  it('waits over a lost probe, and ends at a stop from outside', async () => {
    const first = await bench.probe();
    await first.listen('one');
    const gate = bench.pidOne([bench.binary, 'gate', '--socket', bench.socket('one')]);
    await bench.connect();
    first.close();
    const second = await bench.probe();
    await second.listen('one');
    const { session, arrival } = await bench.connect();
    expect(session.hello.connection).toBe(2);
    process.kill(arrival.peer.pid, 'SIGTERM');
    expect(await gate.exit).toBe(143);
  });
});

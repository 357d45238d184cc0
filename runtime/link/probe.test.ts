import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, readFileSync, statfsSync, statSync, symlinkSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { Duplex, PassThrough } from 'node:stream';
import { afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { encodeFields } from './fields.ts';
import { encodeMessage } from './frame.ts';
import { openInit } from './init.ts';
import { openProbe } from './probe.ts';
import { F, T } from './protocol.ts';
import { BUILD_TIMEOUT_MS, Bench, buildInit, isRoot } from './testing/bench.ts';
import { Recorder } from './testing/recorder.ts';
import { until } from './testing/until.ts';
import type { Probe } from './types.ts';

beforeAll(buildInit, BUILD_TIMEOUT_MS);

describe.skipIf(!isRoot)('probe', { meta: { needs: 'root' } }, () => {
  let bench: Bench;
  let probe: Probe & { child: ChildProcess };
  beforeEach(async () => {
    bench = new Bench();
    probe = await bench.probe();
  });
  afterEach(() => bench.close());

  it('says what kernel it sees', () => {
    expect(probe.hello).toMatchObject({
      protocol: 2,
      bootID: readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim(),
      clockTicksPerSecond: 100,
      pageSizeBytes: Number(execFileSync('getconf', ['PAGESIZE'], { encoding: 'utf8' })),
    });
    expect(['v1', 'v2', 'hybrid', 'none']).toContain(probe.hello.cgroup);
  });

  it('reads many files in one round trip and says why one could not be read', async () => {
    const paths = [
      `/proc/${process.pid}/cgroup`,
      '/proc/999999999/cgroup',
      '/etc/passwd',
      '/proc/../etc/passwd',
      '/proc/self/root/etc/passwd',
      `/proc/${process.pid}/cwd/package.json`,
      '/proc/sys',
      'proc/version',
      '/proc//version',
      '/sys/fs/cgroup',
    ];
    const readings = await probe.readFiles(paths);
    expect(readings.map(({ path }) => path)).toEqual(paths);
    expect(readings.map((one) => ('errno' in one ? one.errno : 'read'))).toEqual([
      'read',
      'ENOENT',
      'EINVAL',
      'EINVAL',
      'ENOTDIR',
      'ENOTDIR',
      'EISDIR',
      'EINVAL',
      'EINVAL',
      'EINVAL',
    ]);
    expect(readings[0]).toEqual({
      path: paths[0],
      content: readFileSync(`/proc/${process.pid}/cgroup`, 'utf8'),
    });
  });

  it('answers in fragments where the files are long, and refuses those that do not fit', async () => {
    const path = '/proc/kallsyms';
    const long = await probe.readFiles(Array.from({ length: 40 }, () => '/proc/zoneinfo'));
    const whole = long.reduce((sum, one) => sum + ('content' in one ? one.content.length : 0), 0);
    expect(whole).toBeGreaterThan(65_536);
    const tooLong = await probe.readFiles([path, '/proc/version']);
    expect(tooLong).toMatchObject([{ path, errno: 'EFBIG' }, { content: expect.stringContaining('Linux') }]);
    await expect(probe.readFiles(Array.from({ length: 5000 }, () => '/proc/version'))).rejects.toMatchObject({
      code: 'Invalid',
    });
  });

  it('knows a process by its pid and start time', async () => {
    const facts = await probe.process(process.pid);
    const fields = readFileSync('/proc/self/stat', 'utf8').split(') ')[1]?.split(' ') ?? [];
    expect(facts).toMatchObject({
      pid: process.pid,
      startTicks: BigInt(fields[19] ?? 0),
      uid: process.getuid?.(),
      cgroup: readFileSync('/proc/self/cgroup', 'utf8'),
    });
    expect(facts?.nsPids).toContain(process.pid);
    expect(await probe.process(999_999_999)).toBeUndefined();
  });

  it('measures a filesystem', async () => {
    const own = statfsSync(bench.dir, { bigint: true });
    const got = await probe.statfs(bench.dir);
    expect({
      type: BigInt(got.type),
      blockSize: got.blockSize,
      blocks: got.blocks,
      files: got.files,
    }).toEqual({
      type: own.type,
      blockSize: own.bsize,
      blocks: own.blocks,
      files: own.files,
    });
    await expect(probe.statfs('/nowhere')).rejects.toMatchObject({ code: 'Refused', errno: 'ENOENT' });
    await expect(probe.statfs('relative')).rejects.toMatchObject({ errno: 'EINVAL' });
  });

  it('makes and removes the folders of sandboxes, both as often as it is asked to', async () => {
    await probe.listen('a');
    await probe.listen('a');
    await probe.listen('B-2.c_d');
    expect((await probe.listening()).toSorted()).toEqual(['B-2.c_d', 'a']);
    const folder = statSync(join(bench.dir, 'sandboxes/a'));
    expect(folder.mode & 0o7777).toBe(0o755);
    expect(statSync(bench.socket('a')).mode & 0o7777).toBe(0o666);
    await probe.unlisten('a');
    await probe.unlisten('a');
    expect(await probe.listening()).toEqual(['B-2.c_d']);
    expect(existsSync(join(bench.dir, 'sandboxes/a'))).toBe(false);
  });

  it.each(['', '.', '..', '.hidden', 'a/b', '../x', 'a b', 'ä', 'x'.repeat(65), 'a\0b'])(
    'refuses %j as a name',
    async (id) => {
      await expect(probe.listen(id)).rejects.toMatchObject({ code: 'Refused', errno: 'EINVAL' });
      await expect(probe.unlisten(id)).rejects.toMatchObject({ errno: 'EINVAL' });
    },
  );

  it('follows no link that somebody put in the place of a folder', async () => {
    mkdirSync(join(bench.dir, 'elsewhere'));
    symlinkSync(join(bench.dir, 'elsewhere'), join(bench.dir, 'sandboxes/linked'));
    await expect(probe.listen('linked')).rejects.toMatchObject({ code: 'Refused' });
    expect(existsSync(join(bench.dir, 'elsewhere/init.sock'))).toBe(false);
    expect(await probe.listening()).toEqual([]);
  });

  it.each(['', '/', '/abs', '..', 'a/../b', 'a//b', './a', 'a/', 'x'.repeat(300)])(
    'refuses to remove the cgroup %j',
    async (path) => {
      await expect(probe.removeCgroup(path)).rejects.toMatchObject({ code: 'Refused', errno: 'EINVAL' });
    },
  );

  it('a cgroup that is not there is gone', async () => {
    expect(await probe.removeCgroup('holdfast-no-such/one')).toBe(true);
  });

  it('lets in nobody but PID 1 of a PID namespace right below its own', async () => {
    await probe.listen('one');
    const stranger = connect(bench.socket('one'));
    await once(stranger.resume(), 'close');
    // A child of PID 1, and PID 1 of a namespace inside a sandbox's.
    const script = `import socket,sys
s=socket.socket(socket.AF_UNIX); s.connect(sys.argv[1]); sys.exit(3 if s.recv(1)==b"" else 4)`;
    const dial = ['python3', '-c', script, bench.socket('one')];
    expect(await bench.pidOne(['sh', '-c', '"$@"; exit $?', 'sh', ...dial]).exit).toBe(3);
    expect(await bench.pidOne(['unshare', '--pid', '--fork', '--mount-proc', ...dial]).exit).toBe(3);
    expect(bench.arrivalsWaiting).toBe(0);
    bench.sandbox('one');
    expect((await bench.arrival()).peer.nsPids).toHaveLength(2);
  });

  it('keeps one connection a sandbox: a newer one replaces it', async () => {
    await probe.listen('one');
    bench.sandbox('one');
    const first = await bench.connect();
    bench.sandbox('one');
    const second = await bench.connect();
    await first.session.closed;
    await second.session.ping();
  });

  it('ends the connection of a sandbox that is not listened to any more', async () => {
    const { session } = await bench.launch(probe, 'one');
    await probe.unlisten('one');
    await session.closed;
    expect(await probe.listening()).toEqual([]);
  });

  it('a sandbox whose stream is not read holds up nobody', async () => {
    await probe.listen('slow');
    bench.sandbox('slow');
    const slow = await bench.arrival();
    const session = await openInit(slow.stream, new Recorder());
    for (let id = 10; id < 40; id++) {
      await session.start({ id, argv: ['yes'], env: ['PATH=/usr/bin:/bin'], workingDir: '/' });
    }
    slow.stream.pause();
    const { session: other } = await bench.launch(probe, 'quick');
    await other.ping();
    await probe.process(1);
    slow.stream.resume();
    await session.ping();
  });

  it('exits when its stdin ends', async () => {
    probe.close();
    const [code] = (await once(probe.child, 'exit')) as [number];
    expect(code).toBe(0);
    expect(await probe.closed).toMatchObject({ code: 'Closed' });
  });

  it('exits at garbage', async () => {
    const child = spawn(bench.binary, ['probe', '--sandboxes', join(bench.dir, 'other')], {
      stdio: ['pipe', 'ignore', 'pipe'],
    });
    child.stdin.end('GET / HTTP/1.1\r\n\r\n');
    const [code] = (await once(child, 'exit')) as [number];
    expect(code).toBe(65);
  });

  it('takes an aborted call back', async () => {
    const gone = AbortSignal.abort(new Error('enough'));
    await expect(probe.process(1, { signal: gone })).rejects.toThrow('enough');
    const controller = new AbortController();
    const call = probe.process(1, { signal: controller.signal });
    controller.abort(new Error('enough'));
    await expect(call).rejects.toThrow('enough');
    expect(await probe.process(process.pid)).toBeDefined();
  });
});

describe('the end of the agent', () => {
  /** A probe of our own making: what is written to `says` is what it says. */
  function fake(): { says: PassThrough; hears: PassThrough; opened: Promise<Probe> } {
    const says = new PassThrough();
    const hears = new PassThrough();
    const opened = openProbe(Duplex.from({ readable: says, writable: hears }), { onInit: () => undefined });
    return { says, hears, opened };
  }
  const hello = encodeMessage(
    T.HELLO,
    0,
    encodeFields([
      [F.PROTOCOL, 1],
      [F.CGROUP_VERSION, 'v2'],
    ]),
  );

  it.each([
    ['garbage', Buffer.from('HTTP/1.1 500 Internal Server Error\r\n')],
    ['something before hello', encodeMessage(T.REPLY, 0, Buffer.alloc(0))],
    ['hello without a version', encodeMessage(T.HELLO, 0, Buffer.alloc(0))],
    ['hello with broken fields', encodeMessage(T.HELLO, 0, Buffer.from([1, 2, 3]))],
  ])('rejects a probe that begins with %s', async (_name, bytes) => {
    const { says, opened } = fake();
    says.write(bytes);
    await expect(opened).rejects.toMatchObject({ name: 'LinkError', code: 'Garbage' });
  });

  it('rejects a probe that ends before it has said hello', async () => {
    const { says, opened } = fake();
    says.end();
    await expect(opened).rejects.toMatchObject({ code: 'Closed' });
  });

  it('ends at garbage later on, and with it every call that waits', async () => {
    const { says, opened } = fake();
    says.write(hello);
    const probe = await opened;
    const call = probe.statfs('/');
    says.write(Buffer.alloc(12));
    await expect(call).rejects.toMatchObject({ code: 'Garbage' });
    await expect(probe.statfs('/')).rejects.toMatchObject({ code: 'Garbage' });
    expect(await probe.closed).toMatchObject({ code: 'Garbage' });
  });

  it('a newer probe may say what it does not know; an older one may not know a request', async () => {
    const { says, hears, opened } = fake();
    says.write(hello);
    const probe = await opened;
    const heard: Buffer[] = [];
    hears.on('data', (chunk: Buffer) => heard.push(chunk));
    says.write(encodeMessage(0xee, 5, encodeFields([[200, 'new']])));
    await until('the error frame', () => Buffer.concat(heard).includes('unknown type'));
    const call = probe.statfs('/');
    says.write(
      encodeMessage(
        T.ERROR,
        0,
        encodeFields([
          [F.REQUEST, 1],
          [F.MESSAGE, 'unknown type'],
        ]),
      ),
    );
    await expect(call).rejects.toMatchObject({ code: 'Refused', errno: 'ENOSYS' });
  });
});

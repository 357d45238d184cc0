import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { type FSWatcher, watch } from 'node:fs';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { constants, tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Duplex, Readable, Writable } from 'node:stream';
import type { EnforcementFacts } from '../../../capabilities/limit-capabilities.ts';
import { DriverError, type ContainerSpec } from '../../../driver.ts';
import type { FakeContainer, FakeProgram } from '../container.ts';
import { FakeCgroups } from './cgroups.ts';
import { FakeDisk, userOf } from './disk.ts';
import { KERNEL, KERNEL_PARENT, startScript, WANTS_MEMORY } from './start-script.ts';

const OPEN = 'mount --make-shared /proc && echo up && read line';
const PROGRAMS = ['unshare', 'nsenter', 'setpriv', 'chroot', 'mount', 'ip', 'tar', 'cp'];

/**
 * What a fake driver's containers run in.
 *
 * Real: processes in PID, mount, network, UTS and IPC namespaces of their own, below those of a machine (so that the
 * probe sees them as it does on a daemon's host), the holdfast-init that the project builds as PID 1 and as probe, root
 * directories, users, volumes, binds, standard streams, signals, exit codes.
 *
 * Simulated: everything about cgroups. The files are those of cgroup v2 in a plain folder that the probe has as its
 * /sys/fs/cgroup; no limit is held, no counter moves by itself, nothing is frozen by a pause, and what the probe says it
 * removed stays until the container does. A `dd` that wants more memory than memory.max says moves the counters and kills
 * itself. Capabilities are those of the spec and three more; there is no seccomp profile. Nothing here confines
 * anybody: it is for programs that a test has written.
 *
 * Needs root on Linux with util-linux, iproute2 and tar.
 */
export class FakeMachine {
  readonly cgroups: FakeCgroups;
  readonly disk: FakeDisk;
  readonly #folder: string;
  readonly #process: ChildProcess;
  /** Of its first process, as this process sees it. */
  readonly #pid: number;
  readonly #watchers = new Set<FSWatcher>();

  private constructor(folder: string, process: ChildProcess, pid: number) {
    this.#folder = folder;
    this.#process = process;
    this.#pid = pid;
    this.cgroups = new FakeCgroups(join(folder, 'cgroup'));
    this.disk = new FakeDisk(folder);
  }

  static async open(): Promise<FakeMachine> {
    const folder = await mkdtemp(join(tmpdir(), 'hf-fake-'));
    await mkdir(join(folder, 'cgroup'));
    const args = ['--mount', '--pid', '--fork', '--kill-child', '--mount-proc', '--propagation', 'private'];
    // It ends when its stdin does: with this process, however that ends, and everything in it.
    const child = spawn('unshare', [...args, 'sh', '-c', OPEN], { stdio: ['pipe', 'pipe', 'inherit'] });
    child.once('error', () => child.stdout.destroy());
    for await (const line of createInterface(child.stdout)) {
      if (line === 'up') return new FakeMachine(folder, child, await childOf(child.pid));
    }
    await rm(folder, { recursive: true, force: true });
    throw new Error('no machine for the fake driver: see what unshare says');
  }

  /** Why there can be none here; undefined: there can. */
  static async missing(): Promise<string | undefined> {
    if (process.platform !== 'linux') return 'it needs Linux';
    if (process.getuid?.() !== 0) return 'it needs root';
    const look = spawn('sh', ['-c', PROGRAMS.map((program) => `command -v ${program}`).join(' && ')], {
      stdio: 'ignore',
    });
    const [code] = (await once(look, 'close')) as [number | null];
    return code === 0 ? undefined : `it needs the programs ${PROGRAMS.join(', ')}`;
  }

  async make({ id, spec, imageID }: FakeContainer): Promise<void> {
    for (const mount of spec.mounts) {
      if (mount.type !== 'volume') continue;
      await this.disk.makeVolume(mount.source);
      if (spec.probe === true || mount.fillFromImage === true)
        await this.disk.fillVolume(mount.source, imageID, mount.target);
    }
    const root = this.#root(id);
    await this.disk.makeRoot(root, imageID);
    const places = spec.probe === true ? ['sys/fs/cgroup'] : ['dev', KERNEL, KERNEL_PARENT];
    for (const place of ['proc', ...places]) await this.disk.mountPoint(root, place);
    if (spec.probe === true) return;
    const dd = join(root, 'bin/dd');
    await rm(dd, { force: true });
    await this.disk.mountPoint(root, 'bin');
    await writeFile(dd, WANTS_MEMORY, { mode: 0o755 });
  }

  async start(
    { id, spec, limits }: Pick<FakeContainer, 'id' | 'spec' | 'limits'>,
    controllers: EnforcementFacts['controllers'],
  ): Promise<{ pid: number; program: FakeProgram }> {
    const root = this.#root(id);
    const user = await userOf(root, spec.user);
    const path = cgroupOf(id, spec);
    await this.cgroups.make(path, limits, controllers);
    const cgroupFile = join(this.#folder, 'containers', id, 'cgroup');
    await writeFile(cgroupFile, `0::${path}\n`);
    const mounts = spec.mounts.map(({ type, source, target, readOnly }) => ({
      source: type === 'volume' ? this.disk.volume(source) : source,
      target,
      readOnly,
    }));
    for (const { source, target } of mounts) await this.disk.mountPoint(root, target, source);
    const { folder } = this.cgroups;
    const plan = { spec, root, cgroupFile, cgroup: join(folder, path), cgroups: folder, mounts, ...user };
    const script = join(this.#folder, 'containers', id, 'start.sh');
    await writeFile(script, startScript(plan));

    const enter = ['-t', String(this.#pid), '-m', '-p', 'unshare', '--mount', '--propagation', 'unchanged'];
    const own = spec.probe === true ? [] : ['--pid', '--fork', '--uts', '--ipc', '--net'];
    const child = spawn('nsenter', [...enter, ...own, 'sh', script], {
      stdio: ['pipe', 'pipe', 'pipe', 'pipe'],
      env: environment(spec),
    });
    // One that is killed with something unread resets its end; what there is to say of it, its end says.
    for (const stream of child.stdio) stream?.on('error', () => undefined);
    const ended = new Promise<number>((resolve) => {
      child.once('error', () => resolve(255));
      child.once('close', (code, signal) => resolve(code ?? 128 + (signal ? constants.signals[signal] : 0)));
    });
    const pid = await begun(child, ended);
    const init = await childOf(child.pid).then((below) => (spec.probe === true ? below : childOf(below)));
    (child.stdio[3] as Duplex).end('go\n').resume();
    return { pid, program: this.#program(child, init, ended, path) };
  }

  setLimits(
    { id, spec, limits }: Pick<FakeContainer, 'id' | 'spec' | 'limits'>,
    controllers: EnforcementFacts['controllers'],
  ): Promise<void> {
    return this.cgroups.apply(cgroupOf(id, spec), limits, controllers);
  }

  async remove(id: string, spec: ContainerSpec): Promise<void> {
    await this.cgroups.remove(cgroupOf(id, spec));
    await rm(join(this.#folder, 'containers', id), { recursive: true, force: true });
  }

  /** Ends everything in it. */
  async close(): Promise<void> {
    for (const watcher of this.#watchers) watcher.close();
    this.#process.stdin?.end();
    if (this.#process.exitCode === null && this.#process.signalCode === null)
      await once(this.#process, 'close');
    await rm(this.#folder, { recursive: true, force: true });
  }

  #program(child: ChildProcess, init: number, ended: Promise<number>, path: string): FakeProgram {
    return async (container) => {
      container.stdin.pipe(child.stdin as Writable);
      (child.stdout as Readable).pipe(container.stdout, { end: false });
      (child.stderr as Readable).pipe(container.stderr, { end: false });
      let over = false;
      let killed = false;
      const signal = (name: NodeJS.Signals): void => {
        if (over) return;
        try {
          process.kill(init, name);
          killed ||= name === 'SIGKILL';
        } catch (error) {
          // It has just ended by itself, and that is on its way here.
          if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
        }
      };
      container.killed.addEventListener('abort', () => signal('SIGKILL'), { once: true });
      container.onSignal(signal);
      child.once('exit', () => (over = true));
      let kills = 0;
      const count = async (): Promise<void> => {
        const now = await this.cgroups.oomKills(path);
        if (now > kills) container.oomKill();
        kills = Math.max(kills, now);
      };
      const watcher = watch(join(this.cgroups.folder, path), () => void count());
      this.#watchers.add(watcher);
      const code = await ended;
      watcher.close();
      this.#watchers.delete(watcher);
      await count();
      // What `unshare` makes of a child's SIGKILL.
      return killed && code === 1 ? 128 + constants.signals.SIGKILL : code;
    };
  }

  #root(id: string): string {
    return join(this.#folder, 'containers', id, 'root');
  }
}

function cgroupOf(id: string, spec: ContainerSpec): string {
  return `${spec.cgroupParent ?? '/fake'}/${id}`;
}

function environment(spec: ContainerSpec): NodeJS.ProcessEnv {
  const env: NodeJS.ProcessEnv = { PATH: '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin' };
  for (const pair of spec.env) {
    const [name = '', ...value] = pair.split('=');
    env[name] = value.join('=');
  }
  return env;
}

/** Its PID in the machine, once it is about to become what it runs. */
async function begun(child: ChildProcess, ended: Promise<number>): Promise<number> {
  let complaint = '';
  const listen = (chunk: Buffer): void => void (complaint += chunk.toString());
  child.stderr?.on('data', listen);
  const lines = createInterface(child.stdio[3] as Readable);
  // It passes on what happens to the pipe later too.
  lines.on('error', () => undefined);
  for await (const line of lines) {
    if (line.startsWith('ERROR ')) complaint = line.slice(6);
    if (!line.startsWith('PID ')) continue;
    child.stderr?.off('data', listen);
    child.stderr?.pause();
    return Number(line.slice(4));
  }
  await ended;
  throw new DriverError('StartFailed', complaint.trim());
}

/** The only child of a process. */
async function childOf(pid: number | undefined): Promise<number> {
  const found = Number((await readFile(`/proc/${pid}/task/${pid}/children`, 'utf8')).trim());
  if (found === 0) throw new Error(`process ${pid} has ended`);
  return found;
}

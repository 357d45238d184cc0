import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, existsSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Duplex } from 'node:stream';
import { openInit } from '../init.ts';
import { openProbe } from '../probe.ts';
import type { InitArrival, InitSession, Probe } from '../types.ts';
import { Recorder } from './recorder.ts';

const INIT_DIR = join(import.meta.dirname, '../../init');

/** For `beforeAll`, with a time limit that a busy machine can keep. */
export function buildInit(): void {
  if (isRoot) initBinary();
}
export const BUILD_TIMEOUT_MS = 120_000;

/** The program under test: the one HOLDFAST_INIT_BINARY names (a sanitized one, say), else it is built. */
function initBinary(): string {
  const given = process.env['HOLDFAST_INIT_BINARY'];
  if (given !== undefined && given !== '') return given;
  mkdirSync(join(INIT_DIR, 'build'), { recursive: true });
  // Test files run side by side: one builds, the others wait.
  execFileSync('flock', [join(INIT_DIR, 'build/lock'), 'make', '-s', '-C', INIT_DIR], { stdio: 'inherit' });
  return join(INIT_DIR, 'build/holdfast-init');
}

/**
 * Namespaces and other users' rights take root; what needs them is left out without it. Also under mutation testing:
 * the pure tests have to find the mutants, and starting real programs for each would take hours.
 */
export const isRoot = process.getuid?.() === 0 && process.env['STRYKER_MUTATOR_WORKER'] === undefined;

/** The emulator has threads of its own, and keeps some signals to itself. */
export const isEmulated = process.env['HOLDFAST_INIT_EMULATED'] !== undefined;

export interface SandboxOptions {
  holdMs?: number;
  /** Runs as uid and gid 1000 without capabilities and with no_new_privs. */
  unprivileged?: boolean;
}

/** A real probe and real inits, each init in a PID namespace of its own, as in a container. */
export class Bench {
  readonly binary = initBinary();
  readonly dir: string;
  /** What the programs complained about. */
  readonly stderr: string[] = [];
  private readonly children: ChildProcess[] = [];
  private arrivals: InitArrival[] = [];
  private wanted: ((arrival: InitArrival) => void)[] = [];

  constructor() {
    this.dir = mkdtempSync(join(tmpdir(), 'hf-link-'));
    chmodSync(this.dir, 0o755);
    mkdirSync(join(this.dir, 'sandboxes'));
  }

  async probe(): Promise<Probe & { child: ChildProcess }> {
    const child = spawn(this.binary, ['probe', '--sandboxes', join(this.dir, 'sandboxes')], {
      stdio: ['pipe', 'pipe', 'pipe'],
    });
    this.own(child);
    const { stdin: writable, stdout: readable } = child;
    if (!writable || !readable) throw new Error('no pipes');
    const probe = await openProbe(Duplex.from({ writable, readable }), {
      onInit: (arrival) => {
        const wanted = this.wanted.shift();
        if (wanted) wanted(arrival);
        else this.arrivals.push(arrival);
      },
    });
    return Object.assign(probe, { child });
  }

  arrival(): Promise<InitArrival> {
    const first = this.arrivals.shift();
    if (first) return Promise.resolve(first);
    return new Promise((resolve) => this.wanted.push(resolve));
  }

  get arrivalsWaiting(): number {
    return this.arrivals.length;
  }

  socket(id: string): string {
    return join(this.dir, 'sandboxes', id, 'init.sock');
  }

  /** Starts PID 1 of a sandbox; `exit` resolves with its exit code. */
  sandbox(id: string, options: SandboxOptions = {}): { child: ChildProcess; exit: Promise<number | null> } {
    return this.pidOne(
      [this.binary, 'init', '--socket', this.socket(id), '--hold-ms', String(options.holdMs ?? 10_000)],
      options,
    );
  }

  pidOne(
    command: string[],
    options: SandboxOptions = {},
  ): { child: ChildProcess; exit: Promise<number | null> } {
    const unshare = ['--pid', '--fork', '--mount-proc', '--kill-child=SIGKILL'];
    const drop = options.unprivileged
      ? 'setpriv --reuid=1000 --regid=1000 --clear-groups --no-new-privs --bounding-set=-all --inh-caps=-all --pdeathsig=KILL'.split(
          ' ',
        )
      : [];
    const child = spawn('unshare', [...unshare, '--', ...drop, ...command], {
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    this.own(child);
    const exit = once(child, 'exit').then(([code]) => code as number | null);
    return { child, exit };
  }

  private own(child: ChildProcess): void {
    this.children.push(child);
    child.stderr?.on('data', (chunk: Buffer) => this.stderr.push(chunk.toString()));
  }

  /** Listens, starts a sandbox and speaks with its init. */
  async launch(probe: Probe, id: string, options: SandboxOptions = {}): Promise<Launched> {
    await probe.listen(id);
    const { child, exit } = this.sandbox(id, options);
    return { ...(await this.connect()), child, exit };
  }

  async connect(recorder: Recorder = new Recorder()): Promise<Connected> {
    const arrival = await this.arrival();
    const session = await openInit(arrival.stream, recorder);
    recorder.attach(session);
    return { arrival, session, recorder };
  }

  async close(): Promise<void> {
    for (const child of this.children) {
      if (child.exitCode !== null || child.signalCode !== null) continue;
      const gone = once(child, 'exit');
      child.kill('SIGKILL');
      await gone;
    }
    if (existsSync(this.dir)) rmSync(this.dir, { recursive: true, force: true });
    const complaints = this.stderr.join('');
    if (/Sanitizer|runtime error/.test(complaints)) throw new Error(complaints);
  }
}

export interface Connected {
  arrival: InitArrival;
  session: InitSession;
  recorder: Recorder;
}

export interface Launched extends Connected {
  child: ChildProcess;
  exit: Promise<number | null>;
}

import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { promisify } from 'node:util';

const ROOT = join(import.meta.dirname, '../..');
const BIN = join(ROOT, 'bin/holdfast');
const KUBECTL = join(ROOT, '.cache/bin/kubectl');

export interface Ended {
  code: number | null;
  stdout: string;
  stderr: string;
}

/** A `holdfast` that runs, as a user has it in a terminal. */
export class HoldfastProcess {
  stdout = '';
  stderr = '';
  readonly #child: ChildProcess;
  readonly #ended: Promise<unknown[]>;
  readonly #lookers = new Set<() => void>();

  constructor(args: string[], env: Record<string, string> = {}) {
    this.#child = spawn(BIN, args, {
      env: { ...process.env, ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    this.#ended = once(this.#child, 'close');
    this.#child.stdout?.on('data', (chunk: Buffer) => {
      this.stdout += chunk.toString();
      for (const look of this.#lookers) look();
    });
    this.#child.stderr?.on('data', (chunk: Buffer) => {
      this.stderr += chunk.toString();
    });
  }

  get pid(): number {
    return this.#child.pid ?? 0;
  }

  /** Until this is on standard output; throws when it ends before. */
  async says(text: string): Promise<void> {
    const said = new Promise<void>((resolve) => {
      const look = (): void => {
        if (this.stdout.includes(text)) resolve();
      };
      this.#lookers.add(look);
      look();
    });
    await Promise.race([
      said,
      this.#ended.then(() => {
        if (!this.stdout.includes(text)) {
          throw new Error(`holdfast ended with ${this.#child.exitCode}:\n${this.stderr}`);
        }
      }),
    ]);
  }

  signal(...signals: NodeJS.Signals[]): void {
    for (const signal of signals) this.#child.kill(signal);
  }

  async ended(): Promise<Ended> {
    await this.#ended;
    return { code: this.#child.exitCode, stdout: this.stdout, stderr: this.stderr };
  }

  async end(signal: NodeJS.Signals = 'SIGTERM'): Promise<Ended> {
    this.signal(signal);
    return await this.ended();
  }
}

/** Runs it to its end. */
export async function holdfast(args: string[], env: Record<string, string> = {}): Promise<Ended> {
  return await new HoldfastProcess(args, env).ended();
}

/** kubectl's standard output; throws with its standard error. */
export async function kubectl(kubeconfig: string, args: string[], input = ''): Promise<string> {
  const running = promisify(execFile)(KUBECTL, ['--kubeconfig', kubeconfig, ...args], {
    env: { ...process.env, HOME: '/nonexistent' },
    maxBuffer: 16 * 1024 * 1024,
  });
  running.child.stdin?.end(input);
  return (await running).stdout;
}

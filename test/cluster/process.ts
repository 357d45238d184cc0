import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync, openSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** One program of a cluster, which can be ended and started again with the same arguments. */
export class ClusterProcess {
  readonly name: string;
  readonly #options: { bin: string; dir: string; args: string[] };
  #child: ChildProcess | undefined;

  constructor(name: string, options: { bin: string; dir: string; args: string[] }) {
    this.name = name;
    this.#options = options;
  }

  get pid(): number | undefined {
    return this.running ? this.#child?.pid : undefined;
  }

  get running(): boolean {
    return this.#child !== undefined && this.#child.exitCode === null && this.#child.signalCode === null;
  }

  start(): void {
    if (this.running) throw new Error(`${this.name} runs already`);
    const { bin, dir, args } = this.#options;
    const log = openSync(this.#log, 'a');
    this.#child = spawn(join(bin, this.name), args, { cwd: dir, stdio: ['ignore', log, log] });
    closeSync(log);
  }

  /** Resolves when it is gone. Without its etcd an API server takes a minute to end by itself: it gets two seconds. */
  async end(signal: 'SIGTERM' | 'SIGKILL' = 'SIGTERM'): Promise<void> {
    const child = this.#child;
    if (child === undefined || !this.running) return;
    const gone = new Promise<void>((resolve) => child.once('exit', () => resolve()));
    child.kill(signal);
    const timer = setTimeout(() => child.kill('SIGKILL'), 2000);
    await gone;
    clearTimeout(timer);
  }

  /** The end of what it wrote. */
  tail(): string {
    return readFileSync(this.#log, 'utf8').split('\n').slice(-6).join('\n');
  }

  get #log(): string {
    return join(this.#options.dir, `${this.name}.log`);
  }
}

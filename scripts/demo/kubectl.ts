import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import type { Sandbox } from '../../crds/sandbox.ts';
import { ROOT } from '../setup/cache.ts';
import { dim, green, say } from './terminal.ts';

/** Runs kubectl against one kubeconfig. A failure throws with what kubectl said. */
export class Kubectl {
  readonly #kubeconfig: string;
  #running: ChildProcess | undefined;
  constructor(kubeconfig: string) {
    this.#kubeconfig = kubeconfig;
  }

  /** Prints the command as a person would type it, and what it answers. */
  async show(...args: string[]): Promise<void> {
    say(`   ${green('$')} kubectl ${args.map(quoted).join(' ')}`);
    const output = await this.run(...args);
    for (const line of output.trimEnd().split('\n')) say(`   ${dim(line)}`);
  }

  async run(...args: string[]): Promise<string> {
    const env = { ...process.env, KUBECONFIG: this.#kubeconfig };
    const child = spawn('kubectl', args, { cwd: ROOT, env, stdio: ['ignore', 'pipe', 'pipe'] });
    this.#running = child;
    const [out, err] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'close')]);
    this.#running = undefined;
    if (child.exitCode !== 0)
      throw new Error(`kubectl ${args.join(' ')}: ${err.trim() || `exit code ${child.exitCode}`}`);
    return out;
  }

  async sandbox(name: string): Promise<Sandbox> {
    return JSON.parse(await this.run('get', 'sandbox', name, '-o', 'json')) as Sandbox;
  }

  /** Ends the command that runs now, if any. */
  interrupt(): void {
    this.#running?.kill('SIGTERM');
  }
}

export const EXAMPLES = join('deploy', 'examples');

function quoted(argument: string): string {
  return /^[\w./=:,-]+$/.test(argument) ? argument : `'${argument}'`;
}

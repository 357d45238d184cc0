import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, existsSync, openSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { NODE } from './leftovers.ts';
import { ROOT } from '../setup/cache.ts';

export interface Up {
  pid: number;
  kubeconfig: string;
  stop(): Promise<void>;
  /** Lets this script end without it. */
  detach(): void;
}

/** Starts `holdfast up` with everything it writes under `folder`, and waits until its API has a kubeconfig. */
export async function holdfastUp(folder: string, socketPath: string): Promise<Up> {
  const dataDir = join(folder, 'holdfast');
  const kubeconfig = join(dataDir, 'kubeconfig');
  const log = join(folder, 'holdfast.log');
  const output = openSync(log, 'a');
  const args = ['up', '--data-dir', dataDir, '--docker', `unix://${socketPath}`, '--node-name', NODE];
  // A group of its own: a Ctrl-C reaches it through this script, after the sandboxes have been removed.
  const child = spawn(join(ROOT, 'bin/holdfast'), args, {
    detached: true,
    stdio: ['ignore', output, output],
  });
  closeSync(output);
  const ended = once(child, 'exit');
  await Promise.race([ended, untilFile(kubeconfig)]);
  if (child.exitCode !== null || child.pid === undefined)
    throw new Error(`holdfast up ended with ${child.exitCode}:\n${tail(log)}`);
  return {
    pid: child.pid,
    kubeconfig,
    async stop() {
      child.kill('SIGTERM');
      await ended;
    },
    detach: () => child.unref(),
  };
}

async function untilFile(path: string): Promise<void> {
  while (!existsSync(path)) await delay(20);
}

function tail(log: string): string {
  return readFileSync(log, 'utf8').split('\n').slice(-15).join('\n');
}

import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { DockerAPI } from '../docker-api.ts';
import { ROOT } from '../setup/cache.ts';
import { removeImage, stopDaemon } from './daemon.ts';
import { Kubectl } from './kubectl.ts';
import { removeLeftovers } from './leftovers.ts';

/** What a demo that was told to stay left running. */
export interface Kept {
  folder: string;
  pid: number;
  socketPath: string;
  ownDaemon: boolean;
  kubeconfig: string;
}

const FILE = join(ROOT, '.cache', 'demo.json');

export function readKept(): Kept | undefined {
  return existsSync(FILE) ? (JSON.parse(readFileSync(FILE, 'utf8')) as Kept) : undefined;
}

export function writeKept(kept: Kept): void {
  mkdirSync(join(FILE, '..'), { recursive: true });
  writeFileSync(FILE, JSON.stringify(kept));
}

/** false: there is none. */
export async function endKept(): Promise<boolean> {
  const kept = readKept();
  if (kept === undefined) return false;
  const alive = isHoldfast(kept.pid);
  if (alive) {
    await new Kubectl(kept.kubeconfig).run('delete', 'sandboxes', '--all', '-A', '--wait', '--timeout=60s');
    process.kill(kept.pid, 'SIGTERM');
    while (isHoldfast(kept.pid)) await delay(50);
  }
  const api = new DockerAPI(kept.socketPath);
  if (kept.ownDaemon) stopDaemon(kept.folder);
  else {
    await removeLeftovers(api);
    await removeImage(api);
  }
  rmSync(kept.folder, { recursive: true, force: true });
  rmSync(FILE, { force: true });
  return true;
}

/** The process id may have become another program's. */
function isHoldfast(pid: number): boolean {
  const commandLine = `/proc/${pid}/cmdline`;
  return existsSync(commandLine) && readFileSync(commandLine, 'utf8').includes('holdfast');
}

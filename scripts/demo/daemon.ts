import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { dockerCandidates } from '../../cli/config.ts';
import { DockerAPI } from '../docker-api.ts';
import { ROOT } from '../setup/cache.ts';

const IMAGE = { repository: 'holdfast-demo/busybox', tag: '1' };
const LAB = join(ROOT, 'test/lab/lab');

export interface DemoDaemon {
  api: DockerAPI;
  /** The name of the image that was made. */
  image: string;
  /** In a few words, for people. */
  description: string;
  /** Started by the demo. */
  own: boolean;
  /** Takes back what was made: the image, and the daemon where it was started here. */
  close(): Promise<void>;
}

/** A Docker daemon to work on: the machine's where one answers, else one of the demo's own (as root). */
export async function findDaemon(folder: string): Promise<DemoDaemon> {
  for (const socketPath of candidates()) {
    const api = new DockerAPI(socketPath);
    if (!(await answers(api))) continue;
    const close = await importDemoImage(api);
    return {
      api,
      image: name(),
      description: `${await describe(api)}, this machine's own (${socketPath})`,
      own: false,
      close,
    };
  }
  if (process.getuid?.() !== 0)
    throw new Error(
      'No Docker daemon answers, and only root can start one: start Docker, or set DOCKER_HOST.',
    );
  return startDaemon(folder);
}

/** Where `holdfast up` would look too. */
function candidates(): string[] {
  return dockerCandidates({}, process.env)
    .addresses.filter((address) => address.startsWith('unix://'))
    .map((address) => address.slice('unix://'.length))
    .filter((path) => existsSync(path));
}

async function answers(api: DockerAPI): Promise<boolean> {
  try {
    return (await api.call('GET', '/_ping')).status === 200;
  } catch {
    return false; // no daemon behind the socket, or not for this user: the next one is tried
  }
}

async function startDaemon(folder: string): Promise<DemoDaemon> {
  const env = { ...process.env, LAB_DIR: folder };
  // A group of its own: a Ctrl-C in the terminal must not reach the daemon before it is cleaned up.
  const lab = spawn(LAB, ['up', 'docker-v1'], { env, detached: true, stdio: ['ignore', 'pipe', 'pipe'] });
  const [out, err] = await Promise.all([text(lab.stdout), text(lab.stderr), once(lab, 'close')]);
  const socketPath = out.trim();
  if (socketPath === '') throw new Error(`No Docker daemon could be started: ${err.trim()}`);
  const api = new DockerAPI(socketPath);
  try {
    await importDemoImage(api);
    return {
      api,
      image: name(),
      description: `${await describe(api)}, started for this run alone`,
      own: true,
      close: () => Promise.resolve(stopDaemon(folder)),
    };
  } catch (error) {
    stopDaemon(folder);
    throw error;
  }
}

function name(): string {
  return `${IMAGE.repository}:${IMAGE.tag}`;
}

export function stopDaemon(folder: string): void {
  execFileSync(LAB, ['down', 'docker-v1'], { env: { ...process.env, LAB_DIR: folder }, stdio: 'ignore' });
}

async function importDemoImage(api: DockerAPI): Promise<() => Promise<void>> {
  const { repository, tag } = IMAGE;
  const present = (await api.call('GET', `/images/${name()}/json`)).status === 200;
  if (!present) {
    const tar = spawn(LAB, ['image'], { stdio: ['ignore', 'pipe', 'inherit'] });
    const { status, body } = await api.importImage(tar.stdout, repository, tag);
    if (status !== 200) throw new Error(`The demo image could not be made: ${body}`);
  }
  return () => (present ? Promise.resolve() : removeImage(api));
}

export async function removeImage(api: DockerAPI): Promise<void> {
  await api.call('DELETE', `/images/${name()}`);
}

async function describe(api: DockerAPI): Promise<string> {
  const info = await api.json<{ ServerVersion: string; CgroupVersion?: string }>('GET', '/info');
  return `Docker ${info.ServerVersion} on cgroup v${info.CgroupVersion ?? '1'}`;
}

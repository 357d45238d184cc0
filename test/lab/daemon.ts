import { execFile } from 'node:child_process';
import { appendFile } from 'node:fs/promises';
import { request } from 'node:http';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll } from 'vitest';

/** A real daemon of the lab (see README.md). Its data and socket are under LAB_DIR, so each run can have its own. */
export interface LabDaemon {
  readonly config: string;
  readonly socketPath: string;
  /** Runs a shell command where the daemon runs; its output. */
  exec(command: string): Promise<string>;
  /** Ends the daemon with a signal and starts it again on the same data. docker-v1 alone. */
  restart(signal?: 'TERM' | 'KILL'): Promise<void>;
}

/** The configurations that the Docker driver is tried on, in order. */
const DOCKER_CONFIGS = [
  'docker-v1',
  'docker-v2',
  'docker-v2-nomem',
  'docker-v2-nopids',
  'docker-v2-nocpu',
  'docker-v2-rootcg',
  'docker-v2-swap',
] as const;
export type DockerConfig = (typeof DOCKER_CONFIGS)[number];

/** All of them, or those that HOLDFAST_LAB names (comma separated), for a narrower run while working. */
export function selectedConfigs(from: readonly DockerConfig[] = DOCKER_CONFIGS): DockerConfig[] {
  const wanted = process.env['HOLDFAST_LAB']?.split(',').map((name) => name.trim());
  return from.filter((config) => wanted === undefined || wanted.includes(config));
}

const run = promisify(execFile);
const lab = fileURLToPath(new URL('lab', import.meta.url));
const LONGEST_MS = 170_000;

async function labCommand(...args: string[]): Promise<string> {
  const { stdout } = await run(lab, args, { timeout: LONGEST_MS, maxBuffer: 64 * 1024 * 1024 });
  return stdout.trim();
}

/** Starts the configuration, or takes the one that is up. */
async function labUp(config: DockerConfig): Promise<LabDaemon & { wasUp: boolean }> {
  const wasUp = (await labCommand('status')).split('\n').some((line) => line.startsWith(`${config} `));
  const socketPath = await labCommand('up', config);
  await report(config, socketPath);
  return {
    config,
    socketPath,
    wasUp,
    exec: (command) => labCommand('exec', config, command),
    restart: async (signal = 'TERM') => {
      await labCommand('restart', config, signal);
    },
  };
}

async function labDown(config: DockerConfig): Promise<void> {
  await labCommand('down', config);
}

/**
 * For a describe block: the daemon is up before its tests, and stopped after them if it was started here (a guest
 * takes memory). LAB_KEEP=1 leaves it up.
 */
export function useDaemon(config: DockerConfig): { readonly current: LabDaemon } {
  let daemon: (LabDaemon & { wasUp: boolean }) | undefined;
  beforeAll(async () => {
    daemon = await labUp(config);
  }, LONGEST_MS);
  afterAll(async () => {
    if (daemon !== undefined && !daemon.wasUp && process.env['LAB_KEEP'] !== '1') await labDown(config);
  }, LONGEST_MS);
  return {
    get current() {
      if (daemon === undefined) throw new Error(`${config} is not up yet`);
      return daemon;
    },
  };
}

/** The root directory of the lab's image, as a tar file's path. */
export async function labImageTar(path: string): Promise<void> {
  await run('/bin/sh', ['-c', '"$1" image > "$2"', 'sh', lab, path], { timeout: LONGEST_MS });
}

/** One line for whoever wants to know which daemons were really used. */
async function report(config: string, socketPath: string): Promise<void> {
  const file = process.env['HOLDFAST_DAEMONS_LOG'];
  if (file === undefined || file === '') return;
  const version = await getJSON(socketPath, '/version');
  const info = await getJSON(socketPath, '/info');
  const line = {
    config,
    version: version['Version'],
    apiVersion: version['ApiVersion'],
    cgroupVersion: info['CgroupVersion'],
    cgroupDriver: info['CgroupDriver'],
    kernel: info['KernelVersion'],
  };
  await appendFile(file, `${JSON.stringify(line)}\n`);
}

function getJSON(socketPath: string, path: string): Promise<Record<string, unknown>> {
  return new Promise((resolve, reject) => {
    const sent = request({ socketPath, path }, (answer) => {
      const chunks: Buffer[] = [];
      answer.on('data', (chunk: Buffer) => chunks.push(chunk));
      answer.on('error', reject);
      answer.on('end', () => {
        try {
          resolve(JSON.parse(Buffer.concat(chunks).toString('utf8')) as Record<string, unknown>);
        } catch (error) {
          reject(error instanceof Error ? error : new Error(String(error)));
        }
      });
    });
    sent.on('error', reject);
    sent.end();
  });
}

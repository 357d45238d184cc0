import { existsSync } from 'node:fs';
import type { Logger } from 'pino';
import { systemClock, type Clock } from '../kube/clock.ts';
import { createDockerDriver, type DockerDriver } from '../runtime/drivers/docker/driver.ts';
import { dockerCandidates, type Environment } from './config.ts';
import { explain } from './failure.ts';

export interface FoundDocker {
  /** For the daemon that answers; else for where one is expected: it may be started later. */
  driver: DockerDriver;
  /** What to tell people. */
  text: string;
  answers: boolean;
}

const ASK_MS = 3_000;

/** The Docker daemon to use: the one that was named, else the first of the usual ones that answers. */
export async function findDocker(
  config: { docker?: string },
  options: { env: Environment; log: Logger; clock?: Clock; exists?: (path: string) => boolean },
): Promise<FoundDocker> {
  const { env, log, clock = systemClock, exists = existsSync } = options;
  const { certain, addresses } = dockerCandidates(config, env);
  const tried: string[] = [];
  for (const address of addresses) {
    if (!certain && !exists(address.slice('unix://'.length))) continue;
    const driver = createDockerDriver({ url: address, log, clock });
    const limit = new AbortController();
    const cancel = clock.setTimer(ASK_MS, () => limit.abort(new Error(`no answer within ${ASK_MS} ms`)));
    try {
      const info = await driver.info({ signal: limit.signal });
      const cgroup = info.cgroupVersion === undefined ? '' : `, cgroup v${info.cgroupVersion}`;
      return { driver, answers: true, text: `Docker ${info.version ?? ''} at ${address}${cgroup}` };
    } catch (error) {
      tried.push(`${address}: ${explain(error)}`);
      if (certain) return { driver, answers: false, text: noDocker(tried) };
      driver.close();
    } finally {
      cancel();
    }
  }
  const [first = ''] = addresses;
  if (tried.length === 0) tried.push(...addresses.map((address) => `${address}: not there`));
  return {
    driver: createDockerDriver({ url: first, log, clock }),
    answers: false,
    text: noDocker(tried),
  };
}

function noDocker(tried: string[]): string {
  return [
    'no Docker daemon answers:',
    ...tried.map((line) => `  ${line}`),
    'Start Docker, or say where it is with --docker or DOCKER_HOST; sandboxes wait until then.',
  ].join('\n');
}

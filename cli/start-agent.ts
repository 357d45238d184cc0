import { randomUUID } from 'node:crypto';
import type { Logger } from 'pino';
import type { KubeClient } from '../kube/client.ts';
import { systemClock } from '../kube/clock.ts';
import { startAgent } from '../runtime/agent/start.ts';
import { agentDirIn, type NodeConfig } from './config.ts';
import type { FoundDocker } from './find-docker.ts';
import type { Part } from './parts.ts';
import { VERSION } from './version.ts';

/** The node agent as a part of this process. */
export async function agentPart(
  config: NodeConfig,
  options: { client: KubeClient; docker: FoundDocker; initBinary: string; log: Logger },
): Promise<Part & { notReady(): string | undefined }> {
  const { client, docker, initBinary, log } = options;
  const agent = await startAgent({
    client,
    drivers: [docker.driver],
    nodeName: config.nodeName,
    dataDir: agentDirIn(config.dataDir),
    initBinary,
    clock: systemClock,
    log,
    random: Math.random,
    instance: randomUUID(),
    version: VERSION,
    reserveForKubelet: config.reserveForKubelet === true,
    reserve: {
      ...(config.reserveCpu !== undefined && { cpu: config.reserveCpu }),
      ...(config.reserveMemory !== undefined && { memory: config.reserveMemory }),
    },
  });
  return {
    name: 'agent',
    done: agent.done,
    notReady: () => agent.notReady(),
    stop: async () => {
      await agent.stop({ endSandboxes: config.endSandboxes === true });
      docker.driver.close();
    },
  };
}

import { randomUUID } from 'node:crypto';
import { pino } from 'pino';
import { systemClock } from '../../kube/clock.ts';
import { createKubeClient } from '../../kube/http-client.ts';
import { startAgent } from '../../runtime/agent/start.ts';
import { createDockerDriver } from '../../runtime/drivers/docker/driver.ts';

/** An agent in a process of its own, so that it can be killed as the kernel or an operator kills it. */
export interface AgentProcessOptions {
  api: { url: string; caData: string; adminToken: string };
  socketPath: string;
  nodeName: string;
  dataDir: string;
  initBinary: string;
  leaseSeconds?: number;
}

if (process.argv[1] === import.meta.filename) {
  const options = JSON.parse(process.argv[2] ?? '{}') as AgentProcessOptions;
  const log = pino({ level: process.env['HOLDFAST_TEST_LOG'] ?? 'silent' }, pino.destination(2));
  const agent = await startAgent({
    client: createKubeClient({
      server: options.api.url,
      caData: options.api.caData,
      token: options.api.adminToken,
      userAgent: 'holdfast-agent-test',
    }),
    drivers: [createDockerDriver({ socketPath: options.socketPath, log, clock: systemClock })],
    nodeName: options.nodeName,
    dataDir: options.dataDir,
    initBinary: options.initBinary,
    clock: systemClock,
    log,
    random: Math.random,
    instance: randomUUID(),
    ...(options.leaseSeconds !== undefined && { leaseSeconds: options.leaseSeconds }),
  });
  process.once('SIGTERM', () => void agent.stop().then(() => process.exit(0)));
  process.send?.('started');
  await agent.done;
}

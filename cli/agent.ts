import { type AgentConfig, clusterSource } from './config.ts';
import { connect } from './connect.ts';
import { findDocker } from './find-docker.ts';
import { addHealth } from './health.ts';
import { findInitBinary } from './init-binary.ts';
import type { IO } from './io.ts';
import { makeLogger } from './log.ts';
import { Parts } from './parts.ts';
import { untilUsable } from './preflight.ts';
import { AGENT_RIGHTS } from './rights.ts';
import { agentPart } from './start-agent.ts';

/** `holdfast agent`: the node half, for one machine of a cluster. */
export async function agent(config: AgentConfig, io: IO): Promise<void> {
  const log = await makeLogger(config, io);
  const initBinary = findInitBinary(config.initBinary);
  const parts = new Parts(log);
  try {
    const source = clusterSource(config, io.env);
    const { client, server } = await connect(source, {
      component: 'holdfast-agent',
      ...(config.context !== undefined && { context: config.context }),
    });
    parts.add({ name: 'client', stop: async () => client.close() });
    await untilUsable({ client, server, source, rights: AGENT_RIGHTS, log, stop: io.stop });
    if (io.stop.aborted) return;
    const docker = await findDocker(config, { env: io.env, log });
    if (docker.answers) log.info({ runtime: docker.text }, 'runtime found');
    else log.warn(docker.text);
    const running = await agentPart(config, { client, docker, initBinary, log });
    parts.add(running);
    await addHealth(parts, config, { log, notReady: () => running.notReady() });
    log.info({ server, node: config.nodeName, dataDir: config.dataDir }, 'agent started');
    await parts.untilStopped(io.stop);
  } finally {
    log.info('stopping');
    await parts.stop();
  }
}

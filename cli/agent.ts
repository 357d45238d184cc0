import { statSync } from 'node:fs';
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
  let ready = (): string | undefined => 'it is starting';
  try {
    // Before what may take long: who does not answer at all is killed.
    await addHealth(parts, config, {
      log,
      notReady: () => ready(),
      notAlive: () => lostSocket(config.docker),
    });
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
    ready = () => running.notReady();
    log.info({ server, node: config.nodeName, dataDir: config.dataDir }, 'agent started');
    await parts.untilStopped(io.stop);
  } finally {
    log.info('stopping');
    await parts.stop();
  }
}

/**
 * A socket that was mounted into a pod stays the old one when the daemon makes it anew: nobody listens there any more,
 * and nothing helps but another mount, which the next container gets.
 */
export function lostSocket(docker: string | undefined): string | undefined {
  if (docker === undefined || !docker.startsWith('unix://')) return undefined;
  const path = docker.slice('unix://'.length);
  if (statSync(path, { throwIfNoEntry: false })?.nlink !== 0) return undefined;
  return `${path} was removed and made anew on the node: this is the old one`;
}

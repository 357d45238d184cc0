import { startController } from '../controller/start.ts';
import { systemClock } from '../kube/clock.ts';
import { clusterSource, type ControllerConfig } from './config.ts';
import { connect } from './connect.ts';
import { addHealth } from './health.ts';
import type { IO } from './io.ts';
import { makeLogger } from './log.ts';
import { Parts } from './parts.ts';
import { untilUsable } from './preflight.ts';
import { CONTROLLER_RIGHTS } from './rights.ts';

/** `holdfast controller`: the cluster half. */
export async function controller(config: ControllerConfig, io: IO): Promise<void> {
  const log = await makeLogger(config, io);
  const parts = new Parts(log);
  let ready = (): string | undefined => 'it is starting';
  try {
    // Before what may take long: who does not answer at all is killed.
    await addHealth(parts, config, { log, notReady: () => ready() });
    const source = clusterSource(config, io.env);
    const { client, server } = await connect(source, {
      component: 'holdfast-controller',
      ...(config.context !== undefined && { context: config.context }),
    });
    parts.add({ name: 'client', stop: async () => client.close() });
    await untilUsable({ client, server, source, rights: CONTROLLER_RIGHTS, log, stop: io.stop });
    if (io.stop.aborted) return;
    const running = startController({
      client,
      clock: systemClock,
      log,
      random: Math.random,
      identity: config.identity,
      leaderElection: config.leaderElection,
    });
    parts.add({ name: 'controller', done: running.done, stop: () => running.stop() });
    ready = () => running.notReady();
    log.info({ server, identity: config.identity }, 'controller started');
    await parts.untilStopped(io.stop);
  } finally {
    log.info('stopping');
    await parts.stop();
  }
}

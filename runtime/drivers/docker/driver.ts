import type { Logger } from 'pino';
import type { Clock } from '../../../kube/clock.ts';
import type { RuntimeDriver } from '../../driver.ts';
import { daemonAddress } from './address.ts';
import { DaemonConnection } from './connection.ts';
import * as containers from './containers.ts';
import { eventStream } from './events.ts';
import * as images from './images.ts';
import { runtimeInfo } from './map-info.ts';
import { parseJSON } from './connection.ts';
import { answerError } from './map-errors.ts';
import { TIMEOUTS } from './timeouts.ts';
import * as volumes from './volumes.ts';

export type DockerDriverOptions = ({ socketPath: string } | { url: string }) & {
  log: Logger;
  clock: Clock;
};

export interface DockerDriver extends RuntimeDriver {
  readonly name: 'docker';
  /** Where the daemon is, for messages. */
  readonly address: string;
  /** Closes the idle connections; calls under way go on. */
  close(): void;
}

/**
 * A driver for one Docker daemon. Makes no call itself. An abort of a call's signal rejects it with the signal's
 * reason; everything else that goes wrong is a DriverError.
 */
export function createDockerDriver(options: DockerDriverOptions): DockerDriver {
  const address = daemonAddress(options);
  const daemon = new DaemonConnection(address, options.clock, options.log);
  return {
    name: 'docker',
    address: address.text,

    async info({ signal }) {
      const apiVersion = await daemon.version(signal, true);
      const answer = await daemon.answer({
        method: 'GET',
        path: '/info',
        timeoutMs: TIMEOUTS.readMs,
        signal,
      });
      if (answer.status !== 200) throw answerError('GET /info', answer.status, answer.body);
      return runtimeInfo(parseJSON(answer.body, 'GET /info'), apiVersion);
    },

    inspectImage: (image, call) => images.inspectImage(daemon, image, call),
    pullImage: (image, call) => images.pullImage(daemon, image, call),
    importImage: (tar, call) => images.importImage(daemon, tar, call),

    createContainer: (spec, call) => containers.createContainer(daemon, spec, call),
    startContainer: (id, call) => containers.startContainer(daemon, id, call),
    inspectContainer: (id, call) => containers.inspectContainer(daemon, id, call),
    listContainers: (call) => containers.listContainers(daemon, call),
    killContainer: (id, call) => containers.killContainer(daemon, id, call),
    unpauseContainer: (id, call) => containers.unpauseContainer(daemon, id, call),
    removeContainer: (id, call) => containers.removeContainer(daemon, id, call),
    updateLimits: (id, limits, call) => containers.updateLimits(daemon, id, limits, call),
    waitContainer: (id, call) => containers.waitContainer(daemon, id, call),
    attachContainer: (id, call) => containers.attachContainer(daemon, id, call),

    createVolume: (name, call) => volumes.createVolume(daemon, name, call),
    inspectVolume: (name, call) => volumes.inspectVolume(daemon, name, call),
    listVolumes: (call) => volumes.listVolumes(daemon, call),
    removeVolume: (name, call) => volumes.removeVolume(daemon, name, call),

    events: (call) => eventStream(daemon, call),

    close: () => daemon.close(),
  };
}

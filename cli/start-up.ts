import type { Logger } from 'pino';
import { startController } from '../controller/start.ts';
import type { KubeClient } from '../kube/client.ts';
import { systemClock } from '../kube/clock.ts';
import { clientHeaders, createClientOver } from '../kube/http-client.ts';
import type { Environment, UpConfig } from './config.ts';
import { userAgent } from './connect.ts';
import { findDocker } from './find-docker.ts';
import { findInitBinary } from './init-binary.ts';
import { Parts } from './parts.ts';
import { agentPart } from './start-agent.ts';
import { startAPI } from './start-api.ts';

/** Everything that one machine needs, running in this process. */
export interface Up {
  /** Of the API. */
  url: string;
  caData: string;
  adminToken: string;
  kubeconfigPath: string;
  /** With every right; as the agent uses it. */
  client: KubeClient;
  /** Which Docker daemon was found, or that none was, for people. */
  docker: string;
  dockerAnswers: boolean;
  /** Resolves when told to stop; throws Failure when a part ended by itself. */
  untilStopped(stop: AbortSignal): Promise<void>;
  /** Stops all of it; never throws. */
  stop(): Promise<void>;
}

/** The group whose members may do everything on the API of this machine. */
const EVERYTHING = 'system:masters';

/** Starts API, controller and agent. What was begun is stopped again when a part cannot start. */
export async function startUp(
  config: Omit<UpConfig, 'logLevel' | 'logFormat'>,
  options: { env: Environment; log: Logger },
): Promise<Up> {
  const { env, log } = options;
  // What can only fail is looked at before anything is started.
  const initBinary = findInitBinary(config.initBinary);
  const parts = new Parts(log);
  try {
    const api = await startAPI(config, log.child({ part: 'api' }));
    parts.add({ name: 'API', stop: () => api.close() });
    const clientFor = (component: string): KubeClient => {
      const token = api.token(component, [EVERYTHING]);
      const client = createClientOver(api.transport(clientHeaders(userAgent(component), token)));
      parts.add({ name: `client of ${component}`, stop: async () => client.close() });
      return client;
    };
    const controller = startController({
      client: clientFor('holdfast-controller'),
      clock: systemClock,
      log: log.child({ part: 'controller' }),
      random: Math.random,
      identity: config.nodeName,
      leaderElection: false,
    });
    parts.add({ name: 'controller', done: controller.done, stop: () => controller.stop() });
    const docker = await findDocker(config, { env, log: log.child({ part: 'docker' }) });
    if (!docker.answers) log.warn('no Docker daemon answers; sandboxes wait until one does');
    const client = clientFor('holdfast-agent');
    parts.add(await agentPart(config, { client, docker, initBinary, log: log.child({ part: 'agent' }) }));
    return {
      url: api.url,
      caData: api.caData,
      adminToken: api.adminToken,
      kubeconfigPath: api.kubeconfig,
      client,
      docker: docker.text,
      dockerAnswers: docker.answers,
      untilStopped: (stop) => parts.untilStopped(stop),
      stop: () => parts.stop(),
    };
  } catch (error) {
    await parts.stop();
    throw error;
  }
}

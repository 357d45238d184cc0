import { systemClock } from '../kube/clock.ts';
import type { UpConfig } from './config.ts';
import { type IO, write } from './io.ts';
import { makeLogger } from './log.ts';
import { nodeReady } from './node-ready.ts';
import { startUp } from './start-up.ts';
import { upSummary } from './up-summary.ts';

/** How long the node may take to be ready before we say what it says instead. */
const READY_MS = 30_000;

/** `holdfast up`: API, controller and agent in one process, until told to stop. */
export async function up(config: UpConfig, io: IO): Promise<void> {
  const log = await makeLogger(config, io);
  const since = systemClock.now();
  const started = await startUp(config, { env: io.env, log });
  try {
    const running = started.untilStopped(io.stop);
    const told = tell(config, { started, since, io, log });
    await Promise.race([running, told.then(() => running)]);
  } finally {
    const sandboxes = config.endSandboxes ? 'ended as well' : 'go on running until the next start';
    log.info({ sandboxes }, 'stopping');
    await started.stop();
  }
}

async function tell(
  config: UpConfig,
  about: {
    started: Awaited<ReturnType<typeof startUp>>;
    since: Date;
    io: IO;
    log: Awaited<ReturnType<typeof makeLogger>>;
  },
): Promise<void> {
  const { started, since, io, log } = about;
  const { nodeName } = config;
  const state = await nodeReady({
    client: started.client,
    nodeName,
    since,
    // Without a daemon it will not be ready, and there is no more to learn than that.
    withinMs: started.dockerAnswers ? READY_MS : 0,
    stop: io.stop,
    log,
  });
  if (io.stop.aborted) return;
  await write(
    io.stdout,
    upSummary(config, { ...state, docker: started.docker, kubeconfig: started.kubeconfigPath }),
  );
}

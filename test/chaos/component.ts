import { randomUUID } from 'node:crypto';
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { pino } from 'pino';
import { startController } from '../../controller/start.ts';
import { type Clock, systemClock } from '../../kube/clock.ts';
import { createKubeClient } from '../../kube/http-client.ts';
import { startAgent } from '../../runtime/agent/start.ts';
import { createDockerDriver } from '../../runtime/drivers/docker/driver.ts';
import { SeededRandom } from './random.ts';

/** A controller or an agent in a process of its own, with a wall clock that is off. */
export interface ComponentOptions {
  name: string;
  server: string;
  token: string;
  clockOffsetMs: number;
  /** Of its jitters; each start gets its own from it. */
  seed: string;
  agent?: { socketPath: string; dataDir: string; initBinary: string; leaseSeconds: number };
}

/** Started again whenever it ends, as an init system or a kubelet does. */
export interface Supervised {
  readonly deaths: number;
  /** SIGKILL; resolves when it is gone. */
  kill(): Promise<void>;
  stop(): Promise<void>;
}

export function supervise(options: ComponentOptions): Supervised {
  let deaths = 0;
  let stopping = false;
  let child: ChildProcess | undefined;
  const start = (): void => {
    const seed = `${options.seed}/${options.name}/${deaths}`;
    child = fork(import.meta.filename, [JSON.stringify({ ...options, seed })], {
      stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
      execArgv: ['--disable-warning=ExperimentalWarning', '--max-semi-space-size=2'],
    });
    child.once('exit', () => {
      deaths += 1;
      if (!stopping) start();
    });
  };
  start();
  const end = async (signal: NodeJS.Signals): Promise<void> => {
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) return;
    const gone = once(child, 'exit');
    child.kill(signal);
    await gone;
  };
  return {
    get deaths() {
      return deaths;
    },
    kill: () => end('SIGKILL'),
    async stop() {
      stopping = true;
      const hard = setTimeout(() => child?.kill('SIGKILL'), 5000);
      await end('SIGTERM');
      clearTimeout(hard);
    },
  };
}

if (process.argv[1] === import.meta.filename) {
  const options = JSON.parse(process.argv[2] ?? '') as ComponentOptions;
  const log = pino(
    { level: process.env['HOLDFAST_TEST_LOG'] ?? 'silent', name: options.name },
    pino.destination(2),
  );
  const clock: Clock = {
    ...systemClock,
    now: () => new Date(Date.now() + options.clockOffsetMs),
  };
  const client = createKubeClient({
    server: options.server,
    token: options.token,
    userAgent: options.name,
    clock,
    // So that a silent network is noticed within the time of a short run.
    timeoutMs: 5000,
  });
  const random = new SeededRandom(options.seed);
  const common = { client, clock, log, random: () => random.next() };
  const { agent } = options;
  const running =
    agent === undefined
      ? startController({ ...common, identity: options.name, leaderElection: true })
      : await startAgent({
          ...common,
          drivers: [createDockerDriver({ socketPath: agent.socketPath, log, clock })],
          nodeName: options.name,
          dataDir: agent.dataDir,
          initBinary: agent.initBinary,
          leaseSeconds: agent.leaseSeconds,
          instance: randomUUID(),
        });
  process.once('SIGTERM', () => void running.stop().then(() => process.exit(0)));
  // Whoever started it is gone: then nobody would end it.
  process.once('disconnect', () => process.exit(1));
  await running.done;
}

/**
 * A controller in a process of its own and bundled, as it runs in a cluster; answers any message with what it has used
 * so far. CONTROLLER_ACCESS: JSON of server, caData or insecureSkipTLSVerify, token.
 */
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pino from 'pino';
import { startController } from '../../controller/start.ts';
import { systemClock } from '../../kube/clock.ts';
import { createKubeClient } from '../../kube/http-client.ts';
import { countRequests, type RequestCounts } from './counting-client.ts';

export interface Access {
  server: string;
  caData?: string;
  insecureSkipTLSVerify?: boolean;
  token: string;
}

export interface ControllerUse {
  counts: RequestCounts;
  rssBytes: number;
  mostRssBytes: number;
  heapUsedBytes: number;
  cpuMs: number;
}

export interface ControllerProcess {
  pid: number;
  use(): Promise<ControllerUse>;
  stop(): Promise<void>;
}

export async function startControllerProcess(access: Access): Promise<ControllerProcess> {
  const folder = mkdtempSync(join(tmpdir(), 'hf-controller-'));
  const program = join(folder, 'controller.mjs');
  await bundle(program);
  const child: ChildProcess = fork(program, [], {
    env: { ...process.env, CONTROLLER_ACCESS: JSON.stringify(access) },
    // As the image starts it, and with the heap that Node gives itself in a pod of 512Mi, as the manifests have it: on
    // a large machine it would let garbage lie for much longer.
    execArgv: ['--max-semi-space-size=2', '--max-old-space-size=256', ...profiling()],
  });
  await once(child, 'message');
  return {
    pid: child.pid ?? 0,
    async use() {
      const answered = once(child, 'message');
      child.send('use');
      const [answer] = (await answered) as [ControllerUse];
      return answer;
    },
    async stop() {
      if (child.exitCode !== null || child.signalCode !== null) return;
      const gone = once(child, 'exit');
      child.disconnect();
      await gone;
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** Without the sources' types, whose removal takes memory of its own. */
async function bundle(outfile: string): Promise<void> {
  const { build } = await import('esbuild');
  await build({
    entryPoints: [import.meta.filename],
    outfile,
    bundle: true,
    // The bundler itself stays outside: the child never calls it.
    external: ['esbuild'],
    platform: 'node',
    format: 'esm',
    target: 'node22.19',
    minifyWhitespace: true,
    banner: {
      js: "import { createRequire } from 'node:module'; const require = createRequire(import.meta.url);",
    },
  });
}

/** CONTROLLER_PROFILE: a folder for a CPU profile. */
function profiling(): string[] {
  const folder = process.env['CONTROLLER_PROFILE'];
  return folder === undefined ? [] : ['--cpu-prof', `--cpu-prof-dir=${folder}`];
}

if (process.argv[1] === import.meta.filename) {
  const access = JSON.parse(process.env['CONTROLLER_ACCESS'] ?? '') as Access;
  const { client, counts } = countRequests(createKubeClient({ ...access, userAgent: 'holdfast-controller' }));
  const controller = startController({
    client,
    clock: systemClock,
    log: pino({ level: process.env['HOLDFAST_TEST_LOG'] ?? 'silent' }, pino.destination(2)),
    random: Math.random,
    identity: 'bench',
    leaderElection: true,
  });
  process.on('message', () => {
    const { user, system } = process.cpuUsage();
    process.send?.({
      counts,
      rssBytes: process.memoryUsage.rss(),
      heapUsedBytes: process.memoryUsage().heapUsed,
      mostRssBytes: process.resourceUsage().maxRSS * 1024,
      cpuMs: (user + system) / 1000,
    } satisfies ControllerUse);
  });
  process.once('disconnect', () => void controller.stop().then(() => process.exit(0)));
  process.send?.('started');
}

/**
 * 1,000 Sandboxes placed on 10 fake nodes by the controller, on the embedded API: each in a process of its own, with
 * this one as the user and the nodes. Prints a BenchResult as the last line.
 *
 *   node test/bench/placement.ts [SANDBOXES] [NODES]
 */
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pino from 'pino';
import { startController } from '../../controller/start.ts';
import { docker, sandboxNode } from '../../controller/testing/objects.ts';
import { World } from '../../controller/testing/world.ts';
import { crdManifests } from '../../crds/crd-manifests.ts';
import type { Sandbox } from '../../crds/sandbox.ts';
import { systemClock } from '../../kube/clock.ts';
import { createKubeClient } from '../../kube/http-client.ts';
import { Lister } from '../../kube/lister.ts';
import { Reflector } from '../../kube/reflector.ts';
import { SANDBOXES } from '../../kube/resources.ts';
import { startLocalAPI } from '../../local/server.ts';
import { type BenchResult, quantile } from './result.ts';

interface Access {
  server: string;
  caData: string;
  token: string;
}

interface ControllerReport {
  lists: number;
  writes: number;
  rssBytes: number;
  cpuMicros: number;
}

const log = pino({ level: 'silent' });
const GiB = 1024 ** 3;
const CREATORS = 16;
const QUIET_MS = 10_000;

const role = process.env['HOLDFAST_BENCH_ROLE'];
if (role === 'api') await serveAPI();
else if (role === 'controller') runController();
else await measure(Number(process.argv[2] ?? 1000), Number(process.argv[3] ?? 10));

async function serveAPI(): Promise<void> {
  const dataDir = await mkdtemp(join(tmpdir(), 'holdfast-bench-'));
  const api = await startLocalAPI({
    dataDir,
    crds: crdManifests(),
    log,
  });
  process.once('disconnect', () => {
    void api
      .close()
      .then(() => rm(dataDir, { recursive: true, force: true }))
      .then(() => process.exit(0));
  });
  process.send?.({ server: api.url, caData: api.caData, token: api.adminToken } satisfies Access);
}

function runController(): void {
  const access = JSON.parse(process.env['HOLDFAST_BENCH_ACCESS'] ?? '') as Access;
  const client = createKubeClient({ ...access, userAgent: 'holdfast-controller' });
  const counts = { lists: 0, writes: 0 };
  const list = client.list.bind(client);
  client.list = (resource, options) => {
    counts.lists += 1;
    return list(resource, options);
  };
  for (const verb of ['create', 'update', 'patch', 'delete'] as const) {
    const call = client[verb].bind(client) as (...rest: unknown[]) => Promise<unknown>;
    Object.assign(client, {
      [verb]: (...rest: unknown[]) => {
        counts.writes += 1;
        return call(...rest);
      },
    });
  }
  startController({
    client,
    clock: systemClock,
    log,
    random: Math.random,
    identity: 'bench',
    leaderElection: false,
  });
  process.on('message', () => {
    const { user, system } = process.cpuUsage();
    process.send?.({
      ...counts,
      rssBytes: process.memoryUsage.rss(),
      cpuMicros: user + system,
    } satisfies ControllerReport);
  });
  process.once('disconnect', () => process.exit(0));
}

async function measure(sandboxes: number, nodes: number): Promise<void> {
  const api = child('api');
  const access = await answer<Access>(api);
  const client = createKubeClient({ ...access, userAgent: 'holdfast-bench' });
  const world = new World({ client, clock: systemClock });
  const names = Array.from({ length: nodes }, (_, i) => `node-${String(i).padStart(2, '0')}`);
  for (const name of names) {
    await world.node(
      sandboxNode(name, {
        runtimes: [docker({ cpus: 64, memoryBytes: 256 * GiB })],
        spec: { maxSandboxes: Math.ceil((2 * sandboxes) / nodes) },
      }),
    );
  }
  const beat = setInterval(() => names.forEach((name) => void world.beat(name)), 10_000);
  const controller = child('controller', access);

  // What a user with a watch sees.
  const stopping = new AbortController();
  const lister = new Lister<Sandbox>();
  const reflector = new Reflector({
    client,
    resource: SANDBOXES,
    lister,
    clock: systemClock,
    random: Math.random,
    log,
  });
  const boundAt = new Map<string, number>();
  const waiting = new Map<string, () => void>();
  lister.onChange((_, __, sandbox) => {
    const name = sandbox?.metadata.name ?? '';
    if ((sandbox?.status?.nodeName ?? '') === '' || boundAt.has(name)) return;
    boundAt.set(name, performance.now());
    waiting.get(name)?.();
  });
  const watching = reflector.run(stopping.signal);
  await reflector.synced;

  const place = async (name: string): Promise<number> => {
    const startedMs = performance.now();
    const bound = new Promise<void>((resolve) => waiting.set(name, resolve));
    await world.create(name, { resources: { cpu: '100m', memory: '64Mi', pids: 64 } });
    await bound;
    return (boundAt.get(name) ?? Number.NaN) - startedMs;
  };

  // The first one waits until the controller is there.
  await place('warm-up');
  const alone: number[] = [];
  for (let i = 0; i < 50; i += 1) alone.push(await place(`alone-${i}`));

  const before = await ask(controller);
  const together: number[] = [];
  let next = 0;
  const burstStartedMs = performance.now();
  await Promise.all(
    Array.from({ length: CREATORS }, async () => {
      while (next < sandboxes) together.push(await place(`burst-${next++}`));
    }),
  );
  const burstMs = performance.now() - burstStartedMs;
  const after = await ask(controller);

  const perNode = new Map<string, number>();
  for (const sandbox of lister.list()) {
    const node = sandbox.status?.nodeName ?? '';
    perNode.set(node, (perNode.get(node) ?? 0) + 1);
  }
  // Let the last events be written, then look on while nothing changes but heartbeats.
  await settled(controller);
  const quietFrom = await ask(controller);
  await new Promise((resolve) => setTimeout(resolve, QUIET_MS));
  const quiet = await ask(controller);

  clearInterval(beat);
  stopping.abort();
  await watching;
  client.close();
  controller.disconnect();
  api.disconnect();
  await Promise.all([once(controller, 'exit'), once(api, 'exit')]);

  const counts = [...perNode.values()];
  const ms = (value: number): string => `${value.toFixed(1)} ms`;
  const result: BenchResult = {
    title: `${sandboxes} Sandboxes placed on ${nodes} nodes`,
    lines: [
      {
        what: 'placed per second, created by 16 at once',
        measured: `${(sandboxes / (burstMs / 1000)).toFixed(0)}/s`,
      },
      { what: 'POST to bound seen by a watch, 16 at once, p50', measured: ms(quantile(together, 0.5)) },
      { what: 'POST to bound seen by a watch, 16 at once, p99', measured: ms(quantile(together, 0.99)) },
      { what: 'POST to bound seen by a watch, one at a time, p50', measured: ms(quantile(alone, 0.5)) },
      { what: 'POST to bound seen by a watch, one at a time, p99', measured: ms(quantile(alone, 0.99)) },
      {
        what: 'CPU of the controller per placement',
        measured: `${((after.cpuMicros - before.cpuMicros) / sandboxes / 1000).toFixed(2)} ms`,
      },
      {
        what: 'memory of the controller with all of them',
        measured: `${(quiet.rssBytes / 2 ** 20).toFixed(0)} MB`,
      },
      {
        what: 'sandboxes on the emptiest and the fullest node',
        measured: `${Math.min(...counts)} and ${Math.max(...counts)}`,
      },
      {
        what: 'list calls of the controller in steady state',
        measured: String(quiet.lists - before.lists),
        goal: '0',
        met: quiet.lists === before.lists,
      },
      {
        what: `writes of the controller in ${QUIET_MS / 1000} s without a change`,
        measured: String(quiet.writes - quietFrom.writes),
        goal: '0',
        met: quiet.writes === quietFrom.writes,
      },
    ],
    samples: { aloneMs: alone, togetherMs: together },
  };
  for (const { what, measured, goal, met } of result.lines) {
    console.error(
      `${what}: ${measured}${goal === undefined ? '' : ` (goal ${goal}${met === true ? '' : ', MISSED'})`}`,
    );
  }
  console.log(JSON.stringify(result));
}

function child(role: string, access?: Access): ChildProcess {
  return fork(import.meta.filename, [], {
    env: {
      ...process.env,
      HOLDFAST_BENCH_ROLE: role,
      ...(access && { HOLDFAST_BENCH_ACCESS: JSON.stringify(access) }),
    },
  });
}

async function answer<T>(from: ChildProcess): Promise<T> {
  const [message] = (await once(from, 'message')) as [T];
  return message;
}

async function ask(controller: ChildProcess): Promise<ControllerReport> {
  const answered = answer<ControllerReport>(controller);
  controller.send('report');
  return answered;
}

/** Until the controller has written nothing for a second. */
async function settled(controller: ChildProcess): Promise<void> {
  for (let writes = -1; ; ) {
    const now = await ask(controller);
    if (now.writes === writes) return;
    ({ writes } = now);
    await new Promise((resolve) => setTimeout(resolve, 1000));
  }
}

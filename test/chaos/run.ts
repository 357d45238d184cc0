import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { createKubeClient } from '../../kube/http-client.ts';
import { installKinds } from '../scale/install-kinds.ts';
import { type Cluster, startCluster } from '../cluster/start.ts';
import { INIT_BINARY } from '../agent/world.ts';
import { SANDBOX_NODES } from '../../kube/resources.ts';
import type { Sandbox } from '../../crds/sandbox.ts';
import type { SandboxNode } from '../../crds/sandbox-node.ts';
import { until } from '../until.ts';
import { type ApiProxy, startApiProxy } from './api-proxy.ts';
import { type Supervised, supervise } from './component.ts';
import type { History } from './history.ts';
import { hasBecome, invariants } from './invariants.ts';
import { AGENTS, COMPONENTS, type Component, describeStep, makePlan, type Step } from './plan.ts';
import { SeededRandom } from './random.ts';
import { ContainerRecorder } from './record-containers.ts';
import { ObjectRecorder } from './record-objects.ts';
import { User } from './user.ts';

export interface ChaosOptions {
  seed: number;
  seconds: number;
  /** After the last fault, for everything to become what it has to be. */
  settleSeconds: number;
  calmSeconds: number;
  leaseSeconds: number;
  say: (line: string) => void;
  /** Rejects: the run is broken off, and everything of it ended. */
  interrupted?: Promise<never>;
}

const NEVER = new Promise<never>(() => {});

export interface ChaosResult {
  /** By invariant; empty lists where it holds. */
  breaches: Record<string, string[]>;
  counts: Record<string, number>;
}

const lab = join(import.meta.dirname, '../lab/lab');
const run = promisify(execFile);

/** Two controllers, two agents with a Docker each, a kube-apiserver, and everything that the plan of the seed does to them. */
export async function runChaos(options: ChaosOptions): Promise<ChaosResult> {
  const plan = makePlan(options);
  const ends: (() => Promise<void> | void)[] = [];
  try {
    return await Promise.race([withParts(options, plan, ends), options.interrupted ?? NEVER]);
  } finally {
    const failures: unknown[] = [];
    for (const end of ends.toReversed()) {
      try {
        await end();
      } catch (error) {
        // What is left must be ended all the same.
        failures.push(error);
      }
    }
    for (const failure of failures) options.say(`could not be ended: ${String(failure)}`);
  }
}

async function withParts(
  options: ChaosOptions,
  plan: ReturnType<typeof makePlan>,
  ends: (() => Promise<void> | void)[],
): Promise<ChaosResult> {
  const { say } = options;
  const folder = mkdtempSync(join(tmpdir(), 'hf-chaos-'));
  ends.push(() => rmSync(folder, { recursive: true, force: true }));
  const [cluster, ...sockets] = await Promise.all([
    startCluster({ controllerManager: false }),
    ...AGENTS.map((name) => startDaemon(join(folder, `l${name.slice(-1)}`), ends)),
  ]);
  ends.push(() => cluster.close());
  const client = createKubeClient({
    server: cluster.url,
    insecureSkipTLSVerify: true,
    token: cluster.token,
    userAgent: 'chaos-user',
    timeoutMs: 5000,
  });
  ends.push(() => client.close());
  await installKinds(client);
  const objects = new ObjectRecorder(cluster.etcdURL);
  objects.start();
  ends.push(() => objects.stop());
  const containers = AGENTS.map((name, index) => new ContainerRecorder(sockets[index] ?? '', name));
  ends.push(() => containers.forEach((one) => one.stop()));
  const proxies = new Map<Component, ApiProxy>();
  const processes = new Map<Component, Supervised>();
  for (const [index, name] of COMPONENTS.entries()) {
    const proxy = await startApiProxy(cluster.url, new SeededRandom(`${plan.seed}/proxy/${name}`));
    ends.push(() => proxy.close());
    proxies.set(name, proxy);
    const socketPath = sockets[index - (COMPONENTS.length - AGENTS.length)];
    const one = supervise({
      name,
      server: proxy.url,
      token: cluster.token,
      clockOffsetMs: plan.clockOffsetMs[name],
      seed: String(plan.seed),
      ...(socketPath !== undefined && {
        agent: {
          socketPath,
          dataDir: join(folder, name),
          initBinary: INIT_BINARY,
          leaseSeconds: options.leaseSeconds,
        },
      }),
    });
    ends.push(() => one.stop());
    processes.set(name, one);
  }
  await until('both nodes to be ready', async () => {
    const { items } = await client.list<SandboxNode>(SANDBOX_NODES, {});
    return (
      items.length === AGENTS.length && items.every(({ status }) => status?.runtimes?.[0]?.ready === true)
    );
  });
  const stage: Stage = {
    cluster,
    objects,
    proxies,
    processes,
    user: new User(client),
    say,
    pending: new Set(),
  };
  await play(stage, plan.steps);
  say(`settling; ${objects.writes.length} writes so far`);
  await settle(stage, options.settleSeconds);
  const calm = await calmCalls(proxies, options.calmSeconds);
  // What stands still is looked at; the ends come after it.
  const history: History = {
    writes: objects.writes,
    containers: containers.flatMap(({ events }) => events),
    acknowledged: [...stage.user.acknowledged, ...acknowledgedThrough(proxies)],
    expected: stage.user.expected,
    writesPerSandbox: writesPerSandbox(proxies),
    calm,
    endMs: Date.now(),
  };
  const breaches = Object.fromEntries(
    Object.entries(invariants).map(([name, check]) => [name, check(history)]),
  );
  return { breaches, counts: countsOf(history, plan.steps, processes, proxies) };
}

interface Stage {
  cluster: Cluster;
  objects: ObjectRecorder;
  proxies: Map<Component, ApiProxy>;
  processes: Map<Component, Supervised>;
  user: User;
  say: (line: string) => void;
  /** What was begun and has an end of its own. */
  pending: Set<Promise<void>>;
}

async function play(stage: Stage, steps: readonly Step[]): Promise<void> {
  const startedMs = performance.now();
  for (const step of steps) {
    const waitMs = step.atMs - (performance.now() - startedMs);
    if (waitMs > 0) await new Promise((resolve) => setTimeout(resolve, waitMs));
    stage.say(describeStep(step));
    const work = begin(stage, step);
    stage.pending.add(work);
    void work.finally(() => stage.pending.delete(work)).catch(() => {});
  }
  await Promise.all(stage.pending);
}

async function begin(stage: Stage, step: Step): Promise<void> {
  const { cluster, proxies, processes, user } = stage;
  const after = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));
  switch (step.do) {
    case 'kill':
      return processes.get(step.who)?.kill();
    case 'reset':
      return proxies.get(step.who)?.reset();
    case 'network': {
      const proxy = proxies.get(step.who);
      proxy?.set(step.fault);
      await after(step.forMs);
      return proxy?.set(undefined);
    }
    case 'restart':
      return exclusively(stage, async () => {
        if (step.what === 'etcd') await cluster.etcd.end('SIGKILL');
        await cluster.apiServer.end('SIGKILL');
        await after(step.forMs);
        await cluster.up();
      });
    case 'compact':
      // Together with a start of the API server, whose watch cache is then empty: what begins before it gets 410.
      return exclusively(stage, async () => {
        await cluster.apiServer.end('SIGKILL');
        if (stage.objects.revision > 0) await cluster.compact(stage.objects.revision);
        await cluster.up();
      });
    default:
      return user.begin(step);
  }
}

const inLine = new WeakMap<Stage, Promise<void>>();

/** One after the other, whatever becomes of the one before. */
function exclusively(stage: Stage, work: () => Promise<void>): Promise<void> {
  const mine = (inLine.get(stage) ?? Promise.resolve()).then(work, work);
  inLine.set(stage, mine);
  return mine;
}

/** All faults have ended by now. */
async function settle(stage: Stage, seconds: number): Promise<void> {
  const { user, objects } = stage;
  const endMs = performance.now() + seconds * 1000;
  const timer = setTimeout(() => user.giveUp(), seconds * 1000);
  await user.done();
  clearTimeout(timer);
  const settled = (): boolean => {
    const last = new Map(objects.writes.map((write) => [write.key, write]));
    return [...user.expected].every(([key, wanted]) => {
      const write = last.get(key);
      return hasBecome(write === undefined || write.deleted ? undefined : write.sandbox, wanted);
    });
  };
  while (!settled() && performance.now() < endMs) await new Promise((resolve) => setTimeout(resolve, 200));
}

async function calmCalls(proxies: Map<Component, ApiProxy>, seconds: number): Promise<History['calm']> {
  const before = new Map([...proxies].map(([who, { requests }]) => [who, requests.length]));
  await new Promise((resolve) => setTimeout(resolve, seconds * 1000));
  const calls: History['calm']['calls'] = [];
  for (const [who, { requests }] of proxies) {
    const fresh = requests.slice(before.get(who));
    const writes = fresh.filter(({ method, path }) => method !== 'GET' && !/\/(leases|events)\b/.test(path));
    calls.push({ who, what: 'writes', count: writes.length });
    calls.push({ who, what: 'reads', count: fresh.filter(({ method }) => method === 'GET').length });
  }
  return { seconds, calls };
}

const OF_SANDBOX = /\/sandboxes\/([^/]+)/;

function writesPerSandbox(proxies: Map<Component, ApiProxy>): History['writesPerSandbox'] {
  return [...proxies].flatMap(([who, { requests }]) => {
    const counts = new Map<string, number>();
    for (const { method, path } of requests) {
      const name = OF_SANDBOX.exec(path)?.[1];
      if (method !== 'GET' && name !== undefined) counts.set(name, (counts.get(name) ?? 0) + 1);
    }
    return [...counts].map(([path, count]) => ({ who, path, count }));
  });
}

function acknowledgedThrough(proxies: Map<Component, ApiProxy>): History['acknowledged'] {
  return [...proxies].flatMap(([who, { requests }]) =>
    requests.flatMap(({ method, path, done }) => {
      // The answer to the last deletion names a version that was never written.
      if (!OF_SANDBOX.test(path) || method === 'DELETE' || done?.resourceVersion === undefined) return [];
      return [{ who, what: `${method} ${path}`, uid: done.uid, resourceVersion: done.resourceVersion }];
    }),
  );
}

function countsOf(
  history: History,
  steps: readonly Step[],
  processes: Map<Component, Supervised>,
  proxies: Map<Component, ApiProxy>,
): Record<string, number> {
  const counts: Record<string, number> = {
    sandboxes: new Set(history.writes.map(({ sandbox }) => sandbox.metadata.uid)).size,
    'writes of sandboxes': history.writes.length,
    'writes acknowledged': history.acknowledged.length,
    'containers started': history.containers.filter(({ action }) => action === 'start').length,
    'sandboxes of a lost node': uidsOf(history, ({ status }) =>
      (status?.conditions ?? []).some(({ type, reason }) => type === 'Ready' && reason === 'NodeLost'),
    ).size,
    'sandboxes that ran on two nodes, one after the other': onTwoNodes(history),
    'processes killed': [...processes.values()].reduce((sum, { deaths }) => sum + deaths, 0),
    requests: [...proxies.values()].reduce((sum, { requests }) => sum + requests.length, 0),
  };
  for (const step of steps) {
    const name =
      step.do === 'network'
        ? `fault: ${step.fault.kind}`
        : step.do === 'restart'
          ? `${step.what} restarted`
          : step.do;
    counts[name] = (counts[name] ?? 0) + 1;
  }
  return counts;
}

function uidsOf({ writes }: History, matches: (sandbox: Sandbox) => boolean): Set<string> {
  return new Set(
    writes.filter(({ sandbox }) => matches(sandbox)).map(({ sandbox }) => sandbox.metadata.uid ?? ''),
  );
}

function onTwoNodes({ containers }: History): number {
  const nodes = new Map<string, Set<string>>();
  for (const { uid, node, action } of containers)
    if (action === 'start') nodes.set(uid, new Set([...(nodes.get(uid) ?? []), node]));
  return [...nodes.values()].filter(({ size }) => size > 1).length;
}

async function startDaemon(folder: string, ends: (() => Promise<void> | void)[]): Promise<string> {
  const env = { ...process.env, LAB_DIR: folder };
  ends.push(async () => {
    await run(lab, ['down', 'docker-v1'], { env });
  });
  const { stdout } = await run(lab, ['up', 'docker-v1'], { env });
  return stdout.trim();
}

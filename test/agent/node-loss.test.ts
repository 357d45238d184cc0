import { type ChildProcess, execFile, fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { runHoldfast } from '../../cli/testing.ts';
import { systemClock } from '../../kube/clock.ts';
import { SANDBOXES } from '../../kube/resources.ts';
import { containerName } from '../../runtime/agent/names.ts';
import { createDockerDriver } from '../../runtime/drivers/docker/driver.ts';
import { selectedConfigs, useDaemon } from '../lab/daemon.ts';
import { until } from '../until.ts';
import type { AgentProcessOptions } from './agent-process.ts';
import { condition, INIT_BINARY, openWorld, type TestSandbox, type World } from './world.ts';

const run = promisify(execFile);
const LAB = join(import.meta.dirname, '../lab/lab');
const SCRIPT = join(import.meta.dirname, 'agent-process.ts');

/** Of the leases, and of the fence: long enough that the hold of an init (10 s) is over when it is placed anew. */
const LEASE_SECONDS = 12;

/** A node's agent as a process, each with a folder of its own. */
class Node {
  readonly name: string;
  readonly #options: AgentProcessOptions;
  #child: ChildProcess | undefined;

  constructor(name: string, options: Omit<AgentProcessOptions, 'nodeName' | 'initBinary' | 'leaseSeconds'>) {
    this.name = name;
    this.#options = { ...options, nodeName: name, initBinary: INIT_BINARY, leaseSeconds: LEASE_SECONDS };
  }

  async start(): Promise<void> {
    this.#child = fork(SCRIPT, [JSON.stringify(this.#options)], {
      stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
      execArgv: ['--disable-warning=ExperimentalWarning'],
    });
    await once(this.#child, 'message');
  }

  signal(signal: 'SIGSTOP' | 'SIGCONT'): void {
    this.#child?.kill(signal);
  }

  async end(signal: 'SIGKILL' | 'SIGTERM'): Promise<void> {
    const child = this.#child;
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) return;
    const gone = once(child, 'exit');
    child.kill(signal);
    await gone;
  }
}

function kubeconfigOf({ url, caData, adminToken }: World['api']): string {
  return JSON.stringify({
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [
      {
        name: 'c',
        cluster: { server: url, 'certificate-authority-data': Buffer.from(caData).toString('base64') },
      },
    ],
    users: [{ name: 'u', user: { token: adminToken } }],
    contexts: [{ name: 'x', context: { cluster: 'c', user: 'u' } }],
    'current-context': 'x',
  });
}

/** Two nodes that are lost in two ways, and a third on a daemon of its own. */
describe.runIf(selectedConfigs(['docker-v1']).length > 0)('lost nodes, on docker-v1', () => {
  const daemon = useDaemon('docker-v1');
  let world: World;
  let folder: string;
  let other: ReturnType<typeof createDockerDriver>;
  let killed: Node;
  let stopped: Node;
  let third: Node;

  const labElsewhere = (...args: string[]): Promise<{ stdout: string }> =>
    run(LAB, args, { env: { ...process.env, LAB_DIR: folder }, timeout: 170_000 });

  beforeAll(async () => {
    world = await openWorld({ socketPath: daemon.current.socketPath, withAgent: false });
    folder = await mkdtemp(join(tmpdir(), 'hfl-'));
    const socketPath = (await labElsewhere('up', 'docker-v1')).stdout.trim();
    other = createDockerDriver({ socketPath, log: world.log, clock: systemClock });
    const { api } = world;
    const at = (name: string, socket: string): Node =>
      new Node(name, { api, socketPath: socket, dataDir: join(world.dataDir, name) });
    killed = at('killed', daemon.current.socketPath);
    stopped = at('stopped', daemon.current.socketPath);
    third = at('third', socketPath);
    await Promise.all([killed.start(), stopped.start()]);
    for (const { name } of [killed, stopped]) {
      await world.labelNode(name);
      await world.nodeReady(name);
    }
  }, 180_000);

  afterAll(async () => {
    stopped.signal('SIGCONT');
    await world.removeAll();
    await until(
      'the end of all sandboxes',
      async () => (await world.client.list(SANDBOXES, { namespace: 'default' })).items.length === 0,
      { withinMs: 60_000 },
    );
    await Promise.all([killed, stopped, third].map((node) => node.end('SIGTERM')));
    other.close();
    await labElsewhere('down', 'docker-v1');
    await rm(folder, { recursive: true, force: true });
    await world.close();
  });

  const container = (sandbox: TestSandbox) =>
    world.driver.inspectContainer(containerName(sandbox.metadata.uid), {});

  it('[K6] Replace: ends itself, is placed anew after twice its time and never before, and runs once; Keep stays', async () => {
    const command = ['sh', '-c', 'echo begun; while :; do sleep 1; done'];
    const limits = { resources: { memory: '32Mi' }, terminationGracePeriodSeconds: 0 };
    const make = (name: string, spec: Parameters<World['create']>[1]): Promise<TestSandbox> =>
      world.create(name, { ...limits, ...spec });
    const replaced = await Promise.all([
      ...['a', 'b', 'c', 'd'].map((name) => make(name, { command, onNodeLoss: 'Replace' })),
      ...['e', 'f'].map((name) => make(name, { onNodeLoss: 'Replace' })),
    ]);
    const kept = await Promise.all(['g', 'h'].map((name) => make(name, { command })));
    const before = await Promise.all(
      [...replaced, ...kept].map((one) => world.awaits(one, 'Ready', 'True', 'Running')),
    );
    const homes = new Map(before.map((one) => [one.metadata.name, one.status?.nodeName]));
    expect(new Set(homes.values())).toEqual(new Set(['killed', 'stopped']));
    for (const one of before.slice(0, 6)) expect(one.status?.fenceSeconds).toBe(LEASE_SECONDS);
    for (const one of before.slice(6)) expect(one.status).not.toHaveProperty('fenceSeconds');

    await killed.end('SIGKILL');
    stopped.signal('SIGSTOP');
    const lostAt = performance.now();
    await third.start();

    await Promise.all(
      replaced.map(async (sandbox) => {
        const moved = await world.until(sandbox, 'another node', (now) => {
          const node = now.status?.nodeName;
          return node !== undefined && node !== homes.get(sandbox.metadata.name);
        });
        // Not before 2T after the last renewal; and nothing of it runs any more where it was.
        expect(performance.now() - lostAt).toBeGreaterThan(
          (2 * LEASE_SECONDS - LEASE_SECONDS / 4 - 1) * 1000,
        );
        const old = await container(sandbox);
        expect(old?.state).toBe('exited');
        expect(old?.exitCode).toBe(94);
        expect(moved.status?.lastTermination).toMatchObject({ cause: 'NodeLost', verdict: 'Confirmed' });
        expect(moved.status?.lastTermination?.message).toContain('ended itself: node lost');
        await world.awaits(sandbox, 'Ready', 'True', 'Running');
        await world.awaitsEvent(sandbox, 'Replaced');
      }),
    );
    for (const sandbox of kept) {
      const now = await world.awaits(sandbox, 'Ready', 'Unknown', 'NodeLost');
      expect(now.status?.nodeName).toBe(homes.get(sandbox.metadata.name));
      expect((await container(sandbox))?.state).toBe('running');
    }

    // They are back: what is their own is adopted, what is another's now is removed.
    stopped.signal('SIGCONT');
    await killed.start();
    for (const [index, sandbox] of kept.entries()) {
      const now = await world.awaits(sandbox, 'Ready', 'True', 'Running');
      expect(now.status?.startedAt).toBe(before[6 + index]?.status?.startedAt);
      expect(now.status?.containerID).toBe(before[6 + index]?.status?.containerID);
    }
    for (const sandbox of replaced) {
      await until(
        `the removal of ${sandbox.metadata.name}`,
        async () => (await container(sandbox)) === undefined,
      );
      const now = await world.get(sandbox);
      expect(now?.status?.nodeName).toBe('third');
      expect(condition(now, 'Ready')).toMatchObject({ status: 'True', reason: 'Running' });
      const there = await other.inspectContainer(containerName(sandbox.metadata.uid), {});
      expect(there?.state).toBe('running');
      expect(there?.id).toBe(now?.status?.containerID);
    }
  });

  it('[K4] [K6] drain: what may run elsewhere is ended there and placed anew, what may not stays until it is deleted', async () => {
    const kubeconfig = join(folder, 'kubeconfig');
    await writeFile(kubeconfig, kubeconfigOf(world.api));
    const holdfast = async (...args: string[]): Promise<{ code: number; text: string }> => {
      const { code, stdout, stderr } = await runHoldfast([...args, '--kubeconfig', kubeconfig]);
      return { code, text: stdout + stderr };
    };
    const small = { resources: { memory: '32Mi' }, terminationGracePeriodSeconds: 1 };
    // Nowhere else to go at first.
    for (const { name } of [killed, stopped]) expect((await holdfast('cordon', name)).code).toBe(0);
    const stays = await world.create('stays', small);
    await world.awaits(stays, 'Ready', 'True', 'Running');
    const waits = await world.create('waits', { ...small, command: ['sleep', '6'] });
    await world.awaits(waits, 'Ready', 'True', 'Running');
    const dry = await holdfast('drain', 'third', '--dry-run');
    expect(dry.code).toBe(0);
    expect(dry.text).toContain('sandbox default/a is ended here and placed anew (dry run)');
    expect(dry.text).toContain('sandbox default/stays is kept on this node');
    for (const { name } of [killed, stopped]) expect((await holdfast('uncordon', name)).code).toBe(0);
    const first = await holdfast('drain', 'third', '--grace', '60');
    expect(first).toMatchObject({ code: 1 });
    expect(first.text).toContain('1 of third are still there: default/stays; the node stays cordoned');
    await world.awaits(waits, 'Complete', 'True', 'Succeeded');
    for (const name of ['a', 'b', 'c', 'd', 'e', 'f']) {
      const now = await world.awaits({ metadata: { name } }, 'Ready', 'True', 'Running');
      expect(['killed', 'stopped']).toContain(now.status?.nodeName);
      expect(now.status?.lastTermination).toMatchObject({ cause: 'Drained', verdict: 'Confirmed' });
    }
    const next = await world.create('next', small);
    expect((await world.awaits(next, 'Ready', 'True', 'Running')).status?.nodeName).not.toBe('third');
    const second = await holdfast('drain', 'third', '--grace', '0', '--delete');
    expect(second).toMatchObject({ code: 0 });
    expect(second.text).toContain('sandbox default/stays deleted\nsandboxnode third drained\n');
    expect((await holdfast('drain', 'nobody')).text).toContain('there is no SandboxNode "nobody"');
  });
});

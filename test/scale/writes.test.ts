import { mkdtemp, rm } from 'node:fs/promises';
import { randomUUID } from 'node:crypto';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import { describe, expect, it } from 'vitest';
import { startController } from '../../controller/start.ts';
import { API_VERSION } from '../../crds/group.ts';
import type { SandboxNode } from '../../crds/sandbox-node.ts';
import type { Sandbox, SandboxSpec } from '../../crds/sandbox.ts';
import type { KubeClient } from '../../kube/client.ts';
import { systemClock } from '../../kube/clock.ts';
import { isNotFound } from '../../kube/errors.ts';
import { SANDBOX_NODES, SANDBOXES } from '../../kube/resources.ts';
import { createDockerDriver } from '../../runtime/drivers/docker/driver.ts';
import { startAgent } from '../../runtime/agent/start.ts';
import { INIT_BINARY } from '../agent/world.ts';
import { testAPIs } from '../controller/apis.ts';
import { useDaemon } from '../lab/daemon.ts';
import { until } from '../until.ts';
import { countRequests, type RequestCounts, writesOf } from './counting-client.ts';

const log = pino({ level: process.env['HOLDFAST_TEST_LOG'] ?? 'silent' });

describe.each(testAPIs())('docker-v1, $name: what a Sandbox costs the API server', ({ start }) => {
  const daemon = useDaemon('docker-v1');

  // Finalizer, binding, receipt, Ready; gone, finalizer. What has run to its end says so once more in between.
  it.each<[string, number, Partial<SandboxSpec>, string]>([
    ['one that is kept', 6, {}, 'Ready'],
    ['one that runs to completion', 7, { command: ['true'] }, 'Complete'],
  ])(
    '[K3] [K5] %s: at most %i writes besides Events through its whole life, and no list',
    async (_what, most, spec, becomes) => {
      const api = await start();
      const folder = await mkdtemp(join(tmpdir(), 'hf-writes-'));
      const controllers = countRequests(api.client);
      const agents = countRequests(api.client);
      const common = { clock: systemClock, log, random: Math.random };
      const controller = startController({
        ...common,
        client: controllers.client,
        identity: 'writes',
        leaderElection: false,
      });
      const nodeName = `node-${randomUUID().slice(0, 8)}`;
      const agent = await startAgent({
        ...common,
        client: agents.client,
        drivers: [createDockerDriver({ socketPath: daemon.current.socketPath, log, clock: systemClock })],
        nodeName,
        dataDir: folder,
        initBinary: INIT_BINARY,
        instance: randomUUID(),
      });
      try {
        await nodeReady(api.client, nodeName);
        const before = structuredClone([controllers.counts, agents.counts]);
        const ref = { namespace: 'default', name: `life-${randomUUID().slice(0, 8)}` };
        await api.client.create<Sandbox>(SANDBOXES, {
          apiVersion: API_VERSION,
          kind: 'Sandbox',
          metadata: ref,
          spec: { image: 'busybox:lab', resources: { memory: '32Mi', cpu: '100m', pids: 32 }, ...spec },
        } as Sandbox);
        const get = (): Promise<Sandbox | undefined> =>
          unlessMissing(api.client.get<Sandbox>(SANDBOXES, ref));
        await until(`${becomes} of the sandbox`, async () => isTrue(await get(), becomes), { seen: get });
        await api.client.delete(SANDBOXES, ref);
        await until('its end', async () => (await get()) === undefined, { seen: get });
        const costs = [controllers.counts, agents.counts].map((counts, index) =>
          since(counts, before[index]),
        );
        expect(costs.reduce((sum, one) => sum + one.lists, 0)).toBe(0);
        expect(
          costs.reduce((sum, one) => sum + writesOf({ ...one, writes: ofSandboxes(one) }), 0),
          JSON.stringify(costs),
        ).toBeLessThanOrEqual(most);
      } finally {
        await agent.stop();
        await controller.stop();
        // An error before it was made is the one to be seen.
        await unlessMissing(api.client.delete(SANDBOX_NODES, { name: nodeName }));
        await api.stop();
        await rm(folder, { recursive: true, force: true });
      }
    },
  );
});

function isTrue(sandbox: Sandbox | undefined, type: string): boolean {
  return sandbox?.status?.conditions?.some((one) => one.type === type && one.status === 'True') ?? false;
}

async function nodeReady(client: KubeClient, name: string): Promise<void> {
  await until('the node to be ready', async () => {
    // A kind whose definition is new may not be served yet.
    const node = await unlessMissing(client.get<SandboxNode>(SANDBOX_NODES, { name }));
    return node?.status?.runtimes?.[0]?.ready === true;
  });
}

async function unlessMissing<T>(call: Promise<T>): Promise<T | undefined> {
  try {
    return await call;
  } catch (error) {
    if (isNotFound(error)) return undefined;
    throw error;
  }
}

/** Leases and what a node says of itself go on whether or not there are Sandboxes. */
function ofSandboxes({ writes }: RequestCounts): Record<string, number> {
  return Object.fromEntries(Object.entries(writes).filter(([what]) => / sandboxes\b/.test(what)));
}

function since(now: RequestCounts, before: RequestCounts | undefined): RequestCounts {
  const writes = Object.fromEntries(
    Object.entries(now.writes).map(([what, count]) => [what, count - (before?.writes[what] ?? 0)]),
  );
  return {
    reads: now.reads - (before?.reads ?? 0),
    lists: now.lists - (before?.lists ?? 0),
    watches: now.watches - (before?.watches ?? 0),
    writes,
  };
}

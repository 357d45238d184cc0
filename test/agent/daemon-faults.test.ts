import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { selectedConfigs, useDaemon } from '../lab/daemon.ts';
import { type Fault, type FaultProxy, startFaultProxy } from '../lab/fault-proxy.ts';
import { labelled } from './fixtures.ts';
import { condition, openWorld, type World } from './world.ts';

const CALLS: [string, RegExp][] = [
  ['GET', /^\/images\/.*\/json$/],
  ['POST', /^\/volumes\/create$/],
  ['POST', /^\/containers\/create$/],
  ['GET', /^\/containers\/.*\/json$/],
  ['POST', /^\/containers\/.*\/start$/],
  ['DELETE', /^\/containers\//],
  ['DELETE', /^\/volumes\//],
];
const FAULTS: Fault[] = [
  { do: 'reset' },
  { do: 'reset-after' },
  { do: 'status', status: 500, body: '{"message":"something is wrong"}' },
  { do: 'garbage' },
];
const CASES = CALLS.flatMap(([method, path]) => FAULTS.map((fault) => ({ method, path, fault })));

/** A daemon that fails in each call: the sandbox comes to its end all the same, once. */
describe.runIf(selectedConfigs(['docker-v1']).length > 0)(
  'agent on docker-v1, a faulty daemon',
  { concurrent: true, meta: { needs: 'docker-v1' } },
  () => {
    const daemon = useDaemon('docker-v1');
    let world: World;
    const proxies: FaultProxy[] = [];
    beforeAll(async () => {
      world = await openWorld({ socketPath: daemon.current.socketPath, withAgent: false });
    });
    afterAll(async () => {
      await world.close();
      for (const proxy of proxies) await proxy.close();
    });

    async function node(): Promise<{ proxy: FaultProxy; nodeSelector: Record<string, string> }> {
      const proxy = await startFaultProxy(daemon.current.socketPath);
      proxies.push(proxy);
      const nodeName = `node-${randomUUID().slice(0, 8)}`;
      const dataDir = join(world.dataDir, nodeName);
      world.dataDirs.set(nodeName, dataDir);
      await world.startAgent({ socketPath: proxy.socketPath, nodeName, dataDir });
      await world.labelNode(nodeName);
      await world.nodeReady(nodeName);
      return { proxy, nodeSelector: { 'test/node': nodeName } };
    }

    it.for(CASES)(
      '[L5] comes to its end once after $fault.do at $method $path',
      async ({ method, path, fault }) => {
        const { proxy, nodeSelector } = await node();
        proxy.set([{ method, path, fault, times: 2 }]);
        const sandbox = await world.create(`faulty-${randomUUID().slice(0, 8)}`, {
          nodeSelector,
          command: ['sh', '-c', 'echo main >> /workspace/log; cat /workspace/log'],
          resources: { memory: '64Mi' },
        });
        await world.awaits(sandbox, 'Complete', 'True', 'Succeeded');
        expect(await world.outputOn(sandbox, nodeSelector)).toBe('main\n');
        await world.remove(sandbox);
        await world.gone(sandbox);
        expect(await labelled(world, sandbox)).toHaveLength(0);
      },
    );

    it('[L5] [L9] hands back what the runtime refuses a limit of at its start, and starts it when it no longer does', async () => {
      const { proxy, nodeSelector } = await node();
      const message =
        'OCI runtime create failed: runc create failed: unable to apply cgroup configuration: open /sys/fs/cgroup/memory/x/memory.limit_in_bytes: no such file or directory: unknown';
      proxy.set([
        {
          method: 'POST',
          path: /^\/containers\/[^/]+\/start$/,
          fault: { do: 'status', status: 500, body: JSON.stringify({ message }) },
        },
      ]);
      const sandbox = await world.create('refused-limit', {
        nodeSelector,
        command: ['true'],
        resources: { memory: '64Mi' },
      });
      const refused = await world.awaits(sandbox, 'LimitUnenforceable', 'True');
      expect(condition(refused, 'LimitUnenforceable')?.message).toContain('memory');
      expect(await labelled(world, sandbox, 'gone')).toHaveLength(0);
      proxy.set([]);
      await world.awaits(sandbox, 'Complete', 'True', 'Succeeded');
    });

    it('[L7] stops what sets a limit while the answer about limits is garbage, runs what sets none, and starts the first by itself', async () => {
      const { proxy, nodeSelector } = await node();
      proxy.set([{ method: 'GET', path: /^\/info$/, fault: { do: 'garbage-body' } }]);
      const name = Object.values(nodeSelector)[0] ?? '';
      await world.nodeSays(name, (status) => status.runtimes?.[0]?.limits.memory.enforced === 'Unknown');
      const limited = await world.create('unreadable', {
        nodeSelector,
        command: ['true'],
        resources: { memory: '64Mi' },
      });
      const free = await world.create('unlimited', { nodeSelector, command: ['true'] });
      await world.awaits(free, 'Complete', 'True', 'Succeeded');
      const waiting = await world.awaits(limited, 'LimitUnenforceable', 'True');
      expect(condition(waiting, 'Ready')?.status).toBe('False');
      expect(await labelled(world, limited)).toHaveLength(0);
      proxy.set([]);
      await world.awaits(limited, 'Complete', 'True', 'Succeeded');
    });

    it('[K5] a daemon that hangs is said to, and waited for', async () => {
      const { proxy, nodeSelector } = await node();
      const sandbox = await world.create('hanging', { nodeSelector, command: ['sleep', '1000'] });
      await world.awaits(sandbox, 'Ready', 'True', 'Running');
      proxy.set([{ path: /./, fault: { do: 'hang' } }]);
      proxy.breakAll();
      const name = Object.values(nodeSelector)[0] ?? '';
      await world.nodeSays(name, (status) => status.runtimes?.[0]?.ready === false);
      proxy.set([]);
      await world.nodeReady(name);
      expect(condition(await world.get(sandbox), 'Ready')?.status).toBe('True');
      await world.remove(sandbox);
      await world.gone(sandbox);
    });
  },
);

import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { SandboxNode } from '../../crds/sandbox-node.ts';
import { isNotFound } from '../../kube/errors.ts';
import type { Lease } from '../../kube/lease.ts';
import { LEASES, NAMESPACES, SANDBOX_NODES, SANDBOXES } from '../../kube/resources.ts';
import { containerName, probeName } from '../../runtime/agent/names.ts';
import { selectedConfigs, useDaemon } from '../lab/daemon.ts';
import { type FaultProxy, startFaultProxy } from '../lab/fault-proxy.ts';
import { until } from '../until.ts';
import { condition, openWorld, type TestSandbox, type World } from './world.ts';

/** What others can do to the agent's own things, on the daemon and in the API. */
describe.runIf(selectedConfigs(['docker-v1']).length > 0)(
  'agent on docker-v1, tampered with',
  { meta: { needs: 'docker-v1' } },
  () => {
    const daemon = useDaemon('docker-v1');
    let world: World;
    let proxy: FaultProxy;
    beforeAll(async () => {
      proxy = await startFaultProxy(daemon.current.socketPath);
      world = await openWorld({ socketPath: daemon.current.socketPath, withAgent: false });
      await world.startAgent({ socketPath: proxy.socketPath });
    });
    afterEach(async () => {
      proxy.set([]);
      await world.removeAll();
    });
    afterAll(async () => {
      await world.close();
      await proxy.close();
    });

    const runs = async (name: string): Promise<TestSandbox> => {
      const sandbox = await world.create(name, {
        command: ['sleep', '1000'],
        resources: { memory: '32Mi' },
        terminationGracePeriodSeconds: 0,
      });
      return world.awaits(sandbox, 'Ready', 'True', 'Running');
    };
    const found = async <T>(read: Promise<T>): Promise<T | undefined> => {
      try {
        return await read;
      } catch (error) {
        if (isNotFound(error)) return undefined;
        throw error;
      }
    };

    it('[K5] a probe that somebody pauses is made anew, and what runs goes on', async () => {
      const sandbox = await runs('while-paused');
      const name = probeName(world.nodeName);
      const before = await world.driver.inspectContainer(name, {});
      await world.docker('POST', `/containers/${name}/pause`);
      const after = await until('another probe', async () => {
        const now = await world.driver.inspectContainer(name, {});
        return now?.state === 'running' && now.id !== before?.id ? now : undefined;
      });
      expect(after.id).not.toBe(before?.id);
      const next = await world.create('after-pause', { command: ['true'], resources: { memory: '32Mi' } });
      await world.awaits(next, 'Complete', 'True', 'Succeeded');
      const now = await world.get(sandbox);
      expect(condition(now, 'Ready')?.reason).toBe('Running');
      expect(now?.status?.containerID).toBe(sandbox.status?.containerID);
    });

    it('[K6] a SandboxNode that somebody deletes is made again, and nothing runs anew', async () => {
      const sandbox = await runs('without-node');
      const node = { name: world.nodeName };
      const before = await world.client.get<SandboxNode>(SANDBOX_NODES, node);
      await world.client.delete(SANDBOX_NODES, node);
      await until('another SandboxNode', async () => {
        const now = await found(world.client.get<SandboxNode>(SANDBOX_NODES, node));
        return now !== undefined && now.metadata.uid !== before.metadata.uid && now.status !== undefined;
      });
      const now = await world.awaits(sandbox, 'Ready', 'True', 'Running');
      expect(now.status?.containerID).toBe(sandbox.status?.containerID);
      const next = await world.create('with-node', { command: ['true'] });
      await world.awaits(next, 'Complete', 'True', 'Succeeded');
    });

    it('[K3] [K5] a status and labels that somebody edits by hand are what is true again, and nothing runs anew', async () => {
      const sandbox = await runs('by-hand');
      const before = await world.get(sandbox);
      const ref = { namespace: 'default', name: 'by-hand' };
      const lies = {
        phase: 'Failed',
        containerID: 'nonsense',
        conditions: [
          {
            type: 'Ready',
            status: 'False',
            reason: 'Failed',
            message: 'by hand',
            lastTransitionTime: '2026-01-01T00:00:00Z',
          },
        ],
      };
      await world.client.patch(SANDBOXES, ref, { status: lies }, { type: 'merge', subresource: 'status' });
      await world.client.patch(
        SANDBOXES,
        ref,
        { metadata: { labels: { 'holdfast.dev/uid': 'other' } } },
        { type: 'merge' },
      );
      const after = await world.awaits(sandbox, 'Ready', 'True', 'Running');
      expect(after.status?.phase).toBe('Running');
      await world.awaits(sandbox, 'LimitsEnforced', 'True');
      const now = await world.until(
        sandbox,
        'its container',
        (one) => one.status?.containerID === before?.status?.containerID,
      );
      expect(now.status?.startedAt).toBe(before?.status?.startedAt);
    });

    it('[K3] one whose finalizer was taken by hand leaves no container behind when it is deleted', async () => {
      const sandbox = await runs('without-finalizer');
      const ref = { namespace: 'default', name: 'without-finalizer' };
      await world.client.patch(SANDBOXES, ref, { metadata: { finalizers: null } }, { type: 'merge' });
      await world.remove(sandbox);
      await world.gone(sandbox);
      const name = containerName(sandbox.metadata.uid);
      await until(
        'the removal of its container',
        async () => (await world.driver.inspectContainer(name, {})) === undefined,
      );
    });

    it('[K3] [K5] a namespace that is deleted goes, with all that runs in it', async () => {
      const namespace = 'doomed';
      await world.client.create(NAMESPACES, {
        apiVersion: 'v1',
        kind: 'Namespace',
        metadata: { name: namespace },
      });
      const made = await world.client.create<TestSandbox>(SANDBOXES, {
        apiVersion: 'holdfast.dev/v1alpha1',
        kind: 'Sandbox',
        metadata: { name: 's', namespace },
        spec: { image: 'busybox:lab', command: ['sleep', '1000'], terminationGracePeriodSeconds: 0 },
      } as unknown as TestSandbox);
      const name = containerName(made.metadata.uid);
      await until(
        'its container',
        async () => (await world.driver.inspectContainer(name, {}))?.state === 'running',
      );
      await world.client.delete(NAMESPACES, { name: namespace });
      await until(
        'the end of the namespace',
        async () => (await found(world.client.get(NAMESPACES, { name: namespace }))) === undefined,
      );
      expect(await world.driver.inspectContainer(name, {})).toBeUndefined();
    });

    it('[K6] the namespace of the leases is made again with the lease', async () => {
      const ref = { namespace: 'holdfast-system', name: world.nodeName };
      const before = await world.client.get<Lease>(LEASES, ref);
      await world.client.delete(NAMESPACES, { name: 'holdfast-system' });
      await until('another lease', async () => {
        const now = await found(world.client.get<Lease>(LEASES, ref));
        return now !== undefined && now.metadata.uid !== before.metadata.uid;
      });
      const next = await world.create('with-lease', { command: ['true'] });
      await world.awaits(next, 'Complete', 'True', 'Succeeded');
    });

    it('[K4] limits beyond what the node has leave what runs as it is, until they are lowered', async () => {
      const job = await runs('wants-more');
      const kept = await world.create('wants-more-kept', { resources: { memory: '32Mi' } });
      const open = await world.awaits(kept, 'Ready', 'True', 'Running');
      for (const sandbox of [job, open]) {
        await world.edit(sandbox, (spec) => {
          spec.resources = { memory: '4000Gi' };
        });
        const now = await world.awaits(sandbox, 'Stalled', 'True', 'NoRoom');
        expect(condition(now, 'Stalled')?.message).toMatch(/4000Gi|3\.9\d*Ti/);
        expect(condition(now, 'Ready')).toMatchObject({ status: 'True', reason: 'Running' });
        expect(now.status?.limits?.memoryBytes).toBe(32 * 1024 * 1024);
        expect(now.status?.containerID).toBe(sandbox.status?.containerID);
        await world.edit(sandbox, (spec) => {
          spec.resources = { memory: '48Mi' };
        });
        const fits = await world.until(
          sandbox,
          'its new limits',
          ({ status }) => status?.limits?.memoryBytes === 48 * 1024 * 1024,
        );
        await world.awaits(fits, 'Stalled', 'False');
        await world.awaits(fits, 'LimitUnenforceable', 'False');
      }
    });

    it('[O9] a container that is killed just after the events broke off was not ended by a restart', async () => {
      const sandbox = await runs('killed-unseen');
      const follows = (): number => proxy.calls.filter((call) => call === 'GET /events').length;
      const before = follows();
      // The probe's connection goes with them; the runtime answers all the time.
      proxy.breakAll();
      await until('the events again', () => Promise.resolve(follows() > before));
      await world.docker('POST', `/containers/${sandbox.status?.containerName}/kill?signal=KILL`);
      const now = await world.until(
        sandbox,
        'a verdict',
        ({ status }) => status?.lastTermination !== undefined,
      );
      expect(now.status?.lastTermination?.cause).toBe('KilledFromOutside');
    });
  },
);

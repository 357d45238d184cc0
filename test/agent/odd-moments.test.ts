import { join } from 'node:path';
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Clock, systemClock } from '../../kube/clock.ts';
import type { Agent } from '../../runtime/agent/options.ts';
import { selectedConfigs, useDaemon } from '../lab/daemon.ts';
import { startFaultProxy } from '../lab/fault-proxy.ts';
import { labelled } from './fixtures.ts';
import { until } from '../until.ts';
import { condition, openWorld, type World } from './world.ts';

describe.runIf(selectedConfigs(['docker-v1']).length > 0)(
  'agent on docker-v1, odd moments',
  { meta: { needs: 'docker-v1' } },
  () => {
    const daemon = useDaemon('docker-v1');
    let world: World;
    let agent: Agent;
    let jumpMs = 0;
    const clock: Clock = { ...systemClock, now: () => new Date(Date.now() + jumpMs) };
    beforeAll(async () => {
      world = await openWorld({ socketPath: daemon.current.socketPath, withAgent: false });
      agent = await world.startAgent({ clock });
    });
    afterAll(() => world.close());

    it('a second agent of the same node name launches nothing, says so, and takes nothing from the first', async () => {
      const second = await world.startAgent({ dataDir: join(world.dataDir, '..', 'second') });
      const sandbox = await world.create('one-of-two', {
        command: ['sh', '-c', 'echo main >> /workspace/log; cat /workspace/log'],
      });
      await world.awaits(sandbox, 'Complete', 'True', 'Succeeded');
      expect(await world.output(sandbox)).toBe('main\n');
      await until('its word about the name', async () =>
        (await world.events({ metadata: { name: world.nodeName } })).some((event) =>
          event.message.includes('launches nothing'),
        ),
      );
      await second.stop();
    });

    it('an agent does not take a data folder that another one has', async () => {
      await expect(world.startAgent()).rejects.toThrow(/another agent uses the data folder/);
    });

    it('[K10] a clock that jumps by a day neither ends nor fails anything', async () => {
      const sandbox = await world.create('jump', {
        command: ['sh', '-c', 'read line < /workspace/go; echo went'],
        setup: { command: ['mkfifo', '/workspace/go'] },
        activeDeadlineSeconds: 600,
      });
      await world.awaits(sandbox, 'Ready', 'True', 'Running');
      jumpMs = 24 * 3600 * 1000;
      // Something to decide about, while the clock is ahead.
      await world.edit(sandbox, (spec) => {
        spec.terminationGracePeriodSeconds = 3;
      });
      await world.until(
        sandbox,
        'a look at the new generation',
        (now) => now.status?.observedGeneration === 2,
      );
      expect(condition(await world.get(sandbox), 'Ready')?.status).toBe('True');
      jumpMs = -24 * 3600 * 1000;
      const later = await world.create('jumped', { command: ['true'], resources: { memory: '32Mi' } });
      await world.awaits(later, 'Complete', 'True', 'Succeeded');
      jumpMs = 0;
      await world.remove(sandbox);
      await world.gone(sandbox);
    });

    it('[K11] a spec that changes while it is launched comes to its last version, once', async () => {
      const sandbox = await world.create('changing', {
        command: ['sh', '-c', 'echo $N >> /workspace/log; sleep 1000'],
      });
      for (let n = 1; n <= 5; n += 1) {
        await world.edit(sandbox, (spec) => {
          spec.env = [{ name: 'N', value: String(n) }];
          spec.terminationGracePeriodSeconds = 0;
        });
      }
      const ready = await world.until(
        sandbox,
        'its last version',
        (now) =>
          condition(now, 'Ready')?.status === 'True' &&
          condition(now, 'Ready')?.observedGeneration === now.metadata.generation,
      );
      expect(await labelled(world, ready)).toHaveLength(1);
    });

    it('[K3] a sandbox that is deleted while its image is pulled is gone at once', async () => {
      const proxy = await startFaultProxy(daemon.current.socketPath);
      const nodeName = `node-${randomUUID().slice(0, 8)}`;
      const own = await world.startAgent({
        socketPath: proxy.socketPath,
        nodeName,
        dataDir: join(world.dataDir, nodeName),
      });
      await world.labelNode(nodeName);
      await world.nodeReady(nodeName);
      proxy.set([{ method: 'POST', path: /^\/images\/create$/, fault: { do: 'hang' } }]);
      const sandbox = await world.create('pulling', {
        nodeSelector: { 'test/node': nodeName },
        image: 'never-there:1',
        command: ['true'],
      });
      const pulling = await world.awaits(sandbox, 'Ready', 'False', 'PullingImage');
      expect(condition(pulling, 'Ready')?.message).toContain('never-there:1');
      await world.remove(sandbox);
      await world.gone(sandbox);
      await own.stop();
      await proxy.close();
    });

    it('[K6] what a node has of a sandbox that the API does not know is removed', async () => {
      const sandbox = await world.create('forgotten', { command: ['sleep', '1000'] });
      await world.awaits(sandbox, 'Ready', 'True', 'Running');
      await agent.stop();
      const gone = await world.get(sandbox);
      if (gone === undefined) throw new Error('the sandbox is not there');
      delete gone.metadata.finalizers;
      await world.client.update(
        { group: 'holdfast.dev', version: 'v1alpha1', plural: 'sandboxes', namespaced: true },
        gone,
      );
      await world.remove(sandbox);
      await world.gone(sandbox);
      expect(await labelled(world, sandbox)).toHaveLength(1);
      agent = await world.startAgent({ clock });
      expect(await labelled(world, sandbox, 'gone')).toHaveLength(0);
    });

    it('an agent that stops leaves sandboxes running, and the next one goes on with them', async () => {
      const sandbox = await world.create('handed-on', {
        command: ['sh', '-c', 'i=0; while [ $i -lt 100 ]; do echo $i; i=$((i+1)); sleep 0.03; done'],
      });
      await world.awaits(sandbox, 'Ready', 'True', 'Running');
      await agent.stop();
      agent = await world.startAgent({ clock });
      await world.awaits(sandbox, 'Complete', 'True', 'Succeeded');
      expect((await world.output(sandbox)).trim().split('\n')).toEqual(
        Array.from({ length: 100 }, (_, i) => String(i)),
      );
    });

    it('an agent that is told to end its sandboxes does, and a retained one starts again with the next', async () => {
      const sandbox = await world.create('ended-too', { resources: { pids: 32 } });
      const before = await world.awaits(sandbox, 'Ready', 'True', 'Running');
      await agent.stop({ endSandboxes: true });
      const found = await world.driver.inspectContainer(before.status?.containerID ?? '', {});
      expect(found?.state).toBe('exited');
      agent = await world.startAgent({ clock });
      const after = await world.until(
        sandbox,
        'its return',
        (now) =>
          condition(now, 'Ready')?.status === 'True' &&
          now.status?.limits?.receipt?.[0]?.time !== before.status?.limits?.receipt?.[0]?.time,
      );
      expect(after.status?.containerID).toBe(before.status?.containerID);
    });
  },
);

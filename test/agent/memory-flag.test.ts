import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { probeName } from '../../runtime/agent/names.ts';
import { selectedConfigs, useDaemon } from '../lab/daemon.ts';
import { type FaultProxy, startFaultProxy } from '../lab/fault-proxy.ts';
import { condition, openWorld, type TestSandbox, type World } from './world.ts';

/** How many answers after the end have a flag that comes late: more than whoever looks just once or twice would see. */
const LATE_ANSWERS = 8;

/**
 * The runtime's flag alone: the probe is killed and cannot be made again, so that nobody reads the kernel's counters,
 * and the daemon's answers pass a proxy that holds the flag back.
 */
describe.concurrent.each(selectedConfigs(['docker-v1', 'docker-v2']))(
  'the OOMKilled flag of %s',
  (config) => {
    const daemon = useDaemon(config);
    let world: World;
    const proxies: FaultProxy[] = [];
    beforeAll(async () => {
      world = await openWorld({ socketPath: daemon.current.socketPath, withAgent: false });
    });
    afterAll(async () => {
      await world.close();
      for (const proxy of proxies) await proxy.close();
    });

    /** Killed by its limit while nobody can see the kernel; `held` answers after the end say that nothing was. */
    async function killedUnseen(
      name: string,
      held: number,
    ): Promise<{ dead: TestSandbox; asked: boolean[] }> {
      const proxy = await startFaultProxy(daemon.current.socketPath);
      proxies.push(proxy);
      // Daemons that drop the flag drop the event as well: both are made of the same word of containerd's.
      const withoutOOM = (text: string): string | undefined => (text.includes('"oom"') ? undefined : text);
      proxy.set([{ method: 'GET', path: /^\/events$/, fault: { do: 'edit', line: withoutOOM } }]);
      const nodeName = `node-${randomUUID().slice(0, 8)}`;
      await world.startAgent({
        socketPath: proxy.socketPath,
        nodeName,
        dataDir: join(world.dataDir, nodeName),
      });
      await world.labelNode(nodeName);
      await world.nodeReady(nodeName);
      const sandbox = await world.create(name, {
        nodeSelector: { 'test/node': nodeName },
        setup: { command: ['mkfifo', '/workspace/go'] },
        // `exec`: what the limit kills is the process that init started.
        command: ['sh', '-c', 'read line < /workspace/go; exec dd if=/dev/zero of=/dev/null bs=128M count=1'],
        resources: { memory: '32Mi' },
      });
      await world.awaits(sandbox, 'Ready', 'True', 'Running');

      /** What the daemon itself said of the flag each time it was asked after the end. */
      const asked: boolean[] = [];
      const holdBack = (text: string): string => {
        const answer = JSON.parse(text) as { State?: { Status: string; OOMKilled: boolean } };
        if (answer.State?.Status !== 'exited') return text;
        asked.push(answer.State.OOMKilled);
        if (asked.length <= held) answer.State.OOMKilled = false;
        return JSON.stringify(answer);
      };
      proxy.set([
        { method: 'POST', path: /^\/containers\/create$/, fault: { do: 'status', status: 500 } },
        { method: 'GET', path: /^\/containers\/[^/]+\/json$/, fault: { do: 'edit', line: holdBack } },
      ]);
      await world.docker('POST', `/containers/${probeName(nodeName)}/kill`);
      await world.nodeSays(nodeName, (status) => status.runtimes?.[0]?.ready === false);
      const { Id } = (await world.docker('POST', `/containers/holdfast-${sandbox.metadata.uid}/exec`, {
        Cmd: ['sh', '-c', 'echo > /workspace/go'],
      })) as { Id: string };
      await world.docker('POST', `/exec/${Id}/start`, { Detach: true });
      const dead = await world.until(
        sandbox,
        'its verdict',
        (now) => now.status?.lastTermination !== undefined,
      );
      return { dead, asked };
    }

    it('[O7] that comes late is asked for again, and confirms the kill', async () => {
      const { dead, asked } = await killedUnseen('late', LATE_ANSWERS);
      expect(asked.length).toBeGreaterThan(LATE_ANSWERS);
      expect(dead.status?.lastTermination).toMatchObject({
        cause: 'OOMKilled',
        verdict: 'Confirmed',
        exitCode: 137,
      });
    });

    it('[O8] that never comes leaves the kill unconfirmed, and the message says so', async () => {
      const { dead, asked } = await killedUnseen('dropped', Infinity);
      expect(asked.length).toBeGreaterThan(LATE_ANSWERS);
      expect(dead.status?.lastTermination).toMatchObject({
        cause: 'OOMKilled',
        verdict: 'Unconfirmed',
        exitCode: 137,
      });
      expect(dead.status?.lastTermination?.message).toContain('did not confirm');
      expect(dead.status?.lastTermination?.evidence.join('\n')).toContain('within 2.0 s');
      expect(condition(dead, 'OOMKilled')).toMatchObject({ status: 'True', reason: 'Unconfirmed' });
    });
  },
);

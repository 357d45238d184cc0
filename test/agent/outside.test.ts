import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { selectedConfigs, useDaemon } from '../lab/daemon.ts';
import { labelled } from './fixtures.ts';
import { condition, openWorld, type TestSandbox, type World } from './world.ts';

const path = (sandbox: TestSandbox): string => `/containers/holdfast-${sandbox.metadata.uid}`;
const SLEEP = ['sleep', '1000'];

/** What others do to our containers through the same daemon. */
describe.each(selectedConfigs(['docker-v1', 'docker-v2']))('agent on %s, others interfering', (config) => {
  const daemon = useDaemon(config);
  let world: World;
  beforeAll(async () => {
    world = await openWorld({ socketPath: daemon.current.socketPath });
  });
  afterAll(() => world.close());

  it('[L12] notices a limit that was changed with docker update, and that it was changed back', async () => {
    const sandbox = await world.create('drift', { command: SLEEP, resources: { memory: '64Mi', pids: 32 } });
    await world.awaits(sandbox, 'Ready', 'True', 'Running');
    const MIB = 1024 * 1024;
    await world.docker('POST', `${path(sandbox)}/update`, { Memory: 128 * MIB, MemorySwap: 128 * MIB });
    const drifted = await world.awaits(sandbox, 'LimitsEnforced', 'False', 'Drifted');
    expect(condition(drifted, 'LimitsEnforced')?.message).toContain('memory');
    await world.awaitsEvent(sandbox, 'LimitsDrifted');
    await world.docker('POST', `${path(sandbox)}/update`, { Memory: 64 * MIB, MemorySwap: 64 * MIB });
    await world.awaits(sandbox, 'LimitsEnforced', 'True', 'ReadBack');
  });

  it('[O9] says that a sandbox was paused, and takes it back when it runs on', async () => {
    const sandbox = await world.create('paused', { command: SLEEP });
    await world.awaits(sandbox, 'Ready', 'True', 'Running');
    await world.docker('POST', `${path(sandbox)}/pause`);
    await world.awaits(sandbox, 'Ready', 'False', 'Paused');
    await world.docker('POST', `${path(sandbox)}/unpause`);
    await world.awaits(sandbox, 'Ready', 'True', 'Running');
  });

  it('[K3] deletes a sandbox that somebody paused', async () => {
    const sandbox = await world.create('paused-deleted', {
      command: SLEEP,
      terminationGracePeriodSeconds: 1,
    });
    await world.awaits(sandbox, 'Ready', 'True', 'Running');
    await world.docker('POST', `${path(sandbox)}/pause`);
    await world.remove(sandbox);
    await world.gone(sandbox);
    expect(await labelled(world, sandbox)).toHaveLength(0);
  });

  it('[O9] calls docker kill what it is, under a memory limit too', async () => {
    const sandbox = await world.create('killed', { command: SLEEP, resources: { memory: '64Mi' } });
    await world.awaits(sandbox, 'Ready', 'True', 'Running');
    await world.docker('POST', `${path(sandbox)}/kill?signal=SIGKILL`);
    const done = await world.awaits(sandbox, 'Complete', 'True', 'Failed');
    expect(done.status?.lastTermination).toMatchObject({ cause: 'KilledFromOutside' });
    expect(condition(done, 'OOMKilled')).toBeUndefined();
  });

  it('[O9] calls docker stop what it is', async () => {
    const sandbox = await world.create('stopped', { command: SLEEP });
    await world.awaits(sandbox, 'Ready', 'True', 'Running');
    await world.docker('POST', `${path(sandbox)}/stop?t=5`);
    const done = await world.awaits(sandbox, 'Complete', 'True');
    expect(done.status?.lastTermination?.cause).toBe('KilledFromOutside');
  });

  it('[O9] [K10] stalls a run-to-completion sandbox whose container was removed, and does not run it again', async () => {
    const sandbox = await world.create('lost', { command: SLEEP });
    await world.awaits(sandbox, 'Ready', 'True', 'Running');
    await world.docker('DELETE', `${path(sandbox)}?force=1`);
    const stalled = await world.awaits(sandbox, 'Stalled', 'True', 'ContainerLost');
    expect(stalled.status?.lastTermination).toMatchObject({ cause: 'ContainerLost' });
    expect(condition(stalled, 'Complete')?.status).toBe('False');
    expect(await labelled(world, sandbox)).toHaveLength(0);
  });

  it('[O9] [K10] makes a retained sandbox anew whose container was removed, and says what happened', async () => {
    const sandbox = await world.create('lost-retained', {
      setup: { command: ['sh', '-c', 'echo setup >> /workspace/log; cat /workspace/log'] },
    });
    const before = await world.awaits(sandbox, 'Ready', 'True', 'Running');
    await world.docker('DELETE', `${path(sandbox)}?force=1`);
    const after = await world.until(
      sandbox,
      'a new container',
      (now) =>
        now.status?.containerID !== before.status?.containerID && condition(now, 'Ready')?.status === 'True',
    );
    expect(after.status?.lastTermination).toMatchObject({ cause: 'ContainerLost' });
    expect(await world.output(sandbox, 'setup')).toBe('setup\nsetup\nsetup\n');
  });

  it('[K10] starts a retained sandbox again that was killed from outside, setup not repeated', async () => {
    const sandbox = await world.create('killed-retained', {
      setup: { command: ['sh', '-c', 'echo setup >> /workspace/log; cat /workspace/log'] },
    });
    const before = await world.awaits(sandbox, 'Ready', 'True', 'Running');
    await world.docker('POST', `${path(sandbox)}/kill?signal=SIGKILL`);
    const after = await world.until(
      sandbox,
      'its restart',
      (now) => now.status?.lastTermination !== undefined && condition(now, 'Ready')?.status === 'True',
    );
    expect(after.status?.containerID).toBe(before.status?.containerID);
    expect(after.status?.lastTermination).toMatchObject({ cause: 'KilledFromOutside' });
    expect(await world.output(sandbox, 'setup')).toBe('setup\n');
  });

  it('[K10] survives docker system prune -a --volumes: what runs goes on, what was suspended is made anew', async () => {
    const running = await world.create('pruned-running', { resources: { pids: 32 } });
    const suspended = await world.create('pruned-suspended', {});
    await world.awaits(running, 'Ready', 'True', 'Running');
    await world.awaits(suspended, 'Ready', 'True', 'Running');
    await world.edit(suspended, (spec) => {
      spec.suspend = true;
    });
    await world.awaits(suspended, 'Suspended', 'True');
    await world.docker('POST', '/containers/prune');
    // Newer daemons prune named volumes only when told so; older ones do not know the filter.
    await world
      .docker('POST', '/volumes/prune?filters=%7B%22all%22%3A%5B%22true%22%5D%7D')
      .catch(() => world.docker('POST', '/volumes/prune'));
    await world.until(
      suspended,
      'word of the loss',
      (now) => now.status?.lastTermination?.cause === 'ContainerLost',
    );
    await world.edit(suspended, (spec) => {
      spec.suspend = false;
    });
    await world.awaits(suspended, 'Ready', 'True', 'Running');
    expect(condition(await world.get(running), 'Ready')?.status).toBe('True');
    // The init's volume is held by the probe: another sandbox starts as before.
    const next = await world.create('after-prune', { command: ['true'] });
    await world.awaits(next, 'Complete', 'True', 'Succeeded');
  });

  it('makes the probe again when somebody kills it; nothing that runs is touched', async () => {
    const sandbox = await world.create('probe-killed', {
      command: ['sh', '-c', 'i=0; while [ $i -lt 200 ]; do echo $i; i=$((i+1)); sleep 0.02; done'],
    });
    await world.awaits(sandbox, 'Ready', 'True', 'Running');
    await world.docker('POST', `/containers/holdfast-probe-${world.nodeName}/kill`);
    const done = await world.awaits(sandbox, 'Complete', 'True', 'Succeeded');
    expect(done.status?.lastTermination?.exitCode).toBe(0);
    // Every line once, in order, over the break.
    const lines = (await world.output(sandbox)).trim().split('\n');
    expect(lines).toEqual(Array.from({ length: 200 }, (_, i) => String(i)));
  });
});

describe.runIf(selectedConfigs(['docker-v1']).length > 0)(
  'agent on docker-v1, the daemon restarted',
  { meta: { needs: 'docker-v1' } },
  () => {
    const daemon = useDaemon('docker-v1');
    let world: World;
    beforeAll(async () => {
      world = await openWorld({ socketPath: daemon.current.socketPath });
    });
    afterAll(() => world.close());

    it.each(['TERM', 'KILL'] as const)(
      '[K10] [O9] after SIG%s: run-to-completion stalls, retained starts again',
      async (signal) => {
        const job = await world.create(`job-${signal.toLowerCase()}`, {
          command: SLEEP,
          resources: { memory: '64Mi' },
        });
        const kept = await world.create(`kept-${signal.toLowerCase()}`, {
          setup: { command: ['sh', '-c', 'echo setup >> /workspace/log; cat /workspace/log'] },
          resources: { memory: '64Mi' },
        });
        await world.awaits(job, 'Ready', 'True', 'Running');
        const before = await world.awaits(kept, 'Ready', 'True', 'Running');
        await daemon.current.restart(signal);
        const stalled = await world.awaits(job, 'Stalled', 'True', 'RuntimeRestarted');
        expect(condition(stalled, 'Complete')).toMatchObject({ status: 'False' });
        expect(condition(stalled, 'OOMKilled')).toBeUndefined();
        const after = await world.until(
          kept,
          'its restart',
          (now) =>
            now.status?.lastTermination?.cause === 'RuntimeRestarted' &&
            condition(now, 'Ready')?.status === 'True',
        );
        expect(after.status?.containerID).toBe(before.status?.containerID);
        expect(after.status?.limits?.receipt?.[0]?.time).not.toBe(before.status?.limits?.receipt?.[0]?.time);
        expect(await world.output(kept, 'setup')).toBe('setup\n');
        await world.remove(job);
        await world.remove(kept);
        await world.gone(job);
        await world.gone(kept);
      },
    );
  },
);

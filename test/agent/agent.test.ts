import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { SandboxSpec } from '../../crds/sandbox.ts';
import { LABELS } from '../../runtime/agent/names.ts';
import { HOG, labelled } from './fixtures.ts';
import { type AgentRig, agentRigs, useAgentRig } from './rigs.ts';
import { condition, type World } from './world.ts';

/** What each daemon's host cannot do. */
const MISSING: Partial<Record<AgentRig, 'memory' | 'pids' | 'cpu'>> = {
  'docker-v2-nomem': 'memory',
  'docker-v2-nopids': 'pids',
  'docker-v2-nocpu': 'cpu',
};

const MEMORY = { meta: { needs: 'a memory controller' } };

describe.each(agentRigs())('agent on %s', (config) => {
  const missing = MISSING[config];
  const swapUnbounded = config === 'docker-v2-rootcg';
  const rig = useAgentRig(config);
  let world: World;
  beforeAll(async () => {
    world = await rig.open();
  });
  // A guest has one CPU: what a test leaves behind would be in the way of the next.
  afterEach(() => world.removeAll());
  afterAll(() => world.close());

  /** Every limit that this daemon can hold. */
  const limits = (): Record<string, string | number> => ({
    ...(missing === 'memory' ? {} : { memory: '64Mi' }),
    ...(missing === 'cpu' ? {} : { cpu: '100m' }),
    ...(missing === 'pids' ? {} : { pids: 32 }),
  });
  const changeLimits = (spec: SandboxSpec): void => {
    spec.resources = {
      ...(missing === 'memory' ? {} : { memory: '96Mi' }),
      ...(missing === 'cpu' ? {} : { cpu: '200m' }),
      ...(missing === 'pids' ? {} : { pids: 48 }),
    };
  };

  it('[L11] [L4] [L5] reads every limit back from the kernel before user code runs', async () => {
    const sandbox = await world.create('receipt', {
      command: ['sh', '-c', 'echo hello; echo oops >&2; exit 0'],
      resources: limits(),
    });
    const done = await world.awaits(sandbox, 'Complete', 'True', 'Succeeded');
    expect(condition(done, 'LimitsEnforced')).toMatchObject({ status: 'True', reason: 'ReadBack' });
    expect(condition(done, 'Ready')).toMatchObject({ status: 'True', reason: 'Succeeded' });
    const receipt = done.status?.limits?.receipt ?? [];
    const applied = (limit: string): string | undefined =>
      receipt.find((one) => one.limit === limit)?.applied;
    if (missing !== 'memory') {
      expect(applied('memory')).toBe('67108864');
      expect(done.status?.limits?.swap).toBe(swapUnbounded ? 'Unbounded' : 'Held');
      if (swapUnbounded) expect(done.status?.limits?.summary).toContain('memory (swap unbounded)');
    }
    if (missing !== 'cpu') expect(applied('cpu')).toBe('10000 100000');
    if (missing !== 'pids') expect(applied('pids')).toBe('32');
    for (const entry of receipt) {
      expect(entry.file).toMatch(/^\/sys\/fs\/cgroup\//);
      expect(Date.parse(entry.time)).toBeLessThanOrEqual(Date.parse(done.status?.startedAt ?? ''));
    }
    expect(await world.output(sandbox)).toContain('hello\n');
    expect(await world.output(sandbox)).toContain('oops\n');
    expect(done.status?.lastTermination).toMatchObject({ cause: 'Exited', exitCode: 0, launch: 'Main' });
  });

  it('[L8] gives a sandbox without limits the default on processes, where it can be held', async () => {
    const sandbox = await world.create('unlimited', { command: ['true'] });
    const done = await world.awaits(sandbox, 'Complete', 'True');
    if (missing === 'pids') expect(done.status?.limits?.pids).toBeUndefined();
    else expect(done.status?.limits).toMatchObject({ pids: 2048, pidsDefaulted: true });
  });

  it.runIf(missing !== undefined)(
    `[L9] [L5] does not start what asks for ${missing ?? 'nothing'}, and names the limit`,
    { meta: { needs: 'a daemon that lacks a controller' } },
    async () => {
      const resources = { memory: { memory: '64Mi' }, pids: { pids: 32 }, cpu: { cpu: '500m' } };
      const sandbox = await world.create('unenforceable', {
        command: ['true'],
        resources: resources[missing ?? 'memory'],
      });
      const stalled = await world.awaits(sandbox, 'LimitUnenforceable', 'True');
      expect(condition(stalled, 'Stalled')?.status).toBe('True');
      expect(condition(stalled, 'LimitUnenforceable')?.message).toContain(missing);
      expect(await labelled(world, sandbox)).toHaveLength(0);
    },
  );

  it('[K10] says Failed and the exit code of a command that fails', async () => {
    const sandbox = await world.create('failing', { command: ['sh', '-c', 'exit 3'], resources: limits() });
    const done = await world.awaits(sandbox, 'Complete', 'True', 'Failed');
    expect(done.status?.lastTermination).toMatchObject({ cause: 'Exited', exitCode: 3 });
    expect(condition(done, 'Ready')).toMatchObject({ status: 'False', reason: 'Failed' });
  });

  it('[O9] takes exit 137 of the program itself for what it is', async () => {
    const sandbox = await world.create('exit-137', {
      command: ['sh', '-c', 'exit 137'],
      resources: limits(),
    });
    const done = await world.awaits(sandbox, 'Complete', 'True', 'Failed');
    expect(done.status?.lastTermination).toMatchObject({ cause: 'Exited', exitCode: 137 });
    expect(condition(done, 'OOMKilled')).toBeUndefined();
  });

  it.runIf(missing !== 'memory')(
    '[O4] [O6] [O12] [O1] states an OOM kill of main, confirmed by the kernel',
    MEMORY,
    async () => {
      const sandbox = await world.create('oom', { command: HOG, resources: { memory: '32Mi' } });
      const stalled = await world.awaits(sandbox, 'Stalled', 'True', 'OOMKilled');
      expect(condition(stalled, 'OOMKilled')).toMatchObject({ status: 'True', reason: 'Confirmed' });
      expect(stalled.status?.lastTermination).toMatchObject({
        cause: 'OOMKilled',
        verdict: 'Confirmed',
        exitCode: 137,
        signal: 'SIGKILL',
        memoryLimitBytes: 32 * 1024 * 1024,
      });
      expect(stalled.status?.lastTermination?.oomKills).toBeGreaterThanOrEqual(1);
      await world.awaitsEvent(sandbox, 'OOMKilled');
      // Removed by us afterwards, and not tried again.
      expect(await labelled(world, sandbox, 'gone')).toHaveLength(0);
    },
  );

  it.runIf(missing !== 'memory')(
    '[O5] keeps the result of a launch that got past an OOM kill',
    MEMORY,
    async () => {
      const sandbox = await world.create('survivor', {
        command: ['sh', '-c', `${HOG.join(' ')}; exit 0`],
        resources: { memory: '32Mi' },
      });
      const done = await world.awaits(sandbox, 'Complete', 'True', 'Succeeded');
      expect(condition(done, 'OOMKilled')).toMatchObject({ status: 'True', reason: 'Confirmed' });
      expect(condition(done, 'Stalled')?.status).toBe('False');
      await world.awaitsEvent(sandbox, 'OOMKilled');
    },
  );

  it.runIf(missing !== 'memory')('[O11] [L3] states an OOM kill of setup', MEMORY, async () => {
    const sandbox = await world.create('setup-oom', {
      setup: { command: HOG },
      command: ['true'],
      resources: { memory: '32Mi' },
    });
    const stalled = await world.awaits(sandbox, 'Stalled', 'True', 'SetupOOMKilled');
    expect(stalled.status?.setup).toMatchObject({
      launch: 'Setup',
      cause: 'OOMKilled',
      verdict: 'Confirmed',
    });
    expect(stalled.status?.startedAt).toBeUndefined();
  });

  it('[L3] runs setup once, in the same container and under the same limits, before main', async () => {
    const sandbox = await world.create('setup', {
      setup: { command: ['sh', '-c', 'echo made by setup > /made; echo setup says hello'] },
      command: ['cat', '/made'],
      resources: limits(),
    });
    const done = await world.awaits(sandbox, 'Complete', 'True', 'Succeeded');
    expect(condition(done, 'SetupComplete')).toMatchObject({ status: 'True', reason: 'SetupSucceeded' });
    expect(done.status?.setup).toMatchObject({ launch: 'Setup', cause: 'Exited', exitCode: 0 });
    expect(await world.output(sandbox, 'setup')).toBe('setup says hello\n');
    expect(await world.output(sandbox)).toBe('made by setup\n');
  });

  it('[K10] does not run main after a setup that failed', async () => {
    const sandbox = await world.create('bad-setup', {
      setup: { command: ['sh', '-c', 'exit 4'] },
      command: ['true'],
    });
    const stalled = await world.awaits(sandbox, 'Stalled', 'True', 'SetupFailed');
    expect(stalled.status?.setup).toMatchObject({ cause: 'Exited', exitCode: 4 });
    expect(stalled.status?.startedAt).toBeUndefined();
  });

  it('[K11] [K10] holds a retained sandbox open, suspends it with its filesystem and resumes it', async () => {
    const sandbox = await world.create('retained', {
      setup: { command: ['sh', '-c', 'echo once >> /kept; cat /kept'] },
      resources: limits(),
    });
    const ready = await world.awaits(sandbox, 'Ready', 'True', 'Running');
    await world.edit(sandbox, (spec) => {
      spec.suspend = true;
    });
    const suspended = await world.awaits(sandbox, 'Suspended', 'True');
    expect(condition(suspended, 'Ready')?.status).toBe('False');
    // Other limits are those of the same container too.
    await world.edit(sandbox, (spec) => {
      spec.suspend = false;
      changeLimits(spec);
    });
    const again = await world.awaits(sandbox, 'Ready', 'True', 'Running');
    expect(condition(again, 'Suspended')?.status).toBe('False');
    if (missing !== 'memory') expect(again.status?.limits?.memoryBytes).toBe(96 * 1024 * 1024);
    if (missing !== 'pids') expect(again.status?.limits?.pids).toBe(48);
    expect(again.status?.containerID).toBe(ready.status?.containerID);
    expect(again.status?.limits?.receipt?.[0]?.time).not.toBe(ready.status?.limits?.receipt?.[0]?.time);
    // Setup was not repeated.
    expect(await world.output(sandbox, 'setup')).toBe('once\n');
  });

  it('[K11] changes the limits of a live retained sandbox in place, with a new receipt', async () => {
    const sandbox = await world.create('in-place', { resources: limits() });
    const before = await world.awaits(sandbox, 'Ready', 'True');
    await world.edit(sandbox, changeLimits);
    const after = await world.until(
      sandbox,
      'the new limits',
      (now) =>
        now.status?.observedGeneration === 2 &&
        (missing === 'cpu' ? now.status.limits?.pids === 48 : now.status.limits?.cpuQuotaMicros === 20_000),
    );
    expect(after.status?.containerID).toBe(before.status?.containerID);
    expect(condition(after, 'LimitsEnforced')?.status).toBe('True');
    if (missing !== 'memory') expect(after.status?.limits?.memoryBytes).toBe(96 * 1024 * 1024);
    if (missing !== 'pids') expect(after.status?.limits?.pids).toBe(48);
  });

  it('[K11] makes a new container for any other change, and keeps the workspace', async () => {
    const sandbox = await world.create('recreated', {
      setup: { command: ['sh', '-c', 'date +%N >> /workspace/log; wc -l < /workspace/log'] },
      resources: limits(),
    });
    const before = await world.awaits(sandbox, 'Ready', 'True');
    await world.edit(sandbox, (spec) => {
      spec.env = [{ name: 'NEW', value: 'yes' }];
    });
    const after = await world.until(
      sandbox,
      'a new container',
      (now) =>
        condition(now, 'Ready')?.status === 'True' &&
        now.status?.observedGeneration === 2 &&
        now.status.containerID !== before.status?.containerID,
    );
    expect(after.status?.specHash).not.toBe(before.status?.specHash);
    expect(await world.output(sandbox, 'setup')).toBe('1\n2\n');
  });

  it('[K10] holds back a suspended run-to-completion sandbox, and runs it when it is resumed', async () => {
    const sandbox = await world.create('held-back', { command: ['echo', 'ran'], suspend: true });
    await world.awaits(sandbox, 'Suspended', 'True');
    expect(await labelled(world, sandbox)).toHaveLength(0);
    await world.edit(sandbox, (spec) => {
      spec.suspend = false;
    });
    await world.awaits(sandbox, 'Complete', 'True', 'Succeeded');
    expect(await world.output(sandbox)).toBe('ran\n');
  });

  it('[K10] [O10] [O9] ends a run-to-completion sandbox that is suspended, and calls it that', async () => {
    const sandbox = await world.create('ended', {
      command: ['sh', '-c', 'trap "exit 137" TERM; while true; do sleep 0.1; done'],
      resources: limits(),
    });
    await world.awaits(sandbox, 'Ready', 'True');
    await world.edit(sandbox, (spec) => {
      spec.suspend = true;
    });
    const done = await world.awaits(sandbox, 'Complete', 'True', 'Failed');
    expect(done.status?.lastTermination?.cause).toBe('Suspended');
    expect(condition(done, 'OOMKilled')).toBeUndefined();
  });

  it('[K10] stops at activeDeadlineSeconds, and calls it that', async () => {
    const sandbox = await world.create('deadline', {
      command: ['sh', '-c', 'trap "" TERM; while true; do sleep 0.1; done'],
      activeDeadlineSeconds: 1,
      terminationGracePeriodSeconds: 1,
    });
    const done = await world.awaits(sandbox, 'Complete', 'True', 'Failed');
    expect(done.status?.lastTermination).toMatchObject({ cause: 'Deadline', verdict: 'Confirmed' });
  });

  it('[K11] holds a deadline that was prolonged while the command runs', async () => {
    const sandbox = await world.create('prolonged', {
      command: ['sh', '-c', 'sleep 6; echo done'],
      activeDeadlineSeconds: 5,
    });
    await world.awaits(sandbox, 'Ready', 'True');
    await world.edit(sandbox, (spec) => {
      spec.activeDeadlineSeconds = 600;
    });
    await world.awaits(sandbox, 'Complete', 'True', 'Succeeded');
    expect(await world.output(sandbox)).toBe('done\n');
  });

  it('[O4] says which command does not exist', async () => {
    const sandbox = await world.create('no-command', { command: ['/no/such/thing'] });
    const stalled = await world.awaits(sandbox, 'Stalled', 'True', 'CommandNotFound');
    expect(condition(stalled, 'Stalled')?.message).toContain('/no/such/thing');
    expect(stalled.status?.lastTermination).toMatchObject({ cause: 'CommandNotFound' });
  });

  it('[K1] says that an image does not exist, and pulls nothing where it must not', async () => {
    const missingImage = await world.create('no-image', {
      image: 'no-such-image:1',
      imagePullPolicy: 'Never',
    });
    const stalled = await world.awaits(missingImage, 'Stalled', 'True', 'ImageNotPresent');
    expect(condition(stalled, 'Stalled')?.message).toContain('no-such-image:1');
    const unpullable = await world.create('no-pull', {
      image: 'localhost:1/no-such-image:1',
      command: ['true'],
    });
    const failed = await world.awaits(unpullable, 'Ready', 'False', 'ImagePullFailed');
    expect(condition(failed, 'Ready')?.message).toContain('localhost:1/no-such-image:1');
  });

  it('[K9] never ignores a network list, whoever bound the sandbox', async () => {
    const sandbox = await world.create('network', {
      command: ['true'],
      network: { runtime: { allow: ['example.com'] } },
    });
    const stalled = await world.awaits(sandbox, 'Stalled', 'True', 'NetworkUnsupported');
    expect(condition(stalled, 'Stalled')?.message).toContain('example.com');
  });

  it('[K3] [K11] removes container, workspace and output of a sandbox that is deleted', async () => {
    const sandbox = await world.create('deleted', { resources: limits() });
    await world.awaits(sandbox, 'Ready', 'True');
    expect(await labelled(world, sandbox)).toHaveLength(1);
    await world.remove(sandbox);
    await world.gone(sandbox);
    expect(await labelled(world, sandbox)).toHaveLength(0);
    expect(await world.driver.inspectVolume(`holdfast-ws-${sandbox.metadata.uid}`, {})).toBeUndefined();
    expect(await world.output(sandbox)).toBe('');
  });

  it('[K3] ends a command that is still running within its grace period when it is deleted', async () => {
    const sandbox = await world.create('stubborn', {
      command: ['sh', '-c', 'trap "" TERM; while true; do sleep 0.1; done'],
      terminationGracePeriodSeconds: 1,
    });
    await world.awaits(sandbox, 'Ready', 'True');
    await world.remove(sandbox);
    await world.gone(sandbox);
    expect(await labelled(world, sandbox)).toHaveLength(0);
  });

  it.each([
    { root: 'writable', path: '/workspace', readOnly: false },
    { root: 'read-only', path: '/srv/data', readOnly: true },
  ])('[K1] gives a user other than root a workspace it can write to ($root root)', async (how) => {
    const sandbox = await world.create(`workspace-${how.root}`, {
      command: ['sh', '-c', `stat -c '%a %u' . && echo kept > file && id -u && cat file`],
      user: '1000:1000',
      workingDir: how.path,
      workspace: { path: how.path },
      readOnlyRootFilesystem: how.readOnly,
    });
    await world.awaits(sandbox, 'Complete', 'True', 'Succeeded');
    expect(await world.output(sandbox)).toBe('777 0\n1000\nkept\n');
    const fillers = await world.driver.listContainers({ labels: { [LABELS.role]: 'workspace' } });
    expect(fillers).toEqual([]);
  });

  it.each([{ user: '0' }, { user: '1000:1000' }])(
    '[K1] has loopback, a name for it, and no other network (user $user)',
    async ({ user }) => {
      const sandbox = await world.create(`loopback-${user.replace(':', '-')}`, {
        command: [
          'sh',
          '-c',
          `hostname
        grep -c . /proc/net/route
        nc -l -p 7777 -e echo hello &
        until nc localhost 7777 2>/dev/null; do sleep 0.1; done
        nc -l -p 7778 -e echo again &
        until nc $(hostname) 7778 2>/dev/null; do sleep 0.1; done`,
        ],
        user,
        activeDeadlineSeconds: 100,
      });
      await world.awaits(sandbox, 'Complete', 'True', 'Succeeded');
      // The one line of the routes is their heading.
      expect(await world.output(sandbox)).toBe('sandbox\n1\nhello\nagain\n');
    },
  );

  it('[O4] says which working directory does not exist', async () => {
    const sandbox = await world.create('no-directory', {
      command: ['true'],
      user: '1000:1000',
      workingDir: '/no/such/directory',
    });
    const stalled = await world.awaits(sandbox, 'Stalled', 'True');
    expect(condition(stalled, 'Stalled')?.message).toContain('workingDir: "/no/such/directory"');
  });

  it('[O2] loses no byte of output, and a rotated rest of much', async () => {
    const sandbox = await world.create('chatty', {
      command: [
        'sh',
        '-c',
        'echo first; dd if=/dev/zero bs=1024 count=3000 2>/dev/null | tr "\\0" x; echo; echo last',
      ],
    });
    await world.awaits(sandbox, 'Complete', 'True', 'Succeeded');
    const text = await world.output(sandbox);
    expect(text.startsWith('first\n')).toBe(true);
    expect(text.endsWith('\nlast\n')).toBe(true);
    expect(text.length).toBe(6 + 3000 * 1024 + 1 + 5);
  });

  it('[K1] runs as the user, in the directory and with the environment that the spec says', async () => {
    const sandbox = await world.create('surroundings', {
      command: ['sh', '-c'],
      args: ['id -u; pwd; echo $GREETING; echo $(HOME_OF)/x'],
      env: [
        { name: 'GREETING', value: 'good day' },
        { name: 'HOME_OF', value: '/home' },
      ],
      user: '1000:1000',
      workingDir: '/tmp',
      readOnlyRootFilesystem: true,
    });
    await world.awaits(sandbox, 'Complete', 'True', 'Succeeded');
    expect(await world.output(sandbox)).toBe('1000\n/tmp\ngood day\n/home/x\n');
  });
});

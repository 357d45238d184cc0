import { dirname } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { selectedConfigs, useDaemon } from '../lab/daemon.ts';
import { HOG } from './fixtures.ts';
import { condition, openWorld, type TestSandbox, type World } from './world.ts';

const MIB = 1024 * 1024;

/** Deaths that look alike, each with its own cause. */
describe.each(selectedConfigs(['docker-v1', 'docker-v2']))('deaths on %s', (config) => {
  const daemon = useDaemon(config);
  let world: World;
  beforeAll(async () => {
    world = await openWorld({ socketPath: daemon.current.socketPath });
  });
  afterEach(() => world.removeAll());
  afterAll(() => world.close());

  const ended = async (sandbox: TestSandbox): Promise<TestSandbox> =>
    world.until(sandbox, 'its end', (now) => now.status?.lastTermination !== undefined);
  const running = (name: string, command: string[]): Promise<TestSandbox> =>
    world
      .create(name, { command, resources: { memory: '64Mi' } })
      .then((sandbox) => world.awaits(sandbox, 'Ready', 'True', 'Running'));
  /** As in a Pod, `$$` in a command stands for one `$`. */
  const sh = (script: string): string[] => ['sh', '-c', script];

  it('[O6] a limit above the sandbox is not taken for its own', async () => {
    // The cgroup above all sandboxes, found from where the kernel file of one of them is.
    const first = await world.create('locator', { command: ['true'], resources: { memory: '96Mi' } });
    const done = await world.awaits(first, 'Complete', 'True');
    const file = done.status?.limits?.receipt?.find(({ limit }) => limit === 'memory')?.file ?? '';
    const own = dirname(file);
    const v1 = file.endsWith('memory.limit_in_bytes');
    const above = v1 ? `${dirname(own)}/memory.limit_in_bytes` : `${dirname(dirname(own))}/memory.max`;
    const before = (await daemon.current.exec(`cat ${above}`)).trim();
    try {
      await daemon.current.exec(`echo 33554432 > ${above}`);
      const sandbox = await world.create('under-a-limit', {
        command: ['dd', 'if=/dev/zero', 'of=/dev/null', 'bs=64M', 'count=1'],
        resources: { memory: '96Mi' },
      });
      const dead = await ended(sandbox);
      expect(dead.status?.lastTermination).toMatchObject({
        cause: 'AncestorOOMKilled',
        verdict: 'Confirmed',
        exitCode: 137,
      });
      expect(dead.status?.lastTermination?.oomKills).toBeGreaterThanOrEqual(1);
      expect(condition(dead, 'OOMKilled')?.status).not.toBe('True');
    } finally {
      const none = v1 ? '-1' : 'max';
      await daemon.current.exec(`echo ${before.length > 18 ? none : before} > ${above}`);
    }
  });

  it('[O4] [O9] many at once: each kill by the limit is confirmed, and no neighbour is blamed', async () => {
    const names = ['a', 'b', 'c', 'd'];
    const killed = await Promise.all(
      names.map((name) => world.create(`killed-${name}`, { command: HOG, resources: { memory: '32Mi' } })),
    );
    const innocent = await Promise.all(
      names.map((name) =>
        world.create(`innocent-${name}`, { command: sh('exit 137'), resources: { memory: '32Mi' } }),
      ),
    );
    for (const sandbox of killed) {
      const dead = await world.awaits(sandbox, 'OOMKilled', 'True', 'Confirmed');
      expect(dead.status?.lastTermination).toMatchObject({ cause: 'OOMKilled', verdict: 'Confirmed' });
    }
    for (const sandbox of innocent) {
      const dead = await ended(sandbox);
      expect(dead.status?.lastTermination).toMatchObject({ cause: 'Exited', exitCode: 137 });
      expect(condition(dead, 'OOMKilled')).toBeUndefined();
    }
  });

  it('[O4] a shell that passes on the 137 of its child has no result of its own', async () => {
    const sandbox = await world.create('passed-on', {
      command: sh(`${HOG.join(' ')}; exit $?`),
      resources: { memory: '32Mi' },
    });
    const dead = await world.awaits(sandbox, 'Stalled', 'True', 'OOMKilled');
    expect(dead.status?.lastTermination).toMatchObject({
      cause: 'OOMKilled',
      verdict: 'Confirmed',
      exitCode: 137,
    });
  });

  it('[O9] SIGKILL to the main process from the host is no OOM kill, under a limit too', async () => {
    const sandbox = await running('host-kill', ['sleep', '1000']);
    const container = await world.driver.inspectContainer(`holdfast-${sandbox.metadata.uid}`, {});
    await daemon.current.exec(
      `for p in /proc/[0-9]*; do read -r _ _ _ parent _ < $p/stat || continue; [ "$parent" = ${container?.pid} ] && kill -9 \${p#/proc/}; done 2>/dev/null; true`,
    );
    const dead = await ended(sandbox);
    expect(dead.status?.lastTermination).toMatchObject({
      cause: 'KilledFromOutside',
      verdict: 'Confirmed',
      signal: 'SIGKILL',
    });
    expect(condition(dead, 'OOMKilled')).toBeUndefined();
  });

  it('[O9] a program that kills itself with SIGKILL is no OOM kill', async () => {
    const sandbox = await world.create('self-kill', {
      command: sh('kill -9 $$$$'),
      resources: { memory: '32Mi' },
    });
    const dead = await ended(sandbox);
    expect(dead.status?.lastTermination).toMatchObject({ cause: 'KilledFromOutside', exitCode: 137 });
    expect(condition(dead, 'OOMKilled')).toBeUndefined();
  });

  it('a crash is what it is', async () => {
    const sandbox = await world.create('crash', {
      command: sh('kill -SEGV $$$$'),
      resources: { memory: '32Mi' },
    });
    const dead = await ended(sandbox);
    expect(dead.status?.lastTermination).toMatchObject({
      cause: 'Exited',
      signal: 'SIGSEGV',
      exitCode: 139,
      verdict: 'Confirmed',
    });
  });

  it('[L1] the limit on processes makes fork fail and kills nothing', async () => {
    const sandbox = await world.create('forks', {
      command: sh('i=0; while [ $i -lt 40 ]; do sleep 30 & i=$((i+1)); done; echo all of them'),
      resources: { pids: 16, memory: '32Mi' },
    });
    const dead = await ended(sandbox);
    expect(dead.status?.lastTermination).toMatchObject({ cause: 'Exited', exitCode: 2 });
    expect(condition(dead, 'OOMKilled')).toBeUndefined();
    expect(await world.output(sandbox)).not.toContain('all of them');
  });

  it('[L1] the least memory there may be is enough to start', async () => {
    const sandbox = await world.create('least', {
      command: ['echo', 'started'],
      resources: { memory: '6Mi', pids: 2, cpu: '10m' },
    });
    const done = await world.awaits(sandbox, 'Complete', 'True', 'Succeeded');
    expect(done.status?.limits).toMatchObject({
      memoryBytes: 6 * MIB,
      pids: 2,
      cpuQuotaMicros: 1000,
      cpuPeriodMicros: 100_000,
    });
  });

  it('[O12] the verdict outlives the container, with limit, peak, times and evidence', async () => {
    const sandbox = await world.create('outlived', { command: HOG, resources: { memory: '32Mi' } });
    const dead = await world.awaits(sandbox, 'Stalled', 'True', 'OOMKilled');
    const termination = dead.status?.lastTermination;
    expect(termination).toMatchObject({ memoryLimitBytes: 32 * MIB, launch: 'Main', observedGeneration: 1 });
    expect(termination?.peakMemoryBytes).toBeGreaterThan(MIB);
    expect(termination?.peakMemoryBytes).toBeLessThanOrEqual(32 * MIB);
    expect(Date.parse(termination?.finishedAt ?? '')).toBeGreaterThanOrEqual(
      Date.parse(termination?.startedAt ?? ''),
    );
    expect(termination?.evidence.join('\n')).toContain('/sys/fs/cgroup/');
    expect(condition(dead, 'Stalled')?.message).toContain('32Mi');
  });
});

import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { type Clock, systemClock } from '../../kube/clock.ts';
import type { ContainerInfo, RuntimeEvent } from '../../runtime/driver.ts';
import { containerName } from '../../runtime/agent/names.ts';
import { HOG, labelled } from './fixtures.ts';
import { hasFake, useFake } from './rigs.ts';
import { condition, openWorld, type TestSandbox, type World } from './world.ts';

const MIB = 1024 * 1024;

const NEEDS = { meta: { needs: 'the fake driver with real processes' } };

/** Faults that no daemon shows when asked to: every call succeeds, and what it says or did is not so. */
describe.runIf(hasFake)('agent on fake, a runtime that lies', NEEDS, () => {
  const fake = useFake();
  let world: World;
  let aheadMs = 0;
  const clock: Clock = { ...systemClock, monotonicMs: () => systemClock.monotonicMs() + aheadMs };
  beforeAll(async () => {
    world = await openWorld({ driver: fake.driver, withAgent: false });
    // A jump of the clock is not to cost it the name of the node.
    await world.startAgent({ clock, leaseSeconds: 3600 });
  });
  afterEach(async () => {
    fake.driver.lies = {};
    fake.machine.cgroups.lie = undefined;
    await world.removeAll();
  });
  afterAll(() => world.close());

  const aboutSandboxes =
    (lie: (info: ContainerInfo) => Partial<ContainerInfo>) =>
    (info: ContainerInfo): ContainerInfo =>
      info.name.startsWith('holdfast-probe') ? info : { ...info, ...lie(info) };
  const starts = (sandbox: TestSandbox): Promise<number> =>
    labelled(world, sandbox).then(
      (found) =>
        fake.driver.faults.calls.filter(
          ({ call, subject }) => call === 'startContainer' && found.some(({ id }) => id === subject),
        ).length,
    );
  const limited = (name: string): Promise<TestSandbox> =>
    world.create(name, { command: ['echo', 'ran'], resources: { memory: '64Mi', pids: 32 } });
  const running = async (name: string): Promise<TestSandbox> => {
    const sandbox = await world.create(name, {
      command: ['sleep', '1000'],
      resources: { memory: '64Mi' },
    });
    return world.awaits(sandbox, 'Ready', 'True', 'Running');
  };
  const ended = (sandbox: TestSandbox): Promise<TestSandbox> =>
    world.until(sandbox, 'a verdict', ({ status }) => status?.lastTermination !== undefined);
  const killedFromOutside = async (sandbox: TestSandbox): Promise<TestSandbox> => {
    await fake.driver.killContainer(containerName(sandbox.metadata.uid), { signal_: 'SIGKILL' });
    return ended(sandbox);
  };

  it('[L5] does not start a container of which inspect shows another limit than was asked for', async () => {
    fake.driver.lies = {
      inspect: aboutSandboxes((info) => ({ limits: { ...info.limits, memoryBytes: 96 * MIB } })),
    };
    const sandbox = await limited('inspect-differs');
    const stalled = await world.awaits(sandbox, 'Stalled', 'True', 'ReadBackMismatch');
    expect(condition(stalled, 'Stalled')?.message).toMatch(/memory/i);
    expect(condition(stalled, 'LimitsEnforced')?.status).not.toBe('True');
    expect(await starts(sandbox)).toBe(0);
    expect(await world.output(sandbox)).toBe('');
  });

  it('[L5] [L11] runs nothing where the kernel has another limit than inspect shows', async () => {
    fake.machine.cgroups.lie = (file, value) => (file === 'memory.max' ? 'max' : value);
    const sandbox = await limited('kernel-differs');
    const stalled = await world.awaits(sandbox, 'Stalled', 'True', 'ReadBackMismatch');
    expect(condition(stalled, 'Stalled')?.message).toContain('memory.max has max');
    expect(condition(stalled, 'LimitsEnforced')?.status).toBe('False');
    expect(await world.output(sandbox)).toBe('');
    expect(stalled.status?.startedAt).toBeUndefined();
  });

  it('[L5] [L11] runs nothing where the kernel has no file for a limit', async () => {
    fake.machine.cgroups.lie = (file, value) => (file === 'pids.max' ? undefined : value);
    const sandbox = await limited('no-file');
    const stalled = await world.awaits(sandbox, 'Stalled', 'True', 'ReadBackFailed');
    expect(condition(stalled, 'Stalled')?.message).toContain('pids.max');
    expect(await world.output(sandbox)).toBe('');
  });

  it('[K11] [L11] keeps the limits it had where an update succeeds and the kernel shows another', async () => {
    const sandbox = await world.create('update-differs', { resources: { memory: '64Mi' } });
    await world.awaits(sandbox, 'Ready', 'True', 'Running');
    fake.machine.cgroups.lie = (file, value) =>
      file === 'memory.max' && value === String(96 * MIB) ? String(128 * MIB) : value;
    await world.edit(sandbox, (spec) => {
      spec.resources = { memory: '96Mi' };
    });
    const refused = await world.awaits(sandbox, 'LimitsEnforced', 'False', 'ReadBackMismatch');
    expect(condition(refused, 'LimitsEnforced')?.message).toContain('The old limits are in force again.');
    expect(condition(refused, 'Ready')?.status).toBe('True');
    expect(refused.status?.limits?.memoryBytes).toBe(64 * MIB);
  });

  it('[K5] gives up a start that succeeded and whose init never came, says so, and tries again', async () => {
    fake.driver.lies = {
      runs: (spec) => (spec.probe ? spec : { ...spec, entrypoint: ['/bin/busybox', 'sleep', '1000'] }),
    };
    const sandbox = await limited('no-init');
    await world.until(sandbox, 'word of a start', (now) =>
      /init has not come/.test(condition(now, 'Ready')?.message ?? ''),
    );
    const [first] = await labelled(world, sandbox);
    fake.driver.lies = {};
    aheadMs += 61_000;
    await world.awaitsEvent(sandbox, 'Failed');
    const said = (await world.events(sandbox)).filter(({ reason }) => reason === 'Failed');
    expect(said.map(({ message }) => message)).toEqual(['The init of the sandbox did not come within 60 s.']);
    const done = await world.awaits(sandbox, 'Complete', 'True', 'Succeeded');
    expect(done.status?.containerID).not.toBe(first?.id);
    expect(await world.output(sandbox)).toBe('ran\n');
  });

  it('[O6] a flag that nothing in the kernel bears out is no OOM kill, and said to contradict', async () => {
    fake.driver.lies = { inspect: aboutSandboxes(({ state }) => ({ oomKilled: state === 'exited' })) };
    const sandbox = await world.create('false-flag', {
      command: ['sh', '-c', 'exit 137'],
      resources: { memory: '64Mi' },
    });
    const done = await ended(sandbox);
    expect(done.status?.lastTermination).toMatchObject({
      cause: 'Exited',
      exitCode: 137,
      contradictions: [expect.stringContaining('the kernel counted none')],
    });
    expect(condition(done, 'OOMKilled')).toBeUndefined();
  });

  it('[O8] [O4] an OOM kill stays confirmed by the kernel where flag and event are lost', async () => {
    fake.driver.lies = {
      inspect: aboutSandboxes(() => ({ oomKilled: false })),
      events: (event) => (event.action === 'oom' ? [] : [event]),
    };
    const sandbox = await world.create('lost-flag', { command: HOG, resources: { memory: '32Mi' } });
    const stalled = await world.awaits(sandbox, 'Stalled', 'True', 'OOMKilled');
    expect(stalled.status?.lastTermination).toMatchObject({ cause: 'OOMKilled', verdict: 'Confirmed' });
  });

  it('[O4] the exit code of init counts, whatever the runtime says of it', async () => {
    fake.driver.lies = {
      inspect: aboutSandboxes(({ state }) => (state === 'exited' ? { exitCode: 137 } : {})),
    };
    const sandbox = await world.create('wrong-code', { command: ['sh', '-c', 'exit 3'] });
    const done = await world.awaits(sandbox, 'Complete', 'True', 'Failed');
    expect(done.status?.lastTermination).toMatchObject({ cause: 'Exited', exitCode: 3 });
  });

  it('[O9] a kill from outside is one, though each event comes twice', async () => {
    fake.driver.lies = { events: (event) => [event, event] };
    const sandbox = await running('events-twice');
    const done = await killedFromOutside(sandbox);
    expect(done.status?.lastTermination).toMatchObject({ cause: 'KilledFromOutside' });
    const words = (await world.events(sandbox)).filter(({ reason }) => reason === 'Started');
    expect(words.map(({ count }) => count ?? 1)).toEqual([1]);
  });

  it('[O9] a kill from outside is one, though its end is told before it', async () => {
    let held: RuntimeEvent | undefined;
    fake.driver.lies = {
      events: (event) => {
        if (event.action === 'kill') {
          held = event;
          return [];
        }
        const late = event.action === 'die' && held !== undefined ? [held] : [];
        return [event, ...late];
      },
    };
    const done = await killedFromOutside(await running('events-reversed'));
    expect(done.status?.lastTermination).toMatchObject({ cause: 'KilledFromOutside' });
  });

  it('[O9] a kill of which every event is lost is no OOM kill, and its cause is not made up', async () => {
    const sandbox = await running('events-lost');
    fake.driver.lies = { events: () => [] };
    const done = await killedFromOutside(sandbox);
    expect(done.status?.lastTermination).toMatchObject({
      cause: 'Unknown',
      verdict: 'Unconfirmed',
      exitCode: 137,
    });
    expect(condition(done, 'OOMKilled')).toBeUndefined();
  });

  it('[O8] a kill under a memory limit that neither kernel, flag nor events explain is an OOM kill, unconfirmed', async () => {
    fake.machine.cgroups.lie = (file, value) => (/^memory\.(events|peak)/.test(file) ? undefined : value);
    const sandbox = await running('nothing-known');
    fake.driver.lies = { events: () => [] };
    const done = await killedFromOutside(sandbox);
    expect(done.status?.lastTermination).toMatchObject({ cause: 'OOMKilled', verdict: 'Unconfirmed' });
    expect(condition(done, 'OOMKilled')).toMatchObject({ status: 'True', reason: 'Unconfirmed' });
    expect(condition(done, 'OOMKilled')?.message).toMatch(/did not confirm/);
  });

  it('[K10] an event of an end that did not happen ends nothing', async () => {
    fake.driver.lies = {
      events: (event) =>
        event.action === 'start' ? [event, { ...event, action: 'die', detail: 137 }] : [event],
    };
    const sandbox = await world.create('false-end', { command: ['sh', '-c', 'sleep 1; echo ran'] });
    await world.awaits(sandbox, 'Complete', 'True', 'Succeeded');
    expect(await world.output(sandbox)).toBe('ran\n');
  });
});

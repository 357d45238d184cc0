import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { describe, expect, it } from 'vitest';
import {
  DriverError,
  type ContainerSpec,
  type KernelLimits,
  type RuntimeEvent,
} from '../../runtime/driver.ts';
import { until } from '../until.ts';
import {
  cat,
  exit,
  flood,
  FLOOD_BYTES,
  floodHash,
  missing,
  outAndErr,
  polite,
  sleep,
  type Command,
} from './commands.ts';
import { IMAGE, rigNames, SUITE_LABEL, useRig } from './rigs.ts';

/**
 * What every driver does, tried on each runtime and on the fake, so that what is built on one works on the other.
 * Runtimes that differ from docker-v2 only in a controller run what has to do with limits: a start takes seconds there.
 * HOLDFAST_FULL=1 runs all of it everywhere.
 */
const whole = (name: string): boolean =>
  ['docker-v1', 'docker-v2', 'fake', 'fake with processes'].includes(name) ||
  process.env['HOLDFAST_FULL'] === '1';

const MIB = 1048576;
let made = 0;

function spec(command: Command, changes: Partial<ContainerSpec> = {}): ContainerSpec {
  made += 1;
  return {
    name: `hf-contract-${process.pid}-${made}`,
    image: IMAGE,
    labels: { [SUITE_LABEL]: 'yes', number: `${process.pid}-${made}` },
    entrypoint: command.argv.slice(0, 1),
    command: command.argv.slice(1),
    env: [],
    workingDir: '/',
    user: '',
    limits: {},
    mounts: [],
    readOnlyRootFilesystem: false,
    capabilities: [],
    networkDisabled: true,
    ...changes,
  };
}

async function codeOf(work: Promise<unknown>): Promise<string> {
  try {
    await work;
    return 'no error';
  } catch (error) {
    return error instanceof DriverError ? error.code : String(error);
  }
}

const quiet = { onStderr: (): void => {} };

describe.each(rigNames())('driver on %s', (name) => {
  const wholly = whole(name) ? describe : (): void => {};
  const rig = useRig(name);
  const create = async (command: Command, changes: Partial<ContainerSpec> = {}): Promise<string> => {
    const { id } = await rig.current.driver.createContainer(spec(command, changes), {});
    return id;
  };
  const running = async (command: Command, changes: Partial<ContainerSpec> = {}): Promise<string> => {
    const id = await create(command, changes);
    await rig.current.driver.startContainer(id, {});
    return id;
  };

  describe('what it is', () => {
    it('[L6] says which limits it can enforce', async () => {
      const { driver, can } = rig.current;
      const info = await driver.info({});
      const said = Object.fromEntries(
        Object.entries(info.limits).map(([limit, { enforced }]) => [limit, enforced === 'Yes']),
      );
      expect(said).toEqual(can);
      expect(info.name).toBe(driver.name);
      expect(info.memoryBytes).toBeGreaterThan(64 * MIB);
      expect(info.cpus).toBeGreaterThan(0);
    });

    it('[L9] names the fix of each limit it cannot enforce', async () => {
      const { limits } = await rig.current.driver.info({});
      for (const { enforced, reason, fix } of Object.values(limits)) {
        expect(reason).not.toBe('');
        if (enforced !== 'Yes') expect(fix).toMatch(/\w+/);
      }
    });
  });

  wholly('images', () => {
    it('shows an imported image', async () => {
      const info = await rig.current.driver.inspectImage(IMAGE, {});
      expect(info?.id).toMatch(/^sha256:[0-9a-f]{64}$/);
      expect(info?.entrypoint).toEqual([]);
    });

    it('knows nothing of an image that is not there', async () => {
      expect(await rig.current.driver.inspectImage('holdfast/no-such-image:1', {})).toBeUndefined();
    });

    it('a pull that fails says why', async () => {
      // Nothing listens there: refused at once, without leaving the machine.
      const pull = rig.current.driver.pullImage('127.0.0.1:1/no/such:1', { onProgress: () => {} });
      await expect(pull).rejects.toMatchObject({ code: 'PullFailed', message: expect.stringMatching(/\w/) });
    });
  });

  describe('create', () => {
    it('makes a container of which nothing runs', async () => {
      const { driver } = rig.current;
      const wanted = spec(exit(0), { limits: { pids: 50 } });
      const { id } = await driver.createContainer(wanted, {});
      const info = await driver.inspectContainer(wanted.name, {});
      expect(info).toMatchObject({ id, name: wanted.name, state: 'created', pid: 0, oomKilled: false });
      expect(info?.labels).toMatchObject(wanted.labels);
      expect(info?.startedAt).toBeUndefined();
      expect(info?.finishedAt).toBeUndefined();
    });

    it('refuses a name that is taken', async () => {
      const { driver } = rig.current;
      const wanted = spec(exit(0));
      await driver.createContainer(wanted, {});
      expect(await codeOf(driver.createContainer(wanted, {}))).toBe('Conflict');
    });

    it('refuses an image that is not there', async () => {
      const wanted = spec(exit(0), { image: 'holdfast/no-such-image:1' });
      expect(await codeOf(rig.current.driver.createContainer(wanted, {}))).toBe('NotFound');
      expect(await rig.current.driver.inspectContainer(wanted.name, {})).toBeUndefined();
    });

    it('[L5] inspect shows what is applied: a limit that was dropped is not there', async () => {
      const { driver, can } = rig.current;
      const asked: Required<KernelLimits> = {
        memoryBytes: 64 * MIB,
        memorySwapBytes: 64 * MIB,
        cpuQuotaMicros: 50_000,
        cpuPeriodMicros: 100_000,
        pids: 30,
      };
      const id = await create(exit(0), { limits: asked });
      const applied = (await driver.inspectContainer(id, {}))?.limits;
      const expected: KernelLimits = {};
      if (can.memory) expected.memoryBytes = asked.memoryBytes;
      if (can.swap) expected.memorySwapBytes = asked.memorySwapBytes;
      if (can.cpu) Object.assign(expected, { cpuQuotaMicros: 50_000, cpuPeriodMicros: 100_000 });
      if (can.pids) expected.pids = asked.pids;
      expect(applied).toEqual(expected);
    });

    it('[L4] swap is held to the memory limit wherever it can be, asked for or not', async () => {
      const { driver, can } = rig.current;
      const id = await create(exit(0), { limits: { memoryBytes: 64 * MIB } });
      const applied = (await driver.inspectContainer(id, {}))?.limits;
      expect(applied?.memorySwapBytes).toBe(can.swap ? 64 * MIB : undefined);
    });

    it('[L2] no limits are no limits', async () => {
      const id = await create(exit(0));
      expect((await rig.current.driver.inspectContainer(id, {}))?.limits).toEqual({});
    });

    it('[L5] a memory limit below the least of the runtime is refused', async (context) => {
      const { driver, can } = rig.current;
      if (!can.memory) context.skip('this runtime drops memory limits before it looks at them');
      const wanted = spec(exit(0), { limits: { memoryBytes: MIB, memorySwapBytes: MIB } });
      expect(await codeOf(driver.createContainer(wanted, {}))).toBe('Unenforceable');
      expect(await driver.inspectContainer(wanted.name, {})).toBeUndefined();
    });
  });

  wholly('a run', () => {
    it.each([0, 3, 137])('ends with exit code %i', async (code) => {
      const { driver } = rig.current;
      const id = await running(exit(code));
      expect(await driver.waitContainer(id, {})).toBe(code);
      const info = await driver.inspectContainer(id, {});
      expect(info).toMatchObject({ state: 'exited', exitCode: code, pid: 0, oomKilled: false });
      expect(Date.parse(info?.finishedAt ?? '')).not.toBeNaN();
    });

    it('has a PID 1 while it runs, and starting it again is no error', async () => {
      const { driver } = rig.current;
      const id = await running(sleep);
      await driver.startContainer(id, {});
      const info = await driver.inspectContainer(id, {});
      expect(info?.state).toBe('running');
      expect(info?.pid).toBeGreaterThan(1);
    });

    it('[O1] stays after its end until it is removed', async () => {
      const { driver } = rig.current;
      const id = await running(exit(3));
      await driver.waitContainer(id, {});
      expect((await driver.inspectContainer(id, {}))?.exitCode).toBe(3);
      await driver.removeContainer(id, {});
      expect(await driver.inspectContainer(id, {})).toBeUndefined();
    });

    it('is started a second time as the same container', async () => {
      const { driver } = rig.current;
      const id = await running(exit(3));
      await driver.waitContainer(id, {});
      await driver.startContainer(id, {});
      expect(await driver.waitContainer(id, {})).toBe(3);
    });

    it('a command that does not exist fails the start', async () => {
      const { driver } = rig.current;
      const id = await create(missing);
      const start = driver.startContainer(id, {});
      await expect(start).rejects.toMatchObject({ code: 'StartFailed' });
      expect((await driver.inspectContainer(id, {}))?.pid).toBe(0);
    });
  });

  wholly('attach', () => {
    it('[O2] gives the output from the first byte, each stream by itself, and ends with the container', async () => {
      const { driver } = rig.current;
      const id = await create(outAndErr);
      const errors: Buffer[] = [];
      const stream = await driver.attachContainer(id, { onStderr: (chunk) => void errors.push(chunk) });
      await driver.startContainer(id, {});
      const out: Buffer[] = [];
      for await (const chunk of stream) out.push(chunk as Buffer);
      expect(Buffer.concat(out).toString()).toBe('out\n');
      expect(Buffer.concat(errors).toString()).toBe('err\n');
    });

    it('writes to stdin; its end alone ends nothing else', async () => {
      const { driver } = rig.current;
      const id = await create(cat, { probe: true, capabilities: ['KILL'] });
      const stream = await driver.attachContainer(id, quiet);
      await driver.startContainer(id, {});
      // Bytes that mean something to frames, lines and text: none of them may be touched.
      const bytes = Buffer.from(Array.from({ length: 100_000 }, (_, index) => index % 256));
      stream.end(bytes);
      const back: Buffer[] = [];
      for await (const chunk of stream) back.push(chunk as Buffer);
      expect(Buffer.concat(back).equals(bytes)).toBe(true);
      expect(await driver.waitContainer(id, {})).toBe(0);
    });

    it('takes no more than the reader does, and loses nothing', async () => {
      const { driver } = rig.current;
      const id = await create(flood);
      const errors: Buffer[] = [];
      const stream = await driver.attachContainer(id, { onStderr: (chunk) => void errors.push(chunk) });
      await driver.startContainer(id, {});
      const hash = createHash('sha256');
      let bytes = 0;
      let most = 0;
      for await (const chunk of stream) {
        hash.update(chunk as Buffer);
        bytes += (chunk as Buffer).length;
        most = Math.max(most, stream.readableLength);
        // A slow reader: each chunk lets the event loop bring more.
        await new Promise((resolve) => setImmediate(resolve));
      }
      expect(bytes).toBe(FLOOD_BYTES);
      expect(hash.digest('hex')).toBe(floodHash);
      expect(most).toBeLessThan(MIB);
      expect(Buffer.concat(errors).toString()).toBe('half\n');
    });

    it('a reader that goes away does not block the end', async () => {
      const { driver } = rig.current;
      const id = await create(flood);
      const stream = await driver.attachContainer(id, quiet);
      await driver.startContainer(id, {});
      await once(stream, 'readable');
      stream.destroy();
      await driver.killContainer(id, { signal_: 'SIGKILL' });
      await driver.waitContainer(id, {});
      expect((await driver.inspectContainer(id, {}))?.state).toBe('exited');
    });

    it('refuses what does not exist', async () => {
      expect(await codeOf(rig.current.driver.attachContainer('hf-no-such', quiet))).toBe('NotFound');
    });
  });

  wholly('kill, pause and remove', () => {
    it('a signal reaches PID 1', async () => {
      const { driver } = rig.current;
      const id = await create(polite);
      const stream = await driver.attachContainer(id, quiet);
      await driver.startContainer(id, {});
      await once(stream, 'data');
      await driver.killContainer(id, { signal_: 'SIGTERM' });
      expect(await driver.waitContainer(id, {})).toBe(7);
    });

    it('SIGKILL gives 137', async () => {
      const { driver } = rig.current;
      const id = await running(sleep);
      await driver.killContainer(id, { signal_: 'SIGKILL' });
      expect(await driver.waitContainer(id, {})).toBe(137);
      expect((await driver.inspectContainer(id, {}))?.oomKilled).toBe(false);
    });

    it('killing what has ended or never was is no error', async () => {
      const { driver } = rig.current;
      const id = await running(exit(0));
      await driver.waitContainer(id, {});
      await driver.killContainer(id, { signal_: 'SIGKILL' });
      await driver.killContainer('hf-no-such', { signal_: 'SIGKILL' });
      expect((await driver.inspectContainer(id, {}))?.exitCode).toBe(0);
    });

    it('takes back a pause of somebody else, and does nothing where there is none', async () => {
      const { driver } = rig.current;
      const id = await running(sleep);
      await driver.unpauseContainer(id, {});
      await rig.current.pause(id);
      expect((await driver.inspectContainer(id, {}))?.state).toBe('paused');
      await driver.unpauseContainer(id, {});
      expect((await driver.inspectContainer(id, {}))?.state).toBe('running');
    });

    it('removes what runs, twice without an error', async () => {
      const { driver } = rig.current;
      const id = await running(sleep);
      await driver.removeContainer(id, {});
      await driver.removeContainer(id, {});
      expect(await driver.inspectContainer(id, {})).toBeUndefined();
    });

    it('two that remove the same one at once both succeed', async () => {
      const { driver } = rig.current;
      const id = await running(sleep);
      await Promise.all([driver.removeContainer(id, {}), driver.removeContainer(id, {})]);
      expect(await driver.inspectContainer(id, {})).toBeUndefined();
    });
  });

  wholly('lists', () => {
    it('containers with every one of the labels, whether they run or not', async () => {
      const { driver } = rig.current;
      const group = `group-${process.pid}-${made}`;
      const one = await running(sleep, { labels: { [SUITE_LABEL]: 'yes', group, role: 'a' } });
      const two = await create(exit(0), { labels: { [SUITE_LABEL]: 'yes', group, role: 'b' } });
      const all = await driver.listContainers({ labels: { group } });
      expect(Object.fromEntries(all.map(({ id, state }) => [id, state]))).toEqual({
        [one]: 'running',
        [two]: 'created',
      });
      const [only, ...others] = await driver.listContainers({ labels: { group, role: 'b' } });
      expect(others).toEqual([]);
      expect(only?.id).toBe(two);
      expect(only?.labels).toMatchObject({ group, role: 'b' });
    });

    it('says where there is none', async () => {
      const { driver } = rig.current;
      expect(await driver.inspectContainer('hf-no-such', {})).toBeUndefined();
      expect(await codeOf(driver.startContainer('hf-no-such', {}))).toBe('NotFound');
      expect(await codeOf(driver.waitContainer('hf-no-such', {}))).toBe('NotFound');
      expect(await codeOf(driver.updateLimits('hf-no-such', { pids: 20 }, {}))).toBe('NotFound');
    });
  });

  describe('[K11] limits of a live container', () => {
    const at = (mib: number, cpu: number, pids: number): KernelLimits => ({
      memoryBytes: mib * MIB,
      memorySwapBytes: mib * MIB,
      cpuQuotaMicros: cpu,
      cpuPeriodMicros: 100_000,
      pids,
    });
    const expected = (limits: KernelLimits): KernelLimits => {
      const { can } = rig.current;
      const kept: KernelLimits = {};
      if (can.memory && limits.memoryBytes !== undefined) kept.memoryBytes = limits.memoryBytes;
      if (can.swap && limits.memorySwapBytes !== undefined) kept.memorySwapBytes = limits.memorySwapBytes;
      if (can.cpu && limits.cpuQuotaMicros !== undefined)
        Object.assign(kept, { cpuQuotaMicros: limits.cpuQuotaMicros, cpuPeriodMicros: 100_000 });
      if (can.pids && limits.pids !== undefined) kept.pids = limits.pids;
      return kept;
    };
    const cases: [says: string, from: KernelLimits, to: KernelLimits][] = [
      ['are raised', at(64, 50_000, 20), at(256, 90_000, 200)],
      ['are lowered', at(256, 90_000, 200), at(64, 50_000, 20)],
      ['are set where there were none', {}, at(64, 50_000, 20)],
      ['are taken away', at(64, 50_000, 20), {}],
    ];
    it.each(cases)('%s', async (_says, from, to) => {
      const { driver } = rig.current;
      const id = await running(sleep, { limits: from });
      await driver.updateLimits(id, to, {});
      expect((await driver.inspectContainer(id, {}))?.limits).toEqual(expected(to));
      expect((await driver.inspectContainer(id, {}))?.state).toBe('running');
    });

    it('[L5] what the runtime refuses is Unenforceable, and nothing changes', async (context) => {
      const { driver, can } = rig.current;
      if (!can.memory) context.skip('this runtime drops memory limits before it looks at them');
      const id = await running(sleep, { limits: at(64, 50_000, 20) });
      expect(await codeOf(driver.updateLimits(id, { memoryBytes: MIB }, {}))).toBe('Unenforceable');
      expect((await driver.inspectContainer(id, {}))?.limits).toEqual(expected(at(64, 50_000, 20)));
    });
  });

  wholly('volumes', () => {
    const volume = (): string => `hf-contract-${process.pid}-${(made += 1)}`;
    const labels = { [SUITE_LABEL]: 'yes' };

    it('are made once, with labels and a place', async () => {
      const { driver } = rig.current;
      const name = volume();
      const first = await driver.createVolume(name, { labels });
      expect(first).toMatchObject({ name, labels });
      expect(first.mountpoint).toMatch(/^\//);
      expect(await driver.createVolume(name, { labels })).toEqual(first);
      expect(await driver.inspectVolume(name, {})).toEqual(first);
    });

    it('are listed by label', async () => {
      const { driver } = rig.current;
      const name = volume();
      await driver.createVolume(name, { labels: { ...labels, only: name } });
      const found = await driver.listVolumes({ labels: { only: name } });
      expect(found.map((one) => one.name)).toEqual([name]);
    });

    it('are not removed while a container has them, and removed twice without an error', async () => {
      const { driver } = rig.current;
      const name = volume();
      await driver.createVolume(name, { labels });
      const mounts = [{ type: 'volume' as const, source: name, target: '/data', readOnly: false }];
      const id = await create(exit(0), { mounts });
      expect(await codeOf(driver.removeVolume(name, {}))).toBe('InUse');
      await driver.removeContainer(id, {});
      expect(await driver.inspectVolume(name, {})).toBeDefined();
      await driver.removeVolume(name, {});
      await driver.removeVolume(name, {});
      expect(await driver.inspectVolume(name, {})).toBeUndefined();
    });
  });

  wholly('events', () => {
    it('tell the life of a container: kill with its signal, die with its exit code', async () => {
      const { driver } = rig.current;
      const wanted = spec(sleep);
      const stop = new AbortController();
      const seen: RuntimeEvent[] = [];
      const stream = driver.events({
        sinceMs: Date.now() - 60_000,
        labels: wanted.labels,
        signal: stop.signal,
      });
      const ended = (async (): Promise<unknown> => {
        try {
          for await (const event of stream) seen.push(event);
          return 'ended';
        } catch (error) {
          return error;
        }
      })();
      const { id } = await driver.createContainer(wanted, {});
      await driver.startContainer(id, {});
      await driver.killContainer(id, { signal_: 'SIGKILL' });
      await driver.waitContainer(id, {});
      await driver.removeContainer(id, {});
      await until('the last event', () => seen.some(({ action }) => action === 'destroy'));
      const reason = new Error('enough');
      stop.abort(reason);
      expect(await ended).toBe(reason);
      expect(seen.every(({ containerID }) => containerID === id)).toBe(true);
      expect(seen.every(({ labels }) => labels['number'] === wanted.labels['number'])).toBe(true);
      const told = seen
        .filter(({ action }) => action !== 'other')
        .map(({ action, detail }) => [action, detail]);
      expect(told).toEqual([
        ['create', undefined],
        ['start', undefined],
        ['kill', 9],
        ['die', 137],
        ['destroy', undefined],
      ]);
    });

    it('[K5] of the past are told again from the time given', async () => {
      const { driver } = rig.current;
      const id = await running(exit(3));
      await driver.waitContainer(id, {});
      const number = (await driver.inspectContainer(id, {}))?.labels['number'] ?? '';
      const past: RuntimeEvent[] = [];
      for await (const event of driver.events({ sinceMs: 0, labels: { number } })) {
        past.push(event);
        if (event.action === 'die') break;
      }
      const start = past.find(({ action }) => action === 'start');
      expect(start).toBeDefined();
      const again: RuntimeEvent[] = [];
      for await (const event of driver.events({ sinceMs: start?.timeMs ?? 0, labels: { number } })) {
        again.push(event);
        if (event.action === 'die') break;
      }
      expect(again.map(({ action }) => action)).toContain('start');
      expect(again.every(({ timeMs }) => timeMs >= (start?.timeMs ?? 0))).toBe(true);
    });
  });

  wholly("the caller's signal", () => {
    it('ends a call with its own reason', async () => {
      const { driver } = rig.current;
      const id = await running(sleep);
      const stop = new AbortController();
      const wait = driver.waitContainer(id, { signal: stop.signal });
      const reason = new Error('not needed any more');
      stop.abort(reason);
      await expect(wait).rejects.toBe(reason);
    });

    it('ends a call before it begins', async () => {
      const { driver } = rig.current;
      const reason = new Error('too late');
      await expect(driver.info({ signal: AbortSignal.abort(reason) })).rejects.toBe(reason);
      await expect(driver.createContainer(spec(exit(0)), { signal: AbortSignal.abort(reason) })).rejects.toBe(
        reason,
      );
    });
  });
});

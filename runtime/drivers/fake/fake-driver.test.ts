import { describe, expect, it } from 'vitest';
import { FakeClock } from '../../../kube/testing/fake-clock.ts';
import { DriverError, type ContainerSpec } from '../../driver.ts';
import { FakeDriver } from './fake-driver.ts';

const spec: ContainerSpec = {
  name: 'one',
  image: 'app:1',
  labels: {},
  entrypoint: ['run'],
  command: [],
  env: [],
  workingDir: '/',
  user: '',
  limits: { memoryBytes: 64 * 1048576, pids: 10 },
  mounts: [],
  readOnlyRootFilesystem: false,
  capabilities: [],
  networkDisabled: true,
};

function fake(facts?: FakeDriver['facts']): FakeDriver {
  const driver = new FakeDriver({
    clock: new FakeClock(),
    registry: ['app:1'],
    program: () => async (process) => {
      process.oomKill();
      return new Promise((resolve) => {
        process.killed.addEventListener('abort', () => resolve(137), { once: true });
      });
    },
    ...(facts === undefined ? {} : { facts }),
  });
  return driver;
}

const ready = async (facts?: FakeDriver['facts']): Promise<FakeDriver> => {
  const driver = fake(facts);
  await driver.pullImage('app:1', { onProgress: () => {} });
  return driver;
};

describe('the fake driver', () => {
  it('throws a scripted error before anything is done, and once', async () => {
    const driver = await ready();
    const error = new DriverError('Unavailable', 'scripted');
    driver.faults.add('createContainer', { do: 'throw', error });
    await expect(driver.createContainer(spec, {})).rejects.toBe(error);
    expect(driver.containers.size).toBe(0);
    await driver.createContainer(spec, {});
  });

  it('throws it after all was done', async () => {
    const driver = await ready();
    const error = new DriverError('Unavailable', 'scripted');
    driver.faults.add('createContainer', { do: 'throw-after', error }, 2);
    await expect(driver.createContainer(spec, {})).rejects.toBe(error);
    expect(driver.containers.size).toBe(1);
    await expect(driver.createContainer(spec, {})).rejects.toMatchObject({ code: 'Conflict' });
  });

  it.each(['hang', 'hang-after'] as const)('%s ends with the signal of the caller alone', async (how) => {
    const driver = await ready();
    driver.faults.add('info', { do: how });
    const stop = new AbortController();
    const call = driver.info({ signal: stop.signal });
    const reason = new Error('enough');
    stop.abort(reason);
    await expect(call).rejects.toBe(reason);
  });

  it('keeps a record of the calls', async () => {
    const driver = await ready();
    await driver.createContainer(spec, {});
    await driver.startContainer('one', {});
    expect(driver.faults.calls.map(({ call, subject }) => `${call} ${subject}`)).toEqual([
      'pullImage app:1',
      'createContainer one',
      'startContainer one',
    ]);
  });

  it('says what is not so while it is told to, and knows better', async () => {
    const driver = await ready();
    const { id } = await driver.createContainer(spec, {});
    driver.lies = {
      inspect: (info) => ({ ...info, limits: {} }),
      events: (event) => (event.action === 'start' ? [] : [event, event]),
    };
    expect((await driver.inspectContainer(id, {}))?.limits).toEqual({});
    await driver.startContainer(id, {});
    await driver.killContainer(id, { signal_: 'SIGKILL' });
    const actions: string[] = [];
    for await (const event of driver.events({ sinceMs: 0, labels: {} })) {
      actions.push(event.action);
      if (actions.filter((action) => action === 'die').length === 2) break;
    }
    expect(actions).toEqual(['create', 'create', 'oom', 'oom', 'kill', 'kill', 'die', 'die']);
    driver.lies = {};
    expect((await driver.inspectContainer(id, {}))?.limits).toMatchObject({ pids: 10 });
  });

  it('starts once what is started twice at once', async () => {
    const driver = await ready();
    const { id } = await driver.createContainer(spec, {});
    await Promise.all([driver.startContainer(id, {}), driver.startContainer(id, {})]);
    await driver.removeContainer(id, {});
    const actions: string[] = [];
    for await (const event of driver.events({ sinceMs: 0, labels: {} })) {
      actions.push(event.action);
      if (event.action === 'destroy') break;
    }
    expect(actions.filter((action) => action === 'start')).toHaveLength(1);
  });

  it('[L5] drops what it cannot enforce, in silence', async () => {
    const driver = await ready({
      rootless: false,
      cgroupVersion: '2',
      cgroupDriver: 'cgroupfs',
      controllers: { cpu: true, memory: false, swap: false, pids: true },
    });
    const { id, warnings } = await driver.createContainer(spec, {});
    expect(warnings).toEqual([]);
    expect((await driver.inspectContainer(id, {}))?.limits).toEqual({ pids: 10 });
  });

  it('sets its flag at the end and not before, and breaks the event streams of a restart', async () => {
    const driver = await ready();
    const { id } = await driver.createContainer(spec, {});
    await driver.startContainer(id, {});
    expect((await driver.inspectContainer(id, {}))?.oomKilled).toBe(false);
    const actions: string[] = [];
    const follow = (async () => {
      for await (const event of driver.events({ sinceMs: 0, labels: {} })) actions.push(event.action);
    })();
    const broken = expect(follow).rejects.toMatchObject({ code: 'Unavailable' });
    await driver.inspectContainer(id, {});
    await driver.restart();
    await broken;
    expect(await driver.inspectContainer(id, {})).toMatchObject({ oomKilled: true, exitCode: 137 });
    expect(actions).toEqual(['create', 'start', 'oom', 'kill', 'die']);
  });
});

import { pino } from 'pino';
import { Readable } from 'node:stream';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { systemClock, type Clock } from '../../kube/clock.ts';
import { DriverError, type ContainerSpec, type RuntimeDriver } from '../../runtime/driver.ts';
import { createDockerDriver, type DockerDriver } from '../../runtime/drivers/docker/driver.ts';
import { useDaemon } from '../lab/daemon.ts';
import { startFaultProxy, type Fault, type FaultProxy } from '../lab/fault-proxy.ts';
import { sleep } from './commands.ts';

/** Every call of the driver against a daemon that goes wrong in it: it ends, in time, with the right code. */

/** The driver's time limits, a hundred times shorter. */
const hurried: Clock = {
  now: () => systemClock.now(),
  monotonicMs: () => systemClock.monotonicMs(),
  setTimer: (ms, fn) => systemClock.setTimer(ms / 100, fn),
};

const LABELS = { 'holdfast.dev/fault-suite': 'yes' };
const spec = (name: string): ContainerSpec => ({
  name,
  image: 'busybox:lab',
  labels: LABELS,
  entrypoint: sleep.argv.slice(0, 1),
  command: sleep.argv.slice(1),
  env: [],
  workingDir: '/',
  user: '',
  limits: { pids: 20 },
  mounts: [],
  readOnlyRootFilesystem: false,
  capabilities: [],
  networkDisabled: true,
});

interface Call {
  name: string;
  path: RegExp;
  method: string;
  /** `running` and `stopped` are containers made beforehand. */
  make(driver: RuntimeDriver, made: { running: string; stopped: string; volume: string }): Promise<unknown>;
  /** Where its answer has no body to be spoiled. */
  bodiless?: true;
  /** A body that is not JSON, in calls whose body is not read. */
  bodyUnread?: true;
  /** The body has no end while the container runs. */
  endless?: true;
}

const calls: Call[] = [
  { name: 'info', method: 'GET', path: /^\/info$/, make: (driver) => driver.info({}) },
  {
    name: 'inspectImage',
    method: 'GET',
    path: /^\/images\/.*\/json$/,
    make: (driver) => driver.inspectImage('busybox:lab', {}),
  },
  {
    name: 'importImage',
    method: 'POST',
    path: /^\/images\/create$/,
    make: (driver) =>
      driver.importImage(Readable.from([Buffer.alloc(10_240)]), { image: 'holdfast-fault:1', labels: {} }),
  },
  {
    name: 'createContainer',
    method: 'POST',
    path: /^\/containers\/create$/,
    make: (driver) => driver.createContainer(spec('hf-fault-created'), {}),
  },
  {
    name: 'startContainer',
    method: 'POST',
    path: /\/start$/,
    make: (driver, { running }) => driver.startContainer(running, {}),
    bodiless: true,
  },
  {
    name: 'inspectContainer',
    method: 'GET',
    path: /^\/containers\/[^/]+\/json$/,
    make: (driver, { running }) => driver.inspectContainer(running, {}),
  },
  {
    name: 'listContainers',
    method: 'GET',
    path: /^\/containers\/json$/,
    make: (driver) => driver.listContainers({ labels: LABELS }),
  },
  {
    name: 'killContainer',
    method: 'POST',
    path: /\/kill$/,
    make: (driver, { running }) => driver.killContainer(running, { signal_: 'SIGWINCH' }),
    bodiless: true,
  },
  {
    name: 'removeContainer',
    method: 'DELETE',
    path: /^\/containers\//,
    make: (driver) => driver.removeContainer('hf-no-such', {}),
    bodyUnread: true,
  },
  {
    name: 'updateLimits',
    method: 'POST',
    path: /\/update$/,
    make: (driver, { running }) => driver.updateLimits(running, { pids: 30 }, {}),
    bodyUnread: true,
  },
  {
    name: 'waitContainer',
    method: 'POST',
    path: /\/wait$/,
    make: (driver, { stopped }) => driver.waitContainer(stopped, {}),
    endless: true,
  },
  {
    name: 'createVolume',
    method: 'POST',
    path: /^\/volumes\/create$/,
    make: (driver, { volume }) => driver.createVolume(volume, { labels: LABELS }),
  },
  {
    name: 'inspectVolume',
    method: 'GET',
    path: /^\/volumes\/.+/,
    make: (driver, { volume }) => driver.inspectVolume(volume, {}),
  },
  {
    name: 'listVolumes',
    method: 'GET',
    path: /^\/volumes$/,
    make: (driver) => driver.listVolumes({ labels: LABELS }),
  },
  {
    name: 'removeVolume',
    method: 'DELETE',
    path: /^\/volumes\//,
    make: (driver) => driver.removeVolume('hf-no-such', {}),
    bodyUnread: true,
  },
  {
    name: 'attachContainer',
    method: 'POST',
    path: /\/attach$/,
    make: async (driver, { running }) => {
      const stream = await driver.attachContainer(running, { onStderr: () => {} });
      stream.destroy();
    },
    bodiless: true,
  },
  {
    name: 'events',
    method: 'GET',
    path: /^\/events$/,
    make: async (driver) => {
      for await (const _event of driver.events({ sinceMs: 0, labels: LABELS })) continue;
    },
    endless: true,
  },
];

const codeOf = async (work: Promise<unknown>): Promise<string> => {
  try {
    await work;
    return 'no error';
  } catch (error) {
    return error instanceof DriverError ? error.code : String(error);
  }
};

describe('docker driver on docker-v1 with a daemon that goes wrong', () => {
  const daemon = useDaemon('docker-v1');
  let proxy: FaultProxy;
  let driver: DockerDriver;
  let direct: DockerDriver;
  const made = { running: '', stopped: '', volume: `hf-fault-${process.pid}` };

  beforeAll(async () => {
    const { socketPath } = daemon.current;
    const log = pino({ level: 'silent' });
    proxy = await startFaultProxy(socketPath);
    driver = createDockerDriver({ socketPath: proxy.socketPath, log, clock: hurried });
    direct = createDockerDriver({ socketPath, log, clock: systemClock });
    for (const name of ['hf-fault-running', 'hf-fault-stopped', 'hf-fault-created'])
      await direct.removeContainer(name, {});
    made.running = (await direct.createContainer(spec('hf-fault-running'), {})).id;
    made.stopped = (await direct.createContainer(spec('hf-fault-stopped'), {})).id;
    await direct.startContainer(made.running, {});
    await direct.createVolume(made.volume, { labels: LABELS });
  });
  afterEach(async () => {
    proxy.set([]);
    await direct.removeContainer('hf-fault-created', {});
  });
  afterAll(async () => {
    for (const id of [made.running, made.stopped]) await direct.removeContainer(id, {});
    await direct.removeVolume(made.volume, {});
    driver.close();
    direct.close();
    await proxy.close();
  });

  const spoiled = async (call: Call, fault: Fault): Promise<string> => {
    proxy.set([{ method: call.method, path: call.path, fault }]);
    return codeOf(call.make(driver, made));
  };
  const table = calls.map((call) => ({ call, name: call.name }));

  it.each(table)('$name: a call that is never answered is Unavailable, in time', async ({ call }) => {
    expect(await spoiled(call, { do: 'hang' })).toBe('Unavailable');
  });

  it.each(table)('$name: done, but never answered, is Unavailable', async ({ call }) => {
    expect(await spoiled(call, { do: 'hang-after' })).toBe('Unavailable');
  });

  it.each(table)('$name: a connection that breaks is Unavailable', async ({ call }) => {
    expect(await spoiled(call, { do: 'reset' })).toBe('Unavailable');
    expect(await spoiled(call, { do: 'reset-after' })).toBe('Unavailable');
  });

  it.each(table)('[L7] $name: an answer that is no HTTP is Unreadable', async ({ call }) => {
    expect(await spoiled(call, { do: 'garbage' })).toBe('Unreadable');
  });

  it.each(table)('$name: 500 has the code of the call', async ({ call }) => {
    const expected: Record<string, string> = { startContainer: 'StartFailed', updateLimits: 'Unenforceable' };
    const code = await spoiled(call, { do: 'status', status: 500 });
    expect(code).toBe(expected[call.name] ?? 'Failed');
  });

  it.each(table)(
    '$name: an answer by somebody else (a page of a proxy, 3xx) is no answer',
    async ({ call }) => {
      expect(await spoiled(call, { do: 'status', status: 302, body: '<html>moved</html>' })).toBe(
        'Unreadable',
      );
    },
  );

  const withBody = table.filter(({ call }) => call.bodiless !== true && call.bodyUnread !== true);
  it.each(withBody)('[L7] $name: a body that is not JSON is Unreadable', async ({ call }) => {
    expect(await spoiled(call, { do: 'garbage-body' })).toBe('Unreadable');
  });

  it.each(withBody)('$name: a body that breaks off is Unavailable', async ({ call }) => {
    expect(await spoiled(call, { do: 'truncate' })).toBe('Unavailable');
  });

  const finite = withBody.filter(({ call }) => call.endless !== true);
  it.each(finite)('$name: a body that never comes is Unavailable, in time', async ({ call }) => {
    expect(await spoiled(call, { do: 'stall-body' })).toBe('Unavailable');
  });

  it('[L7] a ping that fails is no version: nothing else is tried, and the next call asks again', async () => {
    const fresh = createDockerDriver({
      socketPath: proxy.socketPath,
      log: pino({ level: 'silent' }),
      clock: hurried,
    });
    for (const [fault, code] of [
      [{ do: 'hang' }, 'Unavailable'],
      [{ do: 'garbage' }, 'Unreadable'],
      [{ do: 'status', status: 200, body: 'OK' }, 'Unreadable'],
      [{ do: 'status', status: 503 }, 'Failed'],
    ] as [Fault, string][]) {
      proxy.calls.length = 0;
      proxy.set([{ path: /^\/_ping$/, fault }]);
      expect(await codeOf(fresh.info({}))).toBe(code);
      expect(new Set(proxy.calls)).toEqual(new Set(['GET /_ping']));
    }
    proxy.set([]);
    expect((await fresh.info({})).apiVersion).toBe('1.41');
    fresh.close();
  });

  it('[L7] an /info without one of its fields is Unreadable, and never cached', async () => {
    const body = JSON.stringify({ ID: 'x', ServerVersion: '1', Driver: 'd', CgroupDriver: 'cgroupfs' });
    proxy.set([{ path: /^\/info$/, fault: { do: 'status', status: 200, body }, times: 1 }]);
    expect(await codeOf(driver.info({}))).toBe('Unreadable');
    expect((await driver.info({})).limits.memory.enforced).toBe('Yes');
  });

  it('a kept connection that the daemon has closed is not an error of the next call', async () => {
    await driver.listContainers({ labels: LABELS });
    proxy.breakAll();
    await expect(driver.listContainers({ labels: LABELS })).resolves.toBeDefined();
  });

  it('an attached stream whose connection breaks ends', async () => {
    const stream = await driver.attachContainer(made.running, { onStderr: () => {} });
    const closed = new Promise<string>((resolve) => {
      stream.on('error', () => {});
      stream.once('close', () => resolve('closed'));
    });
    stream.resume();
    proxy.breakAll();
    expect(await closed).toBe('closed');
  });

  it('[K5] events and a wait whose connection breaks end as Unavailable', async () => {
    const events = (async () => {
      for await (const _event of driver.events({ sinceMs: Date.now(), labels: LABELS })) continue;
    })();
    const wait = driver.waitContainer(made.running, {});
    const codes = Promise.all([codeOf(events), codeOf(wait)]);
    // Both are under way once the proxy has passed them on.
    while (!proxy.calls.includes('GET /events') || !proxy.calls.some((call) => call.endsWith('/wait')))
      await new Promise((resolve) => setImmediate(resolve));
    proxy.breakAll();
    expect(await codes).toEqual(['Unavailable', 'Unavailable']);
  });

  it('a daemon that is not there is Unavailable', async () => {
    const absent = createDockerDriver({
      socketPath: '/nonexistent/docker.sock',
      log: pino({ level: 'silent' }),
      clock: hurried,
    });
    expect(await codeOf(absent.info({}))).toBe('Unavailable');
  });
});

import { describe, expect, it } from 'vitest';
import { FakeClock } from '../../../kube/testing/fake-clock.ts';
import { half, silent } from '../../../kube/testing/fixtures.ts';
import { FakeDriver } from '../../drivers/fake/fake-driver.ts';
import { DriverError } from '../../driver.ts';
import { ownLabels } from '../names.ts';
import type { ProbeKeeper } from '../probe/keeper.ts';
import { followEvents } from './follow-events.ts';
import { restartedUnder } from './restarted-under.ts';
import { Runtime } from './runtime.ts';

const refused = new DriverError('Unavailable', 'connection refused');

/** A runtime whose events are being followed, with one container that runs. */
async function setUp() {
  const clock = new FakeClock();
  const driver = new FakeDriver({
    clock,
    program: () => (process) =>
      new Promise((resolve) => process.killed.addEventListener('abort', () => resolve(137))),
  });
  driver.images.set('i', await imageOf());
  const { id } = await driver.createContainer(
    {
      name: 'c',
      image: 'i',
      labels: ownLabels('n'),
      entrypoint: ['x'],
      command: [],
      env: [],
      workingDir: '/',
      user: '',
      limits: {},
      mounts: [],
      readOnlyRootFilesystem: false,
      capabilities: [],
      networkDisabled: true,
    },
    {},
  );
  await driver.startContainer(id, {});
  const startedAt = driver.containers.get(id)?.startedAt;
  const probe = { probe: {} as unknown, wentAtMs: undefined as number | undefined };
  const runtime = new Runtime({ driver, probe: probe as unknown as ProbeKeeper, clock });
  const stop = new AbortController();
  let resumed = 0;
  const following = followEvents(
    {
      runtime,
      nodeName: 'n',
      sinceMs: 0,
      clock,
      random: half,
      log: silent,
      onEvent: () => undefined,
      onBreak: () => undefined,
      onResume: async () => {
        resumed += 1;
      },
      running: () => [{ id, startedAt }],
    },
    stop.signal,
  );
  const advance = async (ms: number): Promise<void> => {
    for (let left = ms; left > 0; left -= 100) await clock.advance(100);
  };
  await advance(60_000);
  const now = (): number => clock.now().getTime();
  const end = async (): Promise<void> => {
    stop.abort();
    await following;
  };
  const word = (endMs = now()): string => restartedUnder(runtime.breaks, endMs, now());
  return { clock, driver, runtime, probe, id, advance, now, end, word, resumed: () => resumed };
}

const imageOf = () =>
  Promise.resolve({
    id: 'sha256:i',
    entrypoint: [],
    command: [],
    env: [],
    workingDir: '',
    user: '',
    architecture: 'amd64',
  });

describe('a break of the event stream', () => {
  it('[O9] alone is no restart of the runtime, whatever ends just after it', async () => {
    const { driver, advance, end, word, resumed } = await setUp();
    driver.breakEvents();
    await advance(5000);
    expect(resumed()).toBe(2);
    await driver.killContainer('c', { signal_: 'SIGKILL' });
    expect(word()).toBe('No');
    await end();
  });

  it('[O9] is no restart where the probe went and the runtime answered all the time', async () => {
    const { driver, probe, now, advance, end, word } = await setUp();
    probe.wentAtMs = now();
    await driver.restart();
    await advance(5000);
    expect(word()).toBe('No');
    await end();
  });

  it('[O9] is no restart where the runtime was silent and the probe stayed', async () => {
    const { driver, advance, end, word } = await setUp();
    driver.faults.add('info', { do: 'throw', error: refused }, 2);
    await driver.restart();
    await advance(5000);
    expect(word()).toBe('No');
    await end();
  });

  it('[O9] is no restart where a container lived through it', async () => {
    const { driver, probe, now, advance, end, word } = await setUp();
    probe.wentAtMs = now();
    driver.faults.add('info', { do: 'throw', error: refused }, 2);
    driver.breakEvents();
    await advance(5000);
    expect(word()).toBe('No');
    await end();
  });

  it('[O9] is a restart where the probe went and the runtime did not answer in between', async () => {
    const { driver, probe, now, advance, end, word } = await setUp();
    const atMs = now();
    probe.wentAtMs = atMs;
    driver.faults.add('info', { do: 'throw', error: refused }, 2);
    await driver.restart();
    await advance(5000);
    expect(word(atMs)).toBe('Yes');
    expect(word(atMs - 60_000)).toBe('No');
    await advance(60_000);
    expect(word()).toBe('No');
    await end();
  });

  it('[O9] is a restart where the first answer took its time: a socket was kept open for it', async () => {
    const { clock, driver, runtime, probe, now, end, word } = await setUp();
    const atMs = now();
    probe.probe = undefined;
    await driver.restart();
    runtime.broke(atMs);
    await clock.advance(0);
    runtime.answers(atMs + 3000, { tookMs: 2900, survived: false });
    expect(word(atMs)).toBe('Yes');
    await end();
  });

  it('[O9] is not judged while the runtime does not answer', async () => {
    const { driver, advance, end, word } = await setUp();
    driver.faults.add('info', { do: 'throw', error: refused }, 1000);
    await driver.restart();
    await advance(5000);
    expect(word()).toBe('Unknown');
    await end();
  });
});

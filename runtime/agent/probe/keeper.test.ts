import { describe, expect, it } from 'vitest';
import { FakeClock } from '../../../kube/testing/fake-clock.ts';
import { half, silent } from '../../../kube/testing/fixtures.ts';
import { FakeDriver } from '../../drivers/fake/fake-driver.ts';
import type { Probe } from '../../link/types.ts';
import { plainSteps } from '../../../kube/fault-points.ts';
import { probeName } from '../names.ts';
import { ProbeKeeper } from './keeper.ts';

/** Probes that answer until they are told to freeze. */
function setUp() {
  const clock = new FakeClock();
  const driver = new FakeDriver({
    clock,
    program: () => (process) =>
      new Promise((resolve) => process.killed.addEventListener('abort', () => resolve(137))),
  });
  const state = { frozen: false, mute: false, asked: 0, opened: 0, changes: 0 };
  const open = (): Promise<Probe> => {
    state.opened += 1;
    if (state.mute) return new Promise(() => undefined);
    let settle: (error: Error) => void;
    const closed = new Promise<Error>((resolve) => (settle = resolve));
    const { opened } = state;
    return Promise.resolve({
      hello: { build: 'b' },
      closed,
      close: () => settle(new Error('closed here')),
      ping: () => {
        state.asked += 1;
        // A new probe is not frozen by what froze an old one.
        return state.frozen && opened === 1 ? new Promise(() => undefined) : Promise.resolve();
      },
    } as unknown as Probe);
  };
  const keeper = new ProbeKeeper({
    driver,
    program: { hash: 'h', bytes: Buffer.from('x') },
    nodeName: 'n',
    clock,
    random: half,
    log: silent,
    step: plainSteps,
    onInit: () => undefined,
    changed: () => (state.changes += 1),
    open,
  });
  const stop = new AbortController();
  const running = keeper.run(stop.signal);
  const container = () => [...driver.containers.values()].find(({ spec }) => spec.name === probeName('n'));
  /** Moves on in small steps: the fake runtime takes turns of the event loop that the clock does not see. */
  const advance = async (ms: number): Promise<void> => {
    for (let left = ms; left > 0; left -= 100) await clock.advance(100);
  };
  const end = async (): Promise<void> => {
    stop.abort();
    await running;
  };
  return { driver, keeper, state, container, advance, end };
}

describe('the keeper of a probe', () => {
  it('[K5] leaves one that answers alone', async () => {
    const { keeper, state, advance, end } = setUp();
    await advance(60_000);
    expect(keeper.probe).toBeDefined();
    expect([state.opened, keeper.wentAtMs]).toEqual([1, undefined]);
    expect(state.asked).toBeGreaterThan(3);
    await end();
  });

  it('[K5] makes one that does not answer anew within half a minute', async () => {
    const { keeper, state, container, advance, end } = setUp();
    await advance(2000);
    const first = container()?.id;
    state.frozen = true;
    await advance(25_000);
    expect(state.opened).toBe(2);
    expect(keeper.probe).toBeDefined();
    expect(container()?.id).not.toBe(first);
    expect(keeper.wentAtMs).toBeDefined();
    await end();
  });

  it('[K5] makes one that is paused anew at once, and unpauses the old one to be rid of it', async () => {
    const { driver, keeper, state, container, advance, end } = setUp();
    await advance(2000);
    const first = container()?.id ?? '';
    driver.pause(first);
    keeper.happened({ containerID: 'another', labels: {}, action: 'pause', timeMs: 0 });
    keeper.happened({ containerID: first, labels: {}, action: 'unpause', timeMs: 0 });
    expect(keeper.probe).toBeDefined();
    await advance(100);
    expect(state.opened).toBe(1);
    keeper.happened({ containerID: first, labels: {}, action: 'pause', timeMs: 0 });
    await advance(2000);
    expect(state.opened).toBe(2);
    expect(keeper.probe).toBeDefined();
    expect(driver.faults.calls).toContainEqual({ call: 'unpauseContainer', subject: first });
    expect(driver.containers.size).toBe(1);
    await end();
  });

  it('[K5] gives up one that starts and never says hello', async () => {
    const { keeper, state, advance, end } = setUp();
    state.mute = true;
    await advance(29_000);
    expect([state.opened, keeper.probe]).toEqual([1, undefined]);
    state.mute = false;
    await advance(5000);
    expect(keeper.probe).toBeDefined();
    await end();
  });

  it('is stopped at any moment, and removes its container', async () => {
    for (const mute of [true, false]) {
      const { driver, state, advance, end } = setUp();
      state.mute = mute;
      await advance(500);
      await end();
      expect(driver.containers.size).toBe(0);
    }
  });
});

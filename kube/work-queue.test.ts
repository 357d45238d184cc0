import { describe, expect, it } from 'vitest';
import { ApiError } from './client.ts';
import { done, lookAgainAfter, type Reconcile, TerminalError } from './reconcile.ts';
import { FakeClock } from './testing/fake-clock.ts';
import { half, silent } from './testing/fixtures.ts';
import { WorkQueue } from './work-queue.ts';

function setUp(options: Partial<ConstructorParameters<typeof WorkQueue>[0]> = {}) {
  const clock = new FakeClock();
  const queue = new WorkQueue({ name: 'test', clock, random: half, log: silent, ...options });
  const stop = new AbortController();
  return { clock, queue, stop };
}

/** A reconcile that ends when told to. */
function gated() {
  const begun: string[] = [];
  const open: (() => void)[] = [];
  const reconcile: Reconcile = async (key) => {
    begun.push(key);
    await new Promise<void>((resolve) => open.push(resolve));
    return done();
  };
  return { begun, open, reconcile };
}

describe('WorkQueue', () => {
  it('[K5] holds a key once, however often it was added', async () => {
    const { clock, queue, stop } = setUp();
    const seen: string[] = [];
    for (const key of ['a', 'b', 'a', 'a', 'b']) queue.add(key);
    expect(queue.stats.depth).toBe(2);
    const running = queue.run(
      1,
      async (key) => {
        seen.push(key);
        return done();
      },
      stop.signal,
    );
    await clock.advance(0);
    expect(seen).toEqual(['a', 'b']);
    stop.abort();
    await running;
  });

  it('gives a key to one worker at a time, and once more when it was added meanwhile', async () => {
    const { clock, queue, stop } = setUp();
    const { begun, open, reconcile } = gated();
    const running = queue.run(4, reconcile, stop.signal);
    queue.add('a');
    await clock.advance(0);
    queue.add('a');
    queue.add('a');
    queue.add('b');
    await clock.advance(0);
    expect(begun).toEqual(['a', 'b']);
    open[0]?.();
    await clock.advance(0);
    expect(begun).toEqual(['a', 'b', 'a']);
    open[1]?.();
    open[2]?.();
    await clock.advance(0);
    expect(begun).toHaveLength(3);
    stop.abort();
    await running;
  });

  it('of several delays of a key the earliest counts', async () => {
    const { clock, queue } = setUp();
    queue.addAfter('a', 5_000);
    queue.addAfter('a', 1_000);
    queue.addAfter('a', 9_000);
    expect(queue.stats.delayed).toBe(1);
    await clock.advance(999);
    expect(queue.stats.depth).toBe(0);
    await clock.advance(1);
    expect(queue.stats).toMatchObject({ depth: 1, delayed: 0 });
    expect(clock.pending).toBe(0);
  });

  it('a delay of nothing, or of no number, is no delay', () => {
    const { queue } = setUp();
    queue.addAfter('a', 0);
    queue.addAfter('b', Number.NaN);
    queue.addAfter('c', -1);
    expect(queue.stats).toMatchObject({ depth: 3, delayed: 0 });
  });

  it('[K5] waits longer after each failure of a key, up to the cap, and forgets with the first success', async () => {
    const { clock, queue, stop } = setUp({ baseDelayMs: 100, maxDelayMs: 1_000 });
    let fail = true;
    const at: number[] = [];
    const running = queue.run(
      1,
      async () => {
        at.push(clock.monotonicMs());
        if (fail) throw new Error('no');
        return done();
      },
      stop.signal,
    );
    queue.add('a');
    await clock.advance(4_000);
    // 0.75 of 100, 200, 400, 800, 1000, 1000 ...
    expect(at.slice(0, 7)).toEqual([0, 75, 225, 525, 1125, 1875, 2625]);
    fail = false;
    await clock.advance(1_000);
    fail = true;
    const before = at.length;
    queue.add('a');
    await clock.advance(75);
    expect(at.length - before).toBe(2);
    stop.abort();
    await running;
  });

  it('[K5] stays away as long as the server asked', async () => {
    const { clock, queue, stop } = setUp();
    let calls = 0;
    const running = queue.run(
      1,
      async () => {
        calls += 1;
        throw new ApiError('too many', { code: 429, retryAfterSeconds: 7 });
      },
      stop.signal,
    );
    queue.add('a');
    await clock.advance(6_999);
    expect(calls).toBe(1);
    await clock.advance(1);
    expect(calls).toBe(2);
    stop.abort();
    await running;
  });

  it('does not try a terminal error again', async () => {
    const { clock, queue, stop } = setUp();
    const running = queue.run(
      1,
      async () => {
        throw new TerminalError('never');
      },
      stop.signal,
    );
    queue.add('a');
    await clock.advance(600_000);
    expect(queue.stats).toMatchObject({ done: 1, failedForGood: 1, delayed: 0, depth: 0 });
    stop.abort();
    await running;
  });

  it('looks again when the reconcile asked for it', async () => {
    const { clock, queue, stop } = setUp();
    let calls = 0;
    const running = queue.run(1, async () => (++calls === 1 ? lookAgainAfter(500) : done()), stop.signal);
    queue.add('a');
    await clock.advance(499);
    expect(calls).toBe(1);
    await clock.advance(60_000);
    expect(calls).toBe(2);
    stop.abort();
    await running;
  });

  it('[K5] retries of all keys together keep to the rate', async () => {
    const { clock, queue, stop } = setUp({
      baseDelayMs: 1,
      maxDelayMs: 1,
      retries: { burst: 5, perSecond: 10 },
    });
    let calls = 0;
    const running = queue.run(
      2,
      async () => {
        calls += 1;
        throw new Error('no');
      },
      stop.signal,
    );
    for (let index = 0; index < 20; index++) queue.add(`key-${index}`);
    await clock.advance(10_000);
    expect(calls).toBeLessThanOrEqual(20 + 5 + 10 * 10);
    expect(calls).toBeGreaterThan(20 + 50);
    stop.abort();
    await running;
  });

  it('on a stop ends what was begun and nothing else, and leaves no timer', async () => {
    const { clock, queue, stop } = setUp();
    const { begun, open, reconcile } = gated();
    const running = queue.run(1, reconcile, stop.signal);
    queue.add('a');
    queue.add('b');
    queue.addAfter('c', 1_000);
    await clock.advance(0);
    stop.abort();
    let ended = false;
    const watched = running.then(() => {
      ended = true;
    });
    await clock.advance(0);
    expect(ended).toBe(false);
    open[0]?.();
    await watched;
    expect(begun).toEqual(['a']);
    expect(clock.pending).toBe(0);
    queue.add('d');
    queue.addAfter('e', 5);
    expect(queue.stats).toMatchObject({ depth: 0, delayed: 0, active: 0 });
  });

  it('counts', async () => {
    const { clock, queue, stop } = setUp();
    queue.add('a');
    await clock.advance(40);
    const running = queue.run(1, async () => done(), stop.signal);
    await clock.advance(0);
    expect(queue.stats).toMatchObject({ added: 1, done: 1, waitedMs: 40, workedMs: 0, retried: 0 });
    stop.abort();
    await running;
  });
});

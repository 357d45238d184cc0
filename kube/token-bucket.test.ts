import { describe, expect, it } from 'vitest';
import { FakeClock } from './testing/fake-clock.ts';
import { TokenBucket } from './token-bucket.ts';

describe('TokenBucket', () => {
  it('lets the burst pass at once, then so many a second, and never saves up more than the burst', async () => {
    const clock = new FakeClock();
    const bucket = new TokenBucket({ clock, burst: 2, perSecond: 4 });
    expect([bucket.take(), bucket.take(), bucket.take()]).toEqual([true, true, false]);
    await clock.advance(249);
    expect(bucket.take()).toBe(false);
    await clock.advance(1);
    expect([bucket.take(), bucket.take()]).toEqual([true, false]);
    await clock.advance(3_600_000);
    expect([bucket.take(), bucket.take(), bucket.take()]).toEqual([true, true, false]);
  });

  it('tells those who take one in any case how long to wait, each longer than the one before', async () => {
    const clock = new FakeClock();
    const bucket = new TokenBucket({ clock, burst: 1, perSecond: 4 });
    expect([bucket.reserveMs(), bucket.reserveMs(), bucket.reserveMs()]).toEqual([0, 250, 500]);
    await clock.advance(500);
    expect(bucket.take()).toBe(false);
    await clock.advance(250);
    expect(bucket.take()).toBe(true);
  });
});

import { describe, expect, it } from 'vitest';
import { Backoff, backoffMs } from './backoff.ts';

const longest = { baseMs: 100, maxMs: 5000, random: () => 1 };

describe('backoffMs', () => {
  it('doubles from the first wait on, up to the longest', () => {
    expect([1, 2, 3, 4, 5, 6, 7].map((failures) => backoffMs(failures, longest))).toEqual([
      100, 200, 400, 800, 1600, 3200, 5000,
    ]);
  });

  it('is between half and the whole of it, at random', () => {
    const at = (random: number): number => backoffMs(3, { ...longest, random: () => random });
    expect([at(0), at(0.5)]).toEqual([200, 300]);
  });

  it('stays a wait after any number of failures', () => {
    expect([0, -1].map((failures) => backoffMs(failures, longest))).toEqual([100, 100]);
    expect(backoffMs(1e9, longest)).toBe(5000);
    expect(backoffMs(1e9, { ...longest, baseMs: 0 })).toBe(0);
  });
});

describe('Backoff', () => {
  it('counts the failures in a row', () => {
    const backoff = new Backoff(longest);
    expect([backoff.failures, backoff.next(), backoff.next(), backoff.failures]).toEqual([0, 100, 200, 2]);
    backoff.reset();
    expect([backoff.failures, backoff.next()]).toEqual([0, 100]);
  });
});

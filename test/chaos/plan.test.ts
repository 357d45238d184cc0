import { describe, expect, it } from 'vitest';
import { makePlan } from './plan.ts';

const options = { seed: 7, seconds: 25, leaseSeconds: 6 };

describe('[K5] the plan of a run with faults', () => {
  it('follows from the seed', () => {
    expect(makePlan(options)).toEqual(makePlan(options));
    expect(makePlan({ ...options, seed: 8 }).steps).not.toEqual(makePlan(options).steps);
  });

  it.each([1, 2, 3, 4, 5])('with seed %i even a short run has each kind of fault', (seed) => {
    const kinds = new Set(
      makePlan({ ...options, seed }).steps.map((step) =>
        step.do === 'network' ? step.fault.kind : step.do === 'restart' ? step.what : step.do,
      ),
    );
    for (const kind of [
      'kill',
      'reset',
      'silent',
      'delay',
      'errors',
      'truncate',
      'kube-apiserver',
      'compact',
    ])
      expect(kinds).toContain(kind);
  });

  it('the clocks are up to a minute apart', () => {
    const offsets = Object.values(makePlan(options).clockOffsetMs);
    expect(offsets.every((ms) => Math.abs(ms) <= 60_000)).toBe(true);
    expect(Math.max(...offsets) - Math.min(...offsets)).toBeGreaterThan(1000);
  });
});

import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { limitCases } from '../test/crds/limit-cases.ts';
import {
  MAX_MEMORY_BYTES,
  MIN_MEMORY_BYTES,
  parseCPU,
  parseLimit,
  parseMemory,
  parsePids,
  shown,
} from './quantity.ts';

describe('limits as people write them', () => {
  it.each(limitCases)('[L1] $field $value means $means', ({ field, value, means }) => {
    const parsed = parseLimit[field](value);
    expect(parsed.ok ? parsed.value : undefined).toBe(means);
    if (!parsed.ok) expect(parsed.accepted).toMatch(/from .* to /);
  });

  it('[L1] [L2] thousandths and the fraction of the same size are the same', () => {
    fc.assert(
      fc.property(fc.integer({ min: 10, max: 999_999_999 }), (millis) => {
        const fraction = `${Math.floor(millis / 1000)}.${String(millis % 1000).padStart(3, '0')}`;
        expect(parseCPU(`${millis}m`)).toEqual({ ok: true, value: millis });
        expect(parseCPU(fraction)).toEqual({ ok: true, value: millis });
      }),
    );
  });

  it('[L1] every whole number of bytes in the range is read back exactly, however it is written', () => {
    const units = {
      '': 1,
      Ki: 2 ** 10,
      kb: 2 ** 10,
      Mi: 2 ** 20,
      m: 2 ** 20,
      mb: 2 ** 20,
      Gi: 2 ** 30,
      g: 2 ** 30,
    };
    fc.assert(
      fc.property(
        fc.constantFrom(...Object.entries(units)),
        fc.integer({ min: 1, max: 9_999_999 }),
        ([suffix, unit], count) => {
          const bytes = count * unit;
          const allowed = bytes >= MIN_MEMORY_BYTES && bytes <= MAX_MEMORY_BYTES;
          const parsed = parseMemory(`${count}${suffix}`);
          expect(parsed.ok ? parsed.value : undefined).toBe(allowed ? bytes : undefined);
        },
      ),
    );
  });

  it('[L1] nothing makes the parser throw', () => {
    fc.assert(
      fc.property(fc.anything(), (value) => {
        for (const parse of Object.values(parseLimit)) expect(typeof parse(value).ok).toBe('boolean');
      }),
    );
  });

  it('[L1] a count of processes may come as text', () => {
    expect(parsePids('64')).toEqual(parsePids(64));
  });

  it.each([
    ['cpu', 'from 10m to 999999'],
    ['memory', 'from 6Mi to 4096Ti'],
    ['pids', 'from 2 to 4194304'],
  ] as const)('[L1] what is refused for %s is told what is accepted: %s', (field, range) => {
    for (const value of [0, 'nonsense', null, undefined, {}, 1.5])
      expect(parseLimit[field](value)).toMatchObject({
        ok: false,
        accepted: expect.stringContaining(range) as string,
      });
  });

  it('shows a value of 80 characters whole', () => {
    expect(shown('x'.repeat(78))).toBe(`"${'x'.repeat(78)}"`);
    expect(shown('x'.repeat(79))).toBe(`"${'x'.repeat(78)}…`);
  });

  it('shows a long value cut', () => {
    expect(shown('x'.repeat(5000))).toHaveLength(80);
    expect(shown(undefined)).toBe('undefined');
  });
});

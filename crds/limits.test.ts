import { describe, expect, it } from 'vitest';
import { describeErrors } from './field-error.ts';
import { hasErrors, limitsOf, setsLimits, type LimitsResult } from './limits.ts';

function errorsOf(result: LimitsResult): string[] {
  return hasErrors(result) ? result.errors.map((error) => error.message) : [];
}

describe('limits of a spec', () => {
  it('[L1] gives thousandths, bytes and a count', () => {
    expect(limitsOf({ resources: { cpu: '500m', memory: '4g', pids: 64 } })).toEqual({
      cpuMillis: 500,
      memoryBytes: 4 * 1024 ** 3,
      pids: 64,
    });
  });

  it('[L2] has none without resources and with empty ones', () => {
    expect(limitsOf({})).toEqual({});
    expect(limitsOf({ resources: {} })).toEqual({});
    expect(setsLimits({})).toBe(false);
    expect(setsLimits({ pids: 2 })).toBe(true);
    expect(setsLimits({ cpuMillis: 10 })).toBe(true);
    expect(setsLimits({ memoryBytes: 1 })).toBe(true);
  });

  it('[L1] names the field, the value and the accepted forms of each refusal', () => {
    expect(errorsOf(limitsOf({ resources: { cpu: '1n', memory: '4GX', pids: 1 } }))).toEqual([
      expect.stringMatching(/^spec\.resources\.cpu: "1n" is refused; accepted: .*"500m".*from 10m/),
      expect.stringMatching(/^spec\.resources\.memory: "4GX" is refused; accepted: .*Ki Mi Gi Ti.*from 6Mi/),
      expect.stringMatching(/^spec\.resources\.pids: 1 is refused; accepted: .*from 2/),
    ]);
  });

  it('[L3] refuses an unknown key and lists the known ones', () => {
    const result = limitsOf({ resources: { cpus: 1, Memory: '1Gi' } });
    expect(errorsOf(result)).toEqual([
      'spec.resources: unknown key "cpus"; accepted keys: cpu, memory, pids',
      'spec.resources: unknown key "Memory"; accepted keys: cpu, memory, pids',
    ]);
    expect(describeErrors(hasErrors(result) ? result.errors : [])).toContain(
      '; spec.resources: unknown key "Memory"',
    );
  });

  it('[L3] refuses keys that every JavaScript object seems to have', () => {
    expect(errorsOf(limitsOf({ resources: JSON.parse('{"constructor": 1, "__proto__": 1}') }))).toHaveLength(
      2,
    );
  });

  it('names the field it was told', () => {
    expect(errorsOf(limitsOf({ resources: { cpu: 0 } }, 'spec.reserved'))[0]).toMatch(
      /^spec\.reserved\.cpu: 0 /,
    );
  });
});

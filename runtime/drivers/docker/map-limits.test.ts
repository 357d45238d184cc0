import { describe, expect, it } from 'vitest';
import { limitsForCreate, limitsForUpdate, limitsFromInspect } from './map-limits.ts';

const MIB = 1048576;

describe('limits for create', () => {
  it('[L2] none is said as none, for each', () => {
    expect(limitsForCreate({})).toEqual({
      Memory: 0,
      MemorySwap: 0,
      CpuPeriod: 0,
      CpuQuota: 0,
      PidsLimit: 0,
    });
  });

  it('[L4] the total of memory and swap is always sent', () => {
    expect(limitsForCreate({ memoryBytes: 64 * MIB })).toMatchObject({ MemorySwap: 64 * MIB });
    expect(limitsForCreate({ memoryBytes: 64 * MIB, memorySwapBytes: 80 * MIB })).toMatchObject({
      MemorySwap: 80 * MIB,
    });
  });

  it.each([
    [10, 1000],
    [500, 50_000],
    [1500, 150_000],
  ])('[L1] %i milli-CPU go as a quota, never as NanoCpus', (_milli, quota) => {
    const body = limitsForCreate({ cpuQuotaMicros: quota, cpuPeriodMicros: 100_000 });
    expect(body).toMatchObject({ CpuQuota: quota, CpuPeriod: 100_000 });
    expect(body).not.toHaveProperty('NanoCpus');
  });

  it('a quota without a period has the usual one', () => {
    expect(limitsForCreate({ cpuQuotaMicros: 50_000 })).toMatchObject({ CpuPeriod: 100_000 });
  });
});

describe('limits for update', () => {
  it('[K11] none is said so that the daemon takes it for none, not for "as it is"', () => {
    const body = limitsForUpdate({});
    expect(Object.values(body).every((value) => value !== 0)).toBe(true);
    expect(body).toMatchObject({ CpuQuota: -1, PidsLimit: -1 });
    // Memory: -1 is refused, and the total goes to the kernel only where it is positive.
    expect(body.Memory).toBeGreaterThanOrEqual(2 ** 62);
    expect(body.MemorySwap).toBeGreaterThan(body.Memory);
    expect(BigInt(body.MemorySwap)).toBeLessThan(2n ** 63n);
    expect(BigInt(JSON.stringify(body.MemorySwap))).toBeLessThan(2n ** 63n);
    expect(limitsFromInspect(body)).toEqual({});
  });

  it('[L4] memory and the total go together', () => {
    expect(limitsForUpdate({ memoryBytes: 64 * MIB })).toMatchObject({
      Memory: 64 * MIB,
      MemorySwap: 64 * MIB,
    });
    expect(limitsForUpdate({ memoryBytes: 64 * MIB, memorySwapBytes: 65 * MIB })).toMatchObject({
      MemorySwap: 65 * MIB,
    });
  });
});

describe('limits of inspect', () => {
  it.each([
    ['0', 0],
    ['-1', -1],
    ['null', null],
    ['nothing', undefined],
  ])('[L5] %s is no limit', (_says, value) => {
    expect(
      limitsFromInspect({
        Memory: value,
        MemorySwap: value,
        CpuQuota: value,
        CpuPeriod: value,
        NanoCpus: value,
        PidsLimit: value,
      }),
    ).toEqual({});
  });

  it('reads what create was told back', () => {
    const limits = {
      memoryBytes: 64 * MIB,
      memorySwapBytes: 64 * MIB,
      cpuQuotaMicros: 1000,
      cpuPeriodMicros: 100_000,
      pids: 2,
    };
    expect(limitsFromInspect(limitsForCreate(limits))).toEqual(limits);
  });

  it('[L4] a total that was dropped is not there', () => {
    expect(limitsFromInspect({ Memory: 64 * MIB, MemorySwap: -1 })).toEqual({ memoryBytes: 64 * MIB });
  });

  it('[L12] CPUs that somebody set with docker update --cpus are a quota', () => {
    expect(limitsFromInspect({ NanoCpus: 1_500_000_000, CpuQuota: 0, CpuPeriod: 0 })).toEqual({
      cpuQuotaMicros: 150_000,
      cpuPeriodMicros: 100_000,
    });
  });

  it('a quota without a period counts in the usual one', () => {
    expect(limitsFromInspect({ CpuQuota: 50_000, CpuPeriod: 0 })).toEqual({
      cpuQuotaMicros: 50_000,
      cpuPeriodMicros: 100_000,
    });
  });
});

import { describe, expect, it } from 'vitest';
import type { NodeRuntime } from '../../../crds/sandbox-node.ts';
import { inspectMismatches, kernelLimits, requestedLimits, unenforceable } from './requested-limits.ts';

type Can = NodeRuntime['limits'];
const can = (changed: Partial<Record<keyof Can, 'Yes' | 'No' | 'Unknown'>> = {}): Can => {
  const one = (name: keyof Can): Can['cpu'] => ({
    enforced: changed[name] ?? 'Yes',
    reason: `about ${name}`,
  });
  return { cpu: one('cpu'), memory: one('memory'), swap: one('swap'), pids: one('pids') };
};
const MIB = 1024 * 1024;

describe('requested limits', () => {
  it('[L4] hold swap to the memory limit where the runtime can', () => {
    expect(requestedLimits({ memoryBytes: 64 * MIB }, can())).toMatchObject({
      memoryBytes: 64 * MIB,
      memorySwapBytes: 64 * MIB,
      swapHeld: true,
    });
  });

  it('[L4] say nothing about swap where it cannot', () => {
    const asked = requestedLimits({ memoryBytes: 64 * MIB }, can({ swap: 'No' }));
    expect(asked.memorySwapBytes).toBeUndefined();
    expect(asked.swapHeld).toBe(false);
  });

  it.each([
    [10, 1000],
    [500, 50_000],
    [1500, 150_000],
    [155, 15_500],
  ])('turn %i thousandths of a CPU into %i of 100000', (cpuMillis, quota) => {
    expect(requestedLimits({ cpuMillis }, can())).toMatchObject({
      cpuQuotaMicros: quota,
      cpuPeriodMicros: 100_000,
    });
  });

  it('[L8] have the default on processes where it can be held', () => {
    expect(requestedLimits({}, can())).toMatchObject({ pids: 2048, pidsDefaulted: true });
  });

  it.each(['No', 'Unknown'] as const)('[L8] leave the default out where the runtime says %s', (pids) => {
    expect(requestedLimits({}, can({ pids })).pids).toBeUndefined();
  });

  it('take what the spec says over the default', () => {
    expect(requestedLimits({ pids: 16 }, can())).toMatchObject({ pids: 16, pidsDefaulted: false });
  });
});

describe('what cannot be enforced', () => {
  it('[L5] is each limit that the runtime cannot hold, and only those that were asked for', () => {
    const missing = unenforceable({ cpuMillis: 500, pids: 8 }, can({ cpu: 'No', memory: 'No', pids: 'No' }));
    expect(missing.map((one) => one.limit)).toEqual(['cpu', 'pids']);
  });

  it('[L7] counts an unreadable answer as not enforced', () => {
    expect(unenforceable({ memoryBytes: 1 }, can({ memory: 'Unknown' }))).toMatchObject([{ unknown: true }]);
  });

  it('[L7] is nothing for a sandbox without limits, whatever the runtime says', () => {
    expect(unenforceable({}, can({ memory: 'Unknown', cpu: 'Unknown', pids: 'Unknown' }))).toEqual([]);
  });
});

describe('what inspect says', () => {
  const asked = {
    memoryBytes: 64 * MIB,
    memorySwapBytes: 64 * MIB,
    cpuQuotaMicros: 50_000,
    cpuPeriodMicros: 100_000,
    pids: 32,
  };

  it('[L5] is fine when it repeats what was asked for', () => {
    expect(inspectMismatches(asked, asked)).toEqual([]);
  });

  it('[L5] is fine with the same share of a CPU in another period', () => {
    expect(inspectMismatches(asked, { ...asked, cpuQuotaMicros: 25_000, cpuPeriodMicros: 50_000 })).toEqual(
      [],
    );
  });

  it.each(['memoryBytes', 'memorySwapBytes', 'cpuQuotaMicros', 'pids'] as const)(
    '[L5] is a mismatch when %s was dropped in silence',
    (key) => {
      const { [key]: _dropped, ...told } = asked;
      expect(inspectMismatches(asked, told)).toHaveLength(1);
    },
  );

  it('[L5] is no mismatch where nothing was asked for', () => {
    expect(inspectMismatches({}, asked)).toEqual([]);
  });

  it('[L5] says which setting, what was asked for, and what the runtime has', () => {
    expect(
      inspectMismatches(asked, { memoryBytes: 1, memorySwapBytes: -1, pids: 0, cpuQuotaMicros: 1 }),
    ).toEqual([
      'memory: asked for 67108864, the runtime has 1',
      'memory and swap: asked for 67108864, the runtime has -1',
      'pids: asked for 32, the runtime has 0',
      'cpu quota in 100 ms: asked for 50000, the runtime has 1',
    ]);
    expect(inspectMismatches(asked, {})).toEqual([
      'memory: asked for 67108864, the runtime has none',
      'memory and swap: asked for 67108864, the runtime has none',
      'pids: asked for 32, the runtime has none',
      'cpu quota in 100 ms: asked for 50000, the runtime has none',
    ]);
  });

  it('[L5] a quota without a period is one in 100 ms', () => {
    expect(inspectMismatches(asked, { ...asked, cpuPeriodMicros: undefined as unknown as number })).toEqual(
      [],
    );
  });
});

describe('what is asked of the runtime', () => {
  it('[L2] is nothing where the spec says nothing and the default cannot be held', () => {
    expect(requestedLimits({}, can({ pids: 'No' }))).toEqual({ pidsDefaulted: false, swapHeld: true });
  });

  it('has no word about how it came to be', () => {
    expect(kernelLimits(requestedLimits({ memoryBytes: MIB, pids: 4 }, can()))).toEqual({
      memoryBytes: MIB,
      memorySwapBytes: MIB,
      pids: 4,
    });
  });
});

describe('why a limit cannot be enforced', () => {
  it('[L5] [L7] is the reason and the remedy of the node, where it has one', () => {
    const limits = can({ memory: 'No', cpu: 'Unknown' });
    limits.memory.fix = 'boot with cgroup_enable=memory';
    expect(unenforceable({ memoryBytes: 1, cpuMillis: 1 }, limits)).toEqual([
      { limit: 'cpu', unknown: true, why: 'about cpu' },
      { limit: 'memory', unknown: false, why: 'about memory', fix: 'boot with cgroup_enable=memory' },
    ]);
  });
});

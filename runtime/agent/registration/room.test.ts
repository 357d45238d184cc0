import { describe, expect, it } from 'vitest';
import type { Sandbox } from '../../../crds/sandbox.ts';
import { amountInForce, amountOf, lackOfRoom, type RoomQuestion } from './room.ts';

const GI = 1024 ** 3;
const none = { cpuMillis: 0, memoryBytes: 0 };
const ask = (more: Partial<RoomQuestion>): string | undefined =>
  lackOfRoom({
    want: {},
    has: none,
    others: none,
    total: { cpus: 4, memoryBytes: 8 * GI },
    reserved: undefined,
    ...more,
  });

describe('the room of a node', () => {
  it('[K4] is the total of the runtime less what is reserved less the other sandboxes', () => {
    const others = { cpuMillis: 1000, memoryBytes: 2 * GI };
    const reserved = { cpu: '500m', memory: '1Gi' };
    const fits = { memoryBytes: 5 * GI, cpuMillis: 2500 };
    expect(ask({ want: fits, others, reserved })).toBeUndefined();
    expect(ask({ want: { ...fits, memoryBytes: 5 * GI + 1 }, others, reserved })).toContain('memory: 5Gi');
    expect(ask({ want: { ...fits, cpuMillis: 2501 }, others, reserved })).toBe(
      'cpu: 2.501 asked for, 2.5 left of 4 (other sandboxes 1, reserved 0.5)',
    );
  });

  it('[K4] names every figure and every limit that does not fit', () => {
    expect(ask({ want: { memoryBytes: 64 * GI, cpuMillis: 9000 } })).toBe(
      'memory: 64Gi asked for, 8Gi left of 8Gi (other sandboxes 0, reserved 0); ' +
        'cpu: 9 asked for, 4 left of 4 (other sandboxes 0, reserved 0)',
    );
  });

  it('[K4] never stands in the way of less than there is, however full the node is', () => {
    const full = { cpuMillis: 9000, memoryBytes: 20 * GI };
    const has = { cpuMillis: 1000, memoryBytes: GI };
    expect(ask({ want: { memoryBytes: GI, cpuMillis: 1000 }, has, others: full })).toBeUndefined();
    expect(ask({ want: { memoryBytes: GI / 2 }, has, others: full })).toBeUndefined();
    expect(ask({ want: { memoryBytes: GI + 1 }, has, others: full })).toContain('0 left of 8Gi');
  });

  it('[K4] cannot be judged where the runtime does not say what it has', () => {
    expect(ask({ want: { memoryBytes: 64 * GI, cpuMillis: 9000 }, total: {} })).toBeUndefined();
  });
});

describe('what another sandbox needs', () => {
  const sandbox = (memory: string, over = false): Sandbox =>
    ({
      metadata: { name: 's' },
      spec: { image: 'i', resources: { memory, cpu: '500m' } },
      status: { conditions: [{ type: 'Complete', status: over ? 'True' : 'False' }] },
    }) as unknown as Sandbox;
  const inForce = {
    memoryBytes: 2 * GI,
    cpuQuotaMicros: 100_000,
    cpuPeriodMicros: 100_000,
    pidsDefaulted: false,
    swapHeld: true,
  };

  it('[K4] is the larger of what it has and what it asks for', () => {
    expect(amountOf(sandbox('1Gi'), undefined, false)).toEqual({ cpuMillis: 500, memoryBytes: GI });
    expect(amountOf(sandbox('1Gi'), inForce, false)).toEqual({ cpuMillis: 1000, memoryBytes: 2 * GI });
    expect(amountOf(sandbox('3Gi'), inForce, false)).toEqual({ cpuMillis: 1000, memoryBytes: 3 * GI });
  });

  it('[K4] is what it has where what it asks for was not to be had', () => {
    expect(amountOf(sandbox('64Gi'), inForce, true)).toEqual(amountInForce(inForce));
  });

  it('[K4] is nothing once it has ended', () => {
    expect(amountOf(sandbox('1Gi', true), inForce, false)).toEqual(none);
  });
});

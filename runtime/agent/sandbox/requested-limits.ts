import { DEFAULT_PIDS, type Limits } from '../../../crds/limits.ts';
import type { NodeRuntime } from '../../../crds/sandbox-node.ts';
import type { KernelLimits } from '../../driver.ts';
import type { RequestedLimits } from '../ledger/record.ts';

const PERIOD_MICROS = 100_000;

/** What is asked of the runtime, in the kernel's terms, so that no default of a daemon's decides (L4, L8). */
export function requestedLimits(limits: Limits, can: NodeRuntime['limits']): RequestedLimits {
  const swapHeld = can.swap.enforced === 'Yes';
  const requested: RequestedLimits = { pidsDefaulted: false, swapHeld };
  if (limits.memoryBytes !== undefined) {
    requested.memoryBytes = limits.memoryBytes;
    if (swapHeld) requested.memorySwapBytes = limits.memoryBytes;
  }
  if (limits.cpuMillis !== undefined) {
    requested.cpuQuotaMicros = Math.round((limits.cpuMillis * PERIOD_MICROS) / 1000);
    requested.cpuPeriodMicros = PERIOD_MICROS;
  }
  if (limits.pids !== undefined) requested.pids = limits.pids;
  else if (can.pids.enforced === 'Yes') {
    requested.pids = DEFAULT_PIDS;
    requested.pidsDefaulted = true;
  }
  return requested;
}

/** Only what a runtime is told. */
export function kernelLimits(requested: RequestedLimits): KernelLimits {
  const { pidsDefaulted: _pids, swapHeld: _swap, ...limits } = requested;
  return limits;
}

export interface Unenforceable {
  limit: 'cpu' | 'memory' | 'pids';
  unknown: boolean;
  why: string;
  fix?: string;
}

/** The limits of the spec that the runtime cannot enforce, as far as it says (L5, L7). */
export function unenforceable(limits: Limits, can: NodeRuntime['limits']): Unenforceable[] {
  const asked = [
    ['cpu', limits.cpuMillis],
    ['memory', limits.memoryBytes],
    ['pids', limits.pids],
  ] as const;
  return asked.flatMap(([limit, value]) => {
    const capability = can[limit];
    if (value === undefined || capability.enforced === 'Yes') return [];
    return [
      {
        limit,
        unknown: capability.enforced === 'Unknown',
        why: capability.reason,
        ...(capability.fix === undefined ? {} : { fix: capability.fix }),
      },
    ];
  });
}

/** The settings that the runtime says it made and that are not the ones asked for (L5). */
export function inspectMismatches(asked: KernelLimits, told: KernelLimits): string[] {
  const lines: string[] = [];
  const compare = (name: string, want: number | undefined, have: number | undefined): void => {
    if (want !== undefined && want !== have) {
      lines.push(`${name}: asked for ${want}, the runtime has ${have ?? 'none'}`);
    }
  };
  compare('memory', asked.memoryBytes, told.memoryBytes);
  compare('memory and swap', asked.memorySwapBytes, told.memorySwapBytes);
  compare('pids', asked.pids, told.pids);
  if (asked.cpuQuotaMicros !== undefined) {
    // 50000 of 100000 and 25000 of 50000 are the same half CPU.
    const period = told.cpuPeriodMicros ?? PERIOD_MICROS;
    const have =
      told.cpuQuotaMicros === undefined ? undefined : (told.cpuQuotaMicros * PERIOD_MICROS) / period;
    compare('cpu quota in 100 ms', asked.cpuQuotaMicros, have);
  }
  return lines;
}

import type { KernelLimits } from '../../driver.ts';

/** The limits of a HostConfig, as sent at create and update and as inspect answers them. */
export interface DockerLimits {
  Memory: number;
  MemorySwap: number;
  CpuPeriod: number;
  CpuQuota: number;
  PidsLimit: number;
}

const DEFAULT_CPU_PERIOD_MICROS = 100_000;

/**
 * More than any machine has, for taking a memory limit away: as doubles exact, as pages whole. The total is larger,
 * as cgroup v2 is given the difference as the limit of swap.
 */
const NO_MEMORY_LIMIT = 2 ** 62;
const NO_TOTAL_LIMIT = 2 ** 63 - 4096;

/**
 * For create. Each is sent even where there is none: left out, a daemon's default would count.
 * - `MemorySwap` is memory and swap together. Left out it would be twice the memory, so it is always sent, and held
 *   to the memory where the caller knows of no swap control: a daemon without it drops it (inspect then says -1),
 *   one that has got it since holds it.
 * - CPU goes as quota and period: of NanoCpus, 1 to 9990 mean no limit at all, and the error without a cpu
 *   controller is a 400 where quota is dropped like the others and shows in inspect.
 */
export function limitsForCreate(limits: KernelLimits): DockerLimits {
  return {
    Memory: limits.memoryBytes ?? 0,
    MemorySwap: limits.memorySwapBytes ?? limits.memoryBytes ?? 0,
    CpuPeriod: limits.cpuQuotaMicros === undefined ? 0 : periodOf(limits),
    CpuQuota: limits.cpuQuotaMicros ?? 0,
    PidsLimit: limits.pids ?? 0,
  };
}

/**
 * For update, where 0 means "as it is" and -1 "none"; but not for memory, where -1 is refused (and for the total it is
 * accepted and never passed on). Memory and swap go in one request: by themselves either order is refused in one
 * direction (new memory above the old total, new total below the old memory).
 */
export function limitsForUpdate(limits: KernelLimits): DockerLimits {
  return {
    Memory: limits.memoryBytes ?? NO_MEMORY_LIMIT,
    MemorySwap: limits.memorySwapBytes ?? limits.memoryBytes ?? NO_TOTAL_LIMIT,
    CpuPeriod: periodOf(limits),
    CpuQuota: limits.cpuQuotaMicros ?? -1,
    PidsLimit: limits.pids ?? -1,
  };
}

/** What inspect says is in force. 0, -1 and null all mean none. */
export function limitsFromInspect(host: {
  Memory?: number | null | undefined;
  MemorySwap?: number | null | undefined;
  CpuPeriod?: number | null | undefined;
  CpuQuota?: number | null | undefined;
  NanoCpus?: number | null | undefined;
  PidsLimit?: number | null | undefined;
}): KernelLimits {
  const limits: KernelLimits = {};
  const memory = positive(host.Memory);
  if (memory !== undefined && memory < NO_MEMORY_LIMIT) limits.memoryBytes = memory;
  const swap = positive(host.MemorySwap);
  if (swap !== undefined && swap < NO_MEMORY_LIMIT) limits.memorySwapBytes = swap;
  const quota = positive(host.CpuQuota);
  const nano = positive(host.NanoCpus);
  if (quota !== undefined) {
    limits.cpuQuotaMicros = quota;
    limits.cpuPeriodMicros = positive(host.CpuPeriod) ?? DEFAULT_CPU_PERIOD_MICROS;
  } else if (nano !== undefined) {
    // Set by someone else, with `docker update --cpus`.
    limits.cpuPeriodMicros = DEFAULT_CPU_PERIOD_MICROS;
    limits.cpuQuotaMicros = Math.floor((nano * DEFAULT_CPU_PERIOD_MICROS) / 1e9);
  }
  const pids = positive(host.PidsLimit);
  if (pids !== undefined) limits.pids = pids;
  return limits;
}

function periodOf(limits: KernelLimits): number {
  return limits.cpuPeriodMicros ?? DEFAULT_CPU_PERIOD_MICROS;
}

function positive(value: number | null | undefined): number | undefined {
  return typeof value === 'number' && value > 0 ? value : undefined;
}

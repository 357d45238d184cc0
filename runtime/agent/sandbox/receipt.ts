import type { LimitsStatus, ReceiptEntry } from '../../../crds/limits-status.ts';
import type { FileReading } from '../../link/types.ts';
import type { RequestedLimits } from '../ledger/record.ts';
import type { LimitFiles } from './cgroup-paths.ts';

/** What the kernel has, set against what was asked for (L5, L11). */
export interface Receipt {
  entries: ReceiptEntry[];
  /** Sentences; any of them means that user code does not run. */
  mismatches: string[];
  /** Files of requested limits that could not be read. */
  unread: string[];
  limits: LimitsStatus;
}

export interface ReceiptInput {
  requested: RequestedLimits;
  files: LimitFiles;
  readings: FileReading[];
  pageBytes: number;
  /** systemd keeps a CPU quota in steps of 10 ms for each second. */
  systemd: boolean;
  time: string;
}

/** Every path that has to be read for a receipt. */
export function receiptPaths(files: LimitFiles): string[] {
  return [
    files.memory,
    files.swap,
    files.cpuQuota,
    files.pids,
    ...(files.cpuPeriod ? [files.cpuPeriod] : []),
  ];
}

export function makeReceipt(input: ReceiptInput): Receipt {
  const { requested, files } = input;
  const read = new Map(input.readings.map((reading) => [reading.path, reading]));
  const receipt: Receipt = { entries: [], mismatches: [], unread: [], limits: {} };
  const content = (path: string): string | undefined => {
    const reading = read.get(path);
    return reading !== undefined && 'content' in reading ? reading.content.trim() : undefined;
  };
  const errno = (path: string): string => {
    const reading = read.get(path);
    return reading !== undefined && 'errno' in reading ? reading.errno : 'not read';
  };
  const check = (
    limit: ReceiptEntry['limit'],
    path: string,
    applied: string | undefined,
    want: { shown: string; accepted: string[] } | undefined,
  ): void => {
    if (applied === undefined) {
      if (want !== undefined) receipt.unread.push(`${limit}: ${path} could not be read (${errno(path)})`);
      return;
    }
    receipt.entries.push({
      limit,
      ...(want === undefined ? {} : { requested: want.shown }),
      applied,
      file: path,
      value: content(path) ?? '',
      time: input.time,
    });
    if (want !== undefined && !want.accepted.includes(applied)) {
      receipt.mismatches.push(`${limit}: asked for ${want.shown}, ${path} has ${applied}`);
    }
  };

  const bytes = requested.memoryBytes;
  const memory = bytesIn(content(files.memory));
  check('memory', files.memory, memory, bytes === undefined ? undefined : wantBytes(bytes, input.pageBytes));

  const swap = bytesIn(content(files.swap));
  check('swap', files.swap, swap, wantSwap(input));

  const cpu =
    files.cpuPeriod === undefined
      ? cpuMax(content(files.cpuQuota))
      : cfs(content(files.cpuQuota), content(files.cpuPeriod));
  check('cpu', files.cpuQuota, cpu, wantCpu(input));

  const pids = content(files.pids);
  check(
    'pids',
    files.pids,
    pids,
    requested.pids === undefined
      ? undefined
      : { shown: String(requested.pids), accepted: [String(requested.pids)] },
  );

  receipt.limits = limitsStatus(receipt.entries, requested, files.version);
  return receipt;
}

function wantBytes(bytes: number, page: number): { shown: string; accepted: string[] } {
  return { shown: String(bytes), accepted: [String(bytes), String(Math.floor(bytes / page) * page)] };
}

/** v2 counts swap apart: held means none at all. v1 counts memory and swap together: held means the memory limit. */
function wantSwap(input: ReceiptInput): { shown: string; accepted: string[] } | undefined {
  const { memoryBytes, memorySwapBytes } = input.requested;
  if (memoryBytes === undefined || memorySwapBytes === undefined) return undefined;
  if (input.files.version === 1) return wantBytes(memorySwapBytes, input.pageBytes);
  return wantBytes(memorySwapBytes - memoryBytes, input.pageBytes);
}

function wantCpu(input: ReceiptInput): { shown: string; accepted: string[] } | undefined {
  const { cpuQuotaMicros: quota, cpuPeriodMicros: period } = input.requested;
  if (quota === undefined || period === undefined) return undefined;
  const shown = `${quota} ${period}`;
  if (!input.systemd) return { shown, accepted: [shown] };
  const perSecond = Math.ceil((quota * 1_000_000) / period / 10_000) * 10_000;
  return { shown, accepted: [shown, `${(perSecond * period) / 1_000_000} ${period}`] };
}

/** v1 writes "no limit" as the largest whole number of pages. */
const V1_UNLIMITED_FROM = 2n ** 62n;

function bytesIn(content: string | undefined): string | undefined {
  if (content === undefined) return undefined;
  if (!/^\d+$/.test(content)) return content;
  return BigInt(content) >= V1_UNLIMITED_FROM ? 'max' : content;
}

function cpuMax(content: string | undefined): string | undefined {
  if (content === undefined) return undefined;
  return content.startsWith('max') ? 'max' : content;
}

function cfs(quota: string | undefined, period: string | undefined): string | undefined {
  if (quota === undefined || period === undefined) return undefined;
  return quota === '-1' ? 'max' : `${quota} ${period}`;
}

function limitsStatus(entries: ReceiptEntry[], requested: RequestedLimits, version: 1 | 2): LimitsStatus {
  const applied = (limit: ReceiptEntry['limit']): string | undefined => {
    const value = entries.find((entry) => entry.limit === limit)?.applied;
    return value === 'max' ? undefined : value;
  };
  const status: LimitsStatus = {};
  const memory = applied('memory');
  if (memory !== undefined) {
    status.memoryBytes = Number(memory);
    const swap = applied('swap');
    const held = swap !== undefined && (version === 2 ? swap === '0' : BigInt(swap) <= BigInt(memory));
    status.swap = held ? 'Held' : 'Unbounded';
  }
  const cpu = applied('cpu')?.split(' ').map(Number);
  if (cpu?.[0] !== undefined && cpu[1] !== undefined) {
    status.cpuQuotaMicros = cpu[0];
    status.cpuPeriodMicros = cpu[1];
  }
  const pids = applied('pids');
  if (pids !== undefined) {
    status.pids = Number(pids);
    status.pidsDefaulted = requested.pidsDefaulted;
  }
  status.summary = summary(status);
  status.receipt = entries;
  return status;
}

/** "512Mi memory (swap unbounded), 0.5 CPU, 64 processes". */
function summary(status: LimitsStatus): string {
  const parts: string[] = [];
  if (status.memoryBytes !== undefined) {
    parts.push(`${formatBytes(status.memoryBytes)} ${memoryWord(status)}`);
  }
  if (status.cpuQuotaMicros !== undefined && status.cpuPeriodMicros !== undefined) {
    parts.push(`${status.cpuQuotaMicros / status.cpuPeriodMicros} CPU`);
  }
  if (status.pids !== undefined) {
    parts.push(`${status.pids} processes${status.pidsDefaulted === true ? ' (default)' : ''}`);
  }
  return parts.length === 0 ? 'no limits' : parts.join(', ');
}

/** L4: every place that names the limit says so where swap is not held. */
function memoryWord(status: Pick<LimitsStatus, 'swap'>): string {
  return status.swap === 'Unbounded' ? 'memory (swap unbounded)' : 'memory';
}

function formatBytes(bytes: number): string {
  for (const [unit, size] of [
    ['Ti', 1024 ** 4],
    ['Gi', 1024 ** 3],
    ['Mi', 1024 ** 2],
    ['Ki', 1024],
  ] as const) {
    if (bytes >= size && bytes % size === 0) return `${bytes / size}${unit}`;
  }
  return `${bytes} B`;
}

import { describe, expect, it } from 'vitest';
import type { FileReading } from '../../link/types.ts';
import type { RequestedLimits } from '../ledger/record.ts';
import { limitFiles } from './cgroup-paths.ts';
import { makeReceipt, receiptPaths } from './receipt.ts';

const V1 = '4:memory:/lab/abc\n5:cpu,cpuacct:/lab/abc\n8:pids:/lab/abc\n0::/\n';
const V2 = '0::/holdfast/u1/abc\n';

function receipt(
  cgroup: string,
  version: 1 | 2,
  requested: Partial<RequestedLimits>,
  contents: Record<string, string>,
  options: { systemd?: boolean } = {},
): ReturnType<typeof makeReceipt> {
  const files = limitFiles(cgroup, version);
  if (files === undefined) throw new Error('no files');
  const readings = receiptPaths(files).map((path): FileReading => {
    const content = contents[path.slice(path.lastIndexOf('/') + 1)];
    return content === undefined ? { path, errno: 'ENOENT' } : { path, content: `${content}\n` };
  });
  return makeReceipt({
    requested: { pidsDefaulted: false, swapHeld: true, ...requested },
    files,
    readings,
    pageBytes: 4096,
    systemd: options.systemd ?? false,
    time: '2026-01-01T00:00:00Z',
  });
}

const MIB = 1024 * 1024;
const ALL: Partial<RequestedLimits> = {
  memoryBytes: 64 * MIB,
  memorySwapBytes: 64 * MIB,
  cpuQuotaMicros: 50_000,
  cpuPeriodMicros: 100_000,
  pids: 32,
};
const V2_FILES = {
  'memory.max': String(64 * MIB),
  'memory.swap.max': '0',
  'cpu.max': '50000 100000',
  'pids.max': '32',
};
const V1_FILES = {
  'memory.limit_in_bytes': String(64 * MIB),
  'memory.memsw.limit_in_bytes': String(64 * MIB),
  'cpu.cfs_quota_us': '50000',
  'cpu.cfs_period_us': '100000',
  'pids.max': '32',
};

describe('receipt', () => {
  it('[L11] says what the kernel has on cgroup v2, and where', () => {
    const made = receipt(V2, 2, ALL, V2_FILES);
    expect(made.mismatches).toEqual([]);
    expect(made.unread).toEqual([]);
    expect(made.limits).toMatchObject({
      memoryBytes: 64 * MIB,
      swap: 'Held',
      cpuQuotaMicros: 50_000,
      cpuPeriodMicros: 100_000,
      pids: 32,
      summary: '64Mi memory, 0.5 CPU, 32 processes',
    });
    expect(made.entries[0]).toEqual({
      limit: 'memory',
      requested: String(64 * MIB),
      applied: String(64 * MIB),
      file: '/sys/fs/cgroup/holdfast/u1/abc/memory.max',
      value: String(64 * MIB),
      time: '2026-01-01T00:00:00Z',
    });
  });

  it('[L11] says the same on cgroup v1, each file in its own hierarchy', () => {
    const made = receipt(V1, 1, ALL, V1_FILES);
    expect(made.mismatches).toEqual([]);
    expect(made.limits).toMatchObject({ memoryBytes: 64 * MIB, swap: 'Held', pids: 32 });
    expect(made.entries.map((one) => one.file)).toEqual([
      '/sys/fs/cgroup/memory/lab/abc/memory.limit_in_bytes',
      '/sys/fs/cgroup/memory/lab/abc/memory.memsw.limit_in_bytes',
      '/sys/fs/cgroup/cpu/lab/abc/cpu.cfs_quota_us',
      '/sys/fs/cgroup/pids/lab/abc/pids.max',
    ]);
  });

  it.each([
    ['memory is unlimited', { 'memory.max': 'max' }],
    ['memory is another', { 'memory.max': String(128 * MIB) }],
    ['memory is less', { 'memory.max': String(64 * MIB - 4096) }],
    ['swap is not held', { 'memory.swap.max': 'max' }],
    ['the quota is another', { 'cpu.max': '60000 100000' }],
    ['there is no quota', { 'cpu.max': 'max 100000' }],
    ['the period is another', { 'cpu.max': '50000 50000' }],
    ['processes are unlimited', { 'pids.max': 'max' }],
  ])('[L5] is a mismatch when %s', (_what, changed) => {
    expect(receipt(V2, 2, ALL, { ...V2_FILES, ...changed }).mismatches).toHaveLength(1);
  });

  it.each(['memory.max', 'memory.swap.max', 'cpu.max', 'pids.max'])(
    '[L5] does not take a %s that cannot be read for a limit in force',
    (file) => {
      const { [file]: _gone, ...rest } = V2_FILES as Record<string, string>;
      expect(receipt(V2, 2, ALL, rest).unread).toHaveLength(1);
    },
  );

  it('[L5] takes memory that the kernel rounded down to the page, and shows the rounded figure', () => {
    const made = receipt(
      V2,
      2,
      { memoryBytes: 64 * MIB + 1000, memorySwapBytes: 64 * MIB + 1000 },
      { ...V2_FILES, 'pids.max': 'max', 'cpu.max': 'max 100000' },
    );
    expect(made.mismatches).toEqual([]);
    expect(made.limits.memoryBytes).toBe(64 * MIB);
  });

  it('[L5] takes a CPU quota rounded up to 10 ms under systemd, and nowhere else', () => {
    const asked = { cpuQuotaMicros: 15_500, cpuPeriodMicros: 100_000 };
    const files = { ...V2_FILES, 'cpu.max': '16000 100000' };
    expect(receipt(V2, 2, asked, files, { systemd: true }).mismatches).toEqual([]);
    expect(receipt(V2, 2, asked, files).mismatches).toHaveLength(1);
  });

  it('[L4] says that swap is unbounded where it was not asked to be held', () => {
    const made = receipt(V2, 2, { memoryBytes: 64 * MIB }, { ...V2_FILES, 'memory.swap.max': 'max' });
    expect(made.mismatches).toEqual([]);
    expect(made.limits.swap).toBe('Unbounded');
    expect(made.limits.summary).toContain('memory (swap unbounded)');
  });

  it('[L4] says the same where there is no swap accounting at all', () => {
    const { 'memory.memsw.limit_in_bytes': _gone, ...rest } = V1_FILES;
    const made = receipt(V1, 1, { memoryBytes: 64 * MIB }, rest);
    expect(made.unread).toEqual([]);
    expect(made.limits.swap).toBe('Unbounded');
  });

  it('reads "no limit" of cgroup v1, which is a large number', () => {
    const made = receipt(
      V1,
      1,
      {},
      {
        'memory.limit_in_bytes': '9223372036854771712',
        'memory.memsw.limit_in_bytes': '9223372036854771712',
        'cpu.cfs_quota_us': '-1',
        'cpu.cfs_period_us': '100000',
        'pids.max': 'max',
      },
    );
    expect(made.entries.map((one) => one.applied)).toEqual(['max', 'max', 'max', 'max']);
    expect(made.limits.summary).toBe('no limits');
  });

  it('has no entry for a controller that the host does not have and nobody asked for', () => {
    const made = receipt(V2, 2, { pids: 32 }, { 'pids.max': '32' });
    expect(made.unread).toEqual([]);
    expect(made.entries.map((one) => one.limit)).toEqual(['pids']);
  });

  it('[L8] marks the default on processes as such', () => {
    const made = receipt(V2, 2, { pids: 2048, pidsDefaulted: true }, { ...V2_FILES, 'pids.max': '2048' });
    expect(made.limits).toMatchObject({ pids: 2048, pidsDefaulted: true });
  });

  it('[L5] says what was asked for, where it was read, and what is there', () => {
    const wrong = {
      'memory.max': 'max',
      'memory.swap.max': 'max',
      'cpu.max': 'max 100000',
      'pids.max': 'max',
    };
    const at = '/sys/fs/cgroup/holdfast/u1/abc';
    expect(receipt(V2, 2, ALL, wrong).mismatches).toEqual([
      `memory: asked for 67108864, ${at}/memory.max has max`,
      `swap: asked for 0, ${at}/memory.swap.max has max`,
      `cpu: asked for 50000 100000, ${at}/cpu.max has max`,
      `pids: asked for 32, ${at}/pids.max has max`,
    ]);
    expect(receipt(V2, 2, ALL, {}).unread).toEqual([
      `memory: ${at}/memory.max could not be read (ENOENT)`,
      `swap: ${at}/memory.swap.max could not be read (ENOENT)`,
      `cpu: ${at}/cpu.max could not be read (ENOENT)`,
      `pids: ${at}/pids.max could not be read (ENOENT)`,
    ]);
  });

  it('[L5] says so where a file was not even asked about', () => {
    const files = limitFiles(V2, 2);
    if (files === undefined) throw new Error('no files');
    const requested = { pidsDefaulted: false, swapHeld: true, pids: 5 };
    const made = makeReceipt({ requested, files, readings: [], pageBytes: 4096, systemd: false, time: '' });
    expect(made.unread).toEqual([
      'pids: /sys/fs/cgroup/holdfast/u1/abc/pids.max could not be read (not read)',
    ]);
    expect(made.entries).toEqual([]);
  });

  it('[L11] the status has every entry, and what nobody asked for without a request', () => {
    const { entries, limits } = receipt(V2, 2, { pids: 32 }, V2_FILES);
    expect(limits.receipt).toBe(entries);
    expect(entries.map((one) => one.requested)).toEqual([undefined, undefined, undefined, '32']);
    expect(entries.map((one) => 'requested' in one)).toEqual([false, false, false, true]);
  });

  it('[L4] v1: swap that is not held to the memory limit is a mismatch, and unbounded', () => {
    const made = receipt(V1, 1, ALL, { ...V1_FILES, 'memory.memsw.limit_in_bytes': String(128 * MIB) });
    expect(made.mismatches).toEqual([
      'swap: asked for 67108864, /sys/fs/cgroup/memory/lab/abc/memory.memsw.limit_in_bytes has 134217728',
    ]);
    expect(made.limits.swap).toBe('Unbounded');
  });

  it('[L4] v2: swap that is limited and not held to nothing is unbounded in words', () => {
    const made = receipt(V2, 2, { memoryBytes: 64 * MIB }, { ...V2_FILES, 'memory.swap.max': '4096' });
    expect(made.limits.swap).toBe('Unbounded');
  });

  it('[L4] is asked for nothing about swap where no memory limit goes with it', () => {
    expect(receipt(V2, 2, { memorySwapBytes: 64 * MIB }, { 'memory.max': 'max' })).toMatchObject({
      unread: [],
      mismatches: [],
    });
  });

  it('says nothing of swap where there is no memory limit', () => {
    expect(receipt(V2, 2, {}, { 'memory.max': 'max', 'memory.swap.max': '0' }).limits).toEqual({
      summary: 'no limits',
      receipt: expect.any(Array) as unknown,
    });
  });

  it('[L5] v1: a quota without its period, or a period without its quota, was not read', () => {
    const { 'cpu.cfs_period_us': _period, ...noPeriod } = V1_FILES;
    const { 'cpu.cfs_quota_us': _quota, ...noQuota } = V1_FILES;
    for (const files of [noPeriod, noQuota]) {
      const made = receipt(V1, 1, ALL, files);
      expect(made.unread).toHaveLength(1);
      expect(made.limits.cpuQuotaMicros).toBeUndefined();
    }
    expect(receipt(V1, 1, { cpuQuotaMicros: 50_000 }, V1_FILES).mismatches).toEqual([]);
    expect(receipt(V1, 1, { cpuPeriodMicros: 1 }, V1_FILES).mismatches).toEqual([]);
  });

  it('v1: the largest whole number of pages is no limit, and a byte below it is one', () => {
    const memory = (bytes: bigint) =>
      receipt(V1, 1, {}, { 'memory.limit_in_bytes': String(bytes) }).entries[0]?.applied;
    expect([memory(2n ** 62n), memory(2n ** 62n - 1n)]).toEqual(['max', String(2n ** 62n - 1n)]);
  });

  it('[L5] systemd: a quota is rounded up to 10 ms of each second, and to no more', () => {
    const with10 = (quota: string) =>
      receipt(
        V2,
        2,
        { cpuQuotaMicros: 15_500, cpuPeriodMicros: 100_000 },
        { ...V2_FILES, 'cpu.max': `${quota} 100000` },
        { systemd: true },
      ).mismatches.length;
    expect(['15000', '15500', '16000', '17000'].map(with10)).toEqual([1, 0, 0, 1]);
  });

  it.each([
    [1024 ** 4, '1Ti'],
    [3 * 1024 ** 3, '3Gi'],
    [1536 * MIB, '1536Mi'],
    [1024, '1Ki'],
    [1023, '1023 B'],
    [1025, '1025 B'],
  ])('[L11] names %i bytes %s', (bytes, text) => {
    expect(receipt(V2, 2, {}, { 'memory.max': String(bytes), 'memory.swap.max': '0' }).limits.summary).toBe(
      `${text} memory`,
    );
  });

  it('[L8] the summary says which limit is a default', () => {
    const summary = (pidsDefaulted: boolean) =>
      receipt(V2, 2, { pids: 9, pidsDefaulted }, { 'pids.max': '9' }).limits.summary;
    expect([summary(true), summary(false)]).toEqual(['9 processes (default)', '9 processes']);
  });

  it('[L5] memory is rounded down to the page, never up', () => {
    const asked = { memoryBytes: 64 * MIB + 1000 };
    const has = (bytes: number) =>
      receipt(V2, 2, asked, { 'memory.max': String(bytes), 'memory.swap.max': '0' }).mismatches.length;
    expect([has(64 * MIB), has(64 * MIB + 1000), has(64 * MIB + 4096)]).toEqual([0, 0, 1]);
  });
});

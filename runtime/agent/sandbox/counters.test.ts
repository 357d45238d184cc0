import { describe, expect, it } from 'vitest';
import type { FileReading } from '../../link/types.ts';
import { counterFiles, limitFiles } from './cgroup-paths.ts';
import { counterPaths, readCounters } from './counters.ts';

const V1 = '4:memory:/lab/abc\n0::/\n';
const V2 = '0::/holdfast/u1/abc\n';

const readings = (paths: string[], contents: Record<string, string>): FileReading[] =>
  paths.map((path) => {
    const content = contents[path];
    return content === undefined ? { path, errno: 'ENOENT' } : { path, content };
  });

describe('counters', () => {
  it('[O6] of cgroup v2 are kills, own hits, the peak, and the kills of the parent', () => {
    const files = counterFiles(V2, 2);
    if (files === undefined) throw new Error('no files');
    const paths = counterPaths(files, '/holdfast/u1');
    const got = readCounters(
      files,
      '/holdfast/u1',
      readings(paths, {
        '/sys/fs/cgroup/holdfast/u1/abc/memory.events':
          'low 0\nhigh 0\nmax 39\noom 3\noom_kill 2\noom_group_kill 0\n',
        '/sys/fs/cgroup/holdfast/u1/abc/memory.events.local': 'low 0\nmax 39\noom 1\noom_kill 1\n',
        '/sys/fs/cgroup/holdfast/u1/abc/memory.peak': '33554432\n',
        '/sys/fs/cgroup/holdfast/u1/memory.events': 'oom 3\noom_kill 2\n',
      }),
    );
    expect(got).toMatchObject({ oomKills: 2, limitHits: 1, peakBytes: 33_554_432, parentOOMKills: 2 });
    expect(got.readings).toHaveLength(4);
  });

  it('[O6] of cgroup v1 are kills, both failcnts together, and the peak', () => {
    const files = counterFiles(V1, 1);
    if (files === undefined) throw new Error('no files');
    const got = readCounters(
      files,
      undefined,
      readings(counterPaths(files, undefined), {
        '/sys/fs/cgroup/memory/lab/abc/memory.oom_control': 'oom_kill_disable 0\nunder_oom 0\noom_kill 1\n',
        '/sys/fs/cgroup/memory/lab/abc/memory.failcnt': '5\n',
        '/sys/fs/cgroup/memory/lab/abc/memory.memsw.failcnt': '7\n',
        '/sys/fs/cgroup/memory/lab/abc/memory.max_usage_in_bytes': '100\n',
      }),
    );
    expect(got).toMatchObject({ oomKills: 1, limitHits: 12, peakBytes: 100 });
    expect(got.parentOOMKills).toBeUndefined();
  });

  it('are absent where a file could not be read, never 0', () => {
    const files = counterFiles(V1, 1);
    if (files === undefined) throw new Error('no files');
    const got = readCounters(files, undefined, readings(counterPaths(files, undefined), {}));
    expect(got).toEqual({ readings: [] });
  });
});

describe('paths', () => {
  it('[L11] are found where crun under systemd nests one more level', () => {
    const cgroup = '0::/user.slice/holdfast-u1.slice/libpod-abc.scope/container\n';
    expect(limitFiles(cgroup, 2)?.memory).toBe(
      '/sys/fs/cgroup/user.slice/holdfast-u1.slice/libpod-abc.scope/container/memory.max',
    );
  });

  it('[L11] go by what is in force on a hybrid host', () => {
    expect(limitFiles(V1, 1)?.memory).toBe('/sys/fs/cgroup/memory/lab/abc/memory.limit_in_bytes');
  });

  it('are none where the process has no cgroup of that version', () => {
    expect(limitFiles('4:memory:/x\n', 2)).toBeUndefined();
  });

  it.each<[string, 1 | 2, string[]]>([
    [
      '0::/a\n',
      2,
      ['memory.max', 'memory.swap.max', 'cpu.max', 'pids.max'].map((file) => `/sys/fs/cgroup/a/${file}`),
    ],
    [
      '11:memory:/a\n3:cpu,cpuacct:/b\n2:pids:/c\n0::/d\n',
      1,
      [
        '/sys/fs/cgroup/memory/a/memory.limit_in_bytes',
        '/sys/fs/cgroup/memory/a/memory.memsw.limit_in_bytes',
        '/sys/fs/cgroup/cpu/b/cpu.cfs_quota_us',
        '/sys/fs/cgroup/cpu/b/cpu.cfs_period_us',
        '/sys/fs/cgroup/pids/c/pids.max',
      ],
    ],
  ])('[L11] of the limits in %j', (cgroup, version, paths) => {
    const { version: found, ...files } = limitFiles(cgroup, version) ?? {};
    expect(found).toBe(version);
    expect(Object.values(files)).toEqual(paths);
  });

  it('[L11] of a controller that the process is not in lead nowhere: never to the limits of the host', () => {
    expect(limitFiles('4:pids:/a\n', 1)?.memory).toBe(
      '/sys/fs/cgroup/memory/holdfast-no-such-controller/memory.limit_in_bytes',
    );
  });

  it.each<[string, 1 | 2, unknown]>([
    [
      '0::/a\n',
      2,
      {
        version: 2,
        oomKills: '/sys/fs/cgroup/a/memory.events',
        limitHits: ['/sys/fs/cgroup/a/memory.events.local'],
        peak: '/sys/fs/cgroup/a/memory.peak',
      },
    ],
    [
      '5:memory:/a/b\n',
      1,
      {
        version: 1,
        oomKills: '/sys/fs/cgroup/memory/a/b/memory.oom_control',
        limitHits: [
          '/sys/fs/cgroup/memory/a/b/memory.failcnt',
          '/sys/fs/cgroup/memory/a/b/memory.memsw.failcnt',
        ],
        peak: '/sys/fs/cgroup/memory/a/b/memory.max_usage_in_bytes',
      },
    ],
    ['5:memory:/a\n', 2, undefined],
    ['0::/a\n', 1, undefined],
    ['memory:/a\n', 1, undefined],
    ['5:memory:a\n', 1, undefined],
  ])('[O6] of the counters in %j', (cgroup, version, files) => {
    expect(counterFiles(cgroup, version)).toEqual(files);
  });
});

describe('counters that cannot be read as such', () => {
  const files = counterFiles('0::/a\n', 2);
  const at = (contents: Record<string, string>) => {
    const named = Object.fromEntries(
      Object.entries(contents).map(([name, text]) => [`/sys/fs/cgroup/a/${name}`, text]),
    );
    return readCounters(files, undefined, readings(Object.keys(named), named));
  };

  it.each(['', 'many', '-1', '1.5', '1e3', '1234567890123456789'])('[O6] are absent: %j', (text) => {
    expect(at({ 'memory.events': `oom_kill ${text}`, 'memory.peak': text })).not.toHaveProperty('oomKills');
    expect(at({ 'memory.peak': text })).not.toHaveProperty('peakBytes');
  });

  it('[O6] a line is found by its whole name, whatever spaces are around', () => {
    expect(at({ 'memory.events': 'oom_kill_disable 7\n  oom_kill   3 \noom 4\n' })).toMatchObject({
      oomKills: 3,
    });
  });

  it('[O6] nothing is taken from a file that was not asked for', () => {
    const readings = [
      { path: '/sys/fs/cgroup/b/memory.events', content: 'oom_kill 5' },
      { path: '/sys/fs/cgroup/p/memory.events', content: 'oom 1\noom_kill 6' },
    ];
    expect(readCounters(files, undefined, readings)).toEqual({ readings: [] });
    expect(readCounters(undefined, '/p', readings)).toEqual({
      parentOOMKills: 6,
      parentLimitHits: 1,
      readings: [{ path: '/sys/fs/cgroup/p/memory.events', content: 'oom 1; oom_kill 6' }],
    });
  });

  it('[O4] what is kept of a file for the evidence is one line, cut', () => {
    expect(at({ 'memory.events': `low 0\n \noom 1\n${'x'.repeat(400)}` }).readings).toEqual([
      { path: '/sys/fs/cgroup/a/memory.events', content: `low 0; oom 1; ${'x'.repeat(400)}`.slice(0, 300) },
    ]);
  });

  it('[O6] hits of one failcnt count where the other is not there', () => {
    const v1 = counterFiles('5:memory:/a\n', 1);
    const content = '4\n';
    const path = '/sys/fs/cgroup/memory/a/memory.failcnt';
    expect(readCounters(v1, undefined, [{ path, content }])).toMatchObject({ limitHits: 4 });
  });
});

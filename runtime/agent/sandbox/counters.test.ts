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
});

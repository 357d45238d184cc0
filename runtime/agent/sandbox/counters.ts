import type { FileReading } from '../../link/types.ts';
import type { KernelCounters } from '../../verdict/evidence.ts';
import type { CounterFiles } from './cgroup-paths.ts';

/** Files to read for the counters; `parent` is v2's cgroup made for this sandbox alone. */
export function counterPaths(files: CounterFiles, parent: string | undefined): string[] {
  return [files.oomKills, ...files.limitHits, files.peak, ...parentPaths(parent)];
}

export function parentPaths(parent: string | undefined): string[] {
  return parent === undefined ? [] : [parentFile(parent)];
}

const parentFile = (parent: string): string => `/sys/fs/cgroup${parent}/memory.events`;

export function readCounters(
  files: CounterFiles | undefined,
  parent: string | undefined,
  readings: FileReading[],
): KernelCounters {
  const wanted = new Set([
    ...(files === undefined ? [] : counterPaths(files, undefined)),
    ...parentPaths(parent),
  ]);
  const read = new Map<string, string>();
  for (const reading of readings) {
    if ('content' in reading && wanted.has(reading.path)) read.set(reading.path, reading.content.trim());
  }
  const counters: KernelCounters = {
    readings: [...read].map(([path, content]) => ({
      path,
      content: content.replaceAll(/\s*\n\s*/g, '; ').slice(0, 300),
    })),
  };
  const put = (key: Exclude<keyof KernelCounters, 'readings'>, value: number | undefined): void => {
    if (value !== undefined) counters[key] = value;
  };
  if (files !== undefined) {
    put('oomKills', field(read.get(files.oomKills), 'oom_kill'));
    put('peakBytes', whole(read.get(files.peak)));
    const hits = files.limitHits
      .map((path) => (files.version === 2 ? field(read.get(path), 'oom') : whole(read.get(path))))
      .filter((value) => value !== undefined);
    if (hits.length > 0)
      put(
        'limitHits',
        hits.reduce((sum, value) => sum + value, 0),
      );
  }
  if (parent !== undefined) {
    put('parentOOMKills', field(read.get(parentFile(parent)), 'oom_kill'));
    put('parentLimitHits', field(read.get(parentFile(parent)), 'oom'));
  }
  return counters;
}

/** The number behind a name in a file of "name number" lines. */
function field(content: string | undefined, name: string): number | undefined {
  for (const line of content?.split('\n') ?? []) {
    const [key, value] = line.trim().split(/\s+/);
    if (key === name) return whole(value);
  }
  return undefined;
}

function whole(text: string | undefined): number | undefined {
  return text !== undefined && /^\d{1,18}$/.test(text) ? Number(text) : undefined;
}

import type { Evidence, KernelCounters } from '../evidence.ts';

/** What tests of the judge start from. */

export const MIB = 1048576;
export const at0: KernelCounters = { oomKills: 0, limitHits: 0, readings: [] };
export const killedByUs: KernelCounters = { oomKills: 1, limitHits: 1, peakBytes: 64 * MIB, readings: [] };
export const killedByOther: KernelCounters = { oomKills: 1, limitHits: 0, readings: [] };
/** As kernel 6.18 has it on cgroup v1: the failcnts stay 0 at a kill by the own limit. */
export const v1 = (peakBytes: number, oomKills = 1): KernelCounters => ({
  oomKills,
  limitHits: 0,
  peakBytes,
  readings: [{ path: '/sys/fs/cgroup/memory/x/memory.oom_control', content: `oom_kill ${oomKills}` }],
});
export const bySIGKILL = { exitCode: undefined, signal: 9, endedBy: 'itself' } as const;
export const code = (exitCode: number) => ({ exitCode, signal: undefined, endedBy: 'itself' }) as const;
export const stop = (reason: NonNullable<Evidence['stop']>['reason']): NonNullable<Evidence['stop']> => ({
  reason,
  at: '2026-11-30T12:00:00Z',
  signals: ['SIGTERM', 'SIGKILL'],
});
/** Init had passed on a signal from outside just before: the one that it died of, or SIGTERM. */
export const outside = (end: { exitCode: number } | { signal: number }): NonNullable<Evidence['report']> => ({
  exitCode: undefined,
  signal: undefined,
  ...end,
  endedBy: 'outside',
  outside: { signal: 'signal' in end ? end.signal : 15, atBootMs: 5 },
});
export const dead = (exitCode: number, error = '') => ({ state: 'exited' as const, exitCode, error });

/** A launch under 64Mi whose cgroup was held and counted nothing; each case says what is different. */
export function given(changes: Partial<Evidence>): Evidence {
  return {
    launch: 'Main',
    limits: { memoryBytes: 64 * MIB, swap: 'Held' },
    kernel: { before: at0, after: at0, held: true },
    container: dead(0),
    flag: { before: false, after: false, askedForMs: 2000 },
    events: [],
    ...changes,
  };
}
export const kernel = (after: KernelCounters, before = at0, held = true): Evidence['kernel'] => ({
  before,
  after,
  held,
});
export const unread: Evidence['kernel'] = { held: false };

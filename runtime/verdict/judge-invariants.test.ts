import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { terminationSchema } from '../../crds/limits-status.ts';
import type { Evidence, KernelCounters } from './evidence.ts';
import { flagMayStillCome, judge } from './judge.ts';

const NAMES: Record<number, string> = { 9: 'SIGKILL', 15: 'SIGTERM' };

const maybe = <T>(arbitrary: fc.Arbitrary<T>) => fc.option(arbitrary, { nil: undefined });
const small = fc.integer({ min: 0, max: 3 });
const counters = fc
  .record(
    { oomKills: small, limitHits: small, peakBytes: fc.nat(), parentOOMKills: small, parentLimitHits: small },
    { requiredKeys: [] },
  )
  .map((figures): KernelCounters => ({ ...figures, readings: [] }));
const endedBy = fc.constantFrom('itself', 'timeout', 'agent', 'outside');
const ends = fc.oneof(
  fc.record({
    exitCode: fc.oneof(fc.integer({ min: 0, max: 255 }), fc.constantFrom(0, 1, 137, 143)),
    signal: fc.constant(undefined),
    endedBy,
  }),
  fc.record({
    exitCode: fc.constant(undefined),
    signal: fc.oneof(fc.integer({ min: 1, max: 31 }), fc.constantFrom(9, 15)),
    endedBy,
  }),
);
/** Of a signal that init died of it names no other; an init that is older names none. */
const report = fc
  .tuple(ends, fc.constantFrom(undefined, 2, 3, 15))
  .map(([end, signal]): NonNullable<Evidence['report']> => {
    if (signal === undefined) return end;
    return { ...end, outside: { signal: end.signal ?? signal, atBootMs: 5 } };
  });
const reason = fc.constantFrom(
  'Suspended',
  'Deleted',
  'Deadline',
  'Replaced',
  'Stopped',
  'Drained',
  'SetupTimeout',
  'LimitsUnproven',
);

const evidence: fc.Arbitrary<Evidence> = fc
  .record(
    {
      launch: fc.constantFrom('Setup' as const, 'Main' as const),
      limits: fc.record(
        { memoryBytes: fc.integer({ min: 1, max: 2 ** 40 }), swap: fc.constantFrom('Held', 'Unbounded') },
        { requiredKeys: [] },
      ),
      kernel: fc.record(
        { before: counters, after: counters, held: fc.boolean() },
        { requiredKeys: ['held'] },
      ),
      container: fc.oneof(
        fc.constant('Missing' as const),
        fc.constant(undefined),
        fc.record({
          state: fc.constantFrom('exited', 'dead', 'running', 'created'),
          exitCode: fc.constantFrom(0, 1, 125, 126, 127, 137, 139, 143, 255),
          error: fc.constantFrom('', 'something'),
        }),
      ),
      flag: fc.record(
        { before: fc.boolean(), after: fc.boolean(), askedForMs: fc.integer({ min: 0, max: 3000 }) },
        { requiredKeys: ['askedForMs'] },
      ),
      events: fc.array(
        fc.record({
          action: fc.constantFrom('oom', 'kill', 'die', 'destroy', 'other'),
          detail: fc.constantFrom(9, 15, 137),
          timeMs: fc.nat(),
        }),
        { maxLength: 4 },
      ),
      report: maybe(report),
      stop: maybe(
        fc.record({
          reason,
          at: fc.constant('2026-01-01T00:00:00Z'),
          signals: fc.constantFrom(['SIGTERM'], ['SIGTERM', 'SIGKILL'], ['SIGKILL']),
        }),
      ),
      reportedAt: maybe(
        fc.constantFrom('2025-12-31T23:59:59Z', '2026-01-01T00:00:00Z', '2026-01-01T00:00:05Z'),
      ),
      restarted: maybe(fc.constantFrom('Runtime', 'Machine')),
      startFailure: maybe(fc.record({ stage: fc.string(), errno: fc.string() })),
    },
    { requiredKeys: ['launch', 'limits', 'kernel', 'container', 'flag', 'events'] },
  )
  .map((value) => {
    const known = Object.entries(value).filter(([key, field]) => field !== undefined || key === 'container');
    return Object.fromEntries(known) as unknown as Evidence;
  });

/** A limit, mostly 137, and hardly anybody who says why: where an unconfirmed kill can be. */
const dim: fc.Arbitrary<Evidence> = fc
  .tuple(evidence, fc.constantFrom(137, 137, 137, 1), fc.boolean(), fc.constantFrom(0, 1999, 2000))
  .map(([given, exitCode, stopped, askedForMs]) => {
    const { report: _report, startFailure: _failure, restarted: _restarted, stop, ...rest } = given;
    return {
      ...rest,
      ...(stopped && stop !== undefined && { stop }),
      limits: { memoryBytes: 1 },
      kernel: given.kernel.held ? { held: false } : given.kernel,
      container: { state: 'exited', exitCode, error: '' },
      flag: { ...given.flag, askedForMs },
      events: given.events.filter(({ action }) => action === 'die' || action === 'other'),
    };
  });

/** `undefined`: the property has nothing to say of this one. A property that speaks of hardly any is no property. */
const holds = (property: (given: Evidence) => boolean | undefined, from = evidence): void => {
  let judged = 0;
  fc.assert(
    fc.property(from, (given) => {
      const held = property(given);
      if (held !== undefined) judged += 1;
      return held ?? true;
    }),
    { numRuns: 1000 },
  );
  expect(judged).toBeGreaterThanOrEqual(20);
};

describe('whatever the evidence', () => {
  it('[O9] without a memory limit nothing is ever killed by it', () => {
    holds((given) => {
      const verdict = judge({ ...given, limits: {} });
      return verdict.cause !== 'OOMKilled' && verdict.oom === undefined;
    });
  });

  it('[O9] a stop of ours is never anything else, but for an end before it, by itself, or by a signal not ours', () => {
    let throughRuntime = 0;
    holds((given) => {
      const { stop, report, reportedAt, startFailure } = given;
      if (stop === undefined || startFailure !== undefined) return undefined;
      if (report?.endedBy === 'itself' || report?.endedBy === 'timeout') return undefined;
      if (report?.endedBy === 'outside') {
        if (reportedAt === '2025-12-31T23:59:59Z') return undefined;
        if (report.signal !== undefined && !stop.signals.includes(NAMES[report.signal] ?? ''))
          return undefined;
        throughRuntime += 1;
      }
      return judge(given).check === 'our-stop';
    });
    expect(throughRuntime).toBeGreaterThan(10);
  });

  it('[O9] what a signal from outside ended that is not in our ledger is not our stop', () => {
    holds((given) => {
      const { stop, report } = given;
      if (report?.endedBy !== 'outside' || report.signal === undefined) return undefined;
      if (stop?.signals.includes(NAMES[report.signal] ?? '') === true) return undefined;
      return judge(given).check !== 'our-stop';
    });
  });

  it('[O6] a kill the kernel counted under our limit is recorded, whatever the cause', () => {
    holds((given) => {
      const kernel = {
        before: { oomKills: 1, limitHits: 1, readings: [] },
        after: { oomKills: 2, limitHits: 2, readings: [] },
        held: true,
      };
      const verdict = judge({ ...given, limits: { memoryBytes: 1 }, kernel });
      return verdict.oom?.verdict === 'Confirmed';
    });
  });

  it('[O6] counters that are final and did not move are never overruled by the runtime', () => {
    holds((given) => {
      const same = { oomKills: 1, limitHits: 1, readings: [] };
      const verdict = judge({ ...given, kernel: { before: same, after: same, held: true } });
      return verdict.oom === undefined || verdict.check === 'never-started';
    });
  });

  it('[O5] exit 0 that nobody asked for is kept', () => {
    holds((given) => {
      const { stop: _stop, startFailure: _failure, ...rest } = given;
      const verdict = judge({ ...rest, report: { exitCode: 0, signal: undefined, endedBy: 'itself' } });
      return verdict.cause === 'Exited' && verdict.exitCode === 0;
    });
  });

  it.each([
    ['any evidence', fc.oneof(evidence, dim)],
    ['hardly any evidence', dim],
  ])('[O8] an unconfirmed kill is 137 under a limit, not of our doing: %s', (_, from) => {
    holds((given) => {
      const verdict = judge(given);
      if (verdict.cause !== 'OOMKilled' || verdict.verdict !== 'Unconfirmed') return undefined;
      // A stop of ours that came after the end is not behind it.
      const ours = given.stop !== undefined && given.reportedAt !== '2025-12-31T23:59:59Z';
      return verdict.exitCode === 137 && given.limits.memoryBytes !== undefined && !ours;
    }, from);
  });

  it('[O7] the flag is waited for only where it could change an unconfirmed kill', () => {
    holds((given) => {
      if (!flagMayStillCome(given)) return undefined;
      const { cause } = judge({ ...given, flag: { ...given.flag, before: false, after: true } });
      return cause !== 'Unknown';
    }, dim);
  });

  it('[O12] the verdict fits the status', () => {
    holds((given) => {
      const { check: _check, oom: _oom, ...verdict } = judge(given);
      terminationSchema.parse({ launch: given.launch, ...verdict, finishedAt: '2026-01-01T00:00:00Z' });
      return true;
    });
  });
});

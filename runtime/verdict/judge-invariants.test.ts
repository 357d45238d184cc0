import * as fc from 'fast-check';
import { describe, it } from 'vitest';
import { terminationSchema } from '../../crds/limits-status.ts';
import type { Evidence, KernelCounters } from './evidence.ts';
import { flagMayStillCome, judge } from './judge.ts';

const maybe = <T>(arbitrary: fc.Arbitrary<T>) => fc.option(arbitrary, { nil: undefined });
const small = fc.integer({ min: 0, max: 3 });
const counters = fc
  .record(
    { oomKills: small, limitHits: small, peakBytes: fc.nat(), parentOOMKills: small, parentLimitHits: small },
    { requiredKeys: [] },
  )
  .map((figures): KernelCounters => ({ ...figures, readings: [] }));
const endedBy = fc.constantFrom('itself', 'timeout', 'agent', 'outside');
const report = fc.oneof(
  fc.record({ exitCode: fc.integer({ min: 0, max: 255 }), signal: fc.constant(undefined), endedBy }),
  fc.record({ exitCode: fc.constant(undefined), signal: fc.integer({ min: 1, max: 31 }), endedBy }),
);
const reason = fc.constantFrom(
  'Suspended',
  'Deleted',
  'Deadline',
  'Replaced',
  'Stopped',
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
        fc.record({ reason, at: fc.constant('2026-01-01T00:00:00Z'), signals: fc.constant(['SIGTERM']) }),
      ),
      restarted: maybe(fc.constantFrom('Runtime', 'Machine')),
      startFailure: maybe(
        fc.oneof(
          fc.record({ by: fc.constant('Init' as const), stage: fc.string(), errno: fc.string() }),
          fc.record({ by: fc.constant('Runtime' as const), message: fc.string() }),
        ),
      ),
    },
    { requiredKeys: ['launch', 'limits', 'kernel', 'container', 'flag', 'events'] },
  )
  .map((value) => {
    const known = Object.entries(value).filter(([key, field]) => field !== undefined || key === 'container');
    return Object.fromEntries(known) as unknown as Evidence;
  });

const RUNS = { numRuns: 500 };
const holds = (property: (given: Evidence) => boolean | void): void =>
  fc.assert(fc.property(evidence, property), RUNS);

describe('whatever the evidence', () => {
  it('[O9] without a memory limit nothing is ever killed by it', () => {
    holds((given) => {
      const verdict = judge({ ...given, limits: {} });
      return verdict.cause !== 'OOMKilled' && verdict.oom === undefined;
    });
  });

  it('[O9] a stop of ours that init did not contradict is never an OOM kill', () => {
    holds((given) => {
      if (given.stop === undefined || given.startFailure !== undefined) return;
      if (given.report !== undefined && given.report.endedBy !== 'agent') return;
      return !['OOMKilled', 'AncestorOOMKilled', 'KilledFromOutside', 'Unknown'].includes(judge(given).cause);
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

  it('[O8] an unconfirmed kill is 137 under a limit, not of our doing', () => {
    holds((given) => {
      const verdict = judge(given);
      if (verdict.cause !== 'OOMKilled' || verdict.verdict !== 'Unconfirmed') return;
      return verdict.exitCode === 137 && given.limits.memoryBytes !== undefined && given.stop === undefined;
    });
  });

  it('[O7] the flag is waited for only where it could change an unconfirmed kill', () => {
    holds((given) => {
      if (!flagMayStillCome(given)) return;
      const { cause } = judge({ ...given, flag: { ...given.flag, before: false, after: true } });
      return cause !== 'Unknown';
    });
  });

  it('[O12] the verdict fits the status', () => {
    holds((given) => {
      const { check: _check, oom: _oom, ...verdict } = judge(given);
      terminationSchema.parse({ launch: given.launch, ...verdict, finishedAt: '2026-01-01T00:00:00Z' });
    });
  });
});

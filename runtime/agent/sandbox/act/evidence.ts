import type { Termination } from '../../../../crds/limits-status.ts';
import type { Evidence, KernelCounters, StartFailure, Verdict } from '../../../verdict/evidence.ts';
import { judge } from '../../../verdict/judge.ts';
import type { LaunchRecord } from '../../ledger/record.ts';
import { type ActContext, recordOf, rfc3339 } from './context.ts';

export interface EvidenceExtras {
  /** Whether the closing counters were read while the cgroup was held. */
  held: boolean;
  askedForMs: number;
  /** Read after the end: v2's parent. */
  after?: KernelCounters;
  flagAfter?: boolean;
  restarted?: 'Runtime' | 'Machine';
  startFailure?: StartFailure;
  container?: Evidence['container'];
}

/** Everything the agent has on the end of a launch, in the judge's terms. */
export function evidenceOf(
  context: ActContext,
  launch: Termination['launch'],
  extras: EvidenceExtras,
): Evidence {
  const { run, seen } = context;
  const record = recordOf(context);
  const own: LaunchRecord | undefined = launch === 'Setup' ? record.setup : record.main;
  const { memoryBytes } = record.limits;
  const since = own === undefined ? 0 : Date.parse(own.intendedAt);
  const after = merged(own?.closing, extras.after);
  return {
    launch,
    limits: {
      ...(memoryBytes === undefined ? {} : { memoryBytes }),
      ...(memoryBytes === undefined ? {} : { swap: record.limits.swapHeld ? 'Held' : 'Unbounded' }),
    },
    ...(own?.exit === undefined ? {} : { report: reportOf(own.exit) }),
    ...(own?.exit === undefined || own.endedAt === undefined ? {} : { reportedAt: own.endedAt }),
    kernel: {
      ...(own?.baseline === undefined ? {} : { before: own.baseline }),
      ...(after === undefined ? {} : { after }),
      held: extras.held,
    },
    container: extras.container ?? seen.container,
    flag: {
      ...(own?.flagBefore === undefined ? {} : { before: own.flagBefore }),
      ...(extras.flagAfter === undefined ? {} : { after: extras.flagAfter }),
      askedForMs: extras.askedForMs,
    },
    events: run.events.filter((event) => event.timeMs >= since),
    ...(record.fence === undefined ? {} : { fence: record.fence }),
    ...(record.stop === undefined ? {} : { stop: record.stop }),
    ...(extras.restarted === undefined ? {} : { restarted: extras.restarted }),
    ...(extras.startFailure === undefined ? {} : { startFailure: extras.startFailure }),
  };
}

export function judgeLaunch(
  context: ActContext,
  launch: Termination['launch'],
  extras: EvidenceExtras,
): { termination: Termination; verdict: Verdict } {
  const verdict = judge(evidenceOf(context, launch, extras));
  return { verdict, termination: terminationOf(context, launch, verdict) };
}

export function terminationOf(
  { services, run }: ActContext,
  launch: Termination['launch'],
  verdict: Verdict,
): Termination {
  const record = run.record;
  const own = launch === 'Setup' ? record?.setup : record?.main;
  const finishedAt = own?.endedAt ?? rfc3339(services.clock.now().getTime());
  return {
    launch,
    cause: verdict.cause,
    verdict: verdict.verdict,
    ...(verdict.exitCode === undefined ? {} : { exitCode: verdict.exitCode }),
    ...(verdict.signal === undefined ? {} : { signal: verdict.signal }),
    message: verdict.message,
    evidence: verdict.evidence,
    ...(verdict.contradictions.length === 0 ? {} : { contradictions: verdict.contradictions }),
    ...(verdict.memoryLimitBytes === undefined ? {} : { memoryLimitBytes: verdict.memoryLimitBytes }),
    ...(verdict.peakMemoryBytes === undefined ? {} : { peakMemoryBytes: verdict.peakMemoryBytes }),
    ...(verdict.oomKills === undefined ? {} : { oomKills: verdict.oomKills }),
    ...(record?.containerID === undefined ? {} : { containerID: record.containerID }),
    ...(own?.startedAt === undefined ? {} : { startedAt: own.startedAt }),
    finishedAt,
    ...(record === undefined ? {} : { observedGeneration: record.generation }),
  };
}

/** What only init says, without the figures that have no place in evidence. */
function reportOf(exit: NonNullable<LaunchRecord['exit']>): NonNullable<Evidence['report']> {
  const { exitCode, signal, endedBy, outside } = exit;
  return { exitCode, signal, endedBy, ...(outside === undefined ? {} : { outside }) };
}

function merged(
  closing: KernelCounters | undefined,
  after: KernelCounters | undefined,
): KernelCounters | undefined {
  if (closing === undefined) return after;
  if (after === undefined) return closing;
  const { readings, ...figures } = after;
  return { ...closing, ...figures, readings: [...closing.readings, ...readings] };
}

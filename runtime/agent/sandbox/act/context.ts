import type { EventReason } from '../../../../crds/conditions.ts';
import type { Run } from '../../run.ts';
import type { Runtime } from '../../runtimes/runtime.ts';
import type { Services } from '../../services.ts';
import type { LedgerRecord } from '../../ledger/record.ts';
import { NotNow } from '../../not-now.ts';
import { subjectOf } from '../subject.ts';
import type { Observation } from '../types.ts';

/** What one act works on. */
export interface ActContext {
  services: Services;
  run: Run;
  runtime: Runtime;
  seen: Observation;
}

export { NotNow };

export function say(
  { services, run, seen }: ActContext,
  type: 'Normal' | 'Warning',
  reason: EventReason,
  message: string,
): void {
  services.events.record(subjectOf(run, seen.sandbox), type, reason, message);
}

export function recordOf({ run }: ActContext): LedgerRecord {
  if (run.record === undefined) throw new NotNow('nothing is known of a launch');
  return run.record;
}

export function probeOf({ runtime }: ActContext): NonNullable<Runtime['probe']['probe']> {
  const probe = runtime.probe.probe;
  if (probe === undefined) throw new NotNow(`the probe is not ready: ${runtime.probe.why}`);
  return probe;
}

export function sessionOf({ run }: ActContext): NonNullable<Run['session']> {
  if (run.session === undefined) throw new NotNow('the init is not connected');
  return run.session;
}

export function rfc3339(ms: number): string {
  return new Date(ms).toISOString();
}

/**
 * The runtime's word; on a hybrid host v2 is mounted beside v1 with no controllers in it. Where its answer cannot be
 * read, what the probe sees.
 */
export function cgroupVersion({ runtime }: ActContext): 1 | 2 {
  const answer = runtime.last;
  if (answer?.state === 'Ok' && answer.info.cgroupVersion !== undefined) {
    return answer.info.cgroupVersion === '2' ? 2 : 1;
  }
  return runtime.probe.probe?.hello.cgroup === 'v2' ? 2 : 1;
}

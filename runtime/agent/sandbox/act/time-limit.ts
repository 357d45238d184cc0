import type { SandboxSpec } from '../../../../crds/sandbox.ts';
import type { LedgerRecord } from '../../ledger/record.ts';
import { MAIN_ID, SETUP_ID } from '../../session/live-session.ts';
import { type ActContext, NotNow, recordOf, sessionOf } from './context.ts';

/** A deadline counts from the first user code on, so main has what setup has left. undefined: no limit. */
export function timeLimitMs(
  spec: SandboxSpec,
  record: LedgerRecord,
  launch: 'setup' | 'main',
): number | undefined {
  const deadlineMs = spec.activeDeadlineSeconds === undefined ? undefined : spec.activeDeadlineSeconds * 1000;
  if (launch === 'setup') {
    const own = spec.setup?.timeoutSeconds === undefined ? undefined : spec.setup.timeoutSeconds * 1000;
    if (deadlineMs === undefined || own === undefined) return deadlineMs ?? own;
    return Math.min(deadlineMs, own);
  }
  return deadlineMs === undefined ? undefined : Math.max(1, deadlineMs - setupMs(record));
}

/** How long setup took, by init's own clock, which does not jump. */
function setupMs(record: LedgerRecord): number {
  const exit = record.setup?.exit;
  return exit === undefined ? 0 : Math.max(0, Math.ceil(exit.endedAtBootMs - exit.startedAtBootMs));
}

export async function changeTimeLimit(context: ActContext, launch: 'setup' | 'main'): Promise<void> {
  const { services, seen } = context;
  const record = recordOf(context);
  const session = sessionOf(context);
  const own = record[launch];
  const spec = seen.sandbox?.spec;
  if (own === undefined || spec === undefined) throw new NotNow('nothing runs');
  const id = launch === 'setup' ? SETUP_ID : MAIN_ID;
  const result = await services.step('time-limit', () =>
    session.init.limit(id, timeLimitMs(spec, record, launch)),
  );
  // An init of an earlier version does not know this: then a deadline that was shortened is ours to enforce.
  if (result === 'unanswered') throw new NotNow('init did not answer');
  if (result === 'unsupported')
    services.log.warn({ uid: record.uid, result }, 'init keeps the time limit it has');
  noteDeadline(record, launch, spec);
  await services.step('ledger-time-limit', () => services.ledger.put(record));
}

export function noteDeadline(record: LedgerRecord, launch: 'setup' | 'main', spec: SandboxSpec): void {
  const own = record[launch];
  if (own === undefined) return;
  if (spec.activeDeadlineSeconds === undefined) delete own.deadlineSeconds;
  else own.deadlineSeconds = spec.activeDeadlineSeconds;
}

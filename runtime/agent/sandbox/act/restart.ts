import type { Termination } from '../../../../crds/limits-status.ts';
import { type ActContext, NotNow, probeOf, recordOf, say } from './context.ts';
import { listen } from './listen.ts';
import { startContainer } from './start.ts';

/** What ends sooner after its start than this may be in a loop. */
const QUICK_MS = 30_000;

function wasQuick(end: Termination | undefined): boolean {
  if (end?.startedAt === undefined || end.cause === 'Suspended') return false;
  return Date.parse(end.finishedAt) - Date.parse(end.startedAt) < QUICK_MS;
}

/** The same container again, its filesystem as it was; setup is not repeated (K10). */
export async function restart(context: ActContext): Promise<void> {
  const { services, run, seen } = context;
  const record = recordOf(context);
  const { container } = seen;
  if (container === undefined) throw new NotNow('the container is not there');
  const probe = probeOf(context);
  const why = record.outcome?.termination.cause;
  record.quickRestarts = wasQuick(record.outcome?.termination) ? (record.quickRestarts ?? 0) + 1 : 0;
  record.starts += 1;
  record.bootID = probe.hello.bootID;
  delete record.outcome;
  delete record.stop;
  delete record.fence?.fellAt;
  run.endSaid = false;
  run.stopMs = undefined;
  run.stopSent = false;
  await Promise.all([services.step('ledger-restart', () => services.ledger.put(record)), listen(context)]);
  run.stale = true;
  await startContainer(context, container.id);
  if (why === 'Suspended')
    say(context, 'Normal', 'Resumed', 'The sandbox was resumed in the same container.');
  else say(context, 'Normal', 'Started', 'The container was started again.');
}

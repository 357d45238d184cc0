import { FENCED_EXIT_CODE } from '../../session/fence.ts';
import { hasBegun, setupDone } from '../checks/facts.ts';
import { type ActContext, NotNow, recordOf, rfc3339, sessionOf } from './context.ts';

/** With a lease that was renewed after init had told its clock; the ledger first, so that it can be lifted later. */
export async function fence(context: ActContext): Promise<void> {
  const { services } = context;
  const record = recordOf(context);
  const session = sessionOf(context);
  const seconds = services.fenceSeconds;
  const [renewedMs] = await Promise.all([
    services.renewLease(),
    record.fence?.seconds === seconds
      ? undefined
      : services.step('ledger-fence', () => {
          record.fence = { ...record.fence, seconds };
          return services.ledger.put(record);
        }),
  ]);
  const answer = await services.step('fence', () => session.fence.beat(renewedMs, seconds));
  if (answer !== 'taken') throw new NotNow(`init did not take the heartbeat: ${answer}`);
}

export async function liftFence(context: ActContext): Promise<void> {
  const { services, run } = context;
  const record = recordOf(context);
  const session = sessionOf(context);
  const answer = await services.step('lift-fence', () => session.fence.lift());
  if (answer !== 'taken' && answer !== 'unsupported')
    throw new NotNow(`the fence could not be lifted: ${answer}`);
  if (record.fence === undefined) return;
  delete record.fence;
  await services.step('ledger-lift-fence', () => services.ledger.put(record));
  services.log.debug({ uid: run.uid }, 'fence lifted');
}

/** A sandbox without a process that could be asked about ends here; any other when its exit has been collected. */
export async function noteFence(context: ActContext): Promise<void> {
  const { services, run } = context;
  const record = recordOf(context);
  const session = sessionOf(context);
  const seconds = record.fence?.seconds ?? services.fenceSeconds;
  record.fence = { seconds, fellAt: rfc3339(services.clock.now().getTime()) };
  await services.step('ledger-fenced', () => services.ledger.put(record));
  services.log.warn({ uid: run.uid, seconds }, 'a sandbox has ended itself: no heartbeat had come');
  // What runs to an exit is collected first.
  if (hasBegun(record) && !(record.retained && setupDone(record))) return;
  run.stale = true;
  session.init.release(FENCED_EXIT_CODE);
  session.released = true;
}

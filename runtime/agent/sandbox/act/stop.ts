import type { StopReason } from '../../ledger/record.ts';
import { MAIN_ID, SETUP_ID } from '../../session/live-session.ts';
import type { Run } from '../../run.ts';
import { type ActContext, recordOf, rfc3339, say } from './context.ts';

const SIGTERM = 15;
const SIGKILL = 9;

const WHY: Record<StopReason, string> = {
  Suspended: 'spec.suspend is true',
  Deleted: 'the sandbox is being deleted',
  Deadline: 'activeDeadlineSeconds is over',
  Replaced: 'the spec changed',
  Drained: 'the node is being drained',
  Stopped: 'the spec asks for what is not supported',
  SetupTimeout: 'setup ran into its time limit',
  LimitsUnproven: 'the limits in force are not the ones asked for',
};

/** The first signal of a stop, written down before it is sent (O10). What has no process of a user's ends at once. */
export async function stop(context: ActContext, reason: StopReason): Promise<void> {
  const { services, run, seen } = context;
  const record = recordOf(context);
  const grace = seen.sandbox?.spec.terminationGracePeriodSeconds ?? 10;
  const process = runningProcess(run);
  const first = grace === 0 ? 'SIGKILL' : 'SIGTERM';
  record.stop = {
    reason,
    at: rfc3339(services.clock.now().getTime()),
    signals: run.session !== undefined && process === undefined ? [] : [first],
  };
  await services.step('ledger-stop', () => services.ledger.put(record));
  run.stopMs = services.clock.monotonicMs();
  say(context, 'Normal', 'Killing', `Stopping the sandbox: ${WHY[reason]}.`);
  await send(context);
}

/** An agent that died may have written it down and not sent it; to send it twice does no harm. */
export function stopAgain(context: ActContext): Promise<void> {
  return send(context);
}

async function send(context: ActContext): Promise<void> {
  const { services, run, runtime, seen } = context;
  const process = runningProcess(run);
  const first = seen.sandbox?.spec.terminationGracePeriodSeconds === 0 ? 'SIGKILL' : 'SIGTERM';
  run.stale = true;
  await services.step('stop', async () => {
    if (run.session === undefined) {
      await runtime.driver.killContainer(seen.container?.id ?? '', {
        signal: services.signal,
        signal_: first,
      });
    } else if (process === undefined) {
      run.session.init.release(0);
    } else {
      run.session.init.signal(process, first === 'SIGKILL' ? SIGKILL : SIGTERM, 'group');
    }
  });
  run.stopSent = true;
}

/** The end of the grace period: the command first, so that its end is seen by init; then the container. */
export async function kill(context: ActContext): Promise<void> {
  const { services, run, runtime, seen } = context;
  const record = recordOf(context);
  const process = runningProcess(run);
  const again = record.stop?.signals.includes('SIGKILL') === true;
  if (!again) {
    record.stop?.signals.push('SIGKILL');
    await services.step('ledger-kill', () => services.ledger.put(record));
  }
  run.stale = true;
  await services.step('kill', async () => {
    if (run.session !== undefined && process !== undefined && !again) {
      run.session.init.signal(process, SIGKILL, 'group');
      return;
    }
    await runtime.driver.killContainer(seen.container?.id ?? '', {
      signal: services.signal,
      signal_: 'SIGKILL',
    });
  });
}

export async function unpause({ services, run, runtime, seen }: ActContext): Promise<void> {
  run.stale = true;
  await services.step('unpause', () =>
    runtime.driver.unpauseContainer(seen.container?.id ?? '', { signal: services.signal }),
  );
}

function runningProcess(run: Run): number | undefined {
  if (run.session?.process('main')?.state === 'running') return MAIN_ID;
  if (run.session?.process('setup')?.state === 'running') return SETUP_ID;
  return undefined;
}

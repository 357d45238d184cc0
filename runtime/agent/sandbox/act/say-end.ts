import type { Outcome } from '../../ledger/record.ts';
import { type ActContext, say } from './context.ts';

/**
 * The events of an end. An agent may die between the verdict and the write of its events: the next one says them
 * again while the container is still there, so one may come twice, and none is lost.
 */
export function sayEnd(context: ActContext, { termination, oom }: Outcome): void {
  context.run.endSaid = true;
  const { cause, exitCode, launch, message } = termination;
  if (cause === 'OOMKilled') say(context, 'Warning', 'OOMKilled', message);
  else if (oom !== undefined) say(context, 'Warning', 'OOMKilled', oom.message);
  const good = cause === 'Exited' && exitCode === 0;
  say(context, good ? 'Normal' : 'Warning', launch === 'Setup' ? 'SetupFailed' : 'Ended', message);
}

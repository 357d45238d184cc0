import { DriverError } from '../../../driver.ts';
import { startRefusal } from '../../../verdict/start-refusal.ts';
import { inspectMismatches, kernelLimits } from '../requested-limits.ts';
import { type ActContext, NotNow, recordOf } from './context.ts';
import { refuse } from './refuse.ts';

/** Starts a container that was made, once the runtime says that it has the limits that were asked for (L5). */
export async function start(context: ActContext): Promise<void> {
  const { run, seen } = context;
  const { container } = seen;
  const record = recordOf(context);
  if (container === undefined) throw new NotNow('the container is not there');
  record.containerID = container.id;
  record.imageID = container.imageID;
  const wrong = inspectMismatches(kernelLimits(record.limits), container.limits);
  if (wrong.length > 0) {
    await refuse(context, {
      do: 'refuse',
      reason: 'ReadBackMismatch',
      message: `The container was not started: ${wrong.join('; ')}.`,
    });
    return;
  }
  await startContainer(context, container.id);
  // Seen by its effect when init comes; asked for again when the runtime says that it ended.
  run.container = { ...container, state: 'running' };
}

const START_TRIES = 3;

/**
 * Any start of a container: the first, and one that follows a stop. Its init may have come before the runtime has
 * answered; then nobody waits for the answer, and an error that comes after all is looked into.
 */
export async function startContainer(context: ActContext, id: string): Promise<void> {
  const { services, run, runtime } = context;
  run.startedMs = services.clock.monotonicMs();
  run.session = undefined;
  const came = new Promise<'came'>((resolve) => {
    run.onSession = () => resolve('came');
  });
  const answer = services.step('start-container', () =>
    runtime.driver.startContainer(id, { signal: services.signal }),
  );
  try {
    if ((await Promise.race([answer, came])) === 'came') {
      answer.catch((error: unknown) => {
        services.log.warn(
          { err: error, uid: run.uid },
          'the runtime calls a start failed whose init has come',
        );
        run.stale = true;
        services.enqueue(run.uid);
      });
    }
    run.startFailures = 0;
  } catch (error) {
    run.stale = true;
    if (error instanceof DriverError && error.code === 'Unenforceable') {
      run.unenforceable = error.message;
      return;
    }
    if (error instanceof DriverError && error.code === 'StartFailed') {
      run.startFailures += 1;
      // The same answer stands for a command that can never start and for a runtime that has a bad moment.
      if (run.startFailures < START_TRIES) throw error;
      const { memoryBytes, swapHeld } = recordOf(context).limits;
      await refuse(context, {
        do: 'refuse',
        reason: 'StartFailed',
        message: startRefusal(error.message, {
          ...(memoryBytes === undefined ? {} : { memoryBytes }),
          swap: swapHeld ? 'Held' : 'Unbounded',
        }),
      });
      return;
    }
    throw error;
  } finally {
    run.onSession = undefined;
  }
}

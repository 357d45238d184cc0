import type { LedgerRecord, RequestedLimits } from '../../ledger/record.ts';
import { DriverError } from '../../../driver.ts';
import { inspectMismatches, kernelLimits, requestedLimits, unenforceable } from '../requested-limits.ts';
import { type ActContext, NotNow, recordOf, say } from './context.ts';
import { readReceipt } from './receipt.ts';

/**
 * Changes the limits of a retained sandbox that has its container, and reads back what is in force (K11). What cannot
 * be done is said, and not tried again until the spec changes; the old limits stay in force.
 */
export async function updateLimits(context: ActContext): Promise<void> {
  const { services, run, runtime, seen } = context;
  const record = recordOf(context);
  const { container, spec } = seen;
  const answer = await runtime.answer({ signal: services.signal });
  if (container === undefined || spec === undefined) throw new NotNow('the container is not there');
  if (answer.state !== 'Ok') throw new NotNow('the runtime gave no readable answer');
  const missing = unenforceable(spec.limits, answer.info.limits);
  if (missing.length > 0) {
    const lines = missing.map(
      (one) => `${one.limit}: ${one.why}${one.fix === undefined ? '' : ` Fix: ${one.fix}`}`,
    );
    await refused(
      context,
      'LimitUnenforceable',
      `The new limits cannot be enforced here: ${lines.join('; ')}`,
    );
    return;
  }
  const limits = requestedLimits(spec.limits, answer.info.limits);
  run.ownUpdate = true;
  run.stale = true;
  try {
    const before = record.limits;
    const problem = await change(context, container.id, limits);
    if (problem !== undefined) {
      const left = await putBack(context, container.id, before);
      const end =
        left.length === 0
          ? 'The old limits are in force again.'
          : `The old limits could not be put back: ${left.join('; ')}.`;
      await refused(context, problem.reason, `${problem.message} ${end}`, left.length === 0);
      return;
    }
  } finally {
    run.ownUpdate = false;
  }
  record.limitsHash = spec.limitsHash;
  record.generation = seen.sandbox?.metadata.generation ?? record.generation;
  delete record.refusedLimits;
  await services.step('ledger-limits', () => services.ledger.put(record));
  say(
    context,
    'Normal',
    'LimitsChanged',
    `The limits were changed in place: ${run.session?.receipt?.limits.summary ?? 'they are read back at the next start'}.`,
  );
}

interface Problem {
  reason: 'LimitUnenforceable' | 'ReadBackMismatch';
  message: string;
}

/** The new limits, read back. Whatever goes wrong, the record has the old ones then. */
async function change(
  context: ActContext,
  id: string,
  limits: RequestedLimits,
): Promise<Problem | undefined> {
  const { services, runtime } = context;
  const record = recordOf(context);
  const before = record.limits;
  try {
    await services.step('update-limits', () =>
      runtime.driver.updateLimits(id, kernelLimits(limits), { signal: services.signal }),
    );
    record.limits = limits;
    const wrong = await readBack(context, record);
    if (wrong.length === 0) return undefined;
    record.limits = before;
    return { reason: 'ReadBackMismatch', message: `The new limits are not in force: ${wrong.join('; ')}.` };
  } catch (error) {
    record.limits = before;
    if (!(error instanceof DriverError) || error.code !== 'Unenforceable') throw error;
    return { reason: 'LimitUnenforceable', message: `The runtime refused the new limits: ${error.message}.` };
  }
}

/** A change that failed may have been made in part. What is not as it was, in words. */
async function putBack(context: ActContext, id: string, before: RequestedLimits): Promise<string[]> {
  const { services, run, runtime } = context;
  const record = recordOf(context);
  let left: string[];
  try {
    await services.step('restore-limits', () =>
      runtime.driver.updateLimits(id, kernelLimits(before), { signal: services.signal }),
    );
    left = await readBack(context, record);
  } catch (error) {
    if (!(error instanceof DriverError) || error.code !== 'Unenforceable') throw error;
    left = [error.message];
  }
  // Known here, so that nobody else is blamed for it.
  if (run.session !== undefined && left.length > 0) run.session.drift = run.session.receipt?.mismatches;
  return left;
}

/** From inspect, and from the kernel where the sandbox runs. */
async function readBack(context: ActContext, record: LedgerRecord): Promise<string[]> {
  const { services, run, runtime, seen } = context;
  const now = await runtime.driver.inspectContainer(seen.container?.id ?? '', { signal: services.signal });
  const told =
    now === undefined
      ? ['the container is gone']
      : inspectMismatches(kernelLimits(record.limits), now.limits);
  if (run.session === undefined || told.length > 0) return told;
  await readReceipt(context, run.session);
  run.session.drift = undefined;
  const { receipt } = run.session;
  return [...(receipt?.mismatches ?? []), ...(receipt?.unread ?? [])];
}

async function refused(
  context: ActContext,
  reason: 'LimitUnenforceable' | 'ReadBackMismatch',
  message: string,
  restored = true,
): Promise<void> {
  const { services, seen } = context;
  const record = recordOf(context);
  record.refusedLimits = { hash: seen.spec?.limitsHash ?? '', reason, message, restored };
  await services.step('ledger-refused-limits', () => services.ledger.put(record));
  say(context, 'Warning', 'Failed', message);
}

import type { Sandbox } from '../../../crds/sandbox.ts';
import type { LedgerRecord } from '../ledger/record.ts';
import { LABELS } from '../names.ts';
import type { Run } from '../run.ts';
import type { Services } from '../services.ts';
import { specFacts } from './spec-facts.ts';

/**
 * A ledger that was lost is made again from the container's labels, the status, and what init says has run: enough
 * that nothing is run twice. Where it cannot be known, user code is taken to have begun.
 */
export function recoverRecord(
  services: Services,
  run: Run,
  sandbox: Sandbox | undefined,
): LedgerRecord | undefined {
  const { container } = run;
  const status = sandbox?.status;
  if (sandbox === undefined || status?.nodeName !== services.nodeName) return undefined;
  // Nothing of it ever ran: made anew, with limits that are known.
  if (container?.state === 'created') return undefined;
  if (container === undefined && status.startedAt === undefined && status.finishedAt === undefined)
    return undefined;
  const facts = specFacts(sandbox.spec);
  const specHash = container?.labels[LABELS.specHash] ?? status.specHash ?? facts.specHash;
  const record: LedgerRecord = {
    version: 1,
    uid: run.uid,
    namespace: run.namespace,
    name: run.name,
    runtime: status.runtime ?? 'docker',
    specHash,
    limitsHash: container?.labels[LABELS.limitsHash] ?? facts.limitsHash,
    generation: sandbox.metadata.generation ?? 0,
    retained: facts.retained,
    hasSetup: facts.hasSetup,
    limits: { ...container?.limits, pidsDefaulted: false, swapHeld: true },
    starts: 1,
    ...(container === undefined ? {} : { containerID: container.id, imageID: container.imageID }),
  };
  const startedAt = status.startedAt ?? container?.startedAt;
  const at = startedAt ?? services.clock.now().toISOString();
  if (facts.hasSetup && run.session?.process('setup') !== undefined)
    record.setup = { intendedAt: at, start: 1 };
  if (status.startedAt !== undefined || run.session?.process('main') !== undefined) {
    record.main = { intendedAt: at, start: 1, startedAt: at };
  }
  if (status.lastTermination !== undefined && status.finishedAt !== undefined) {
    const { lastTermination: termination } = status;
    const good = termination.cause === 'Exited' && termination.exitCode === 0;
    record.outcome = { termination, ended: good ? 'Succeeded' : 'Failed' };
  }
  return record;
}

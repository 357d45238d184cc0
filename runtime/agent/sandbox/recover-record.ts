import type { Sandbox, SandboxStatus } from '../../../crds/sandbox.ts';
import type { ProcessExit } from '../../link/types.ts';
import type { LaunchRecord, LedgerRecord, Outcome } from '../ledger/record.ts';
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
  if (
    container === undefined &&
    status.startedAt === undefined &&
    status.finishedAt === undefined &&
    status.setup === undefined
  )
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
    limits: {
      ...container?.limits,
      pidsDefaulted: facts.limits.pids === undefined && container?.limits.pids !== undefined,
      swapHeld: swapHeld(services, run, status),
    },
    starts: 1,
    ...(status.fenceSeconds === undefined ? {} : { fence: { seconds: status.fenceSeconds } }),
    ...(container === undefined ? {} : { containerID: container.id, imageID: container.imageID }),
  };
  const startedAt = status.startedAt ?? container?.startedAt;
  const at = startedAt ?? services.clock.now().toISOString();
  if (status.startedAt !== undefined || run.session?.process('main') !== undefined) {
    record.main = { intendedAt: at, start: 1, startedAt: at };
  }
  const setup = facts.hasSetup ? setupOf(run, status, record.main !== undefined, at) : undefined;
  if (setup !== undefined) record.setup = setup;
  const ended = endOf(status);
  if (ended !== undefined) record.outcome = ended;
  return record;
}

/** What is known of setup: from init, which keeps its exit; else from the status. */
function setupOf(
  run: Run,
  status: SandboxStatus,
  mainBegan: boolean,
  intendedAt: string,
): LaunchRecord | undefined {
  const seen = run.session?.process('setup');
  const condition = status.conditions?.find(({ type }) => type === 'SetupComplete');
  const done = mainBegan || condition?.status === 'True';
  const begun = seen !== undefined || done || status.setup !== undefined || condition?.reason === 'SettingUp';
  if (!begun) return undefined;
  const exit = seen?.exit ?? (done ? EXITED_0 : undefined);
  const { setup: termination } = status;
  return {
    intendedAt: termination?.startedAt ?? intendedAt,
    start: 1,
    ...(exit === undefined ? {} : { exit }),
    ...(termination === undefined ? {} : { endedAt: termination.finishedAt, termination }),
  };
}

/** Its figures are lost with the ledger. */
const EXITED_0: ProcessExit = {
  exitCode: 0,
  signal: undefined,
  coreDumped: false,
  startedAtBootMs: 0,
  endedAtBootMs: 0,
  maxRssBytes: 0,
  userMicros: 0,
  systemMicros: 0,
  endedBy: 'itself',
};

/** The verdict as it was published, where it was: it is not found out twice. */
function endOf(status: SandboxStatus): Outcome | undefined {
  const { lastTermination: termination, phase } = status;
  if (termination === undefined) return undefined;
  const setupFailed = termination.launch === 'Setup' && (phase === 'Stalled' || phase === 'Failed');
  if (status.finishedAt === undefined && !setupFailed) return undefined;
  if (phase === 'Stalled') return { termination, ended: 'Stalled' };
  const good = termination.launch === 'Main' && termination.cause === 'Exited' && termination.exitCode === 0;
  return { termination, ended: good ? 'Succeeded' : 'Failed' };
}

/** The runtime's word; where it gave none that can be read, what it says of the container. */
function swapHeld(services: Services, run: Run, status: SandboxStatus): boolean {
  const answer = services.runtimes.get(status.runtime ?? 'docker')?.last;
  if (answer?.state === 'Ok') return answer.info.limits.swap.enforced === 'Yes';
  return run.container?.limits.memorySwapBytes !== undefined;
}

import type { Termination } from '../../../../crds/limits-status.ts';
import { sleep } from '../../../../kube/clock.ts';
import type { ContainerInfo } from '../../../driver.ts';
import type { KernelCounters, StartFailure, Verdict } from '../../../verdict/evidence.ts';
import { flagMayStillCome, judge } from '../../../verdict/judge.ts';
import { cgroupParentPath, containerName } from '../../names.ts';
import { restartedUnder } from '../../runtimes/restarted-under.ts';
import type { Command } from '../command.ts';
import { parentPaths, readCounters } from '../counters.ts';
import { sayEnd } from './say-end.ts';
import { outcomeOf } from '../outcome-of.ts';
import { setupDone } from '../checks/facts.ts';
import { type ActContext, NotNow, recordOf, rfc3339 } from './context.ts';
import { evidenceOf, type EvidenceExtras, terminationOf } from './evidence.ts';

const ASK_AGAIN_MS = 100;
const MORE_MS = 1500;

/** The launch is over, one way or another: all evidence is gathered and judged, and the verdict written down. */
export async function conclude(context: ActContext): Promise<void> {
  const { services, run } = context;
  const record = recordOf(context);
  // It was stopped and kept, and its container went after that: our stop has nothing to do with it.
  if (record.outcome?.ended === 'Stopped') delete record.stop;
  const launch: Termination['launch'] = setupDone(record) ? 'Main' : 'Setup';
  const own = launch === 'Setup' ? record.setup : record.main;
  if (own !== undefined) own.endedAt ??= endOf(context);
  const extras = await gather(context, own?.closing !== undefined);
  let evidence = evidenceOf(context, launch, extras);
  while (flagMayStillCome(evidence) && !services.signal.aborted) {
    await sleep(services.clock, ASK_AGAIN_MS, services.signal);
    extras.askedForMs += ASK_AGAIN_MS;
    const again = await inspect(context);
    if (again !== undefined) extras.flagAfter = again.oomKilled;
    evidence = evidenceOf(context, launch, extras);
  }
  const verdict = judge(evidence);
  if (verdict.cause === 'KilledFromOutside') waitForMore(context);
  await settle(context, launch, verdict);
  run.session = undefined;
  run.endSeenMs = undefined;
}

/**
 * A kill may be the first thing that is seen of something larger: `docker rm -f`, or a runtime that goes down and
 * ends all containers, our probe among them. That shows a moment later, and the verdict waits for it.
 */
function waitForMore({ services, run, runtime }: ActContext): void {
  run.stale = true;
  run.endSeenMs ??= services.clock.monotonicMs();
  if (services.clock.monotonicMs() - run.endSeenMs < MORE_MS)
    throw new NotNow('more may be seen of this end');
  if (runtime.probe.probe === undefined)
    throw new NotNow('the probe went as well: the runtime may be going down');
}

/** The command could not be executed: nothing of it ran, and init says why. */
export async function concludeStartFailure(
  context: ActContext,
  launch: Termination['launch'],
  what: Command,
  startFailure: StartFailure,
): Promise<void> {
  const verdict = judge(evidenceOf(context, launch, { held: true, askedForMs: 0, startFailure }));
  const name = what.argv[0] ?? '';
  const which =
    startFailure.stage === 'chdir'
      ? `workingDir: ${JSON.stringify(what.workingDir).slice(0, 256)}`
      : `Command: ${JSON.stringify(name).slice(0, 256)}`;
  const shown = { ...verdict, message: `${verdict.message} ${which}.` };
  await settle(context, launch, shown);
}

async function settle(context: ActContext, launch: Termination['launch'], verdict: Verdict): Promise<void> {
  const { services } = context;
  const record = recordOf(context);
  const termination = terminationOf(context, launch, verdict);
  const oom = verdict.cause === 'OOMKilled' ? undefined : verdict.oom;
  record.outcome = {
    termination,
    ended: outcomeOf(record, termination),
    ...(oom === undefined ? {} : { oom }),
  };
  await services.step('ledger-outcome', () => services.ledger.put(record));
  sayEnd(context, record.outcome);
}

async function gather(context: ActContext, held: boolean): Promise<EvidenceExtras> {
  const { seen } = context;
  const after = await parentCounters(context);
  const restarted = wentDownWith(context);
  return {
    held,
    askedForMs: 0,
    ...(after === undefined ? {} : { after }),
    ...(seen.container === undefined
      ? { container: 'Missing' as const }
      : { flagAfter: seen.container.oomKilled }),
    ...(restarted === undefined ? {} : { restarted }),
  };
}

/** v2: the parent's counters are whole once the container is gone from below it. */
async function parentCounters({ services, run, runtime }: ActContext): Promise<KernelCounters | undefined> {
  const parent = run.record?.cgroupParent;
  const probe = runtime.probe.probe;
  if (parent === undefined || probe === undefined) return undefined;
  const path = cgroupParentPath(parent);
  const readings = await probe.readFiles(parentPaths(path), { signal: services.signal });
  return readCounters(undefined, path, readings);
}

/** Whether the runtime or its machine went down with the container. */
function wentDownWith({ services, run, runtime, seen }: ActContext): 'Runtime' | 'Machine' | undefined {
  const bootID = runtime.probe.probe?.hello.bootID;
  if (run.record?.bootID !== undefined && bootID !== undefined && bootID !== run.record.bootID)
    return 'Machine';
  const finished = seen.container?.finishedAt;
  if (finished === undefined) return undefined;
  const word = restartedUnder(runtime.breaks, Date.parse(finished), services.clock.now().getTime());
  // Whether it restarted, or only its events broke off, shows when it answers.
  if (word === 'Unknown') throw new NotNow('the runtime has not answered yet');
  return word === 'Yes' ? 'Runtime' : undefined;
}

function inspect({ services, run, runtime }: ActContext): Promise<ContainerInfo | undefined> {
  return runtime.driver.inspectContainer(containerName(run.uid), { signal: services.signal });
}

function endOf({ services, seen }: ActContext): string {
  const finished = seen.container?.finishedAt;
  return finished === undefined ? rfc3339(services.clock.now().getTime()) : new Date(finished).toISOString();
}

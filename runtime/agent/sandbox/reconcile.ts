import type { Sandbox, SandboxStatus } from '../../../crds/sandbox.ts';
import { sameJSON } from '../../../kube/equal.ts';
import { isConflict, isNotFound } from '../../../kube/errors.ts';
import { done, lookAgainAfter, type ReconcileResult } from '../../../kube/reconcile.ts';
import { SANDBOXES } from '../../../kube/resources.ts';
import { writeStatus } from '../../../kube/status.ts';
import type { Run } from '../run.ts';
import type { Services } from '../services.ts';
import { act } from './act.ts';
import { type ActContext, NotNow } from './act/context.ts';
import { intendLaunch } from './act/launch.ts';
import { applyChange } from './apply-change.ts';
import { decide } from './decide.ts';
import { observe } from './observe.ts';
import { paint } from './picture.ts';
import type { Action, Decision, Observation, StatusChange } from './types.ts';

/** No sandbox needs that many acts in a row; the next pass goes on. */
const ACTS_MAX = 24;
const NOT_NOW_MS = 1000;

/** Observe, decide, act, until there is nothing to do now. */
export async function reconcileSandbox(services: Services, uid: string): Promise<ReconcileResult> {
  const run = services.runs.get(uid);
  if (run === undefined) return done();
  let last = '';
  for (let acts = 0; acts < ACTS_MAX; acts += 1) {
    const { seen, runtime } = await observe(services, run);
    if (runtime === undefined) return runtimeMissing(services, run, seen);
    const decision = decide(seen);
    services.log.debug({ uid, because: decision.because, act: decision.act?.do }, 'decided');
    const context: ActContext = { services, run, runtime, seen };
    // The same act twice in a row did not change what was seen: not a third time at once.
    const name = JSON.stringify(decision.act ?? null);
    if (decision.act !== undefined && name === last) {
      await write(context, decision.status);
      return lookAgainAfter(NOT_NOW_MS);
    }
    last = name;
    try {
      await before(context, decision);
      noteStarted(context);
      if (decision.act === undefined) {
        return decision.againMs === undefined ? done() : lookAgainAfter(decision.againMs);
      }
      await act(decision.act, context);
    } catch (error) {
      if (isConflict(error)) {
        await refresh(context);
        last = '';
        continue;
      }
      if (error instanceof NotNow) {
        services.log.debug({ uid, because: error.message }, 'not now');
        return lookAgainAfter(NOT_NOW_MS);
      }
      await tell(context, decision.act, error);
      throw error;
    }
    if (decision.act.do === 'hand-back' || decision.act.do === 'forget') return done();
    if (run.pull?.state === 'running' && decision.act.do === 'create') last = '';
  }
  services.enqueue(uid);
  return done();
}

/** The status that has to be seen before the act, and the ledger's word of the act: side by side, both first. */
async function before(context: ActContext, decision: Decision): Promise<void> {
  const { act: next } = decision;
  if (next?.do === 'hand-back') {
    await handBack(context, decision.status);
    return;
  }
  const writes: Promise<unknown>[] = [];
  if (next === undefined || decision.writeFirst === true || isStop(next)) {
    writes.push(write(context, decision.status));
  }
  if (next?.do === 'start-setup') writes.push(intendLaunch(context, 'setup'));
  if (next?.do === 'start-main') writes.push(intendLaunch(context, 'main'));
  const results = await Promise.allSettled(writes);
  for (const result of results) if (result.status === 'rejected') throw result.reason;
}

/** When it began. After the status that users wait for: both are writes to one disk. */
function noteStarted({ services, run }: ActContext): void {
  const { record } = run;
  if (!run.noteStarted || record === undefined) return;
  run.noteStarted = false;
  services
    .step('ledger-started', () => services.ledger.put(record))
    .catch((error: unknown) => services.log.warn({ err: error, uid: run.uid }, 'ledger not written'));
}

function isStop(action: Action): boolean {
  return action.do === 'stop';
}

async function write(
  { services, run, seen }: ActContext,
  change: StatusChange | undefined,
  edit: (status: SandboxStatus) => void = () => undefined,
): Promise<void> {
  const { sandbox } = seen;
  if (change === undefined || sandbox === undefined) return;
  const status = applyChange(sandbox.status, change, {
    now: services.clock.now(),
    observedGeneration: sandbox.metadata.generation,
  });
  edit(status);
  if (sameJSON(sandbox.status, status)) return;
  await services.mayWrite(sandbox, status);
  try {
    const now = await services.step('write-status', () =>
      writeStatus<Sandbox>(services.client, SANDBOXES, sandbox, status, {
        signal: services.signal,
      }),
    );
    remember(run, sandbox, now);
  } catch (error) {
    // Deleted meanwhile: the watch says so.
    if (!isNotFound(error)) throw error;
  }
}

function remember(run: Run, before: Sandbox, now: Sandbox): void {
  if (before === now) return;
  const outdated = run.newer?.outdated ?? new Set<string>();
  if (before.metadata.resourceVersion !== undefined) outdated.add(before.metadata.resourceVersion);
  run.newer = { object: now, outdated };
}

async function handBack(context: ActContext, change: StatusChange | undefined): Promise<void> {
  // The controller must not place it here again on old figures.
  await context.services.publishNode();
  await write(context, change, (status) => {
    delete status.nodeName;
    delete status.runtime;
    delete status.fenceSeconds;
  });
  // Said; the next one that is given here is tried anew.
  context.run.unenforceable = undefined;
}

/** Somebody else wrote: their version is decided from next, without waiting for the watch. */
async function refresh({ services, run, seen }: ActContext): Promise<void> {
  const { sandbox } = seen;
  if (sandbox === undefined) return;
  try {
    const found = await services.client.get<Sandbox>(
      SANDBOXES,
      { namespace: run.namespace, name: run.name },
      { signal: services.signal },
    );
    if (found.metadata.uid === run.uid) remember(run, sandbox, found);
  } catch (error) {
    if (!isNotFound(error)) throw error;
  }
}

/** A step failed and will be tried again: users see why it does not go on. */
async function tell(context: ActContext, action: Action | undefined, error: unknown): Promise<void> {
  const { seen } = context;
  if (seen.sandbox === undefined || context.services.signal.aborted) return;
  // Another node's status is not ours to write.
  if (seen.sandbox.status?.nodeName !== seen.nodeName) return;
  const message = error instanceof Error ? error.message : String(error);
  const what =
    action === undefined ? 'The sandbox could not be looked after' : `The step "${action.do}" failed`;
  const change = paint(
    {
      is: 'Working',
      reason: 'RuntimeError',
      message: `${what} and is tried again: ${message}`.slice(0, 2000),
    },
    { retained: seen.spec?.retained ?? false, current: seen.sandbox.status },
  );
  // What runs goes on running, whatever failed beside it.
  if (seen.container?.state === 'running' && seen.record?.main !== undefined) return;
  try {
    await write(context, change);
  } catch (failure) {
    context.services.log.debug({ err: failure, uid: context.run.uid }, 'status not written');
  }
}

function runtimeMissing(services: Services, run: Run, seen: Observation): ReconcileResult {
  if (seen.sandbox?.status?.nodeName !== services.nodeName) return done();
  services.log.warn({ uid: run.uid, runtime: seen.sandbox.status.runtime }, 'no such runtime on this node');
  return lookAgainAfter(30_000);
}

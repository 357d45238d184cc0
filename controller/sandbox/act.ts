import { FINALIZER } from '../../crds/group.ts';
import type { Sandbox } from '../../crds/sandbox.ts';
import { ApiError, type KubeClient } from '../../kube/client.ts';
import { isNotFound } from '../../kube/errors.ts';
import type { EventRecorder } from '../../kube/events.ts';
import type { Steps } from '../../kube/fault-points.ts';
import { SANDBOXES } from '../../kube/resources.ts';
import { writeStatus } from '../../kube/status.ts';
import type { Commitments } from '../commitments.ts';
import type { Decision } from './types.ts';

export interface ActOptions {
  client: KubeClient;
  events: EventRecorder;
  commitments: Commitments;
  step: Steps;
  /** Whether the node is lost and has been silent for so long, by a fresh look at its lease. */
  confirmSilent: (node: string, ms: number, signal: AbortSignal) => Promise<boolean>;
  signal: AbortSignal;
}

/**
 * Does what was decided, each step guarded by the resourceVersion that it was decided from. Answers the sandbox as it
 * is now on the API; undefined: it was deleted, or nothing was done. Throws what the API threw: nothing is lost by
 * deciding again.
 */
export async function act(
  sandbox: Sandbox,
  decision: Decision,
  options: ActOptions,
): Promise<Sandbox | undefined> {
  const { client, step, signal } = options;
  switch (decision.act) {
    case 'Delete':
      await unlessGone(() => step('delete', () => remove(sandbox, client, signal)));
      return undefined;
    case 'RemoveFinalizer':
      return unlessGone(() =>
        step('remove-finalizer', () =>
          setFinalizers(sandbox, (sandbox.metadata.finalizers ?? []).filter(notOurs), client, signal),
        ),
      );
    case 'AddFinalizerAndBind':
      return bind(sandbox, decision, options);
    case 'TakeBack':
      return takeBack(sandbox, decision, options);
    case undefined:
      if (decision.status === undefined) return undefined;
      return step('write-word', () => writeDecided(sandbox, decision, options));
  }
}

/** The promise is made before the first await, so that no other placement counts on the same room. */
async function bind(sandbox: Sandbox, decision: Decision, options: ActOptions): Promise<Sandbox | undefined> {
  const { client, commitments, step, signal } = options;
  const uid = sandbox.metadata.uid ?? '';
  commitments.assume(sandbox, decision.node ?? '');
  try {
    const finalizers = sandbox.metadata.finalizers ?? [];
    const guarded = finalizers.includes(FINALIZER)
      ? sandbox
      : await step('add-finalizer', () => setFinalizers(sandbox, [...finalizers, FINALIZER], client, signal));
    return await step('bind', () => writeDecided(guarded, decision, options));
  } catch (error) {
    // A refusal is certain. Without an answer the binding may be there: the promise stands until the watch has shown.
    if (error instanceof ApiError && error.code < 500) commitments.forgetAssumed(uid);
    throw error;
  }
}

/** What is in view may be old: a watch that has gone silent shows no renewals either. */
async function takeBack(
  sandbox: Sandbox,
  decision: Decision,
  options: ActOptions,
): Promise<Sandbox | undefined> {
  const node = sandbox.status?.nodeName ?? '';
  const silent = await options.confirmSilent(
    node,
    decision.silentMs ?? Number.POSITIVE_INFINITY,
    options.signal,
  );
  if (!silent) return undefined;
  return options.step('take-back', () => writeDecided(sandbox, decision, options));
}

async function writeDecided(
  sandbox: Sandbox,
  { status, event }: Decision,
  { client, events, signal }: ActOptions,
): Promise<Sandbox | undefined> {
  if (status === undefined) return undefined;
  const written = await writeStatus(client, SANDBOXES, sandbox, status, { signal });
  if (written === sandbox) return undefined;
  if (event !== undefined) events.record(written, event.type, event.reason, event.message);
  return written;
}

async function setFinalizers(
  sandbox: Sandbox,
  finalizers: string[],
  client: KubeClient,
  signal: AbortSignal,
): Promise<Sandbox> {
  const { resourceVersion } = sandbox.metadata;
  return client.patch<Sandbox>(
    SANDBOXES,
    refOf(sandbox),
    { metadata: { finalizers, ...(resourceVersion !== undefined && { resourceVersion }) } },
    { type: 'merge', signal },
  );
}

async function remove(sandbox: Sandbox, client: KubeClient, signal: AbortSignal): Promise<void> {
  const { uid, resourceVersion } = sandbox.metadata;
  await client.delete(SANDBOXES, refOf(sandbox), {
    ...(uid !== undefined && { uid }),
    ...(resourceVersion !== undefined && { resourceVersion }),
    propagationPolicy: 'Background',
    signal,
  });
}

async function unlessGone<T>(call: () => Promise<T>): Promise<T | undefined> {
  try {
    return await call();
  } catch (error) {
    if (isNotFound(error)) return undefined;
    throw error;
  }
}

function notOurs(finalizer: string): boolean {
  return finalizer !== FINALIZER;
}

function refOf({ metadata }: Sandbox): { namespace: string; name: string } {
  return { namespace: metadata.namespace ?? '', name: metadata.name };
}

import { type Clock, timestamp } from '../clock.ts';
import { objectKey, type StoredObject } from '../object.ts';
import type { Kind } from '../registry/kind.ts';
import type { Store } from '../store/store.ts';
import type { Transaction } from '../store/transaction.ts';
import { fromStorage, groupResource, keyOf, type NamedCall, storageId } from './call.ts';
import { refuse, type Status } from './status.ts';

export const ORPHAN = 'orphan';
export const FOREGROUND = 'foregroundDeletion';

export interface DeleteOptions {
  propagationPolicy?: 'Orphan' | 'Background' | 'Foreground';
  uid?: string;
  resourceVersion?: string;
}

/** DELETE of one object: a Status when it is gone, the object when something holds it yet. */
export async function remove(
  call: NamedCall,
  options: DeleteOptions,
  context: { store: Store; clock: Clock },
): Promise<StoredObject | Status> {
  return context.store.write((tx) => {
    const id = storageId(call.kind);
    const stored = tx.get(id, keyOf(call));
    if (stored === undefined) throw refuse.notFound(groupResource(call), call.name);
    checkPreconditions(call, stored, options);
    const why = call.kind.traits.forbidDelete?.(stored);
    if (why !== undefined) throw refuse.forbidden(groupResource(call), call.name, why);
    const result = call.dryRun
      ? beginDeletion(call.kind, stored, options, context.clock)
      : deleteStored(tx, call.kind, stored, options, context.clock);
    return result.gone && call.kind.traits.heldBy === undefined
      ? success(call, stored)
      : fromStorage(call, result.object);
  });
}

/** The conflict names the kind where others name the resource: so does the API server's. */
function checkPreconditions(call: NamedCall, stored: StoredObject, options: DeleteOptions): void {
  const gk = { group: call.kind.group, resource: call.kind.kind };
  const { uid, resourceVersion } = stored.metadata;
  if (options.uid !== undefined && options.uid !== uid) {
    throw refuse.conflict(
      gk,
      call.name,
      `the UID in the precondition (${options.uid}) does not match the UID in record (${uid ?? ''}). The object might have been deleted and then recreated`,
    );
  }
  if (options.resourceVersion !== undefined && options.resourceVersion !== resourceVersion) {
    throw refuse.conflict(
      gk,
      call.name,
      `the ResourceVersion in the precondition (${options.resourceVersion}) does not match the ResourceVersion in record (${resourceVersion ?? ''}). The object might have been modified`,
    );
  }
}

function success(call: NamedCall, object: StoredObject): Status {
  return {
    kind: 'Status',
    apiVersion: 'v1',
    metadata: {},
    status: 'Success',
    details: {
      name: call.name,
      ...(call.kind.group === '' ? {} : { group: call.kind.group }),
      kind: call.kind.plural,
      uid: object.metadata.uid ?? '',
    },
  };
}

/** Deletes an object in a transaction: at once, or by a mark when finalizers hold it. `stored` is changed. */
export function deleteStored(
  tx: Transaction,
  kind: Kind,
  stored: StoredObject,
  options: DeleteOptions,
  clock: Clock,
): { object: StoredObject; gone: boolean } {
  const key = objectKey(kind.namespaced ? stored.metadata.namespace : undefined, stored.metadata.name);
  const before = JSON.stringify(stored);
  const result = beginDeletion(kind, stored, options, clock);
  if (result.gone) tx.remove(storageId(kind), key, result.object);
  else if (JSON.stringify(result.object) !== before) tx.put(storageId(kind), key, result.object);
  return result;
}

function beginDeletion(
  kind: Kind,
  object: StoredObject,
  options: DeleteOptions,
  clock: Clock,
): { object: StoredObject; gone: boolean } {
  const { metadata } = object;
  const finalizers = withPropagation(metadata.finalizers ?? [], options.propagationPolicy);
  if (finalizers.length > 0) metadata.finalizers = finalizers;
  else delete metadata.finalizers;
  const first = metadata.deletionTimestamp === undefined;
  if (first) {
    metadata.deletionTimestamp = timestamp(clock.now());
    kind.traits.beginDelete?.(object);
  }
  const held = (metadata.finalizers ?? []).length > 0 || (kind.traits.heldBy?.(object) ?? []).length > 0;
  // What goes at once is shown as it was.
  if (first && !held) delete metadata.deletionTimestamp;
  if (first && held) {
    // What is deleted gracefully elsewhere has nothing to wait for here.
    if (kind.traits.heldBy === undefined) metadata.deletionGracePeriodSeconds = 0;
    if (metadata.generation !== undefined) metadata.generation += 1;
  }
  return { object, gone: !held };
}

/** The garbage collector's finalizers say how the dependents are to go. */
function withPropagation(finalizers: string[], policy: DeleteOptions['propagationPolicy']): string[] {
  if (policy === undefined) return finalizers;
  const rest = finalizers.filter((name) => name !== ORPHAN && name !== FOREGROUND);
  if (policy === 'Orphan') return [...rest, ORPHAN];
  return policy === 'Foreground' ? [...rest, FOREGROUND] : rest;
}

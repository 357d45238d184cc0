import type { Clock } from '../clock.ts';
import type { StoredObject } from '../object.ts';
import { deepEqual, type Json, type JsonObject } from '../schema/json.ts';
import type { Store } from '../store/store.ts';
import type { Transaction } from '../store/transaction.ts';
import { fromStorage, groupResource, keyOf, type NamedCall, storageId, toStorage } from './call.ts';
import { dropUnkept, fillDefaults, makeNew, ordered, prepareNew } from './create.ts';
import { acceptObject, judgeFields } from './decode.ts';
import { requireNamespace } from './namespace.ts';
import { keepTimes, recordOwners } from './ownership.ts';
import { refuse } from './status.ts';
import { resourceVersionRequired, validateObject } from './validate.ts';

export interface Updated {
  object: StoredObject;
  created: boolean;
}

/** PUT. `body` is the decoded body. */
export async function update(
  call: NamedCall,
  body: Record<string, unknown>,
  context: { store: Store; clock: Clock; duplicates?: string[] },
): Promise<Updated> {
  const { object, unknown } = acceptObject(call, body);
  judgeFields(call, unknown, context.duplicates);
  checkIdentity(call, object);
  return context.store.write((tx) => {
    const stored = tx.get(storageId(call.kind), keyOf(call));
    if (stored !== undefined) {
      checkUID(call, stored, object);
      fillDefaults(call, object);
      recordOwners(call, fromStorage(call, stored), object, context.clock);
      return { object: replace(call, stored, object, tx), created: false };
    }
    return { object: createInstead(call, object, tx, context.clock), created: true };
  });
}

function checkIdentity(call: NamedCall, object: StoredObject): void {
  const { metadata } = object;
  if ((metadata.name ?? '') === '') metadata.name = call.name;
  if (metadata.name !== call.name) {
    throw refuse.badRequest(
      `the name of the object (${metadata.name}) does not match the name on the URL (${call.name})`,
    );
  }
  if (!call.kind.namespaced || call.namespace === undefined) {
    delete metadata.namespace;
    return;
  }
  if ((metadata.namespace ?? '') === '') metadata.namespace = call.namespace;
  if (metadata.namespace !== call.namespace) {
    throw refuse.badRequest(
      `the namespace of the object (${metadata.namespace}) does not match the namespace on the URL (${call.namespace})`,
    );
  }
}

function createInstead(call: NamedCall, object: StoredObject, tx: Transaction, clock: Clock): StoredObject {
  const gr = groupResource(call);
  if (!call.kind.traits.createOnUpdate || call.subresource !== undefined)
    throw refuse.notFound(gr, call.name);
  if ((object.metadata.resourceVersion ?? '') !== '') throw refuse.notFound(gr, call.name);
  prepareNew(call, object, clock);
  return insertNew(call, object, tx);
}

/** Stores an object that an apply request makes. */
export function createApplied(
  call: NamedCall,
  object: StoredObject,
  tx: Transaction,
  clock: Clock,
): StoredObject {
  makeNew(call, object, clock);
  return insertNew(call, object, tx);
}

function insertNew(call: NamedCall, object: StoredObject, tx: Transaction): StoredObject {
  requireNamespace(call, call.name, (resource, key) => tx.get(resource, key));
  validateObject(call, object, undefined);
  if (call.dryRun) return object;
  const stored = toStorage(call, ordered(object));
  tx.put(storageId(call.kind), keyOf(call), stored);
  return fromStorage(call, stored);
}

/**
 * The stored object replaced by `object`, as an update of the object or of its subresource may; both PUT and
 * PATCH end here. Writes nothing when nothing has changed.
 */
export function replace(
  call: NamedCall,
  stored: StoredObject,
  object: StoredObject,
  tx: Transaction,
): StoredObject {
  const old = fromStorage(call, stored);
  checkVersion(call, old, object);
  const next = merge(call, old, object);
  if (next.metadata.resourceVersion === undefined)
    next.metadata.resourceVersion = old.metadata.resourceVersion ?? '';
  call.version.schema?.default(next as unknown as JsonObject);
  if (call.subresource === undefined) call.kind.traits.prepare?.(next, old);
  countGeneration(call, old, next);
  validateObject(call, next, old);
  keepTimes(old, next);
  if (deepEqual(next as unknown as Json, old as unknown as Json)) return old;
  if (call.dryRun) return next;
  const result = toStorage(call, ordered(next));
  const id = storageId(call.kind);
  if (isReleased(call, next)) tx.remove(id, keyOf(call), result);
  else tx.put(id, keyOf(call), result);
  return fromStorage(call, result);
}

/** Its deletion was asked for, and nothing holds it any more. */
export function isReleased(call: Pick<NamedCall, 'kind'>, object: StoredObject): boolean {
  return (
    object.metadata.deletionTimestamp !== undefined &&
    (object.metadata.finalizers ?? []).length === 0 &&
    (call.kind.traits.heldBy?.(object) ?? []).length === 0
  );
}

/** The UID that a PUT names is a precondition; a PATCH that changes it changes what may not be changed. */
function checkUID(call: NamedCall, old: StoredObject, object: StoredObject): void {
  const gr = groupResource(call);
  const { uid } = object.metadata;
  if (uid !== undefined && uid !== '' && uid !== old.metadata.uid) {
    throw refuse.conflict(
      gr,
      call.name,
      `StorageError: invalid object, Code: 4, Key: ${storageKey(call)}, ResourceVersion: 0, AdditionalErrorMsg: Precondition failed: UID in precondition: ${uid}, UID in object meta: ${old.metadata.uid ?? ''}`,
    );
  }
}

function checkVersion(call: NamedCall, old: StoredObject, object: StoredObject): void {
  const gr = groupResource(call);
  const { resourceVersion } = object.metadata;
  if (resourceVersion === undefined || resourceVersion === '' || resourceVersion === '0') {
    if (!call.kind.traits.unconditionalUpdate) throw resourceVersionRequired(call, call.name);
    delete object.metadata.resourceVersion;
    return;
  }
  if (!/^\d+$/.test(resourceVersion)) {
    throw refuse.storage(`strconv.ParseUint: parsing ${JSON.stringify(resourceVersion)}: invalid syntax`);
  }
  if (resourceVersion !== old.metadata.resourceVersion) throw refuse.modified(gr, call.name);
}

/** Where a kube-apiserver would keep it: its conflicts say so. */
function storageKey(call: NamedCall): string {
  const { group, plural } = call.kind;
  return `/registry/${group === '' ? '' : `${group}/`}${plural}/${keyOf(call)}`;
}

/** Only the part of the object that this call may write; what the server owns stays as it was. */
function merge(call: NamedCall, old: StoredObject, object: StoredObject): StoredObject {
  if (call.subresource !== undefined) {
    const next: StoredObject = { ...old, metadata: { ...old.metadata } };
    const owners = object.metadata.managedFields;
    if (owners === undefined) delete next.metadata.managedFields;
    else next.metadata.managedFields = owners;
    const part = call.subresource === 'status' ? 'status' : 'spec';
    if (object[part] === undefined) delete next[part];
    else next[part] = object[part];
    return next;
  }
  const next: StoredObject = { ...object, metadata: { ...object.metadata } };
  const { metadata } = next;
  for (const field of ['creationTimestamp', 'deletionGracePeriodSeconds', 'generation'] as const) {
    if (old.metadata[field] === undefined) delete metadata[field];
    else Object.assign(metadata, { [field]: old.metadata[field] });
  }
  // These may be left out; what is given must be as it is (ValidateObjectMetaUpdate).
  for (const field of ['uid', 'deletionTimestamp'] as const) {
    if (old.metadata[field] !== undefined) metadata[field] ??= old.metadata[field];
  }
  dropUnkept(metadata);
  if (call.version.status) {
    if (old['status'] === undefined) delete next['status'];
    else next['status'] = old['status'];
  }
  return next;
}

/** The generation counts what a user asked for: changes beyond metadata (and status, where it is apart). */
function countGeneration(call: NamedCall, old: StoredObject, next: StoredObject): void {
  if (!call.kind.traits.generation || call.subresource === 'status') return;
  const content = (object: StoredObject): Json => {
    const { metadata: _, status, ...rest } = object;
    return (call.version.status ? rest : { ...rest, status: status ?? null }) as Json;
  };
  if (!deepEqual(content(old), content(next))) next.metadata.generation = (old.metadata.generation ?? 0) + 1;
}

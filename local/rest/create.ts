import { randomUUID } from 'node:crypto';
import { type Clock, timestamp } from '../clock.ts';
import { objectKey, type StoredObject } from '../object.ts';
import type { JsonObject } from '../schema/json.ts';
import type { Store } from '../store/store.ts';
import type { Transaction } from '../store/transaction.ts';
import { type Call, fromStorage, groupResource, storageId, toStorage } from './call.ts';
import { acceptObject, judgeFields } from './decode.ts';
import { requireNamespace } from './namespace.ts';
import { recordOwners } from './ownership.ts';
import { refuse } from './status.ts';
import { validateObject } from './validate.ts';

const MAX_GENERATED_PREFIX = 58;
/** No vowels, nothing that looks like something else: as apimachinery's `rand`. */
const ALPHABET = 'bcdfghjklmnpqrstvwxz2456789';

function generateName(prefix: string): string {
  const bytes = crypto.getRandomValues(new Uint8Array(5));
  const suffix = Array.from(bytes, (byte) => ALPHABET[byte % ALPHABET.length]).join('');
  return prefix.slice(0, MAX_GENERATED_PREFIX) + suffix;
}

/** POST. `body` is the decoded body. Resolves with the object as stored, in the call's version. */
export async function create(
  call: Call,
  body: Record<string, unknown>,
  context: { store: Store; clock: Clock; duplicates?: string[] },
): Promise<StoredObject> {
  const { object, unknown } = acceptObject(call, body);
  judgeFields(call, unknown, context.duplicates);
  checkNamespace(call, object);
  if (call.kind.crd?.metadata.deletionTimestamp !== undefined) {
    throw refuse.methodNotAllowed(groupResource(call), 'create');
  }
  const generated = prepareNew(call, object, context.clock);
  requireNamespace(call, object.metadata.name ?? '', (resource, key) => context.store.get(resource, key));
  validateObject(call, object, undefined);
  return context.store.write((tx) => insert(call, object, tx, generated));
}

/** Fills in what the server sets on a new object. Answers whether it made the name up. */
export function prepareNew(call: Call, object: StoredObject, clock: Clock): boolean {
  fillDefaults(call, object);
  recordOwners(call, undefined, object, clock);
  return makeNew(call, object, clock);
}

/** Before its owners are recorded: whoever writes an object owns what it leaves to the defaults. */
export function fillDefaults(call: Call, object: StoredObject): void {
  call.version.schema?.default(object as unknown as JsonObject);
  call.kind.traits.defaults?.(object);
}

/** As `prepareNew`, of an object whose owners are known. */
export function makeNew(call: Call, object: StoredObject, clock: Clock): boolean {
  const { metadata } = object;
  const generated = (metadata.name ?? '') === '' && (metadata.generateName ?? '') !== '';
  if (generated) metadata.name = generateName(metadata.generateName ?? '');
  delete metadata.deletionTimestamp;
  delete metadata.deletionGracePeriodSeconds;
  dropUnkept(metadata);
  delete metadata.generation;
  metadata.uid = randomUUID();
  metadata.creationTimestamp = timestamp(clock.now());
  if (call.kind.traits.generation) metadata.generation = 1;
  if (call.version.status) delete object['status'];
  call.version.schema?.default(object as unknown as JsonObject);
  call.kind.traits.prepare?.(object, undefined);
  return generated;
}

/** What a client may send and the server does not keep. */
export function dropUnkept(metadata: StoredObject['metadata']): void {
  delete (metadata as { selfLink?: string }).selfLink;
}

function insert(call: Call, object: StoredObject, tx: Transaction, generated: boolean): StoredObject {
  const name = object.metadata.name;
  // Again, in the commit: the namespace may have gone since.
  requireNamespace(call, name, (resource, key) => tx.get(resource, key));
  const id = storageId(call.kind);
  const key = objectKey(call.kind.namespaced ? call.namespace : undefined, name);
  if (tx.has(id, key)) {
    throw generated
      ? refuse.generateNameConflict(groupResource(call), name)
      : refuse.alreadyExists(groupResource(call), name);
  }
  if (call.dryRun) {
    delete object.metadata.resourceVersion;
    return object;
  }
  if (object.metadata.resourceVersion !== undefined) {
    throw refuse.storage('resourceVersion should not be set on objects to be created');
  }
  const stored = toStorage(call, ordered(object));
  tx.put(id, key, stored);
  return fromStorage(call, stored);
}

/** apiVersion and kind first: the text of a stored object then starts with them (see rest/body.ts). */
export function ordered(object: StoredObject): StoredObject {
  const { apiVersion, kind, metadata, ...rest } = object;
  return { apiVersion, kind, metadata, ...rest };
}

function checkNamespace(call: Call, object: StoredObject): void {
  const { metadata } = object;
  if (!call.kind.namespaced) {
    delete metadata.namespace;
    return;
  }
  if ((metadata.namespace ?? '') === '' && call.namespace !== undefined) metadata.namespace = call.namespace;
  if (metadata.namespace !== call.namespace) {
    throw refuse.badRequest(
      'the namespace of the provided object does not match the namespace sent on the request',
    );
  }
}

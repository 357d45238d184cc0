import type { User } from '../auth/user.ts';
import { objectKey, type StoredObject } from '../object.ts';
import type { Kind, ServedVersion } from '../registry/kind.ts';
import type { JsonObject } from '../schema/json.ts';
import type { GroupResource } from './status.ts';

export type FieldValidation = 'Strict' | 'Warn' | 'Ignore';

/** One request for objects of one kind, its URL and query taken apart. */
export interface Call {
  kind: Kind;
  version: ServedVersion;
  namespace: string | undefined;
  name: string | undefined;
  subresource: 'status' | 'finalize' | undefined;
  query: URLSearchParams;
  user: User;
  dryRun: boolean;
  /** Whom the fields that this call sets belong to. */
  fieldManager: string;
  /** An apply takes fields that others own. */
  force: boolean;
  fieldValidation: FieldValidation;
  /** Sent as Warning headers with the answer. */
  warnings: string[];
  /** Has the last word on an object that is about to be stored: throws what refuses it. */
  admit: (object: StoredObject) => void;
}

/** A call that names an object. */
export type NamedCall = Call & { name: string };

export function groupResource(call: { kind: Kind }): GroupResource {
  return { group: call.kind.group, resource: call.kind.plural };
}

export function keyOf(call: NamedCall): string {
  return objectKey(call.kind.namespaced ? call.namespace : undefined, call.name);
}

export function storageId(kind: Kind): string {
  return kind.storedAs?.id ?? kind.id;
}

/** The group and version an object of this call has. */
export function apiVersion(call: { kind: Kind; version: ServedVersion }): string {
  return call.kind.group === '' ? call.version.name : `${call.kind.group}/${call.version.name}`;
}

/**
 * A stored object as this call's version shows it: what was stored under an older schema is read with today's. The
 * object itself may be changed, or another one be answered.
 */
export function fromStorage(
  call: { kind: Kind; version: ServedVersion },
  object: StoredObject,
): StoredObject {
  const alias = call.kind.storedAs;
  if (alias !== undefined) return alias.fromStorage(object);
  if (isStale(call.kind, object)) return reread(call, object);
  object.apiVersion = apiVersion(call);
  return object;
}

function isStale(kind: Kind, object: StoredObject): boolean {
  return kind.staleUntil > 0 && Number(object.metadata.resourceVersion) <= kind.staleUntil;
}

/** Others may hold the stored object: watches of other versions see it through other schemas. */
function reread(call: { kind: Kind; version: ServedVersion }, object: StoredObject): StoredObject {
  const copy = structuredClone(object);
  copy.apiVersion = apiVersion(call);
  call.version.schema?.prune(copy as unknown as JsonObject);
  call.version.schema?.dropNulls(copy as unknown as JsonObject);
  call.version.schema?.default(copy as unknown as JsonObject);
  return copy;
}

/** The other way round. Conversion between versions of a custom kind changes the apiVersion only. */
export function toStorage(call: { kind: Kind; version: ServedVersion }, object: StoredObject): StoredObject {
  const alias = call.kind.storedAs;
  if (alias !== undefined) return alias.toStorage(object);
  const { group, storageVersion } = call.kind;
  return { ...object, apiVersion: group === '' ? storageVersion : `${group}/${storageVersion}` };
}

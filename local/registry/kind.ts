import type { StoredObject } from '../object.ts';
import type { JSONSchemaProps, PrinterColumn } from '../schema/crd-types.ts';
import type { FieldError } from '../schema/field-error.ts';
import type { JsonObject } from '../schema/json.ts';

/** What a schema does to an object; built-in kinds have none. All of it is in place. */
interface ObjectSchema {
  /** Drops what the schema does not know and names it; metadata of a wrong type throws a DecodeError. */
  prune(object: JsonObject): { pruned: JsonObject; unknownFields: string[] };
  /** Takes nulls that mean nothing for what was not sent. */
  dropNulls(object: JsonObject): void;
  default(object: JsonObject): JsonObject;
  /**
   * Refusals of the whole object, its metadata included; `old` is the stored object of an update. `warn` hears of
   * what an update has left as invalid as it was.
   */
  validate(object: JsonObject, old?: JsonObject, warn?: (text: string) => void): FieldError[];
  /** Refusals of an update of the status. */
  validateStatus(object: JsonObject, old: JsonObject, warn?: (text: string) => void): FieldError[];
}

/** How one version of a kind is served. */
export interface ServedVersion {
  name: string;
  schema: ObjectSchema | undefined;
  /** Of a built-in kind: reads an object in place, and names the fields that it has dropped. */
  decode: ((object: JsonObject) => string[]) | undefined;
  /** Of a custom kind, for its documentation. */
  openAPI: JSONSchemaProps | undefined;
  columns: PrinterColumn[] | undefined;
  /** Has `/status`: then a write to the object leaves its status alone, and the other way round. */
  status: boolean;
  /** Fields that a field selector may name, beside metadata.name and metadata.namespace: path -> value. */
  selectable: ReadonlyMap<string, (object: StoredObject) => string>;
  /** Sent as a warning with every answer. */
  deprecation: string | undefined;
}

/** What is special about a built-in kind, or about all custom ones. */
export interface Traits {
  /** A PUT without a resourceVersion overwrites. */
  unconditionalUpdate: boolean;
  /** A PUT of what does not exist creates it. */
  createOnUpdate: boolean;
  /** metadata.generation counts changes of what is neither metadata nor status. */
  generation: boolean;
  /** Lists are merged by key where Kubernetes says so (strategic merge patch); custom kinds refuse it. */
  strategicMerge: boolean;
  /** The verbs it has; absent: all of them. */
  verbs?: readonly string[];
  /** The check of metadata.name; absent: a DNS-1123 subdomain. */
  validateName?: (name: string) => string[];
  /** Members that an object of the kind always has, as a Go struct does: nobody owns that they are there. */
  zero?: Record<string, unknown>;
  /** Fills in what a client may leave out, in place; whoever writes the object owns it. */
  defaults?: (object: StoredObject) => void;
  /** Completes an object before it is validated, in place. `old` is the stored one of an update. */
  prepare?: (object: StoredObject, old: StoredObject | undefined) => void;
  validate?: (object: StoredObject, old: StoredObject | undefined) => FieldError[];
  /** Of a new object `validate` covers the metadata too. */
  validatesMetadata?: boolean;
  /** Answers why it may not be deleted. */
  forbidDelete?: (object: StoredObject) => string | undefined;
  /** Marks an object whose deletion begins, in place. */
  beginDelete?: (object: StoredObject) => void;
  /** What holds a deleted object, beside metadata.finalizers. */
  heldBy?: (object: StoredObject) => readonly string[];
}

export interface Kind {
  /** `group/plural` (`/configmaps` in the core group): its name in the store. */
  id: string;
  group: string;
  kind: string;
  listKind: string;
  plural: string;
  singular: string;
  shortNames: readonly string[];
  categories: readonly string[];
  namespaced: boolean;
  storageVersion: string;
  versions: ReadonlyMap<string, ServedVersion>;
  traits: Traits;
  /** The definition that a custom kind is served from. */
  crd: StoredObject | undefined;
  /** Objects stored up to this revision were stored under an older schema than today's. 0: none were. */
  staleUntil: number;
  /** Objects stored under this id are served by another kind too (core and events.k8s.io Events). */
  storedAs?: StorageAlias;
  /** The other kind that its objects are served as. */
  otherFace?: OtherFace;
}

export interface OtherFace {
  group: string;
  version: string;
  apiVersion: string;
  /** An object of that kind as one of this, and the other way round. Any other is answered as it is. */
  to(object: JsonObject): JsonObject;
  from(object: JsonObject): JsonObject;
}

/** A kind that is another view of objects stored under a different id. */
export interface StorageAlias {
  id: string;
  toStorage(object: StoredObject): StoredObject;
  fromStorage(object: StoredObject): StoredObject;
}

export function kindId(group: string, plural: string): string {
  return `${group}/${plural}`;
}

export function apiVersionOf(group: string, version: string): string {
  return group === '' ? version : `${group}/${version}`;
}

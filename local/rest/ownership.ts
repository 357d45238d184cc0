import { type Clock, timestamp } from '../clock.ts';
import { applyTo, ownersOfUpdate } from '../managed-fields/owners.ts';
import { FieldSet } from '../managed-fields/field-set.ts';
import type { FieldType } from '../managed-fields/field-type.ts';
import { sameButTimes } from '../managed-fields/managers.ts';
import { field } from '../managed-fields/path-element.ts';
import { DEDUCED, EMBEDDED, type TypeSchema, typeOfSchema } from '../managed-fields/schema-type.ts';
import type { VersionView, Write } from '../managed-fields/tracking.ts';
import type { StoredObject } from '../object.ts';
import { builtinSchema, resolveRef } from '../openapi/components.ts';
import type { Kind, ServedVersion } from '../registry/kind.ts';
import { deepEqual, type Json, type JsonObject } from '../schema/json.ts';
import { apiVersion, type Call, type NamedCall } from './call.ts';

const json = (object: StoredObject): JsonObject => object as unknown as JsonObject;

/** Records in `next.metadata.managedFields` who owns what once `next` is stored in place of `live`. */
export function recordOwners(
  call: Call,
  live: StoredObject | undefined,
  next: StoredObject,
  clock: Clock,
): void {
  const zero = call.kind.traits.zero;
  const whole = (object: StoredObject): JsonObject =>
    zero === undefined ? json(object) : { ...(zero as JsonObject), ...json(object) };
  const before = live === undefined ? undefined : whole(live);
  const entries = ownersOfUpdate(before, whole(next), writeOf(call, clock), (zero ?? {}) as JsonObject);
  if (entries === undefined) delete next.metadata.managedFields;
  else next.metadata.managedFields = entries;
}

/** The outcome of an apply request, to be stored in place of `live`, or as a new object. */
export function applyConfig(
  call: NamedCall,
  live: StoredObject | undefined,
  config: JsonObject,
  clock: Clock,
): StoredObject {
  const { group, kind } = call.kind;
  const metadata = (config['metadata'] ?? {}) as JsonObject;
  const text = (value: Json | undefined): string => (typeof value === 'string' ? value : '');
  const gv = group === '' ? `/${call.version.name}` : `${group}/${call.version.name}`;
  const describe = `${text(metadata['namespace'])}/${text(metadata['name'])}; ${gv}, Kind=${kind}`;
  const write = writeOf(call, clock);
  const applied = applyTo(live === undefined ? undefined : json(live), config, write, {
    force: call.force,
    describe,
  });
  return applied as unknown as StoredObject;
}

/** A write that changes nothing but when somebody came to own what they own changes nothing. */
export function keepTimes(live: StoredObject, next: StoredObject): void {
  const before = live.metadata.managedFields;
  const after = next.metadata.managedFields;
  if (before === undefined || after === undefined || !sameButTimes(before, after)) return;
  const rest = (object: StoredObject): Json =>
    ({ ...object, metadata: { ...object.metadata, managedFields: null } }) as unknown as Json;
  if (deepEqual(rest(live), rest(next))) next.metadata.managedFields = before;
}

function writeOf(call: Call, clock: Clock): Write {
  return {
    manager: call.fieldManager,
    operation: 'Update',
    apiVersion: apiVersion(call),
    subresource: call.subresource ?? '',
    view: (wanted) => viewOf(call, wanted),
    reset: resetBy(call),
    now: timestamp(clock.now()),
  };
}

const NOTHING = new FieldSet();
const STATUS = FieldSet.of([field('status')]);
const SPEC = FieldSet.of([field('spec')]);
const ALL_BUT_STATUS = FieldSet.of([field('metadata')], [field('spec')]);

function resetBy({ kind, version, subresource }: Call): FieldSet {
  if (subresource === 'status') return kind.crd === undefined ? SPEC : ALL_BUT_STATUS;
  return version.status ? STATUS : NOTHING;
}

function viewOf(call: Call, wanted: string): VersionView | undefined {
  const { kind } = call;
  const other = kind.otherFace;
  if (other?.apiVersion === wanted)
    return {
      type: typeOfBuiltin(other.group, other.version, kind.kind),
      convert: (object) => other.from(object),
    };
  const version = [...kind.versions.values()].find((each) => apiVersion({ kind, version: each }) === wanted);
  if (version === undefined) return undefined;
  return {
    type: typeOf(kind, version),
    convert: (object) =>
      object['apiVersion'] === wanted ? object : (other?.to(object) ?? { ...object, apiVersion: wanted }),
  };
}

const builtinTypes = new Map<string, FieldType>();
const types = new WeakMap<ServedVersion, FieldType>();

function typeOf(kind: Kind, version: ServedVersion): FieldType {
  const known = types.get(version);
  if (known !== undefined) return known;
  const type =
    kind.crd === undefined ? typeOfBuiltin(kind.group, version.name, kind.kind) : typeOfCustom(version);
  types.set(version, type);
  return type;
}

function typeOfCustom({ openAPI }: ServedVersion): FieldType {
  if (openAPI === undefined) return DEDUCED;
  const schema = openAPI as TypeSchema;
  return typeOfSchema({ ...schema, properties: { ...schema.properties, ...EMBEDDED } }, resolveRef);
}

function typeOfBuiltin(group: string, version: string, kind: string): FieldType {
  const name = `${group}/${version}/${kind}`;
  const known = builtinTypes.get(name);
  if (known !== undefined) return known;
  const schema = builtinSchema(group, version, kind);
  const type = schema === undefined ? DEDUCED : typeOfSchema(schema, resolveRef);
  builtinTypes.set(name, type);
  return type;
}

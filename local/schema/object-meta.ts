import { addAll } from '../add-all.ts';
import { childPath, type FieldError, fieldErrors, indexPath } from './field-error.ts';
import { deepEqual, goJSON, isObject, type Json, type JsonObject, member } from './json.ts';
import {
  isDNS1123Label,
  isDNS1123Subdomain,
  isLabelValue,
  isQualifiedName,
  maskTrailingDash,
} from './names.ts';

export interface MetaRules {
  namespaced: boolean;
  /** Default: a DNS-1123 subdomain. */
  name?: (value: string) => string[];
}

const text = (meta: JsonObject, key: string): string => {
  const value = member(meta, key);
  return typeof value === 'string' ? value : '';
};
const strings = (meta: JsonObject, key: string): string[] => {
  const value = member(meta, key);
  return Array.isArray(value) ? value.filter((item): item is string => typeof item === 'string') : [];
};
const record = (meta: JsonObject, key: string): JsonObject => {
  const value = member(meta, key);
  return isObject(value) ? value : {};
};

/** ObjectMeta on creation, after a name was generated; worded as apimachinery's ValidateObjectMeta. */
export function validateObjectMeta(meta: JsonObject, rules: MetaRules, path = 'metadata'): FieldError[] {
  const errors: FieldError[] = [];
  const check = rules.name ?? isDNS1123Subdomain;
  const generateName = text(meta, 'generateName');
  const name = text(meta, 'name');
  if (generateName !== '') {
    for (const message of check(maskTrailingDash(generateName)))
      errors.push(fieldErrors.invalid(childPath(path, 'generateName'), generateName, message));
  }
  if (name === '')
    errors.push(fieldErrors.required(childPath(path, 'name'), 'name or generateName is required'));
  else
    for (const message of check(name))
      errors.push(fieldErrors.invalid(childPath(path, 'name'), name, message));
  addAll(errors, validateNamespace(text(meta, 'namespace'), rules.namespaced, childPath(path, 'namespace')));
  addAll(errors, validateCommon(meta, path));
  addAll(errors, validateFinalizers(strings(meta, 'finalizers'), childPath(path, 'finalizers')));
  return errors;
}

function validateNamespace(namespace: string, namespaced: boolean, path: string): FieldError[] {
  if (!namespaced) return namespace === '' ? [] : [fieldErrors.forbidden(path, 'not allowed on this type')];
  if (namespace === '') return [fieldErrors.required(path)];
  return isDNS1123Label(namespace).map((message) => fieldErrors.invalid(path, namespace, message));
}

/** What the server checks of the metadata of every write, whatever the kind's own checks repeat. */
export function validateWrittenMeta(meta: JsonObject, path = 'metadata'): FieldError[] {
  return [
    ...validateCommon(meta, path),
    ...validateFinalizers(strings(meta, 'finalizers'), childPath(path, 'finalizers')),
  ];
}

/** ObjectMeta of an update; `old` is what is stored. */
export function validateObjectMetaUpdate(meta: JsonObject, old: JsonObject, path = 'metadata'): FieldError[] {
  const errors: FieldError[] = [];
  if (member(old, 'deletionTimestamp') !== undefined) {
    const known = new Set(strings(old, 'finalizers'));
    const added = [...new Set(strings(meta, 'finalizers'))].filter((name) => !known.has(name)).sort();
    if (added.length > 0) {
      const shown = `[]string{${added.map((name) => JSON.stringify(name)).join(', ')}}`;
      errors.push(
        fieldErrors.forbidden(
          childPath(path, 'finalizers'),
          `no new finalizers can be added if the object is being deleted, found new finalizers ${shown}`,
        ),
      );
    }
  }
  if (text(meta, 'resourceVersion') === '')
    errors.push(
      fieldErrors.invalid(childPath(path, 'resourceVersion'), '', 'must be specified for an update'),
    );
  for (const key of ['name', 'namespace', 'uid', 'creationTimestamp', 'deletionTimestamp'] as const) {
    const value = member(meta, key);
    if (!deepEqual(value, member(old, key)))
      errors.push(fieldErrors.invalid(childPath(path, key), value ?? '', 'field is immutable'));
  }
  addAll(errors, validateCommon(meta, path));
  return errors;
}

function validateCommon(meta: JsonObject, path: string): FieldError[] {
  const generation = member(meta, 'generation');
  return [
    ...(typeof generation === 'number' && generation < 0
      ? [fieldErrors.invalid(childPath(path, 'generation'), generation, 'must be greater than or equal to 0')]
      : []),
    ...validateLabels(record(meta, 'labels'), childPath(path, 'labels')),
    ...validateAnnotations(record(meta, 'annotations'), childPath(path, 'annotations')),
    ...validateOwners(member(meta, 'ownerReferences'), childPath(path, 'ownerReferences')),
  ];
}

function validateLabels(labels: JsonObject, path: string): FieldError[] {
  return Object.entries(labels).flatMap(([key, value]) => [
    ...isQualifiedName(key).map((message) => fieldErrors.invalid(path, key, message)),
    ...isLabelValue(typeof value === 'string' ? value : '').map((message) =>
      fieldErrors.invalid(path, value, message),
    ),
  ]);
}

const ANNOTATION_LIMIT_BYTES = 256 * 1024;

function validateAnnotations(annotations: JsonObject, path: string): FieldError[] {
  const entries = Object.entries(annotations);
  const size = entries.reduce(
    (sum, [key, value]) =>
      sum + Buffer.byteLength(key) + Buffer.byteLength(typeof value === 'string' ? value : ''),
    0,
  );
  return [
    ...entries.flatMap(([key]) =>
      isQualifiedName(key.toLowerCase()).map((message) => fieldErrors.invalid(path, key, message)),
    ),
    ...(size > ANNOTATION_LIMIT_BYTES ? [fieldErrors.tooLong(path, ANNOTATION_LIMIT_BYTES)] : []),
  ];
}

function validateOwners(owners: Json | undefined, path: string): FieldError[] {
  if (!Array.isArray(owners)) return [];
  const errors: FieldError[] = [];
  let controller = '';
  for (const [i, owner] of owners.entries()) {
    if (!isObject(owner)) continue;
    for (const key of ['apiVersion', 'kind', 'name', 'uid'])
      if (text(owner, key) === '')
        errors.push(fieldErrors.required(childPath(indexPath(path, i), key), 'must not be empty'));
    const apiVersion = text(owner, 'apiVersion');
    if (apiVersion !== '' && !/^[^/]+(\/[^/]+)?$/.test(apiVersion))
      errors.push(
        fieldErrors.invalid(
          childPath(indexPath(path, i), 'apiVersion'),
          apiVersion,
          'must be <group>/<version> or <version>',
        ),
      );
    if (apiVersion === 'v1' && text(owner, 'kind') === 'Event')
      errors.push(
        fieldErrors.invalid(indexPath(path, i), owner, '/v1, Kind=Event is disallowed from being an owner'),
      );
    if (member(owner, 'controller') !== true) continue;
    const current = `${text(owner, 'kind')}/${text(owner, 'name')}`;
    if (controller === '') controller = current;
    else
      errors.push(
        fieldErrors.invalid(
          path,
          owners,
          `Only one reference can have Controller set to true. Found "true" in references for ${controller} and ${current}`,
        ),
      );
  }
  return errors;
}

function validateFinalizers(finalizers: string[], path: string): FieldError[] {
  const errors = finalizers.flatMap((name) =>
    isQualifiedName(name).map((message) => fieldErrors.invalid(path, name, message)),
  );
  if (finalizers.includes('orphan') && finalizers.includes('foregroundDeletion'))
    errors.push(
      fieldErrors.invalid(path, finalizers, 'finalizer orphan and foregroundDeletion cannot be both set'),
    );
  return errors;
}

type MetaType = 'string' | 'int64' | 'bool' | 'time' | 'strings' | 'map' | 'owners' | 'managed';
const META_TYPES: Record<string, MetaType> = {
  name: 'string',
  generateName: 'string',
  namespace: 'string',
  selfLink: 'string',
  uid: 'string',
  resourceVersion: 'string',
  generation: 'int64',
  creationTimestamp: 'time',
  deletionTimestamp: 'time',
  deletionGracePeriodSeconds: 'int64',
  labels: 'map',
  annotations: 'map',
  ownerReferences: 'owners',
  finalizers: 'strings',
  managedFields: 'managed',
};
const OWNER_FIELDS = new Set(['apiVersion', 'kind', 'name', 'uid', 'controller', 'blockOwnerDeletion']);

/** What Go's JSON decoder says of a value it cannot put into a field. */
export class DecodeError extends Error {
  override readonly name = 'DecodeError';
}

const goKind = (value: Json): string => {
  if (Array.isArray(value)) return 'array';
  if (typeof value === 'boolean') return 'bool';
  return typeof value;
};

function unmarshalError(value: Json, field: string, type: string): DecodeError {
  return new DecodeError(
    `json: cannot unmarshal ${goKind(value)} into Go struct field ${field} of type ${type}`,
  );
}

/**
 * Metadata as the server's decoder reads it: unknown fields dropped and named, empty fields left out.
 * Throws DecodeError, with the decoder's own text, where a field has the wrong type.
 */
export function decodeObjectMeta(
  metadata: Json,
  path = 'metadata',
  /** Of built-in kinds an empty list of owners stays: they are to be forgotten. */
  keeps: { emptyOwners: boolean } = { emptyOwners: false },
): { meta: JsonObject; unknownFields: string[] } {
  if (!isObject(metadata))
    throw new DecodeError(`json: cannot unmarshal ${goKind(metadata)} into Go value of type v1.ObjectMeta`);
  const meta: JsonObject = {};
  const unknownFields: string[] = [];
  for (const [key, value] of Object.entries(metadata)) {
    const type = Object.hasOwn(META_TYPES, key) ? META_TYPES[key] : undefined;
    if (type === undefined) unknownFields.push(childPath(path, key));
    else if (value !== null) {
      checkMeta(key, type, value, unknownFields, childPath(path, key));
      if (!isEmpty(value) || (key === 'managedFields' && keeps.emptyOwners)) meta[key] = value;
    }
  }
  return { meta, unknownFields };
}

const isEmpty = (value: Json): boolean =>
  value === '' ||
  value === 0 ||
  (Array.isArray(value) && value.length === 0) ||
  (isObject(value) && Object.keys(value).length === 0);

function checkMeta(key: string, type: MetaType, value: Json, unknown: string[], path: string): void {
  const field = `ObjectMeta.${key}`;
  switch (type) {
    case 'string':
      if (typeof value !== 'string')
        throw unmarshalError(value, field, key === 'uid' ? 'types.UID' : 'string');
      break;
    case 'int64':
      if (typeof value !== 'number' || !Number.isInteger(value)) throw unmarshalError(value, field, 'int64');
      break;
    case 'time':
      checkTime(value);
      break;
    case 'map':
      if (!isObject(value)) throw unmarshalError(value, field, 'map[string]string');
      for (const item of Object.values(value))
        if (typeof item !== 'string' && item !== null) throw unmarshalError(item, field, 'string');
      break;
    case 'strings':
      if (!Array.isArray(value)) throw unmarshalError(value, field, '[]string');
      for (const item of value) if (typeof item !== 'string') throw unmarshalError(item, field, 'string');
      break;
    case 'owners':
      if (!Array.isArray(value)) throw unmarshalError(value, field, '[]v1.OwnerReference');
      for (const [i, item] of value.entries()) {
        if (!isObject(item)) throw unmarshalError(item, field, 'v1.OwnerReference');
        for (const name of Object.keys(item))
          if (!OWNER_FIELDS.has(name)) {
            unknown.push(childPath(indexPath(path, i), name));
            delete item[name];
          }
      }
      break;
    case 'managed':
      if (!Array.isArray(value)) throw unmarshalError(value, field, '[]v1.ManagedFieldsEntry');
      break;
    default:
      break;
  }
}

function checkTime(value: Json): void {
  if (typeof value !== 'string')
    throw new DecodeError(`json: cannot unmarshal ${goKind(value)} into Go value of type string`);
  if (Number.isNaN(Date.parse(value)))
    throw new DecodeError(
      `parsing time ${goJSON(value)} as "2006-01-02T15:04:05Z07:00": cannot parse ${goJSON(value)} as "2006"`,
    );
}

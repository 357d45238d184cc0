import { isRecord, type StoredObject } from '../object.ts';
import { type FieldError, fieldErrors } from '../schema/field-error.ts';
import { deepEqual, type Json } from '../schema/json.ts';
import type { Traits } from './kind.ts';

/** The few checks of built-in kinds that programs rely on. */

const DATA_KEY = /^[-._a-zA-Z0-9]+$/;
const DATA_KEY_TEXT =
  "a valid config key must consist of alphanumeric characters, '-', '_' or '.' (e.g. 'key.name',  or 'KEY_NAME',  or 'key-name', regex used for validation is '[-._a-zA-Z0-9]+')";
const MAX_KEY = 253;
/** Of a Secret's or a ConfigMap's data together. */
const MAX_DATA_BYTES = 1024 * 1024;

function validateData(object: StoredObject, fields: readonly string[]): FieldError[] {
  let size = 0;
  const errors: FieldError[] = [];
  for (const field of fields) {
    const data = object[field];
    if (!isRecord(data)) continue;
    for (const [key, value] of Object.entries(data)) {
      if (!DATA_KEY.test(key)) errors.push(fieldErrors.invalid(`${field}[${key}]`, key, DATA_KEY_TEXT));
      if (key.length > MAX_KEY) {
        errors.push(
          fieldErrors.invalid(`${field}[${key}]`, key, `must be no more than ${MAX_KEY} characters`),
        );
      }
      size += typeof value === 'string' ? Buffer.byteLength(value) : 0;
    }
  }
  if (size > MAX_DATA_BYTES) errors.push(fieldErrors.tooLong('', MAX_DATA_BYTES));
  return errors;
}

const same = (a: unknown, b: unknown): boolean => deepEqual((a ?? null) as Json, (b ?? null) as Json);

/** What may not change once `immutable` is set. */
function validateImmutable(
  object: StoredObject,
  old: StoredObject | undefined,
  fields: readonly string[],
): FieldError[] {
  if (old?.['immutable'] !== true) return [];
  const why = 'field is immutable when `immutable` is set';
  return [
    ...(object['immutable'] === true ? [] : [fieldErrors.forbidden('immutable', why)]),
    ...fields
      .filter((field) => !same(object[field], old[field]))
      .map((field) => fieldErrors.forbidden(field, why)),
  ];
}

export const configMapTraits: Partial<Traits> = {
  validate: (map, old) => [
    ...validateImmutable(map, old, ['data', 'binaryData']),
    ...validateData(map, ['data', 'binaryData']),
  ],
};

export const secretTraits: Partial<Traits> = {
  defaults: (secret) => {
    secret['type'] ??= 'Opaque';
    const plain = secret['stringData'];
    if (!isRecord(plain)) return;
    const data: Record<string, unknown> = isRecord(secret['data']) ? { ...secret['data'] } : {};
    for (const [key, value] of Object.entries(plain)) {
      data[key] = Buffer.from(String(value)).toString('base64');
    }
    secret['data'] = data;
    delete secret['stringData'];
  },
  validate: (secret, old) => [
    ...(old !== undefined && old['type'] !== secret['type']
      ? [fieldErrors.invalid('type', secret['type'] as Json, 'field is immutable')]
      : []),
    ...validateImmutable(secret, old, ['data']),
    ...validateData(secret, ['data']),
  ],
};

export function validateLease(lease: StoredObject): FieldError[] {
  const spec = lease['spec'];
  if (!isRecord(spec)) return [];
  const duration = spec['leaseDurationSeconds'];
  const transitions = spec['leaseTransitions'];
  return [
    ...(typeof duration === 'number' && duration <= 0
      ? [fieldErrors.invalid('spec.leaseDurationSeconds', duration, 'must be greater than 0')]
      : []),
    ...(typeof transitions === 'number' && transitions < 0
      ? [fieldErrors.invalid('spec.leaseTransitions', transitions, 'must be greater than or equal to 0')]
      : []),
  ];
}

export function validateRole(role: StoredObject): FieldError[] {
  const rules = Array.isArray(role['rules']) ? role['rules'] : [];
  return rules.flatMap((rule: unknown, i) => {
    if (!isRecord(rule)) return [fieldErrors.invalid(`rules[${i}]`, null, 'must be an object')];
    const has = (key: string): boolean => Array.isArray(rule[key]) && rule[key].length > 0;
    const at = `rules[${i}]`;
    const errors: FieldError[] = [];
    if (!has('verbs')) errors.push(fieldErrors.required(`${at}.verbs`));
    if (has('nonResourceURLs')) return errors;
    if (!has('apiGroups')) {
      errors.push(
        fieldErrors.required(`${at}.apiGroups`, 'resource rules must supply at least one api group'),
      );
    }
    if (!has('resources')) {
      errors.push(
        fieldErrors.required(`${at}.resources`, 'resource rules must supply at least one resource'),
      );
    }
    return errors;
  });
}

/** Whom a binding names, and what, is in this group unless it says otherwise. */
export function prepareBinding(binding: StoredObject): void {
  const subjects = Array.isArray(binding['subjects']) ? binding['subjects'] : [];
  for (const subject of subjects) {
    if (isRecord(subject) && (subject['kind'] === 'User' || subject['kind'] === 'Group')) {
      subject['apiGroup'] ??= 'rbac.authorization.k8s.io';
    }
  }
  if (isRecord(binding['roleRef'])) binding['roleRef']['apiGroup'] ??= 'rbac.authorization.k8s.io';
}

export function validateBinding(binding: StoredObject, old: StoredObject | undefined): FieldError[] {
  const ref = isRecord(binding['roleRef']) ? binding['roleRef'] : {};
  const errors: FieldError[] = [];
  if (ref['apiGroup'] !== 'rbac.authorization.k8s.io') {
    errors.push(
      fieldErrors.notSupported('roleRef.apiGroup', (ref['apiGroup'] ?? '') as Json, [
        'rbac.authorization.k8s.io',
      ]),
    );
  }
  const kinds = binding.kind === 'ClusterRoleBinding' ? ['ClusterRole'] : ['Role', 'ClusterRole'];
  if (!kinds.includes(String(ref['kind']))) {
    errors.push(fieldErrors.notSupported('roleRef.kind', (ref['kind'] ?? '') as Json, kinds));
  }
  if (typeof ref['name'] !== 'string' || ref['name'] === '')
    errors.push(fieldErrors.required('roleRef.name'));
  if (old !== undefined && JSON.stringify(sorted(old['roleRef'])) !== JSON.stringify(sorted(ref))) {
    errors.push(fieldErrors.invalid('roleRef', ref as Json, 'cannot change roleRef'));
  }
  return errors;
}

function sorted(value: unknown): [string, unknown][] {
  return isRecord(value) ? Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)) : [];
}

import { isRecord, type StoredObject } from '../object.ts';
import { type FieldError, fieldErrors } from '../schema/field-error.ts';
import type { Json } from '../schema/json.ts';
import type { Traits } from './kind.ts';

/** The few checks of built-in kinds that programs rely on. */

const DATA_KEY = /^[-._a-zA-Z0-9]+$/;
const BASE64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/;

function validateData(secret: StoredObject): FieldError[] {
  const data = secret['data'];
  if (!isRecord(data)) return [];
  return Object.entries(data).flatMap(([key, value]) => {
    if (!DATA_KEY.test(key)) {
      return [
        fieldErrors.invalid(
          `data[${key}]`,
          key,
          "a valid config key must consist of alphanumeric characters, '-', '_' or '.' (e.g. 'key.name',  or 'KEY_NAME',  or 'key-name', regex used for validation is '[-._a-zA-Z0-9]+')",
        ),
      ];
    }
    if (typeof value !== 'string' || !BASE64.test(value)) {
      return [fieldErrors.invalid(`data[${key}]`, '<hidden>', 'must be base64')];
    }
    return [];
  });
}

export const validateSecret: Partial<Traits> = {
  prepare: (secret) => {
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
    ...validateData(secret),
    ...(old !== undefined && old['type'] !== secret['type']
      ? [fieldErrors.invalid('type', secret['type'] as Json, 'field is immutable')]
      : []),
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
    if (!has('verbs'))
      errors.push(fieldErrors.required(`${at}.verbs`, 'verbs must contain at least one value'));
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

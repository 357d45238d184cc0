import { isRecord } from '../object.ts';
import type { FieldValidation } from '../rest/call.ts';
import type { DeleteOptions } from '../rest/delete.ts';
import { parseJSON } from '../rest/json-text.ts';
import { isTrue } from '../rest/list-options.ts';
import { refuse } from '../rest/status.ts';
import { type FieldError, fieldErrors } from '../schema/field-error.ts';
import type { Json } from '../schema/json.ts';

const MAX_MANAGER = 128;

interface WriteOptions {
  dryRun: boolean;
  fieldValidation: FieldValidation;
  fieldManager: string;
  force: boolean;
}

/** Whatever is no letter, mark, number, sign or plain space. */
const UNPRINTABLE = /[^\p{L}\p{M}\p{N}\p{P}\p{S} ]/u;

/** The program that a User-Agent names: who owns the fields that it sets, where it says nothing else. */
function programOf(userAgent: string): string {
  let out = '';
  for (const character of userAgent.split('/')[0] ?? '') {
    if (UNPRINTABLE.test(character)) continue;
    if (Buffer.byteLength(out + character) > MAX_MANAGER) break;
    out += character;
  }
  return out;
}

/** The options of a write, from its query. Throws 422, naming what is accepted. */
export function writeOptions(
  query: URLSearchParams,
  kind: 'CreateOptions' | 'UpdateOptions' | 'PatchOptions',
  from: { apply: boolean; userAgent: string },
): WriteOptions {
  const errors: FieldError[] = [];
  const dryRun = readDryRun(query.getAll('dryRun'), errors);
  const fieldValidation = query.get('fieldValidation') ?? '';
  if (!['', 'Ignore', 'Strict', 'Warn'].includes(fieldValidation)) {
    errors.push(
      fieldErrors.notSupported('fieldValidation', fieldValidation, ['', 'Ignore', 'Strict', 'Warn']),
    );
  }
  const manager = query.get('fieldManager') ?? '';
  if (from.apply && manager === '') {
    errors.push(fieldErrors.required('fieldManager', 'is required for apply patch'));
  }
  if (kind === 'PatchOptions' && !from.apply && query.get('force') !== null) {
    errors.push(fieldErrors.forbidden('force', 'may not be specified for non-apply patch'));
  }
  if (Buffer.byteLength(manager) > MAX_MANAGER) {
    errors.push(fieldErrors.tooLong('fieldManager', MAX_MANAGER));
  }
  let i = -1;
  for (const character of manager) {
    i += 1;
    if (!UNPRINTABLE.test(character)) continue;
    const code = (character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0');
    errors.push(
      fieldErrors.invalid('fieldManager', manager, `invalid character U+${code} (at position ${i})`),
    );
  }
  if (errors.length > 0) throw refuse.invalid('meta.k8s.io', kind, '', errors);
  return {
    dryRun,
    fieldValidation: fieldValidation === '' ? 'Warn' : (fieldValidation as FieldValidation),
    fieldManager: manager === '' ? programOf(from.userAgent) : manager,
    force: isTrue(query.get('force')),
  };
}

function readDryRun(values: string[], errors: FieldError[]): boolean {
  if (values.some((value) => value !== 'All'))
    errors.push(fieldErrors.notSupported('dryRun', values, ['All']));
  return values.length > 0;
}

const POLICIES = ['Foreground', 'Background', 'Orphan'];

/** The options of a deletion: from its body, or where it has none from its query. Throws 400 and 422. */
export function deleteOptions(text: string, query: URLSearchParams): DeleteOptions & { dryRun: boolean } {
  const value = text.trim() === '' ? fromQuery(query) : parse(text);
  checkTypes(value);
  const errors: FieldError[] = [];
  const dryRun = readDryRun([...strings(value['dryRun']), ...query.getAll('dryRun')], errors);
  const policy = readPolicy(value, errors);
  if (errors.length > 0) throw refuse.invalid('meta.k8s.io', 'DeleteOptions', '', errors);
  const preconditions = isRecord(value['preconditions']) ? value['preconditions'] : {};
  const { uid, resourceVersion } = preconditions;
  return {
    dryRun,
    ...(policy === undefined ? {} : { propagationPolicy: policy }),
    ...(typeof uid === 'string' ? { uid } : {}),
    ...(typeof resourceVersion === 'string' ? { resourceVersion } : {}),
  };
}

function readPolicy(
  value: Record<string, unknown>,
  errors: FieldError[],
): DeleteOptions['propagationPolicy'] {
  const orphan = value['orphanDependents'];
  const policy = value['propagationPolicy'];
  if (policy === undefined || policy === null) {
    if (typeof orphan !== 'boolean') return undefined;
    return orphan ? 'Orphan' : 'Background';
  }
  const field = 'propagationPolicy';
  if (!POLICIES.includes(policy as string)) {
    errors.push(fieldErrors.notSupported(field, policy as Json, [...POLICIES, 'nil']));
  }
  if (typeof orphan === 'boolean') {
    const why = 'orphanDependents and deletionPropagation cannot be both set';
    errors.push(fieldErrors.invalid(field, policy as Json, why));
  }
  return policy as NonNullable<DeleteOptions['propagationPolicy']>;
}

const TYPES: readonly (readonly [string, string, (value: unknown) => boolean])[] = [
  ['gracePeriodSeconds', 'int64', (value) => Number.isInteger(value)],
  ['propagationPolicy', 'v1.DeletionPropagation', (value) => typeof value === 'string'],
  ['orphanDependents', 'bool', (value) => typeof value === 'boolean'],
  ['dryRun', '[]string', (value) => Array.isArray(value)],
  ['preconditions', 'v1.Preconditions', isRecord],
];

function checkTypes(value: Record<string, unknown>): void {
  for (const [field, type, fits] of TYPES) {
    const given = value[field];
    if (given === undefined || given === null || fits(given)) continue;
    const found = Array.isArray(given) ? 'array' : typeof given === 'boolean' ? 'bool' : typeof given;
    throw refuse.badRequest(
      `json: cannot unmarshal ${found} into Go struct field DeleteOptions.${field} of type ${type}`,
    );
  }
}

function fromQuery(query: URLSearchParams): Record<string, unknown> {
  const grace = query.get('gracePeriodSeconds');
  if (grace !== null && !/^-?\d+$/.test(grace)) {
    throw refuse.badRequest(`strconv.ParseInt: parsing ${JSON.stringify(grace)}: invalid syntax`);
  }
  const orphan = query.get('orphanDependents');
  return {
    ...(query.get('propagationPolicy') === null ? {} : { propagationPolicy: query.get('propagationPolicy') }),
    ...(orphan === null ? {} : { orphanDependents: orphan === 'true' }),
  };
}

function parse(text: string): Record<string, unknown> {
  let value: unknown;
  try {
    value = parseJSON(text);
  } catch {
    value = undefined;
  }
  if (!isRecord(value)) throw refuse.badRequest('the body of a deletion must be DeleteOptions');
  if (value['kind'] !== undefined && value['kind'] !== 'DeleteOptions') {
    throw refuse.badRequest(
      `the object provided is unrecognized (must be of type DeleteOptions): it is of kind ${JSON.stringify(value['kind'])}`,
    );
  }
  return value;
}

function strings(value: unknown): string[] {
  return Array.isArray(value) ? value.map(String) : [];
}

import { isRecord } from '../object.ts';
import type { FieldValidation } from '../rest/call.ts';
import type { DeleteOptions } from '../rest/delete.ts';
import { parseJSON } from '../rest/json-text.ts';
import { refuse } from '../rest/status.ts';
import { type FieldError, fieldErrors } from '../schema/field-error.ts';
import type { Json } from '../schema/json.ts';

/** The options of a write, from its query. Throws 422, naming what is accepted. */
export function writeOptions(
  query: URLSearchParams,
  kind: 'CreateOptions' | 'UpdateOptions' | 'PatchOptions',
): { dryRun: boolean; fieldValidation: FieldValidation } {
  const errors: FieldError[] = [];
  const dryRun = readDryRun(query.getAll('dryRun'), errors);
  const fieldValidation = query.get('fieldValidation') ?? '';
  if (!['', 'Ignore', 'Strict', 'Warn'].includes(fieldValidation)) {
    errors.push(
      fieldErrors.notSupported('fieldValidation', fieldValidation, ['', 'Ignore', 'Strict', 'Warn']),
    );
  }
  if (errors.length > 0) throw refuse.invalid('meta.k8s.io', kind, '', errors);
  return { dryRun, fieldValidation: fieldValidation === '' ? 'Warn' : (fieldValidation as FieldValidation) };
}

function readDryRun(values: string[], errors: FieldError[]): boolean {
  const given = values.filter((value) => value !== '');
  if (given.some((value) => value !== 'All')) errors.push(fieldErrors.notSupported('dryRun', given, ['All']));
  return given.length > 0;
}

const POLICIES = ['Foreground', 'Background', 'Orphan'];

/** The options of a deletion: from its body, or where it has none from its query. Throws 400 and 422. */
export function deleteOptions(text: string, query: URLSearchParams): DeleteOptions & { dryRun: boolean } {
  const value = text.trim() === '' ? fromQuery(query) : parse(text);
  const errors: FieldError[] = [];
  const dryRun = readDryRun([...strings(value['dryRun']), ...query.getAll('dryRun')], errors);
  const orphan = value['orphanDependents'];
  let policy = value['propagationPolicy'] ?? undefined;
  if (policy !== undefined && !POLICIES.includes(policy as string)) {
    errors.push(fieldErrors.notSupported('propagationPolicy', policy as Json, [...POLICIES, 'nil']));
  }
  if (policy !== undefined && typeof orphan === 'boolean') {
    errors.push(
      fieldErrors.invalid(
        'propagationPolicy',
        policy as Json,
        'orphanDependents and deletionPropagation cannot be both set',
      ),
    );
  }
  if (errors.length > 0) throw refuse.invalid('meta.k8s.io', 'DeleteOptions', '', errors);
  if (typeof orphan === 'boolean') policy = orphan ? 'Orphan' : 'Background';
  const preconditions = isRecord(value['preconditions']) ? value['preconditions'] : {};
  const { uid, resourceVersion } = preconditions;
  return {
    dryRun,
    ...(policy === undefined ? {} : { propagationPolicy: policy as 'Orphan' }),
    ...(typeof uid === 'string' ? { uid } : {}),
    ...(typeof resourceVersion === 'string' ? { resourceVersion } : {}),
  };
}

function fromQuery(query: URLSearchParams): Record<string, unknown> {
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

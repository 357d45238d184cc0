import type { StoredObject } from '../object.ts';
import { type FieldRequirement, parseFieldSelector } from '../selectors/field.ts';
import { matchesLabels, parseLabelSelector } from '../selectors/label.ts';
import type { Call } from './call.ts';
import { refuse } from './status.ts';

/** What a list, a watch or a deletion of a collection is asked to cover. */
export interface Selection {
  /** Nothing is left out: objects need not be looked into. */
  all: boolean;
  /** Only this name can match. */
  name: string | undefined;
  /** Of an object in the call's version. */
  matches(object: StoredObject): boolean;
}

const ALL: Selection = { all: true, name: undefined, matches: () => true };

/** Throws 400 for a selector that cannot be read, or that names a field which cannot be selected by. */
export function selectionOf(call: Pick<Call, 'version' | 'query' | 'name'>): Selection {
  const labelText = call.query.get('labelSelector') ?? '';
  const fieldText = call.query.get('fieldSelector') ?? '';
  if (labelText === '' && fieldText === '' && call.name === undefined) return ALL;
  const labels =
    labelText === '' ? undefined : parse(() => parseLabelSelector(labelText), 'unable to parse requirement');
  const fields = fieldText === '' ? [] : parse(() => parseFieldSelector(fieldText), 'invalid selector');
  const checks = fields.map((requirement) => fieldCheck(call, requirement));
  const { name } = call;
  if (name !== undefined) checks.push((object) => object.metadata.name === name);
  const exact = fields.find((field) => field.field === 'metadata.name' && field.operator !== '!=')?.value;
  return {
    all: false,
    name: name ?? exact,
    matches: (object) =>
      (labels === undefined || matchesLabels(labels, object.metadata.labels ?? {})) &&
      checks.every((check) => check(object)),
  };
}

function parse<T>(read: () => T, prefix: string): T {
  try {
    return read();
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    throw refuse.badRequest(message === '' ? prefix : message);
  }
}

function fieldCheck(
  call: Pick<Call, 'version'>,
  requirement: FieldRequirement,
): (object: StoredObject) => boolean {
  const value = fieldReader(call, requirement.field);
  const wanted = requirement.value;
  return requirement.operator === '!='
    ? (object) => value(object) !== wanted
    : (object) => value(object) === wanted;
}

function fieldReader(call: Pick<Call, 'version'>, field: string): (object: StoredObject) => string {
  if (field === 'metadata.name') return (object) => object.metadata.name;
  if (field === 'metadata.namespace') return (object) => object.metadata.namespace ?? '';
  const reader = call.version.selectable.get(field);
  if (reader === undefined) throw refuse.badRequest(`field label not supported: ${field}`);
  return reader;
}

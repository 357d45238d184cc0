import { FieldSet } from './field-set.ts';
import { type FieldType, typeBelow } from './field-type.ts';
import type { PathElement } from './path-element.ts';

/**
 * A set that was written under an older schema, as today's has it: of what has become one field since, the whole is
 * owned by who owned a part.
 */
export function reconcile(set: FieldSet, type: FieldType): FieldSet {
  const whole = nowWhole(set, type);
  if (whole.length === 0) return set;
  const fields = FieldSet.of(...whole);
  return set.without(fields).union(fields);
}

const NONE: PathElement[][] = [];

function nowWhole(set: FieldSet, type: FieldType): PathElement[][] {
  let found = NONE;
  for (const [element, child] of set.below) {
    const next = typeBelow(type, element);
    if (next === undefined || child.empty) continue;
    const below = isOneField(next) ? [[]] : nowWhole(child, next);
    if (below.length > 0) found = [...found, ...below.map((path) => [element, ...path])];
  }
  return found;
}

/** Of a type that is known: a value without a schema has been what it is all along. */
function isOneField(type: FieldType): boolean {
  if (type.map !== undefined) return type.map.atomic && type.scalar === undefined;
  return type.list !== undefined && !type.list.associative;
}

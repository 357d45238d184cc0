import { FieldSet } from './field-set.ts';
import { type FieldType, typeBelow } from './field-type.ts';
import type { PathElement } from './path-element.ts';

/**
 * A set that was written under an older schema, as today's has it: of what has become one field since, the whole is
 * owned by who owned a part.
 */
export function reconcile(set: FieldSet, type: FieldType): FieldSet {
  const whole = new FieldSet();
  find(set, type, [], whole);
  return whole.empty ? set : set.without(whole).union(whole);
}

function find(set: FieldSet, type: FieldType, path: PathElement[], whole: FieldSet): void {
  for (const [element, child] of set.below) {
    const next = typeBelow(type, element);
    if (next === undefined || child.empty) continue;
    const at = [...path, element];
    if (isOneField(next)) whole.insert(at);
    else find(child, next, at, whole);
  }
}

/** Of a type that is known: a value without a schema has been what it is all along. */
function isOneField(type: FieldType): boolean {
  if (type.map !== undefined) return type.map.atomic && type.scalar === undefined;
  return type.list !== undefined && !type.list.associative;
}

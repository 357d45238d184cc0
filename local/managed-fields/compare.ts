import { deepEqual, isObject, type Json, type JsonObject, member } from '../schema/json.ts';
import { FieldSet } from './field-set.ts';
import {
  elementOf,
  type FieldType,
  type ListType,
  type MapType,
  memberType,
  type Part,
  partFor,
  partOf,
} from './field-type.ts';
import { field, type PathElement } from './path-element.ts';

/** What became of the fields of one value in another. No field is in two of the sets. */
export class Comparison {
  added: FieldSet = new FieldSet();
  modified: FieldSet = new FieldSet();
  removed: FieldSet = new FieldSet();

  get same(): boolean {
    return this.added.empty && this.modified.empty && this.removed.empty;
  }

  without(fields: FieldSet): Comparison {
    const out = new Comparison();
    out.added = this.added.without(fields);
    out.modified = this.modified.without(fields);
    out.removed = this.removed.without(fields);
    return out;
  }
}

/** Undefined: there is no such value; null is one. */
type Value = Json | undefined;

export function compare(left: Json, right: Json, type: FieldType): Comparison {
  const out = new Comparison();
  walk(left, right, type, [], out);
  return out;
}

function walk(left: Value, right: Value, type: FieldType, path: PathElement[], out: Comparison): void {
  if (left === right && left !== undefined) return;
  const was = partFor(type, left);
  const is = partFor(type, right);
  let leaf: boolean;
  if (right === undefined) leaf = visit(was, left, right, type, path, out);
  else if (left === undefined || was === is) leaf = visit(is, left, right, type, path, out);
  else {
    // It has become something else: what it was is gone, and what it is has come.
    visit(was, left, right, type, path, out);
    leaf = visit(is, left, right, type, path, out);
  }
  if (leaf) return;
  if (left === undefined) out.added.insert(path);
  else if (right === undefined) out.removed.insert(path);
}

/** Whether the value was compared as one field. */
function visit(
  part: Part,
  left: Value,
  right: Value,
  type: FieldType,
  path: PathElement[],
  out: Comparison,
): boolean {
  switch (partOf(type, part)) {
    case 'map': {
      const [before, after] = [asMap(left), asMap(right)];
      const hollow = Object.keys(before ?? {}).length + Object.keys(after ?? {}).length === 0;
      if (type.map === undefined || type.map.atomic || hollow) break;
      walkMap(before, after, type.map, path, out);
      return false;
    }
    case 'list': {
      const [before, after] = [asList(left), asList(right)];
      const hollow = before.length + after.length === 0;
      if (type.list?.associative !== true || hollow) break;
      walkList(before, after, type.list, path, out);
      return false;
    }
    default:
  }
  if (left === undefined) out.added.insert(path);
  else if (right === undefined) out.removed.insert(path);
  else if (!deepEqual(left, right)) out.modified.insert(path);
  return true;
}

const asMap = (value: Value): JsonObject | undefined => (isObject(value) ? value : undefined);
const asList = (value: Value): Json[] => (Array.isArray(value) ? value : []);

function walkMap(
  left: JsonObject | undefined,
  right: JsonObject | undefined,
  map: MapType,
  path: PathElement[],
  out: Comparison,
): void {
  const go = (name: string): void => {
    const type = memberType(map, name);
    if (type !== undefined) walk(member(left, name), member(right, name), type, [...path, field(name)], out);
  };
  for (const name of Object.keys(left ?? {})) go(name);
  for (const name of Object.keys(right ?? {})) if (left === undefined || !Object.hasOwn(left, name)) go(name);
}

function walkList(left: Json[], right: Json[], list: ListType, path: PathElement[], out: Comparison): void {
  const before = byElement(left, list);
  const after = byElement(right, list);
  for (const element of new Set([...before.keys(), ...after.keys()])) {
    const at = [...path, element];
    const was = before.get(element) ?? [];
    const is = after.get(element) ?? [];
    if (was.length <= 1 && is.length <= 1) walk(was[0], is[0], list.items, at, out);
    else if (was.length > 1 && is.length > 1) {
      if (!deepEqual(was, is)) out.modified.insert(at);
    } else if (was.length > 1) {
      if (is.length > 0) walk(undefined, is[0], list.items, at, out);
      out.removed.insert(at);
    } else {
      if (was.length > 0) walk(was[0], undefined, list.items, at, out);
      out.added.insert(at);
    }
  }
}

/** Items that cannot be told apart, together. Those without an element are no fields. */
function byElement(items: Json[], list: ListType): Map<PathElement, Json[]> {
  const out = new Map<PathElement, Json[]>();
  for (const item of items) {
    const found = elementOf(list, item);
    if ('error' in found) continue;
    const same = out.get(found.element);
    if (same === undefined) out.set(found.element, [item]);
    else same.push(item);
  }
  return out;
}

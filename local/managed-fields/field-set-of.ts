import { isObject, type Json, type JsonObject } from '../schema/json.ts';
import { FieldSet } from './field-set.ts';
import { byElement, type FieldType, type ListType, type MapType, partFor, partOf } from './field-type.ts';
import { field, type PathElement } from './path-element.ts';

/** Every field that a value has: what somebody who applies it owns. */
export function fieldSetOf(value: Json, type: FieldType): FieldSet {
  const set = new FieldSet();
  visit(value, type, [], set);
  return set;
}

function visit(value: Json, type: FieldType, path: PathElement[], set: FieldSet): void {
  const part = partOf(type, partFor(type, value));
  if (part === 'map' && type.map !== undefined && !type.map.atomic) {
    if (isObject(value)) visitMap(value, type.map, path, set);
  } else if (part === 'list' && type.list?.associative === true) {
    if (Array.isArray(value)) visitList(value, type.list, path, set);
  } else set.insert(path);
}

function visitMap(value: JsonObject, map: MapType, path: PathElement[], set: FieldSet): void {
  for (const [name, member] of Object.entries(value)) {
    const at = [...path, field(name)];
    const declared = map.field(name);
    const type = declared ?? map.others;
    if (type !== undefined) visit(member, type, at, set);
    const hollow = member === null || (isObject(member) && Object.keys(member).length === 0);
    // A declared member stands by what is in it; one that is not is a field itself.
    if (hollow || declared === undefined) set.insert(at);
  }
}

function visitList(value: Json[], list: ListType, path: PathElement[], set: FieldSet): void {
  for (const [element, same] of byElement(value, list)) {
    const at = [...path, element];
    set.insert(at);
    // Items that cannot be told apart are owned together, whole.
    if (same.length === 1) visit(same[0] ?? null, list.items, at, set);
  }
}

/** The set with every declared member that something below it is in, too. */
export function withDeclaredMembers(set: FieldSet, type: FieldType | undefined): FieldSet {
  const out = new FieldSet();
  for (const element of set.own) out.own.add(element);
  for (const [element, child] of set.below) {
    const member = element.startsWith('f:');
    if (member && type?.map?.field(element.slice(2)) !== undefined) out.own.add(element);
    const next = member
      ? type?.map === undefined
        ? undefined
        : (type.map.field(element.slice(2)) ?? type.map.others)
      : element.startsWith('k:')
        ? type?.list?.items
        : undefined;
    out.below.set(element, withDeclaredMembers(child, next));
  }
  return out;
}

import { isObject, type Json } from '../schema/json.ts';
import { item, keyed, type PathElement } from './path-element.ts';

/** How the fields of a value are told apart, and by that who may own what of it. */
export interface FieldType {
  /** What it may be; a value of an unknown kind may be all three. */
  scalar?: ScalarType;
  list?: ListType;
  map?: MapType;
}

export type ScalarType = 'numeric' | 'string' | 'boolean' | 'untyped';

export interface ListType {
  /** Items are told apart: by the members `keys`, or without any by their value. Otherwise the list is one field. */
  associative: boolean;
  keys: readonly string[];
  items: FieldType;
}

export interface MapType {
  /** The map is one field. */
  atomic: boolean;
  /** The type of a declared member. */
  field(name: string): FieldType | undefined;
  /** The type of all others; undefined: there may not be any. */
  others: FieldType | undefined;
  /** The value that an item's key has where it is left out. */
  defaultOf(name: string): Json | undefined;
}

export type Part = 'scalar' | 'list' | 'map' | 'any';

/** Which of its parts a type shows for a value: what the value is, if it may be that. */
export function partFor(type: FieldType, value: Json | undefined): Part {
  const found =
    value === undefined || value === null
      ? undefined
      : Array.isArray(value)
        ? 'list'
        : typeof value === 'object'
          ? 'map'
          : 'scalar';
  if (found !== undefined && type[found] !== undefined) return found;
  const parts =
    Number(type.map !== undefined) + Number(type.scalar !== undefined) + Number(type.list !== undefined);
  return parts > 1 ? 'any' : partOf(type, 'any');
}

/** What a value of no kind of its own (null, or none) is taken for. */
export function partOf(type: FieldType, part: Part): Exclude<Part, 'any'> {
  if (part !== 'any') return part;
  if (type.map !== undefined) return 'map';
  return type.scalar !== undefined ? 'scalar' : 'list';
}

export function memberType(map: MapType, name: string): FieldType | undefined {
  return map.field(name) ?? map.others;
}

/** The element that names an item of a list; a text says why it has none. */
export function elementOf(list: ListType, value: Json): { element: PathElement } | { error: string } {
  if (list.keys.length === 0) {
    if (isObject(value)) return { error: "associative list without keys has an element that's a map type" };
    if (Array.isArray(value)) return { error: 'not supported: associative list with lists as elements' };
    if (value === null)
      return { error: "associative list without keys has an element that's an explicit null" };
    return { element: item(value) };
  }
  if (value === null) return { error: 'associative list with keys may not have a null element' };
  if (!isObject(value)) return { error: 'associative list with keys may not have non-map elements' };
  const keys: { [name: string]: Json } = {};
  for (const key of list.keys) {
    const found = Object.hasOwn(value, key) ? value[key] : list.items.map?.defaultOf(key);
    if (found !== undefined) keys[key] = found;
  }
  if (Object.keys(keys).length > 0) return { element: keyed(keys) };
  const names = list.keys.map((key) => JSON.stringify(key)).join(' ');
  return {
    error: `associative list with keys has an element that omits all key fields [${names}] (and doesn't have default values for any key fields)`,
  };
}

/** The type at an element below another type. */
export function typeBelow(type: FieldType, element: PathElement): FieldType | undefined {
  if (element.startsWith('f:'))
    return type.map === undefined ? undefined : memberType(type.map, element.slice(2));
  return type.list?.items;
}

/** Items that cannot be told apart, together. Those without an element are no fields. */
export function byElement(items: Json[], list: ListType): Map<PathElement, Json[]> {
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

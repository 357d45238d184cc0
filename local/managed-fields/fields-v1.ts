import { isObject, type Json, type JsonObject } from '../schema/json.ts';
import { FieldSet } from './field-set.ts';
import { compareElements, readElement } from './path-element.ts';

/** The JSON form of a set: a member for each element; `.` stands for the path so far where more goes on below it. */
export function encodeFields(set: FieldSet): JsonObject {
  return encode(set, {});
}

function encode(set: FieldSet, out: JsonObject): JsonObject {
  const elements = [...set.own];
  for (const element of set.below.keys()) if (!set.own.has(element)) elements.push(element);
  if (elements.length > 1) elements.sort(compareElements);
  for (const element of elements) {
    const child = set.below.get(element);
    if (child === undefined || child.empty) {
      if (set.own.has(element)) out[element] = {};
    } else out[element] = encode(child, set.own.has(element) ? { '.': {} } : {});
  }
  return out;
}

/** Undefined where it cannot be read. */
export function decodeFields(value: Json | undefined): FieldSet | undefined {
  if (value === undefined) return new FieldSet();
  if (!isObject(value)) return undefined;
  const set = new FieldSet();
  for (const [text, child] of Object.entries(value)) {
    if (text === '.') continue;
    const element = readElement(text);
    if (element === undefined || !isObject(child)) return undefined;
    const keys = Object.keys(child);
    if (keys.length === 0 || Object.hasOwn(child, '.')) set.own.add(element);
    if (keys.length === 0) continue;
    const below = decodeFields(child);
    if (below === undefined) return undefined;
    if (!below.empty) set.below.set(element, below);
  }
  return set;
}

import { isObject, type Json, type JsonObject, member, setMember } from '../schema/json.ts';
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
import type { PathElement } from './path-element.ts';

type Value = Json | undefined;

/** What is there with an applied configuration over it: maps and lists whose items are told apart are merged. */
export function mergeValues(live: Json, applied: Json, type: FieldType): Json {
  return merge(live, applied, type) ?? {};
}

function merge(left: Value, right: Value, type: FieldType): Value {
  const part: Part = right === undefined ? partFor(type, left) : partFor(type, right);
  switch (partOf(type, part)) {
    case 'map': {
      const [before, after] = [asMap(left), asMap(right)];
      const hollow = Object.keys(before).length + Object.keys(after).length === 0;
      if (type.map === undefined || type.map.atomic || hollow) break;
      return mergeMaps(before, after, type.map);
    }
    case 'list': {
      const [before, after] = [asList(left), asList(right)];
      if (type.list?.associative !== true || before.length + after.length === 0) break;
      return mergeLists(before, after, type.list);
    }
    default:
  }
  return right === undefined ? left : right;
}

const asMap = (value: Value): JsonObject => (isObject(value) ? value : {});
const asList = (value: Value): Json[] => (Array.isArray(value) ? value : []);

function mergeMaps(left: JsonObject, right: JsonObject, map: MapType): Value {
  const out: JsonObject = {};
  for (const name of new Set([...Object.keys(left), ...Object.keys(right)])) {
    const type = memberType(map, name);
    const value =
      type === undefined
        ? (member(right, name) ?? member(left, name))
        : merge(member(left, name), member(right, name), type);
    if (value !== undefined) setMember(out, name, value);
  }
  return Object.keys(out).length === 0 ? undefined : out;
}

interface Entry {
  element: PathElement;
  value: Json;
}

/**
 * The applied items in their order; what is there beside them stays where it stood: before the next item that both
 * have.
 */
function mergeLists(left: Json[], right: Json[], list: ListType): Value {
  const before = entries(left, list);
  const after = entries(right, list);
  const there = new Map(before.map(({ element, value }) => [element, value]));
  const wanted = new Set(after.map(({ element }) => element));
  const shared = after.filter(({ element }) => there.has(element)).map(({ element }) => element);
  const done = new Set<PathElement>();
  const out: Json[] = [];
  const push = (value: Value): void => {
    if (value !== undefined) out.push(value);
  };
  let next = shared.shift();
  let i = 0;
  let j = 0;
  while (i < before.length || j < after.length) {
    const was = before[i];
    const is = after[j];
    if (was !== undefined && is !== undefined && was.element !== is.element) {
      // Both have it, but it is not its turn: it comes where the applied list has it.
      if (wanted.has(was.element) && next !== undefined && next !== was.element) {
        i++;
        continue;
      }
    }
    if (was !== undefined && was.element !== is?.element) {
      if (!wanted.has(was.element)) {
        push(merge(was.value, undefined, list.items));
        i++;
        continue;
      }
      if (done.has(was.element)) i++;
    }
    if (is === undefined) {
      if (was !== undefined && wanted.has(was.element) && !done.has(was.element)) i++;
      continue;
    }
    done.add(is.element);
    push(merge(there.get(is.element), is.value, list.items));
    if (was?.element === is.element) i++;
    if (next === is.element) next = shared.shift();
    j++;
  }
  return out.length === 0 ? undefined : out;
}

function entries(items: Json[], list: ListType): Entry[] {
  return items.flatMap((value) => {
    const found = elementOf(list, value);
    return 'error' in found ? [] : [{ element: found.element, value }];
  });
}

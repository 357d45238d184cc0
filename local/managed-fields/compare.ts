import { deepEqual, isObject, type Json, type JsonObject, member } from '../schema/json.ts';
import { FieldSet } from './field-set.ts';
import {
  byElement,
  type FieldType,
  type ListType,
  type MapType,
  memberType,
  type Part,
  partFor,
  partOf,
} from './field-type.ts';
import { field, type PathElement } from './path-element.ts';

type Change = 'added' | 'modified' | 'removed';

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

/** A place in both values. Its sets are made when something is to be put into them: most of an object is unchanged. */
class Place {
  readonly #above: Place | undefined;
  readonly #element: PathElement;
  readonly #sets: Partial<Record<Change, FieldSet>>;

  private constructor(
    above: Place | undefined,
    element: PathElement,
    sets: Partial<Record<Change, FieldSet>>,
  ) {
    this.#above = above;
    this.#element = element;
    this.#sets = sets;
  }

  static root(of: Comparison): Place {
    return new Place(undefined, '', of);
  }

  below(element: PathElement): Place {
    return new Place(this, element, {});
  }

  /** The whole is no field. */
  mark(change: Change): void {
    this.#above?.set(change).own.add(this.#element);
  }

  private set(change: Change): FieldSet {
    const known = this.#sets[change];
    if (known !== undefined) return known;
    const made = new FieldSet();
    this.#sets[change] = made;
    this.#above?.set(change).below.set(this.#element, made);
    return made;
  }
}

/** Undefined: there is no such value; null is one. */
type Value = Json | undefined;

export function compare(left: Json, right: Json, type: FieldType): Comparison {
  const out = new Comparison();
  walk(left, right, type, Place.root(out));
  return out;
}

function walk(left: Value, right: Value, type: FieldType, place: Place): void {
  const was = partFor(type, left);
  const is = partFor(type, right);
  let leaf: boolean;
  if (right === undefined) leaf = visit(was, left, right, type, place);
  else if (left === undefined || was === is) leaf = visit(is, left, right, type, place);
  else {
    // It has become something else: what it was is gone, and what it is has come.
    visit(was, left, right, type, place);
    leaf = visit(is, left, right, type, place);
  }
  if (leaf) return;
  if (left === undefined) place.mark('added');
  else if (right === undefined) place.mark('removed');
}

/** Whether the value was compared as one field. */
function visit(part: Part, left: Value, right: Value, type: FieldType, place: Place): boolean {
  switch (partOf(type, part)) {
    case 'map': {
      const [before, after] = [asMap(left), asMap(right)];
      if (type.map === undefined || type.map.atomic || (isHollow(before) && isHollow(after))) break;
      walkMap(before, after, type.map, place);
      return false;
    }
    case 'list': {
      const [before, after] = [asList(left), asList(right)];
      if (type.list?.associative !== true || before.length + after.length === 0) break;
      if (!deepEqual(before, after)) walkList(before, after, type.list, place);
      return false;
    }
    default:
  }
  if (left === undefined) place.mark('added');
  else if (right === undefined) place.mark('removed');
  else if (!deepEqual(left, right)) place.mark('modified');
  return true;
}

const asMap = (value: Value): JsonObject | undefined => (isObject(value) ? value : undefined);
const asList = (value: Value): Json[] => (Array.isArray(value) ? value : []);

function isHollow(value: JsonObject | undefined): boolean {
  for (const _ in value) return false;
  return true;
}

function walkMap(
  left: JsonObject | undefined,
  right: JsonObject | undefined,
  map: MapType,
  place: Place,
): void {
  for (const name of Object.keys(left ?? {}))
    walkMember(member(left, name), member(right, name), map, name, place);
  for (const name of Object.keys(right ?? {}))
    if (left === undefined || !Object.hasOwn(left, name))
      walkMember(undefined, member(right, name), map, name, place);
}

function walkMember(left: Value, right: Value, map: MapType, name: string, place: Place): void {
  if (left === right) return;
  const type = memberType(map, name);
  if (type !== undefined) walk(left, right, type, place.below(field(name)));
}

function walkList(left: Json[], right: Json[], list: ListType, place: Place): void {
  const before = byElement(left, list);
  const after = byElement(right, list);
  for (const element of new Set([...before.keys(), ...after.keys()])) {
    const at = place.below(element);
    const was = before.get(element) ?? [];
    const is = after.get(element) ?? [];
    if (was.length <= 1 && is.length <= 1) walk(was[0], is[0], list.items, at);
    else if (was.length > 1 && is.length > 1) {
      if (!deepEqual(was, is)) at.mark('modified');
    } else if (was.length > 1) {
      if (is.length > 0) walk(undefined, is[0], list.items, at);
      at.mark('removed');
    } else {
      if (was.length > 0) walk(was[0], undefined, list.items, at);
      at.mark('added');
    }
  }
}

import { compareElements, type PathElement } from './path-element.ts';

/**
 * Paths into an object, as a tree: a path is in the set where its last element is `own` of the set at the rest of
 * it. Sets are not changed once they are built (`insert` is for building); operations share what they can.
 */
export class FieldSet {
  readonly own: Set<PathElement> = new Set();
  readonly below: Map<PathElement, FieldSet> = new Map();

  static of(...paths: PathElement[][]): FieldSet {
    const set = new FieldSet();
    for (const path of paths) set.insert(path);
    return set;
  }

  /** The empty path is no field: the whole object has no owner. */
  insert(path: readonly PathElement[]): void {
    const last = path.at(-1);
    if (last === undefined) return;
    this.#at(path.slice(0, -1)).own.add(last);
  }

  #at(path: readonly PathElement[]): FieldSet {
    return path.reduce<FieldSet>((at, element) => at.#descend(element), this);
  }

  #descend(element: PathElement): FieldSet {
    const known = this.below.get(element);
    if (known !== undefined) return known;
    const made = new FieldSet();
    this.below.set(element, made);
    return made;
  }

  get empty(): boolean {
    if (this.own.size > 0) return false;
    for (const child of this.below.values()) if (!child.empty) return false;
    return true;
  }

  /** Characters of all its elements together. */
  get length(): number {
    let length = 0;
    for (const element of this.own) length += element.length;
    for (const [element, child] of this.below) length += element.length + child.length;
    return length;
  }

  union(other: FieldSet): FieldSet {
    if (other.own.size === 0 && other.below.size === 0) return this;
    if (this.own.size === 0 && this.below.size === 0) return other;
    const out = new FieldSet();
    for (const element of this.own) out.own.add(element);
    for (const element of other.own) out.own.add(element);
    for (const [element, child] of this.below) {
      const theirs = other.below.get(element);
      out.below.set(element, theirs === undefined ? child : child.union(theirs));
    }
    for (const [element, child] of other.below) if (!out.below.has(element)) out.below.set(element, child);
    return out;
  }

  intersection(other: FieldSet): FieldSet {
    const out = new FieldSet();
    for (const element of this.own) if (other.own.has(element)) out.own.add(element);
    for (const [element, child] of this.below) {
      const theirs = other.below.get(element);
      if (theirs !== undefined) out.#keep(element, child.intersection(theirs));
    }
    return out;
  }

  /** Without these paths; what is below them stays. */
  difference(other: FieldSet): FieldSet {
    if (other.own.size === 0 && other.below.size === 0) return this;
    const out = new FieldSet();
    for (const element of this.own) if (!other.own.has(element)) out.own.add(element);
    for (const [element, child] of this.below) {
      const theirs = other.below.get(element);
      out.#keep(element, theirs === undefined ? child : child.difference(theirs));
    }
    return out;
  }

  /** Without these paths and all that is below them. */
  without(other: FieldSet): FieldSet {
    if (other.own.size === 0 && other.below.size === 0) return this;
    const out = new FieldSet();
    for (const element of this.own) if (!other.own.has(element)) out.own.add(element);
    for (const [element, child] of this.below) {
      if (other.own.has(element)) continue;
      const theirs = other.below.get(element);
      out.#keep(element, theirs === undefined ? child : child.without(theirs));
    }
    return out;
  }

  #keep(element: PathElement, child: FieldSet): void {
    if (!child.empty) this.below.set(element, child);
  }

  equals(other: FieldSet): boolean {
    return this.difference(other).empty && other.difference(this).empty;
  }

  /** Every path, those of one level before what is below them, each level in order. */
  paths(): PathElement[][] {
    const own = [...this.own].sort(compareElements).map((element) => [element]);
    const below = [...this.below]
      .sort(([a], [b]) => compareElements(a, b))
      .flatMap(([element, child]) => child.paths().map((path) => [element, ...path]));
    return [...own, ...below];
  }
}

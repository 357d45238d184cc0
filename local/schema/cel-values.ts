/**
 * The values that CEL works on. int is a bigint, double a number, uint a class of its own: JavaScript has one type
 * too few for CEL's three.
 */
export type CelValue =
  | null
  | boolean
  | bigint
  | number
  | string
  | Uint8Array
  | CelValue[]
  | CelMap
  | CelObject
  | Uint
  | Duration
  | Timestamp
  | TypeValue
  | Optional
  | Opaque;

/** A runtime error of an expression; the text is what cel-go says. */
export class CelError extends Error {
  override readonly name = 'CelError';
}

export class Uint {
  readonly value: bigint;
  constructor(value: bigint) {
    if (value < 0n || value >= 2n ** 64n) throw new CelError('unsigned integer overflow');
    this.value = value;
  }
}

export class Duration {
  readonly ns: bigint;
  constructor(ns: bigint) {
    if (ns < -(2n ** 63n) || ns >= 2n ** 63n) throw new CelError('range');
    this.ns = ns;
  }
}

const MIN_TIME = -62135596800n * 1_000_000_000n;
const MAX_TIME = 253402300800n * 1_000_000_000n;

export class Timestamp {
  /** Nanoseconds since 1970. */
  readonly ns: bigint;
  constructor(ns: bigint) {
    if (ns < MIN_TIME || ns >= MAX_TIME) throw new CelError('timestamp overflow');
    this.ns = ns;
  }
}

export class TypeValue {
  readonly typeName: string;
  constructor(typeName: string) {
    this.typeName = typeName;
  }
}

export class Optional {
  readonly value: CelValue | undefined;
  constructor(value: CelValue | undefined) {
    this.value = value;
  }
}
export const NONE = new Optional(undefined);

/** A map: keys by value, whatever numeric type they came in. */
export class CelMap {
  readonly entries: Map<string | bigint | boolean, CelValue>;
  constructor(entries = new Map<string | bigint | boolean, CelValue>()) {
    this.entries = entries;
  }
}

/** An object with declared properties; their names are escaped as CEL needs them. */
export class CelObject {
  readonly fields: Map<string, CelValue>;
  readonly typeName: string;
  constructor(typeName: string, fields: Map<string, CelValue>) {
    this.typeName = typeName;
    this.fields = fields;
  }
}

/** A value of one of Kubernetes' own types; subclasses stand with their functions. */
export abstract class Opaque {
  abstract readonly opaqueType: string;
  abstract equals(other: Opaque): boolean;
}

/** Lists that mean sets or maps (x-kubernetes-list-type): their order does not count. */
const listKinds = new WeakMap<CelValue[], { kind: 'set' | 'map'; keys: string[] }>();
export function markList(list: CelValue[], kind: 'set' | 'map', keys: string[]): CelValue[] {
  listKinds.set(list, { kind, keys });
  return list;
}
export const listKind = (list: CelValue[]): { kind: 'set' | 'map'; keys: string[] } | undefined =>
  listKinds.get(list);

export function typeName(value: CelValue): string {
  if (value === null) return 'null_type';
  switch (typeof value) {
    case 'boolean':
      return 'bool';
    case 'bigint':
      return 'int';
    case 'number':
      return 'double';
    case 'string':
      return 'string';
    default:
      break;
  }
  if (Array.isArray(value)) return 'list';
  if (value instanceof CelMap) return 'map';
  if (value instanceof CelObject) return value.typeName;
  if (value instanceof Uint) return 'uint';
  if (value instanceof Uint8Array) return 'bytes';
  if (value instanceof Duration) return 'google.protobuf.Duration';
  if (value instanceof Timestamp) return 'google.protobuf.Timestamp';
  if (value instanceof TypeValue) return 'type';
  if (value instanceof Optional) return 'optional_type';
  return value.opaqueType;
}

/** A numeric value as something that compares exactly across int, uint and double; undefined for other types. */
export function numeric(value: CelValue): bigint | number | undefined {
  if (typeof value === 'bigint' || typeof value === 'number') return value;
  return value instanceof Uint ? value.value : undefined;
}

export function celEquals(a: CelValue, b: CelValue): boolean {
  const x = numeric(a);
  if (x !== undefined) {
    const y = numeric(b);
    // oxlint-disable-next-line eqeqeq -- 1 == 1.0 holds in CEL, and JavaScript compares bigint and number exactly
    return y !== undefined && x == y;
  }
  if (a === b) return true;
  if (a === null || b === null || typeof a !== 'object' || typeof b !== 'object') return false;
  if (Array.isArray(a)) return Array.isArray(b) && listsEqual(a, b);
  if (a instanceof CelMap) return b instanceof CelMap && mapsEqual(a.entries, b.entries);
  if (a instanceof CelObject) return b instanceof CelObject && mapsEqual(a.fields, b.fields);
  if (a instanceof Uint8Array) return b instanceof Uint8Array && Buffer.compare(a, b) === 0;
  if (a instanceof Duration) return b instanceof Duration && a.ns === b.ns;
  if (a instanceof Timestamp) return b instanceof Timestamp && a.ns === b.ns;
  if (a instanceof TypeValue) return b instanceof TypeValue && a.typeName === b.typeName;
  if (a instanceof Optional) {
    if (!(b instanceof Optional)) return false;
    if (a.value === undefined || b.value === undefined) return a.value === b.value;
    return celEquals(a.value, b.value);
  }
  if (a instanceof Opaque) return b instanceof Opaque && a.opaqueType === b.opaqueType && a.equals(b);
  return false;
}

function listsEqual(a: CelValue[], b: CelValue[]): boolean {
  if (a.length !== b.length) return false;
  const unordered = (listKinds.get(a) ?? listKinds.get(b)) !== undefined;
  if (unordered) return a.every((item) => b.some((other) => celEquals(item, other)));
  return a.every((item, i) => celEquals(item, b[i] ?? null));
}

function mapsEqual<K>(a: Map<K, CelValue>, b: Map<K, CelValue>): boolean {
  if (a.size !== b.size) return false;
  for (const [key, value] of a) {
    const other = b.get(key);
    if (other === undefined || !celEquals(value, other)) return false;
  }
  return true;
}

/** The key of a map for a value; undefined for a value that no map can hold as a key. */
export function mapKeyOf(value: CelValue): string | bigint | boolean | undefined {
  if (typeof value === 'string' || typeof value === 'bigint' || typeof value === 'boolean') return value;
  if (value instanceof Uint) return value.value;
  if (typeof value === 'number' && Number.isInteger(value)) return BigInt(value);
  return undefined;
}

/** -1, 0 or 1; undefined where the two have no order (or one is NaN). */
export function celCompare(a: CelValue, b: CelValue): number | undefined {
  const x = numeric(a);
  const y = numeric(b);
  if (x !== undefined && y !== undefined) return order(x, y);
  if (typeof a === 'string' && typeof b === 'string') return compareText(a, b);
  if (typeof a === 'boolean' && typeof b === 'boolean') return Number(a) - Number(b);
  if (a instanceof Duration && b instanceof Duration) return order(a.ns, b.ns);
  if (a instanceof Timestamp && b instanceof Timestamp) return order(a.ns, b.ns);
  if (a instanceof Uint8Array && b instanceof Uint8Array) return Buffer.compare(a, b);
  return undefined;
}

function order(x: bigint | number, y: bigint | number): number | undefined {
  if (x < y) return -1;
  if (x > y) return 1;
  return Number.isNaN(Number(x)) || Number.isNaN(Number(y)) ? undefined : 0;
}

/** By code point, as Go compares UTF-8 bytes; JavaScript's own order is by UTF-16 unit. */
function compareText(a: string, b: string): number {
  return Buffer.compare(Buffer.from(a), Buffer.from(b));
}

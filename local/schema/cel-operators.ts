import type { BinaryOp } from './cel-ast.ts';
import {
  CelError,
  CelMap,
  CelObject,
  type CelValue,
  celCompare,
  celEquals,
  Duration,
  listKind,
  mapKeyOf,
  markList,
  Timestamp,
  Uint,
} from './cel-values.ts';

/** Steps that one evaluation may take: about what the server's cost limit for a rule allows. */
export class Budget {
  left: number;
  constructor(steps: number) {
    this.left = steps;
  }
  spend(steps: number): void {
    this.left -= steps;
    if (this.left < 0) throw new CelError('operation cancelled: actual cost limit exceeded');
  }
}

export const noOverload = (): CelError => new CelError('no such overload');

const MIN_INT = -(2n ** 63n);
const MAX_INT = 2n ** 63n - 1n;

function int(value: bigint): bigint {
  if (value < MIN_INT || value > MAX_INT) throw new CelError('integer overflow');
  return value;
}

/** `!` and `-`. */
export function unary(op: '!' | '-', value: CelValue): CelValue {
  if (op === '!') {
    if (typeof value !== 'boolean') throw noOverload();
    return !value;
  }
  if (typeof value === 'bigint') return int(-value);
  if (typeof value === 'number') return -value;
  if (value instanceof Duration) return new Duration(-value.ns);
  throw noOverload();
}

/** Everything with two operands but `&&` and `||`. */
export function binary(op: BinaryOp, a: CelValue, b: CelValue, budget: Budget): CelValue {
  switch (op) {
    case '==':
      budget.spend(size(a) / 10);
      return celEquals(a, b);
    case '!=':
      budget.spend(size(a) / 10);
      return !celEquals(a, b);
    case 'in':
      return contains(a, b, budget);
    case '<':
      return compare(a, b, (c) => c < 0);
    case '<=':
      return compare(a, b, (c) => c <= 0);
    case '>':
      return compare(a, b, (c) => c > 0);
    case '>=':
      return compare(a, b, (c) => c >= 0);
    default:
      return arithmetic(op, a, b, budget);
  }
}

export const size = (value: CelValue): number =>
  typeof value === 'string' || Array.isArray(value) ? value.length : 1;

const SCALARS = new Set(['string', 'boolean']);

function compare(a: CelValue, b: CelValue, test: (order: number) => boolean): boolean {
  const order = celCompare(a, b);
  if (order !== undefined) return test(order);
  const numbers = typeof a === 'number' || typeof b === 'number';
  if (numbers && !SCALARS.has(typeof a) && !SCALARS.has(typeof b)) return false; // NaN has no order
  throw noOverload();
}

function contains(item: CelValue, container: CelValue, budget: Budget): boolean {
  if (Array.isArray(container)) {
    budget.spend(container.length);
    return container.some((other) => celEquals(item, other));
  }
  if (container instanceof CelMap) {
    const key = mapKeyOf(item);
    return key !== undefined && container.entries.has(key);
  }
  if (container instanceof CelObject) return typeof item === 'string' && container.fields.has(item);
  throw noOverload();
}

type ArithmeticOp = '+' | '-' | '*' | '/' | '%';

function arithmetic(op: ArithmeticOp, a: CelValue, b: CelValue, budget: Budget): CelValue {
  if (typeof a === 'bigint' && typeof b === 'bigint') return int(integers(op, a, b));
  if (a instanceof Uint && b instanceof Uint) return new Uint(integers(op, a.value, b.value));
  if (typeof a === 'number' && typeof b === 'number') return doubles(op, a, b);
  if (op === '+') return add(a, b, budget);
  if (op === '-') return subtract(a, b);
  throw noOverload();
}

function integers(op: ArithmeticOp, a: bigint, b: bigint): bigint {
  switch (op) {
    case '+':
      return a + b;
    case '-':
      return a - b;
    case '*':
      return a * b;
    case '/':
      if (b === 0n) throw new CelError('division by zero');
      return a / b;
    case '%':
      if (b === 0n) throw new CelError('modulus by zero');
      return a % b;
  }
}

function doubles(op: ArithmeticOp, a: number, b: number): number {
  switch (op) {
    case '+':
      return a + b;
    case '-':
      return a - b;
    case '*':
      return a * b;
    case '/':
      return a / b;
    default:
      throw noOverload();
  }
}

function add(a: CelValue, b: CelValue, budget: Budget): CelValue {
  if (typeof a === 'string' && typeof b === 'string') {
    budget.spend((a.length + b.length) / 10);
    return a + b;
  }
  if (Array.isArray(a) && Array.isArray(b)) {
    budget.spend((a.length + b.length) / 10);
    return addLists(a, b);
  }
  if (a instanceof Uint8Array && b instanceof Uint8Array) return Uint8Array.from([...a, ...b]);
  if (a instanceof Duration && b instanceof Duration) return new Duration(a.ns + b.ns);
  if (a instanceof Timestamp && b instanceof Duration) return new Timestamp(a.ns + b.ns);
  if (a instanceof Duration && b instanceof Timestamp) return new Timestamp(a.ns + b.ns);
  throw noOverload();
}

/** `+` keeps the meaning of the left list: a set takes no item twice, a map replaces what has the same key. */
function addLists(a: CelValue[], b: CelValue[]): CelValue[] {
  const kind = listKind(a);
  if (kind === undefined) return [...a, ...b];
  const out = [...a];
  const keyOf = (value: CelValue): CelValue[] =>
    value instanceof CelObject ? kind.keys.map((key) => value.fields.get(key) ?? null) : [value];
  for (const item of b) {
    const same = out.findIndex((other) =>
      kind.kind === 'set' ? celEquals(other, item) : celEquals(keyOf(other), keyOf(item)),
    );
    if (same < 0) out.push(item);
    else out[same] = item;
  }
  return markList(out, kind.kind, kind.keys);
}

function subtract(a: CelValue, b: CelValue): CelValue {
  if (a instanceof Duration && b instanceof Duration) return new Duration(a.ns - b.ns);
  if (a instanceof Timestamp && b instanceof Duration) return new Timestamp(a.ns - b.ns);
  if (a instanceof Timestamp && b instanceof Timestamp) return new Duration(a.ns - b.ns);
  throw noOverload();
}

import { assignable, BOOL, type CelType, DURATION, DYN, listOf, TIMESTAMP } from './cel-types.ts';

export const unwrap = (type: CelType): CelType => (type.kind === 'optional' ? type.of : type);
export const fits = (found: CelType, wanted: CelType): boolean => assignable(found, wanted, new Map());

/** The more general of two types that fit each other. */
export function joined(a: CelType, b: CelType): CelType {
  if (a.kind === 'dyn' || b.kind === 'dyn') return DYN;
  if (a.kind === 'list' && b.kind === 'list') return listOf(a.elem.kind === 'dyn' ? b.elem : a.elem);
  return isNull(a) ? b : a;
}

const isPrim = (type: CelType, ...names: string[]): boolean =>
  type.kind === 'prim' && names.includes(type.name);
const isNull = (type: CelType): boolean => isPrim(type, 'null');
export const isNumber = (type: CelType): boolean => isPrim(type, 'int', 'uint', 'double');
const unknown = (type: CelType): boolean => type.kind === 'dyn' || type.kind === 'param';

const ORDERED = ['int', 'uint', 'double', 'string', 'bool', 'bytes', 'timestamp', 'duration'];

export function binaryType(op: string, left: CelType, right: CelType): CelType | undefined {
  switch (op) {
    case '==':
    case '!=':
      return fits(left, right) || fits(right, left) ? BOOL : undefined;
    case '<':
    case '<=':
    case '>':
    case '>=':
      return ordered(left, right) ? BOOL : undefined;
    case 'in':
      return membership(left, right) ? BOOL : undefined;
    default:
      return arithmeticType(op, left, right);
  }
}

function ordered(left: CelType, right: CelType): boolean {
  if (unknown(left)) return unknown(right) || isPrim(right, ...ORDERED);
  if (!isPrim(left, ...ORDERED)) return false;
  return unknown(right) || (isNumber(left) && isNumber(right)) || fits(left, right);
}

function membership(left: CelType, right: CelType): boolean {
  if (unknown(right)) return true;
  if (right.kind === 'list') return fits(left, right.elem);
  return right.kind === 'map' && fits(left, right.key);
}

function arithmeticType(op: string, left: CelType, right: CelType): CelType | undefined {
  if (unknown(left) && unknown(right)) return DYN;
  if (unknown(left) || unknown(right)) {
    const known = unknown(left) ? right : left;
    if (op === '+' && (known.kind === 'list' || isPrim(known, 'string', 'bytes'))) return known;
    if ((op === '+' || op === '-') && isPrim(known, 'timestamp', 'duration')) return DYN;
    return isNumber(known) && !(op === '%' && isPrim(known, 'double')) ? known : undefined;
  }
  if (isNumber(left) && fits(left, right)) return op === '%' && isPrim(left, 'double') ? undefined : left;
  if (op === '+') {
    if (left.kind === 'list' && right.kind === 'list' && (fits(left, right) || fits(right, left)))
      return joined(left, right);
    if (isPrim(left, 'string', 'bytes', 'duration') && fits(left, right)) return left;
    if (isPrim(left, 'timestamp') && isPrim(right, 'duration')) return TIMESTAMP;
    if (isPrim(left, 'duration') && isPrim(right, 'timestamp')) return TIMESTAMP;
  }
  if (op === '-') {
    if (isPrim(left, 'duration') && isPrim(right, 'duration')) return DURATION;
    if (isPrim(left, 'timestamp') && isPrim(right, 'duration')) return TIMESTAMP;
    if (isPrim(left, 'timestamp') && isPrim(right, 'timestamp')) return DURATION;
  }
  return undefined;
}

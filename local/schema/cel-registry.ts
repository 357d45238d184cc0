import { type CelType, OPAQUE_TYPES, parseSignature, type Signature } from './cel-types.ts';
import {
  CelMap,
  CelObject,
  type CelValue,
  Duration,
  Opaque,
  Optional,
  Timestamp,
  TypeValue,
  Uint,
} from './cel-values.ts';

export type Implementation = (...args: CelValue[]) => CelValue;

export interface Overload extends Signature {
  run: Implementation;
}

const table = new Map<string, Overload[]>();

/**
 * Adds an overload. The arguments have the signature's types when `run` is called: the casts in the libraries rest
 * on that.
 */
// oxlint-disable-next-line typescript/no-explicit-any -- the signature text is what types the arguments
export function define(signature: string, run: (...args: any[]) => CelValue): void {
  const parsed = parseSignature(signature);
  const list = table.get(parsed.name) ?? [];
  list.push({ ...parsed, run });
  table.set(parsed.name, list);
}

export function overloadsOf(name: string): Overload[] {
  return table.get(name) ?? [];
}

/** The first overload whose parameter types the values have. */
export function findOverload(name: string, member: boolean, args: CelValue[]): Implementation | undefined {
  return overloadsOf(name).find(
    (overload) =>
      overload.member === member &&
      overload.params.length === args.length &&
      overload.params.every((param, i) => hasType(args[i] ?? null, param)),
  )?.run;
}

function hasType(value: CelValue, type: CelType): boolean {
  switch (type.kind) {
    case 'dyn':
    case 'param':
      return true;
    case 'list':
      return Array.isArray(value) && value.every((item) => hasType(item, type.elem));
    case 'map':
      return value instanceof CelMap || value instanceof CelObject;
    case 'optional':
      return value instanceof Optional;
    case 'type':
      return value instanceof TypeValue;
    case 'object':
      return value instanceof CelObject;
    case 'prim':
      return isPrim(value, type.name);
  }
}

function isPrim(value: CelValue, name: string): boolean {
  switch (name) {
    case 'int':
      return typeof value === 'bigint';
    case 'uint':
      return value instanceof Uint;
    case 'double':
      return typeof value === 'number';
    case 'string':
      return typeof value === 'string';
    case 'bool':
      return typeof value === 'boolean';
    case 'bytes':
      return value instanceof Uint8Array;
    case 'null':
      return value === null;
    case 'timestamp':
      return value instanceof Timestamp;
    case 'duration':
      return value instanceof Duration;
    default:
      return value instanceof Opaque && value.opaqueType === OPAQUE_TYPES[name];
  }
}

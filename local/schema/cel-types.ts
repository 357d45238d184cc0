/** Static types of CEL, for checking rules when a CRD is written and for choosing overloads. */
export type CelType =
  | { kind: 'dyn' }
  | { kind: 'prim'; name: string }
  | { kind: 'list'; elem: CelType }
  | { kind: 'map'; key: CelType; value: CelType }
  | { kind: 'optional'; of: CelType }
  | { kind: 'type'; of: CelType }
  | { kind: 'param'; name: string }
  | ObjectType;

interface ObjectType {
  kind: 'object';
  name: string;
  /** By escaped name. */
  fields: Map<string, CelType>;
}

export const DYN: CelType = { kind: 'dyn' };
const prim = (name: string): CelType => ({ kind: 'prim', name });
export const INT = prim('int');
export const UINT = prim('uint');
export const DOUBLE = prim('double');
export const STRING = prim('string');
export const BOOL = prim('bool');
export const BYTES = prim('bytes');
export const NULL = prim('null');
export const TIMESTAMP = prim('timestamp');
export const DURATION = prim('duration');
export const listOf = (elem: CelType): CelType => ({ kind: 'list', elem });
export const mapOf = (key: CelType, value: CelType): CelType => ({ kind: 'map', key, value });

export interface Signature {
  name: string;
  member: boolean;
  /** The receiver first, when it is a member. */
  params: CelType[];
  result: CelType;
}

/** Parses `list<T>.indexOf(T): int` (`sets::contains` is the global function `sets.contains`). Only for the constants of this folder: throws on a typing error. */
export function parseSignature(text: string): Signature {
  const match = /^(?:([\w<>, ]+)\.)?([\w:]+)\((.*)\): (.+)$/.exec(text);
  if (match === null) throw new Error(`bad signature: ${text}`);
  const [, receiver, plain = '', params = '', result = ''] = match;
  const name = plain.replace('::', '.');
  const list = params === '' ? [] : splitTypes(params).map(parseType);
  return {
    name,
    member: receiver !== undefined,
    params: receiver === undefined ? list : [parseType(receiver), ...list],
    result: parseType(result),
  };
}

function splitTypes(text: string): string[] {
  const out: string[] = [];
  let depth = 0;
  let current = '';
  for (const c of text) {
    if (c === '<') depth++;
    if (c === '>') depth--;
    if (c === ',' && depth === 0) {
      out.push(current.trim());
      current = '';
    } else current += c;
  }
  return [...out, current.trim()];
}

function parseType(text: string): CelType {
  const match = /^(list|map|optional|type)<(.+)>$/.exec(text);
  if (match === null) {
    if (text === 'dyn') return DYN;
    return /^[A-Z]$/.test(text) ? { kind: 'param', name: text } : prim(text);
  }
  const inner = splitTypes(match[2] ?? '').map(parseType);
  const first = inner[0] ?? DYN;
  switch (match[1]) {
    case 'list':
      return listOf(first);
    case 'map':
      return mapOf(first, inner[1] ?? DYN);
    case 'type':
      return { kind: 'type', of: first };
    default:
      return { kind: 'optional', of: first };
  }
}

/** Kubernetes' own types: what signatures call them, and their names. */
export const OPAQUE_TYPES: Record<string, string> = {
  quantity: 'kubernetes.Quantity',
  url: 'kubernetes.URL',
  ip: 'net.IP',
  cidr: 'net.CIDR',
  semver: 'kubernetes.Semver',
  format: 'kubernetes.NamedFormat',
};

/** As cel-go writes a type in its messages. */
export function formatType(type: CelType): string {
  switch (type.kind) {
    case 'dyn':
      return 'dyn';
    case 'prim':
      return Object.hasOwn(OPAQUE_TYPES, type.name) ? (OPAQUE_TYPES[type.name] ?? type.name) : type.name;
    case 'list':
      return `list(${formatType(type.elem)})`;
    case 'map':
      return `map(${formatType(type.key)}, ${formatType(type.value)})`;
    case 'optional':
      return `optional_type(${formatType(type.of)})`;
    case 'type':
      return `type(${formatType(type.of)})`;
    case 'param':
      return type.name;
    case 'object':
      return type.name;
  }
}

/** What type parameters stand for in one call. */
export type Bindings = Map<string, CelType>;

/** Whether a value of type `found` may stand where `wanted` is asked for; binds parameters. */
export function assignable(found: CelType, wanted: CelType, bindings: Bindings): boolean {
  if (wanted.kind === 'param') {
    const bound = bindings.get(wanted.name);
    if (bound === undefined || bound.kind === 'dyn') {
      bindings.set(wanted.name, found);
      return true;
    }
    return assignable(found, bound, bindings) || assignable(bound, found, bindings);
  }
  if (found.kind === 'dyn' || wanted.kind === 'dyn' || found.kind === 'param') return true;
  if (found.kind === 'prim' && found.name === 'null') {
    if (wanted.kind === 'object' || wanted.kind === 'optional') return true;
    return wanted.kind === 'prim' && NULLABLE.has(wanted.name);
  }
  switch (wanted.kind) {
    case 'prim':
      return found.kind === 'prim' && found.name === wanted.name;
    case 'list':
      return found.kind === 'list' && assignable(found.elem, wanted.elem, bindings);
    case 'map':
      return (
        found.kind === 'map' &&
        assignable(found.key, wanted.key, bindings) &&
        assignable(found.value, wanted.value, bindings)
      );
    case 'optional':
      return found.kind === 'optional' && assignable(found.of, wanted.of, bindings);
    case 'type':
      return found.kind === 'type';
    case 'object':
      return found.kind === 'object' && found.name === wanted.name;
  }
}

const NULLABLE = new Set(['null', 'timestamp', 'duration']);

export function substitute(type: CelType, bindings: Bindings): CelType {
  switch (type.kind) {
    case 'param':
      return bindings.get(type.name) ?? DYN;
    case 'list':
      return listOf(substitute(type.elem, bindings));
    case 'map':
      return mapOf(substitute(type.key, bindings), substitute(type.value, bindings));
    case 'optional':
      return { kind: 'optional', of: substitute(type.of, bindings) };
    case 'type':
      return { kind: 'type', of: substitute(type.of, bindings) };
    default:
      return type;
  }
}

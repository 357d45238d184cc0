/** Any JSON value. `undefined` never stands for null: an absent member is absent. */
export type Json = null | boolean | number | string | Json[] | JsonObject;
export interface JsonObject {
  [key: string]: Json;
}

export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** A member of the object itself: `toString` or `__proto__` of a prototype is not one. */
export function member(value: JsonObject | undefined, key: string): Json | undefined {
  return value !== undefined && Object.hasOwn(value, key) ? value[key] : undefined;
}

/** Sets a member as JSON.parse does: `__proto__` becomes a plain member too. */
export function setMember(target: JsonObject, key: string, value: Json): void {
  if (key === '__proto__') {
    Object.defineProperty(target, key, { value, enumerable: true, configurable: true, writable: true });
  } else target[key] = value;
}

export function deepEqual(a: Json | undefined, b: Json | undefined): boolean {
  if (a === b) return true;
  if (Array.isArray(a)) {
    if (!Array.isArray(b) || a.length !== b.length) return false;
    return a.every((item, i) => deepEqual(item, b[i]));
  }
  if (!isObject(a) || !isObject(b)) return false;
  const keys = Object.keys(a);
  if (keys.length !== Object.keys(b).length) return false;
  return keys.every((key) => Object.hasOwn(b, key) && deepEqual(a[key], b[key]));
}

export function deepCopy<T extends Json>(value: T): T {
  return structuredClone(value);
}

/** As Go's encoding/json writes it: sorted keys, `<`, `>` and `&` escaped. */
export function goJSON(value: Json | undefined): string {
  if (value === undefined) return 'null';
  return escapeHTML(JSON.stringify(sortKeys(value)));
}

/** As Go writes a struct: members in the order given. */
export function goStruct(value: object): string {
  return escapeHTML(JSON.stringify(value));
}

function sortKeys(value: Json): Json {
  if (Array.isArray(value)) return value.map(sortKeys);
  if (!isObject(value)) return value;
  const out: JsonObject = {};
  for (const key of Object.keys(value).sort()) setMember(out, key, sortKeys(value[key] ?? null));
  return out;
}

function escapeHTML(text: string): string {
  return text.replace(/[<>&\u2028\u2029]/g, (c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

/** As Go's `%q` writes a string, for the characters that occur in practice. */
export function goQuote(text: string): string {
  let out = '"';
  for (const c of text) out += quoteRune(c);
  return `${out}"`;
}

const SHORT: Record<string, string> = {
  '"': '\\"',
  '\\': '\\\\',
  '\n': '\\n',
  '\r': '\\r',
  '\t': '\\t',
  '\u0007': '\\a',
  '\b': '\\b',
  '\f': '\\f',
  '\v': '\\v',
};

function quoteRune(c: string): string {
  const short = SHORT[c];
  if (short !== undefined) return short;
  const code = c.codePointAt(0) ?? 0;
  if (code < 0x20 || code === 0x7f) return `\\x${code.toString(16).padStart(2, '0')}`;
  if (/\p{L}|\p{M}|\p{N}|\p{P}|\p{S}| /u.test(c)) return c;
  if (code < 0x10000) return `\\u${code.toString(16).padStart(4, '0')}`;
  return `\\U${code.toString(16).padStart(8, '0')}`;
}

/** As Go's `%v` writes a float64 (shortest form, exponent from 1e21). */
export function goNumber(value: number): string {
  if (Number.isInteger(value) && Math.abs(value) < 1e21) return String(value);
  const text = String(value);
  const match = /^(.*)e([+-])(\d+)$/.exec(text);
  if (match === null) {
    const abs = Math.abs(value);
    if (abs !== 0 && abs < 1e-4) return goExponent(value.toExponential());
    return text;
  }
  return goExponent(text);
}

function goExponent(text: string): string {
  return text.replace(/e([+-])(\d)$/, 'e$10$2');
}

import { goQuote, type Json, type JsonObject } from '../schema/json.ts';

/**
 * One step of a path into an object, in the text that FieldsV1 has for it: `f:name` a member, `k:{...}` the item
 * of a list whose keys have these values, `v:...` the item of a set, `i:0` an index. One step has one text, so
 * that texts can be compared.
 */
export type PathElement = string;

export const field = (name: string): PathElement => `f:${name}`;

export function keyed(values: JsonObject): PathElement {
  const sorted: [string, Json][] = Object.entries(values);
  if (sorted.length > 1) sorted.sort(([a], [b]) => (a < b ? -1 : 1));
  return `k:{${sorted.map(([name, value]) => `${JSON.stringify(name)}:${JSON.stringify(value)}`).join(',')}}`;
}

export const item = (value: Json): PathElement => `v:${JSON.stringify(value)}`;

/** What has been read of late: the same few keys come again and again. */
const read = new Map<string, PathElement | undefined>();
const MAX_READ = 1000;

/** Reads what a client wrote. Undefined: it is no step. */
export function readElement(text: string): PathElement | undefined {
  if (text.startsWith('f:')) return text;
  if (read.has(text)) return read.get(text);
  const element = parseElement(text);
  if (text.length < 200) {
    if (read.size >= MAX_READ) read.clear();
    read.set(text, element);
  }
  return element;
}

function parseElement(text: string): PathElement | undefined {
  const rest = text.slice(2);
  switch (text.slice(0, 2)) {
    case 'i:':
      return /^-?\d+$/.test(rest) ? text : undefined;
    case 'v:': {
      const value = parse(rest);
      return value === undefined ? undefined : item(value);
    }
    case 'k:': {
      const value = parse(rest);
      if (typeof value !== 'object' || value === null || Array.isArray(value)) return undefined;
      return keyed(value);
    }
    default:
      return undefined;
  }
}

function parse(text: string): Json | undefined {
  try {
    return JSON.parse(text) as Json;
  } catch {
    return undefined;
  }
}

/** Members before keyed items before items of sets before indexes. */
const RANK = 'fkvi';

export function compareElements(a: PathElement, b: PathElement): number {
  const rank = RANK.indexOf(a[0] ?? '') - RANK.indexOf(b[0] ?? '');
  if (rank !== 0) return rank;
  return a < b ? -1 : a > b ? 1 : 0;
}

/** As messages show it: `.spec`, `[key="a"]`, `[="x"]`. */
export function showElement(element: PathElement): string {
  const rest = element.slice(2);
  switch (element[0]) {
    case 'f':
      return `.${rest}`;
    case 'k': {
      const values = Object.entries(JSON.parse(rest) as JsonObject);
      return `[${values.map(([name, value]) => `${name}=${showValue(value)}`).join(',')}]`;
    }
    case 'v':
      return `[=${showValue(JSON.parse(rest) as Json)}]`;
    default:
      return `[${rest}]`;
  }
}

function showValue(value: Json): string {
  return typeof value === 'string' ? goQuote(value) : JSON.stringify(value);
}

export const showPath = (path: readonly PathElement[]): string => path.map(showElement).join('');

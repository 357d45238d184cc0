import { doubleText, scientificText } from './cel-double.ts';
import { define } from './cel-registry.ts';
import { durationText, timestampText } from './cel-time.ts';
import {
  CelError,
  CelMap,
  CelObject,
  type CelValue,
  Duration,
  numeric,
  Timestamp,
  TypeValue,
  typeName,
  Uint,
} from './cel-values.ts';
import { goNumber, goQuote } from './json.ts';
import { compileRE2 } from './re2.ts';

/** cel-go's strings extension and Kubernetes' find and findAll. Positions count code points. */

const points = (text: string): string[] => Array.from(text);

function position(at: bigint, length: number): number {
  if (at < 0n || at > BigInt(length)) throw new CelError(`index out of range: ${at}`);
  return Number(at);
}

function find(text: string[], part: string[], from: number): number {
  for (let at = from; at + part.length <= text.length; at++)
    if (part.every((c, i) => text[at + i] === c)) return at;
  return -1;
}

function findLast(text: string[], part: string[], from: number): number {
  for (let at = Math.min(from, text.length - part.length); at >= 0; at--)
    if (part.every((c, i) => text[at + i] === c)) return at;
  return -1;
}

define('string.charAt(int): string', (text: string, at: bigint) => {
  const all = points(text);
  return all[position(at, all.length)] ?? '';
});
define('string.indexOf(string): int', (text: string, part: string) =>
  BigInt(find(points(text), points(part), 0)),
);
define('string.indexOf(string, int): int', (text: string, part: string, from: bigint) => {
  const all = points(text);
  return BigInt(find(all, points(part), position(from, all.length)));
});
define('string.lastIndexOf(string): int', (text: string, part: string) => {
  const all = points(text);
  return BigInt(findLast(all, points(part), all.length));
});
define('string.lastIndexOf(string, int): int', (text: string, part: string, from: bigint) => {
  const all = points(text);
  return BigInt(findLast(all, points(part), position(from, all.length)));
});
define('string.lowerAscii(): string', (text: string) => text.replace(/[A-Z]/g, (c) => c.toLowerCase()));
define('string.upperAscii(): string', (text: string) => text.replace(/[a-z]/g, (c) => c.toUpperCase()));
define('string.replace(string, string): string', (text: string, from: string, to: string) =>
  replace(text, from, to, Number.POSITIVE_INFINITY),
);
define(
  'string.replace(string, string, int): string',
  (text: string, from: string, to: string, limit: bigint) =>
    replace(text, from, to, limit < 0n ? Number.POSITIVE_INFINITY : Number(limit)),
);

/** As Go's strings.Replace: an empty text is found before each character and at the end. */
function replace(text: string, from: string, to: string, limit: number): string {
  if (limit === 0) return text;
  const parts = from === '' ? ['', ...points(text), ''] : text.split(from);
  let out = parts[0] ?? '';
  for (const [i, part] of parts.slice(1).entries()) out += (i < limit ? to : from) + part;
  return out;
}

const split = (text: string, by: string): string[] => (by === '' ? points(text) : text.split(by));
define('string.split(string): list<string>', split);
define('string.split(string, int): list<string>', (text: string, by: string, limit: bigint) => {
  if (limit === 0n) return [];
  const parts = split(text, by);
  if (limit < 0n || BigInt(parts.length) <= limit) return parts;
  const keep = Number(limit) - 1;
  return [...parts.slice(0, keep), parts.slice(keep).join(by)];
});
define('string.substring(int): string', (text: string, from: bigint) => {
  const all = points(text);
  return all.slice(position(from, all.length)).join('');
});
define('string.substring(int, int): string', (text: string, from: bigint, to: bigint) => {
  const all = points(text);
  if (from > to) throw new CelError(`invalid substring range. start: ${from}, end: ${to}`);
  return all.slice(position(from, all.length), position(to, all.length)).join('');
});
define('string.trim(): string', (text: string) => text.replace(/^[\s\u0085]+|[\s\u0085]+$/g, ''));
define('list<string>.join(): string', (list: string[]) => list.join(''));
define('list<string>.join(string): string', (list: string[], by: string) => list.join(by));
define('strings::quote(string): string', (text: string) => quote(text));

const QUOTES: Record<string, string> = {
  '\u0007': '\\a',
  '\b': '\\b',
  '\f': '\\f',
  '\n': '\\n',
  '\r': '\\r',
  '\t': '\\t',
  '\v': '\\v',
  '\\': '\\\\',
  '"': '\\"',
};
const quote = (text: string): string =>
  `"${points(text)
    .map((c) => QUOTES[c] ?? c)
    .join('')}"`;

define('string.find(string): string', (text: string, pattern: string) => findAll(text, pattern, 1)[0] ?? '');
define('string.findAll(string): list<string>', (text: string, pattern: string) => findAll(text, pattern, -1));
define('string.findAll(string, int): list<string>', (text: string, pattern: string, limit: bigint) =>
  findAll(text, pattern, Number(limit)),
);

function findAll(text: string, pattern: string, limit: number): string[] {
  const out: string[] = [];
  let matcher: ReturnType<ReturnType<typeof compileRE2>['matcher']>;
  try {
    matcher = compileRE2(pattern).matcher(text);
  } catch (error) {
    throw new CelError(`Illegal regex: ${error instanceof Error ? error.message : ''}`);
  }
  const most = limit < 0 ? Number.POSITIVE_INFINITY : limit;
  for (let n = 0; n < most && matcher.find(); n++) out.push(matcher.group() ?? '');
  return out;
}

define('string.format(list<dyn>): string', (template: string, args: CelValue[]) => {
  let next = 0;
  return template.replace(/%(?:(%)|(?:\.(\d+))?([a-zA-Z]))/g, (_all, percent, precision, verb: string) => {
    if (percent !== undefined) return '%';
    const arg = args[next++];
    if (arg === undefined) throw new CelError(`index ${next - 1} out of range`);
    return formatVerb(verb, arg, precision === undefined ? undefined : Number(precision));
  });
});

const CLAUSES: Record<string, string> = {
  d: 'decimal clause can only be used on integers',
  f: 'fixed-point clause can only be used on doubles',
  e: 'scientific clause can only be used on doubles',
  b: 'only integers and bools can be formatted as binary',
  o: 'octal clause can only be used on integers',
  x: 'only integers, byte buffers, and strings can be formatted as hex',
  X: 'only integers, byte buffers, and strings can be formatted as hex',
};

function formatVerb(verb: string, arg: CelValue, precision: number | undefined): string {
  const number = numeric(arg);
  const bad = (): CelError =>
    new CelError(`error during formatting: ${CLAUSES[verb] ?? ''}, was given ${typeName(arg)}`);
  switch (verb) {
    case 's':
      return show(arg);
    case 'd':
      if (number === undefined) throw bad();
      return typeof number === 'bigint' ? String(number) : goNumber(number);
    case 'f':
      if (number === undefined) throw bad();
      return Number(number).toFixed(precision ?? 6);
    case 'e':
      if (number === undefined) throw bad();
      return scientificText(Number(number), precision ?? 6);
    case 'b':
      if (typeof arg === 'boolean') return arg ? '1' : '0';
      if (typeof number !== 'bigint') throw bad();
      return number.toString(2);
    case 'o':
      if (typeof number !== 'bigint') throw bad();
      return number.toString(8);
    case 'x':
    case 'X': {
      let hex: string;
      if (typeof number === 'bigint') hex = number.toString(16);
      else if (typeof arg === 'string') hex = Buffer.from(arg).toString('hex');
      else if (arg instanceof Uint8Array) hex = Buffer.from(arg).toString('hex');
      else throw bad();
      return verb === 'X' ? hex.toUpperCase() : hex;
    }
    default:
      throw new CelError(`unrecognized formatting clause "${verb}"`);
  }
}

/** `%s`: a text stands as it is; inside lists and maps everything is written as a CEL literal. */
function show(value: CelValue): string {
  if (value === null) return 'null';
  if (typeof value === 'string') return value;
  if (typeof value === 'number') return doubleText(value);
  if (typeof value === 'boolean' || typeof value === 'bigint') return String(value);
  if (value instanceof Uint) return String(value.value);
  if (Array.isArray(value)) return `[${value.map(literal).join(', ')}]`;
  if (value instanceof CelMap) return showMap(value.entries);
  if (value instanceof CelObject) return showMap(value.fields);
  if (value instanceof Timestamp) return timestampText(value);
  if (value instanceof Duration) return durationText(value);
  if (value instanceof TypeValue) return value.typeName;
  if (value instanceof Uint8Array) return Buffer.from(value).toString('utf8');
  throw new CelError(
    `error during formatting: string clause can only be used on strings, bools, bytes, ints, doubles, maps, lists, types, durations, and timestamps, was given ${typeName(value)}`,
  );
}

function literal(value: CelValue): string {
  if (typeof value === 'string') return goQuote(value);
  if (value instanceof Uint8Array) return `b${goQuote(show(value))}`;
  if (typeof value === 'number')
    return Number.isFinite(value) ? value.toFixed(6) : goQuote(doubleText(value));
  if (value instanceof Timestamp) return `timestamp(${goQuote(show(value))})`;
  if (value instanceof Duration) return `duration(${goQuote(show(value))})`;
  return show(value);
}

function showMap(entries: ReadonlyMap<string | bigint | boolean, CelValue>): string {
  const pairs = [...entries].map(([key, value]) => [literal(key), literal(value)] as const);
  pairs.sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0));
  return `{${pairs.map(([key, value]) => `${key}:${value}`).join(', ')}}`;
}

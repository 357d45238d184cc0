import { define } from './cel-registry.ts';
import {
  durationText,
  parseDuration,
  parseTimestamp,
  type TimePart,
  timePart,
  timestampText,
} from './cel-time.ts';
import {
  CelError,
  CelMap,
  CelObject,
  type CelValue,
  Duration,
  NONE,
  Optional,
  Timestamp,
  TypeValue,
  typeName,
  Uint,
} from './cel-values.ts';
import { doubleText } from './cel-double.ts';
import { matchesRE2 } from './re2.ts';

const count = (text: string): number => {
  let n = 0;
  for (const _ of text) n++;
  return n;
};

for (const form of ['size(T): int', 'T.size(): int']) {
  define(form.replaceAll('T', 'string'), (text: string) => BigInt(count(text)));
  define(form.replaceAll('T', 'bytes'), (bytes: Uint8Array) => BigInt(bytes.length));
  define(form.replaceAll('T', 'list<A>'), (list: CelValue[]) => BigInt(list.length));
  define(form.replaceAll('T', 'map<A, B>'), (map: CelMap | CelObject) =>
    BigInt(map instanceof CelMap ? map.entries.size : map.fields.size),
  );
}

define('string.startsWith(string): bool', (text: string, part: string) => text.startsWith(part));
define('string.endsWith(string): bool', (text: string, part: string) => text.endsWith(part));
define('string.contains(string): bool', (text: string, part: string) => text.includes(part));
const matches = (text: string, pattern: string): boolean => {
  try {
    return matchesRE2(pattern, text);
  } catch (error) {
    throw new CelError(error instanceof Error ? error.message : 'bad pattern');
  }
};
define('string.matches(string): bool', matches);
define('matches(string, string): bool', matches);

define('type(A): type<A>', (value: CelValue) => new TypeValue(typeName(value)));
define('dyn(A): dyn', (value: CelValue) => value);

const cannotConvert = (from: string, to: string): CelError =>
  new CelError(`type conversion error from '${from}' to '${to}'`);
const parseInteger = (text: string, to: string): bigint => {
  if (!/^[-+]?\d+$/.test(text)) throw cannotConvert('string', to);
  return BigInt(text.replace(/^\+/, ''));
};
const int = (value: bigint): bigint => {
  if (value < -(2n ** 63n) || value >= 2n ** 63n) throw new CelError('integer overflow');
  return value;
};
define('int(int): int', (value: bigint) => value);
define('int(uint): int', (value: Uint) => int(value.value));
define('int(double): int', (value: number) => {
  if (!Number.isFinite(value)) throw new CelError('integer overflow');
  return int(BigInt(Math.trunc(value)));
});
define('int(string): int', (text: string) => {
  const value = parseInteger(text, 'int');
  if (value < -(2n ** 63n) || value >= 2n ** 63n) throw cannotConvert('string', 'int');
  return value;
});
define('int(timestamp): int', (value: Timestamp) => value.ns / 1_000_000_000n);
define('int(duration): int', (value: Duration) => value.ns);
define('uint(uint): uint', (value: Uint) => value);
define('uint(int): uint', (value: bigint) => new Uint(value));
define('uint(double): uint', (value: number) => {
  if (!Number.isFinite(value)) throw new CelError('unsigned integer overflow');
  return new Uint(BigInt(Math.trunc(value)));
});
define('uint(string): uint', (text: string) => {
  const value = parseInteger(text, 'uint');
  if (value < 0n || value >= 2n ** 64n) throw cannotConvert('string', 'uint');
  return new Uint(value);
});
define('double(double): double', (value: number) => value);
define('double(int): double', (value: bigint) => Number(value));
define('double(uint): double', (value: Uint) => Number(value.value));
define('double(string): double', (text: string) => {
  const value = /^[-+]?(?:\d|\.\d|inf|nan)/i.test(text) ? Number(text.replace(/^\+/, '')) : Number.NaN;
  if (Number.isNaN(value)) throw cannotConvert('string', 'double');
  return value;
});
define('string(string): string', (value: string) => value);
define('string(bool): string', (value: boolean) => String(value));
define('string(int): string', (value: bigint) => String(value));
define('string(uint): string', (value: Uint) => String(value.value));
define('string(double): string', doubleText);
define('string(bytes): string', (value: Uint8Array) => {
  const text = Buffer.from(value).toString('utf8');
  if (text.includes('\ufffd')) throw new CelError('invalid UTF-8 in bytes, cannot convert to string');
  return text;
});
define('string(timestamp): string', timestampText);
define('string(duration): string', durationText);
define('bytes(bytes): bytes', (value: Uint8Array) => value);
define('bytes(string): bytes', (value: string) => Uint8Array.from(Buffer.from(value)));
define('bool(bool): bool', (value: boolean) => value);
define('bool(string): bool', (text: string) => {
  if (['1', 't', 'T', 'true', 'TRUE', 'True'].includes(text)) return true;
  if (['0', 'f', 'F', 'false', 'FALSE', 'False'].includes(text)) return false;
  throw cannotConvert('string', 'bool');
});
define('duration(duration): duration', (value: Duration) => value);
define('duration(string): duration', (text: string) => {
  const value = parseDuration(text);
  if (value === undefined) throw cannotConvert('string', 'google.protobuf.Duration');
  return value;
});
define('timestamp(timestamp): timestamp', (value: Timestamp) => value);
define('timestamp(int): timestamp', (value: bigint) => new Timestamp(value * 1_000_000_000n));
define('timestamp(string): timestamp', (text: string) => {
  const value = parseTimestamp(text);
  if (value === undefined) throw cannotConvert('string', 'google.protobuf.Timestamp');
  return value;
});

const PARTS: TimePart[] = [
  'getFullYear',
  'getMonth',
  'getDayOfYear',
  'getDayOfMonth',
  'getDate',
  'getDayOfWeek',
  'getHours',
  'getMinutes',
  'getSeconds',
  'getMilliseconds',
];
for (const part of PARTS) {
  define(`timestamp.${part}(): int`, (value: Timestamp) => timePart(part, value));
  define(`timestamp.${part}(string): int`, (value: Timestamp, zone: string) => timePart(part, value, zone));
}
for (const [part, unit] of [
  ['getHours', 3_600_000_000_000n],
  ['getMinutes', 60_000_000_000n],
  ['getSeconds', 1_000_000_000n],
] as const)
  define(`duration.${part}(): int`, (value: Duration) => value.ns / unit);
define('duration.getMilliseconds(): int', (value: Duration) => value.ns / 1_000_000n);

define('optional::of(A): optional<A>', (value: CelValue) => new Optional(value));
define('optional::none(): optional<A>', () => NONE);
define('optional::ofNonZeroValue(A): optional<A>', (value: CelValue) =>
  isZero(value) ? NONE : new Optional(value),
);
define('optional<A>.hasValue(): bool', (value: Optional) => value.value !== undefined);
define('optional<A>.value(): A', (value: Optional) => {
  if (value.value === undefined) throw new CelError('optional.none() dereference');
  return value.value;
});
define('optional<A>.or(optional<A>): optional<A>', (a: Optional, b: Optional) =>
  a.value === undefined ? b : a,
);
define('optional<A>.orValue(A): A', (a: Optional, b: CelValue) => a.value ?? b);

function isZero(value: CelValue): boolean {
  if (value === null || value === '' || value === false || value === 0n || value === 0) return true;
  if (Array.isArray(value) || value instanceof Uint8Array) return value.length === 0;
  if (value instanceof CelMap) return value.entries.size === 0;
  if (value instanceof CelObject) return value.fields.size === 0;
  if (value instanceof Uint) return value.value === 0n;
  return value instanceof Duration && value.ns === 0n;
}

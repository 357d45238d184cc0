import { CelError, Duration, Timestamp } from './cel-values.ts';

const UNITS: Record<string, bigint> = {
  ns: 1n,
  us: 1_000n,
  µs: 1_000n,
  μs: 1_000n,
  ms: 1_000_000n,
  s: 1_000_000_000n,
  m: 60_000_000_000n,
  h: 3_600_000_000_000n,
};

/** Go's time.ParseDuration; undefined for anything else. */
export function parseDuration(text: string): Duration | undefined {
  const match = /^([-+]?)((?:(?:\d+\.?\d*|\.\d+)(?:ns|us|µs|μs|ms|s|m|h))+|0)$/.exec(text);
  if (match === null) return undefined;
  let total = 0n;
  for (const part of (match[2] ?? '').matchAll(/(\d*)\.?(\d*)(ns|us|µs|μs|ms|s|m|h)/g)) {
    const unit = UNITS[part[3] ?? ''] ?? 0n;
    const fraction = part[2] ?? '';
    total += BigInt(part[1] === '' ? '0' : (part[1] ?? '0')) * unit;
    if (fraction !== '') total += (BigInt(fraction) * unit) / 10n ** BigInt(fraction.length);
  }
  try {
    return new Duration(match[1] === '-' ? -total : total);
  } catch {
    return undefined;
  }
}

/** CEL's string(duration): seconds. */
export function durationText(value: Duration): string {
  return `${fraction(value.ns)}s`;
}

function fraction(ns: bigint): string {
  const abs = ns < 0n ? -ns : ns;
  const rest = (abs % 1_000_000_000n).toString().padStart(9, '0').replace(/0+$/, '');
  return `${ns < 0n ? '-' : ''}${abs / 1_000_000_000n}${rest === '' ? '' : `.${rest}`}`;
}

/** RFC 3339; undefined for anything else. */
export function parseTimestamp(text: string): Timestamp | undefined {
  const match = /^(\d{4}-\d{2}-\d{2})[Tt](\d{2}:\d{2}:\d{2})(?:\.(\d{1,9}))?([zZ]|[+-]\d{2}:\d{2})$/.exec(
    text,
  );
  if (match === null) return undefined;
  const ms = Date.parse(`${match[1]}T${match[2]}${(match[4] ?? 'Z').toUpperCase()}`);
  if (Number.isNaN(ms)) return undefined;
  try {
    return new Timestamp(BigInt(ms) * 1_000_000n + BigInt((match[3] ?? '').padEnd(9, '0')));
  } catch {
    return undefined;
  }
}

/** A day (`2006-01-02`), at its beginning in UTC. */
export function parseDate(text: string): Timestamp | undefined {
  return /^\d{4}-\d{2}-\d{2}$/.test(text) ? parseTimestamp(`${text}T00:00:00Z`) : undefined;
}

const floor = (a: bigint, b: bigint): bigint => (a >= 0n ? a / b : -((-a + b - 1n) / b));

export function timestampText(value: Timestamp): string {
  const seconds = floor(value.ns, 1_000_000_000n);
  const rest = value.ns - seconds * 1_000_000_000n;
  const text = new Date(Number(seconds) * 1000).toISOString().slice(0, 19);
  const digits = rest.toString().padStart(9, '0').replace(/0+$/, '');
  return `${text}${digits === '' ? '' : `.${digits}`}Z`;
}

export type TimePart =
  | 'getFullYear'
  | 'getMonth'
  | 'getDayOfYear'
  | 'getDayOfMonth'
  | 'getDate'
  | 'getDayOfWeek'
  | 'getHours'
  | 'getMinutes'
  | 'getSeconds'
  | 'getMilliseconds';

/** A part of a time in a zone: UTC, `+01:00` or a name of the time zone database. */
export function timePart(part: TimePart, value: Timestamp, zone = 'UTC'): bigint {
  const ms = Number(floor(value.ns, 1_000_000n));
  const local = new Date(ms + offsetMs(ms, zone));
  switch (part) {
    case 'getFullYear':
      return BigInt(local.getUTCFullYear());
    case 'getMonth':
      return BigInt(local.getUTCMonth());
    case 'getDayOfMonth':
      return BigInt(local.getUTCDate() - 1);
    case 'getDate':
      return BigInt(local.getUTCDate());
    case 'getDayOfWeek':
      return BigInt(local.getUTCDay());
    case 'getDayOfYear':
      return BigInt(Math.floor((local.getTime() - Date.UTC(local.getUTCFullYear(), 0, 1)) / 86_400_000));
    case 'getHours':
      return BigInt(local.getUTCHours());
    case 'getMinutes':
      return BigInt(local.getUTCMinutes());
    case 'getSeconds':
      return BigInt(local.getUTCSeconds());
    case 'getMilliseconds':
      return BigInt(local.getUTCMilliseconds());
  }
}

function offsetMs(ms: number, zone: string): number {
  if (zone === 'UTC' || zone === '') return 0;
  const fixed = /^([-+]?)(\d{2}):(\d{2})$/.exec(zone);
  if (fixed !== null) {
    const minutes = Number(fixed[2]) * 60 + Number(fixed[3]);
    return (fixed[1] === '-' ? -minutes : minutes) * 60_000;
  }
  let parts: Intl.DateTimeFormatPart[];
  try {
    parts = new Intl.DateTimeFormat('en-US', {
      timeZone: zone,
      hourCycle: 'h23',
      year: 'numeric',
      month: 'numeric',
      day: 'numeric',
      hour: 'numeric',
      minute: 'numeric',
      second: 'numeric',
    }).formatToParts(ms);
  } catch {
    throw new CelError(`unknown time zone ${zone}`);
  }
  const get = (type: string): number => Number(parts.find((part) => part.type === type)?.value ?? 0);
  const local = Date.UTC(
    get('year'),
    get('month') - 1,
    get('day'),
    get('hour'),
    get('minute'),
    get('second'),
  );
  return local - Math.floor(ms / 1000) * 1000;
}

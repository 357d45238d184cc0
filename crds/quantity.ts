/**
 * The three limits as people write them (L1). The forms are regular expressions that RE2 understands, so that the
 * API server refuses exactly what is refused here; sums are done in BigInt, never in floating point.
 */

const MIN_CPU_MILLIS = 10;
const MAX_CPU_MILLIS = 999_999_999;
/** Docker refuses less, and a smaller one kills PID 1 before it can say anything (moby#41167). */
export const MIN_MEMORY_BYTES = 6 * 1024 * 1024;
/** 4096 TiB: every sum of limits of one node stays a safe integer for any real machine. */
export const MAX_MEMORY_BYTES = 2 ** 52;
/** The container's own PID 1 counts as one. */
const MIN_PIDS = 2;
/** The kernel's PID_MAX_LIMIT. */
const MAX_PIDS = 4_194_304;

/** Whole CPUs up to 999999, decimals down to a thousandth, or thousandths with "m"; at least 10m. */
export const CPU_PATTERN =
  '^([1-9][0-9]{0,5}(\\.[0-9]{1,3}0{0,15})?|0\\.(0[1-9]|[1-9][0-9]?)[0-9]?0{0,15}|[1-9][0-9]{1,8}m)$';

/** Any number with any suffix; what is left to check is whole bytes and the range. */
export const MEMORY_PATTERN = '^(0|[1-9][0-9]{0,15})(\\.[0-9]{1,18})?([KMGT]i|[kmgt]b?|[MGT])?$';

export const PIDS_PATTERN = '^[1-9][0-9]{0,6}$';

export const ACCEPTED = {
  cpu: 'whole CPUs (2), a quoted fraction ("0.5") or quoted thousandths ("500m"), from 10m to 999999',
  memory:
    'bytes (134217728), Ki Mi Gi Ti ("512Mi"), k M G T in powers of 1000 ("512M"), or m g t kb mb gb tb in powers of 1024 ("512m", "4g"), in whole bytes from 6Mi to 4096Ti',
  pids: 'a whole number (64) from 2 to 4194304',
} as const;
export type LimitField = keyof typeof ACCEPTED;
export const LIMIT_FIELDS = ['cpu', 'memory', 'pids'] as const satisfies readonly LimitField[];

export type Parsed<T> = { ok: true; value: T } | { ok: false; accepted: string };

/** Powers of each suffix. A bare `k` is Kubernetes' 1000, the lower of its two readings. */
const SUFFIXES: Readonly<Record<string, bigint>> = {
  '': 1n,
  Ki: 1024n,
  Mi: 1024n ** 2n,
  Gi: 1024n ** 3n,
  Ti: 1024n ** 4n,
  k: 1000n,
  M: 1000n ** 2n,
  G: 1000n ** 3n,
  T: 1000n ** 4n,
  m: 1024n ** 2n,
  g: 1024n ** 3n,
  t: 1024n ** 4n,
  kb: 1024n,
  mb: 1024n ** 2n,
  gb: 1024n ** 3n,
  tb: 1024n ** 4n,
};

const cpuForm = new RegExp(CPU_PATTERN);
const memoryForm = new RegExp(MEMORY_PATTERN);
const pidsForm = new RegExp(PIDS_PATTERN);

/** CPUs in thousandths. */
export function parseCPU(value: unknown): Parsed<number> {
  const text = formOf(value, cpuForm);
  if (text === undefined) return refuse('cpu');
  const millis = text.endsWith('m') ? BigInt(text.slice(0, -1)) : scaled(text, 1000n);
  return within('cpu', millis, MIN_CPU_MILLIS, MAX_CPU_MILLIS);
}

/** Memory in bytes. */
export function parseMemory(value: unknown): Parsed<number> {
  const text = formOf(value, memoryForm);
  if (text === undefined) return refuse('memory');
  const number = text.replace(/[A-Za-z]+$/, '');
  const multiplier = SUFFIXES[text.slice(number.length)];
  return within(
    'memory',
    multiplier === undefined ? undefined : scaled(number, multiplier),
    MIN_MEMORY_BYTES,
    MAX_MEMORY_BYTES,
  );
}

/** A number of processes. */
export function parsePids(value: unknown): Parsed<number> {
  const text = formOf(value, pidsForm);
  return text === undefined ? refuse('pids') : within('pids', BigInt(text), MIN_PIDS, MAX_PIDS);
}

export const parseLimit: Readonly<Record<LimitField, (value: unknown) => Parsed<number>>> = {
  cpu: parseCPU,
  memory: parseMemory,
  pids: parsePids,
};

/** A value as a message shows it: strings in quotes, cut where they are long. */
export function shown(value: unknown): string {
  const text = JSON.stringify(value) ?? String(value);
  return text.length > 80 ? `${text.slice(0, 79)}…` : text;
}

/** Text of a number or string that has the form. JSON has one kind of number: 2 and 2.0 are the same. */
function formOf(value: unknown, form: RegExp): string | undefined {
  const text =
    typeof value === 'string'
      ? value
      : typeof value === 'number' && Number.isSafeInteger(value)
        ? String(value)
        : undefined;
  return text !== undefined && form.test(text) ? text : undefined;
}

/** A decimal times a multiplier; undefined where that is not whole. */
function scaled(number: string, multiplier: bigint): bigint | undefined {
  const [whole = '', fraction = ''] = number.split('.');
  const scale = 10n ** BigInt(fraction.length);
  const product = BigInt(whole + fraction) * multiplier;
  return product % scale === 0n ? product / scale : undefined;
}

function within(field: LimitField, value: bigint | undefined, least: number, most: number): Parsed<number> {
  if (value === undefined || value < BigInt(least) || value > BigInt(most)) return refuse(field);
  return { ok: true, value: Number(value) };
}

function refuse(field: LimitField): { ok: false; accepted: string } {
  return { ok: false, accepted: ACCEPTED[field] };
}

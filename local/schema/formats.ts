import { isIP, isIPv4, isIPv6 } from 'node:net';

/** The string formats that apiextensions checks; every other name means nothing there. Keys have no dashes. */
const CHECKS: Record<string, (value: string) => boolean> = {
  bsonobjectid: (v) => /^[0-9a-fA-F]{24}$/.test(v),
  uri: (v) =>
    v.startsWith('/') ||
    (/^[a-zA-Z][a-zA-Z0-9+.-]*:.+/.test(v) && !Array.from(v).some((c) => c <= ' ' || c === '\u007f')),
  email: isEmail,
  hostname: isHostname,
  ipv4: (v) => isIPv4(v.replace(/\b0+(?=\d)/g, '')),
  ipv6: (v) => isIPv6(v) && !v.includes('%'),
  cidr: isCIDR,
  mac: (v) =>
    /^(?:[0-9a-fA-F]{2}([:-]))(?:[0-9a-fA-F]{2}\1){4}(?:[0-9a-fA-F]{2}\1){0,14}[0-9a-fA-F]{2}$/.test(v) ||
    /^(?:[0-9a-fA-F]{4}\.){2,9}[0-9a-fA-F]{4}$/.test(v),
  uuid: (v) => /^[0-9a-f]{8}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{12}$/i.test(v),
  uuid3: (v) => /^[0-9a-f]{8}-?[0-9a-f]{4}-?3[0-9a-f]{3}-?[0-9a-f]{4}-?[0-9a-f]{12}$/i.test(v),
  uuid4: (v) => /^[0-9a-f]{8}-?[0-9a-f]{4}-?4[0-9a-f]{3}-?[89ab][0-9a-f]{3}-?[0-9a-f]{12}$/i.test(v),
  uuid5: (v) => /^[0-9a-f]{8}-?[0-9a-f]{4}-?5[0-9a-f]{3}-?[89ab][0-9a-f]{3}-?[0-9a-f]{12}$/i.test(v),
  isbn: (v) => isISBN10(v) || isISBN13(v),
  isbn10: isISBN10,
  isbn13: isISBN13,
  creditcard: isCreditCard,
  ssn: (v) => /^\d{3}[- ]?\d{2}[- ]?\d{4}$/.test(v),
  hexcolor: (v) => /^#?([0-9a-fA-F]{3}|[0-9a-fA-F]{6})$/.test(v),
  rgbcolor: isRGB,
  byte: (v) =>
    v === '' || /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=|[A-Za-z0-9+/]{4})$/.test(v),
  password: () => true,
  date: (v) => /^\d{4}-\d{2}-\d{2}$/.test(v) && validDate(v),
  duration: isDuration,
  datetime: isDateTime,
  k8sshortname: (v) => v.length <= 63 && /^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/.test(v),
  k8slongname: (v) =>
    v.length <= 253 && /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/.test(v),
};

/** Whether a schema of this type takes the format seriously. `type` '' stands for none or several. */
export function knownFormat(type: string, format: string): boolean {
  if (type === '' || type === 'string') return Object.hasOwn(CHECKS, format.replaceAll('-', ''));
  if (type === 'integer') return format === 'int32' || format === 'int64';
  if (type === 'number') return format === 'float' || format === 'double';
  return false;
}

/** Undefined when the format is not one for strings. */
export function checkFormat(format: string, value: string): boolean | undefined {
  const name = format.replaceAll('-', '');
  return Object.hasOwn(CHECKS, name) ? CHECKS[name]?.(value) : undefined;
}

function validDate(text: string): boolean {
  const date = new Date(`${text}T00:00:00Z`);
  return !Number.isNaN(date.getTime()) && date.toISOString().startsWith(text);
}

function isDateTime(value: string): boolean {
  const match = /^(\d{4}-\d{2}-\d{2})[Tt ](\d{2}):(\d{2}):(\d{2})(\.\d+)?([zZ]|[+-]\d{2}:?\d{2})$/.exec(
    value,
  );
  if (match === null) return false;
  const [, date = '', hour = '', minute = '', second = ''] = match;
  return validDate(date) && Number(hour) < 24 && Number(minute) < 60 && Number(second) < 61;
}

const UNIT = '(?:ns|us|µs|μs|ms|s|m|h)';
const WORD_UNIT =
  '(?:ns|nanos?|nanoseconds?|us|µs|micros?|microseconds?|ms|millis?|milliseconds?|s|secs?|seconds?|m|mins?|minutes?|h|hrs?|hours?|d|days?|w|wks?|weeks?)';

function isDuration(value: string): boolean {
  if (value === '0') return true;
  return (
    new RegExp(`^[-+]?(?:(?:\\d+\\.?\\d*|\\.\\d+)${UNIT})+$`).test(value) ||
    new RegExp(`^(?:\\d+(?:\\.\\d*)?\\s*${WORD_UNIT}\\s*)+$`, 'i').test(value)
  );
}

function isEmail(value: string): boolean {
  const match = /^(?:[^<>"]*<)?([^\s@<>]+)@([^\s@<>]+)>?$/.exec(value.trim());
  return match !== null && !/^\.|\.\.|\.$/.test(match[1] ?? '');
}

function isHostname(value: string): boolean {
  if (value.length > 255 || value === '') return false;
  return value
    .replace(/\.$/, '')
    .split('.')
    .every((label) => label.length <= 63 && /^[\p{L}\p{N}_](?:[\p{L}\p{N}_-]*[\p{L}\p{N}_])?$/u.test(label));
}

function isCIDR(value: string): boolean {
  const [address = '', bits, ...rest] = value.split('/');
  if (bits === undefined || rest.length > 0 || !/^\d{1,3}$/.test(bits)) return false;
  const family = isIP(address);
  return family !== 0 && Number(bits) <= (family === 4 ? 32 : 128);
}

function isISBN10(value: string): boolean {
  const digits = value.replace(/[\s-]+/g, '');
  if (!/^\d{9}[\dX]$/.test(digits)) return false;
  let sum = 0;
  for (let i = 0; i < 10; i++) sum += (10 - i) * (digits[i] === 'X' ? 10 : Number(digits[i]));
  return sum % 11 === 0;
}

function isISBN13(value: string): boolean {
  const digits = value.replace(/[\s-]+/g, '');
  if (!/^\d{13}$/.test(digits)) return false;
  let sum = 0;
  for (let i = 0; i < 13; i++) sum += Number(digits[i]) * (i % 2 === 0 ? 1 : 3);
  return sum % 10 === 0;
}

function isCreditCard(value: string): boolean {
  const digits = value.replace(/\D+/g, '');
  if (!/^\d{13,19}$/.test(digits)) return false;
  let sum = 0;
  for (let i = 0; i < digits.length; i++) {
    const digit = Number(digits[digits.length - 1 - i]);
    const doubled = i % 2 === 1 ? digit * 2 : digit;
    sum += doubled > 9 ? doubled - 9 : doubled;
  }
  return sum % 10 === 0;
}

function isRGB(value: string): boolean {
  const match = /^rgb\(\s*(\d+)\s*,\s*(\d+)\s*,\s*(\d+)\s*\)$/.exec(value);
  return match !== null && match.slice(1).every((part) => Number(part) <= 255);
}

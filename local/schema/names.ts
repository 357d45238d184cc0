/** The name rules of apimachinery, with its texts. Each check returns what is wrong, or an empty list. */

const LABEL = '[a-z0-9]([-a-z0-9]*[a-z0-9])?';
const SUBDOMAIN = `${LABEL}(\\.${LABEL})*`;
const DNS1035 = '[a-z]([-a-z0-9]*[a-z0-9])?';
const KEY = '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]';
const VALUE = `(${KEY})?`;

const whole = (source: string): RegExp => new RegExp(`^(?:${source})$`);
const labelPattern = whole(LABEL);
const subdomainPattern = whole(SUBDOMAIN);
const dns1035Pattern = whole(DNS1035);
const keyPattern = whole(KEY);
const valuePattern = whole(VALUE);

const bytes = (text: string): number => Buffer.byteLength(text);
/** Names of objects are said to be so many characters long, parts of label keys so many bytes: as apimachinery has it. */
const tooLong = (max: number, unit = 'characters'): string => `must be no more than ${max} ${unit}`;

function regexError(message: string, source: string, ...examples: string[]): string {
  const list = examples.map((example) => `'${example}', `).join(' or ');
  return `${message} (e.g. ${list}regex used for validation is '${source}')`;
}

export function isDNS1123Label(value: string): string[] {
  const errors = bytes(value) > 63 ? [tooLong(63)] : [];
  if (labelPattern.test(value)) return errors;
  if (subdomainPattern.test(value)) return [...errors, 'must not contain dots'];
  return [
    ...errors,
    regexError(
      "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character",
      LABEL,
      'my-name',
      '123-abc',
    ),
  ];
}

export function isDNS1123Subdomain(value: string): string[] {
  const errors = bytes(value) > 253 ? [tooLong(253)] : [];
  if (subdomainPattern.test(value)) return errors;
  return [
    ...errors,
    regexError(
      "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character",
      SUBDOMAIN,
      'example.com',
    ),
  ];
}

export function isDNS1035Label(value: string): string[] {
  const errors = bytes(value) > 63 ? [tooLong(63)] : [];
  if (dns1035Pattern.test(value)) return errors;
  return [
    ...errors,
    regexError(
      "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, and end with an alphanumeric character",
      DNS1035,
      'my-name',
      'abc-123',
    ),
  ];
}

const KEY_MESSAGE =
  "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character";

/** A label key, an annotation key (lower-cased first) or a finalizer. */
export function isQualifiedName(value: string): string[] {
  const parts = value.split('/');
  const errors: string[] = [];
  if (parts.length > 2) {
    return [
      `a valid label key ${regexError(KEY_MESSAGE, KEY, 'MyName', 'my.name', '123-abc')} with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')`,
    ];
  }
  const name = parts.at(-1) ?? '';
  if (parts.length === 2) {
    const prefix = parts[0] ?? '';
    if (prefix === '') errors.push('prefix part must be non-empty');
    else
      errors.push(
        ...isDNS1123Subdomain(prefix).map(
          (text) => `prefix part ${text.replace('253 characters', '253 bytes')}`,
        ),
      );
  }
  if (name === '') errors.push('name part must be non-empty');
  else if (bytes(name) > 63) errors.push(`name part ${tooLong(63, 'bytes')}`);
  if (!keyPattern.test(name)) {
    errors.push(`name part ${regexError(KEY_MESSAGE, KEY, 'MyName', 'my.name', '123-abc')}`);
  }
  return errors;
}

export function isLabelValue(value: string): string[] {
  const errors = bytes(value) > 63 ? [tooLong(63, 'bytes')] : [];
  if (valuePattern.test(value)) return errors;
  return [
    ...errors,
    regexError(
      "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character",
      VALUE,
      'MyValue',
      'my_value',
      '12345',
    ),
  ];
}

/** What RBAC names must be: one segment of a path. */
export function isPathSegmentName(value: string): string[] {
  if (value === '.' || value === '..') return [`may not be '${value}'`];
  return ['/', '%'].filter((part) => value.includes(part)).map((part) => `may not contain '${part}'`);
}

/** A generated name keeps its trailing dash out of the check, as apimachinery does. */
export function maskTrailingDash(name: string): string {
  return name.length > 1 && name.endsWith('-') ? `${name.slice(0, -2)}a` : name;
}

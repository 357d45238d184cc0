import {
  CIDR,
  type IP,
  ipText,
  isGlobalUnicast,
  isLinkLocalMulticast,
  isLinkLocalUnicast,
  isLoopback,
  isUnspecified,
  parseCIDR,
  parseIP,
  toCIDR,
  toIP,
} from './cel-net.ts';
import {
  isQuantityInteger,
  parseQuantity,
  type Quantity,
  quantityFloat,
  quantityInteger,
  quantityOfInt,
  toQuantity,
} from './cel-quantity.ts';
import { define } from './cel-registry.ts';
import { CelError, CelMap, NONE, Opaque, Optional } from './cel-values.ts';
import { checkFormat } from './formats.ts';
import {
  isDNS1035Label,
  isDNS1123Label,
  isDNS1123Subdomain,
  isLabelValue,
  isQualifiedName,
  maskTrailingDash,
} from './names.ts';

/** Kubernetes' own types in CEL: quantities, addresses, URLs, versions, named formats. */

define('quantity(string): quantity', toQuantity);
define('isQuantity(string): bool', (text: string) => parseQuantity(text) !== undefined);
define('sign(quantity): int', (q: Quantity) => (q.nano > 0n ? 1n : q.nano < 0n ? -1n : 0n));
define('quantity.isGreaterThan(quantity): bool', (a: Quantity, b: Quantity) => a.nano > b.nano);
define('quantity.isLessThan(quantity): bool', (a: Quantity, b: Quantity) => a.nano < b.nano);
define('quantity.compareTo(quantity): int', (a: Quantity, b: Quantity) =>
  a.nano > b.nano ? 1n : a.nano < b.nano ? -1n : 0n,
);
define('quantity.asApproximateFloat(): double', quantityFloat);
define('quantity.asInteger(): int', quantityInteger);
define('quantity.isInteger(): bool', isQuantityInteger);
define('quantity.add(quantity): quantity', (a: Quantity, b: Quantity) => a.add(b, 1n));
define('quantity.add(int): quantity', (a: Quantity, b: bigint) => a.add(quantityOfInt(b), 1n));
define('quantity.sub(quantity): quantity', (a: Quantity, b: Quantity) => a.add(b, -1n));
define('quantity.sub(int): quantity', (a: Quantity, b: bigint) => a.add(quantityOfInt(b), -1n));

define('ip(string): ip', toIP);
define('isIP(string): bool', (text: string) => parseIP(text) !== undefined);
define('ip::isCanonical(string): bool', (text: string) => ipText(toIP(text)) === text);
define('ip.family(): int', (ip: IP) => BigInt(ip.family));
define('ip.isUnspecified(): bool', isUnspecified);
define('ip.isLoopback(): bool', isLoopback);
define('ip.isLinkLocalMulticast(): bool', isLinkLocalMulticast);
define('ip.isLinkLocalUnicast(): bool', isLinkLocalUnicast);
define('ip.isGlobalUnicast(): bool', isGlobalUnicast);
define('string(ip): string', ipText);

define('cidr(string): cidr', toCIDR);
define('isCIDR(string): bool', (text: string) => parseCIDR(text) !== undefined);
define('cidr.containsIP(string): bool', (cidr: CIDR, text: string) => cidr.contains(toIP(text)));
define('cidr.containsIP(ip): bool', (cidr: CIDR, ip: IP) => cidr.contains(ip));
const containsCIDR = (a: CIDR, b: CIDR): boolean => a.length <= b.length && a.contains(b.masked());
define('cidr.containsCIDR(string): bool', (a: CIDR, text: string) => containsCIDR(a, toCIDR(text)));
define('cidr.containsCIDR(cidr): bool', containsCIDR);
define('cidr.ip(): ip', (cidr: CIDR) => cidr.address);
define('cidr.masked(): cidr', (cidr: CIDR) => new CIDR(cidr.masked(), cidr.length));
define('cidr.prefixLength(): int', (cidr: CIDR) => BigInt(cidr.length));
define('string(cidr): string', (cidr: CIDR) => `${ipText(cidr.address)}/${cidr.length}`);

class Link extends Opaque {
  readonly opaqueType = 'kubernetes.URL';
  readonly url: URL;
  readonly absolute: boolean;
  readonly text: string;
  constructor(url: URL, absolute: boolean, text: string) {
    super();
    this.url = url;
    this.absolute = absolute;
    this.text = text;
  }
  equals(other: Opaque): boolean {
    return other instanceof Link && other.url.href === this.url.href;
  }
}

/** As url.ParseRequestURI: an absolute URL or an absolute path. */
function parseLink(text: string): Link | undefined {
  if (hasControl(text)) return undefined;
  const absolute = /^[a-zA-Z][a-zA-Z0-9+.-]*:/.test(text);
  if (!absolute && !text.startsWith('/')) return undefined;
  const url = absolute ? URL.parse(text) : URL.parse(text, 'http://none.invalid');
  return url === null ? undefined : new Link(url, absolute, text);
}
const hasControl = (text: string): boolean => Array.from(text).some((c) => c <= ' ' || c === '\u007f');
const authority = (link: Link): string =>
  /^[a-zA-Z][a-zA-Z0-9+.-]*:\/\/(?:[^/?#@]*@)?([^/?#]*)/.exec(link.text)?.[1] ?? '';
define('url(string): url', (text: string) => {
  const link = parseLink(text);
  if (link === undefined)
    throw new CelError(
      `URL parse error during conversion from string: parse ${JSON.stringify(text)}: invalid URI for request`,
    );
  return link;
});
define('isURL(string): bool', (text: string) => parseLink(text) !== undefined);
define('url.getScheme(): string', (link: Link) => (link.absolute ? link.url.protocol.slice(0, -1) : ''));
define('url.getHost(): string', authority);
define('url.getHostname(): string', (link: Link) =>
  authority(link)
    .replace(/:\d*$/, '')
    .replace(/^\[|\]$/g, ''),
);
define('url.getPort(): string', (link: Link) => /:(\d+)$/.exec(authority(link))?.[1] ?? '');
define('url.getEscapedPath(): string', (link: Link) =>
  link.absolute && /^[a-z0-9+.-]+:\/\/[^/?#]*(?:[?#]|$)/i.test(link.text) ? '' : link.url.pathname,
);
define('url.getQuery(): map<string, list<string>>', (link: Link) => {
  const map = new CelMap();
  for (const [key, value] of link.url.searchParams) {
    const list = map.entries.get(key);
    if (Array.isArray(list)) list.push(value);
    else map.entries.set(key, [value]);
  }
  return map;
});

class Semver extends Opaque {
  readonly opaqueType = 'kubernetes.Semver';
  readonly parts: [bigint, bigint, bigint];
  readonly pre: string[];
  constructor(parts: [bigint, bigint, bigint], pre: string[]) {
    super();
    this.parts = parts;
    this.pre = pre;
  }
  equals(other: Opaque): boolean {
    return other instanceof Semver && compareSemver(this, other) === 0;
  }
}

function parseSemver(input: string, normalize: boolean): Semver | undefined {
  let text = input;
  if (normalize) {
    text = text.replace(/^v/, '');
    const [core = '', ...rest] = text.split(/(?=[-+])/);
    const parts = core.split('.').map((part) => part.replace(/^0+(?=\d)/, ''));
    while (parts.length < 3) parts.push('0');
    text = parts.join('.') + rest.join('');
  }
  const match =
    /^(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)(?:-([0-9A-Za-z-]+(?:\.[0-9A-Za-z-]+)*))?(?:\+[0-9A-Za-z-.]+)?$/.exec(
      text,
    );
  if (match === null) return undefined;
  const [, major = '0', minor = '0', patch = '0', pre] = match;
  return new Semver([BigInt(major), BigInt(minor), BigInt(patch)], pre === undefined ? [] : pre.split('.'));
}

function toSemver(text: string, normalize: boolean): Semver {
  const found = parseSemver(text, normalize);
  if (found === undefined) throw new CelError('No Major.Minor.Patch elements found');
  return found;
}

function compareSemver(a: Semver, b: Semver): number {
  for (const i of [0, 1, 2] as const) {
    if (a.parts[i] !== b.parts[i]) return a.parts[i] < b.parts[i] ? -1 : 1;
  }
  if (a.pre.length === 0 || b.pre.length === 0) return Math.sign(b.pre.length - a.pre.length);
  for (const [i, x] of a.pre.entries()) {
    const y = b.pre[i];
    if (y === undefined) return 1;
    if (x === y) continue;
    const numbers = [x, y].map((part) => /^\d+$/.test(part));
    if (numbers[0] === true && numbers[1] === true) return BigInt(x) < BigInt(y) ? -1 : 1;
    if (numbers[0] !== numbers[1]) return numbers[0] === true ? -1 : 1;
    return x < y ? -1 : 1;
  }
  return a.pre.length < b.pre.length ? -1 : 0;
}
define('semver(string): semver', (text: string) => toSemver(text, false));
define('semver(string, bool): semver', toSemver);
define('isSemver(string): bool', (text: string) => parseSemver(text, false) !== undefined);
define(
  'isSemver(string, bool): bool',
  (text: string, normalize: boolean) => parseSemver(text, normalize) !== undefined,
);
define('semver.isGreaterThan(semver): bool', (a: Semver, b: Semver) => compareSemver(a, b) > 0);
define('semver.isLessThan(semver): bool', (a: Semver, b: Semver) => compareSemver(a, b) < 0);
define('semver.compareTo(semver): int', (a: Semver, b: Semver) => BigInt(compareSemver(a, b)));
define('semver.major(): int', (v: Semver) => v.parts[0]);
define('semver.minor(): int', (v: Semver) => v.parts[1]);
define('semver.patch(): int', (v: Semver) => v.parts[2]);

class NamedFormat extends Opaque {
  readonly opaqueType = 'kubernetes.NamedFormat';
  readonly formatName: string;
  readonly check: (text: string) => string[];
  constructor(formatName: string, check: (text: string) => string[]) {
    super();
    this.formatName = formatName;
    this.check = check;
  }
  equals(other: Opaque): boolean {
    return other instanceof NamedFormat && other.formatName === this.formatName;
  }
}

const plain =
  (format: string, message: string) =>
  (text: string): string[] =>
    checkFormat(format, text) === true ? [] : [message];
const FORMATS: Record<string, (text: string) => string[]> = {
  dns1123Label: isDNS1123Label,
  dns1123Subdomain: isDNS1123Subdomain,
  dns1035Label: isDNS1035Label,
  qualifiedName: isQualifiedName,
  dns1123LabelPrefix: (text) => isDNS1123Label(maskTrailingDash(text)),
  dns1123SubdomainPrefix: (text) => isDNS1123Subdomain(maskTrailingDash(text)),
  dns1035LabelPrefix: (text) => isDNS1035Label(maskTrailingDash(text)),
  labelValue: isLabelValue,
  uri: (text) =>
    parseLink(text) === undefined ? [`parse ${JSON.stringify(text)}: invalid URI for request`] : [],
  uuid: plain('uuid', 'does not match the UUID format'),
  byte: plain('byte', 'invalid base64'),
  date: plain('date', 'invalid date'),
  datetime: plain('datetime', 'invalid datetime'),
};
for (const [name, check] of Object.entries(FORMATS))
  define(`format::${name}(): format`, () => new NamedFormat(name, check));
define('format::named(string): optional<format>', (name: string) => {
  const check = Object.hasOwn(FORMATS, name) ? FORMATS[name] : undefined;
  return check === undefined ? NONE : new Optional(new NamedFormat(name, check));
});
define('format.validate(string): optional<list<string>>', (format: NamedFormat, text: string) => {
  const errors = format.check(text);
  return errors.length === 0 ? NONE : new Optional(errors);
});

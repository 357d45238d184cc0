import { isIPv4, isIPv6 } from 'node:net';
import { CelError, Opaque } from './cel-values.ts';

/** An address as a number, with its family. */
export class IP extends Opaque {
  readonly opaqueType: string = 'net.IP';
  readonly family: 4 | 6;
  readonly bits: bigint;
  constructor(family: 4 | 6, bits: bigint) {
    super();
    this.family = family;
    this.bits = bits;
  }
  equals(other: Opaque): boolean {
    return other instanceof IP && other.family === this.family && other.bits === this.bits;
  }
}

export class CIDR extends Opaque {
  readonly opaqueType = 'net.CIDR';
  readonly address: IP;
  readonly length: number;
  constructor(address: IP, length: number) {
    super();
    this.address = address;
    this.length = length;
  }
  equals(other: Opaque): boolean {
    return other instanceof CIDR && other.length === this.length && other.address.equals(this.address);
  }
  masked(): IP {
    const width = this.address.family === 4 ? 32 : 128;
    const drop = BigInt(width - this.length);
    return new IP(this.address.family, (this.address.bits >> drop) << drop);
  }
  contains(ip: IP): boolean {
    return ip.family === this.address.family && new CIDR(ip, this.length).masked().equals(this.masked());
  }
}

/** Undefined where Go's netip refuses it, for zones and for IPv4-mapped addresses. */
export function parseIP(text: string): IP | undefined {
  if (isIPv4(text)) {
    const parts = text.split('.');
    if (parts.some((part) => part.length > 1 && part.startsWith('0'))) return undefined;
    return new IP(
      4,
      parts.reduce((sum, part) => sum * 256n + BigInt(part), 0n),
    );
  }
  if (!isIPv6(text) || text.includes('%')) return undefined;
  const bits = ipv6Bits(text);
  return bits >> 32n === 0xffffn ? undefined : new IP(6, bits);
}

function ipv6Bits(text: string): bigint {
  const v4 = /(\d+)\.(\d+)\.(\d+)\.(\d+)$/.exec(text);
  let plain = text;
  if (v4 !== null) {
    const [a = 0, b = 0, c = 0, d = 0] = v4.slice(1).map(Number);
    plain = `${text.slice(0, v4.index)}${(a * 256 + b).toString(16)}:${(c * 256 + d).toString(16)}`;
  }
  const [head = '', tail] = plain.split('::');
  const left = head === '' ? [] : head.split(':');
  const right = tail === undefined || tail === '' ? [] : tail.split(':');
  const middle = tail === undefined ? [] : Array<string>(8 - left.length - right.length).fill('0');
  return [...left, ...middle, ...right].reduce((sum, part) => sum * 65536n + BigInt(`0x${part}`), 0n);
}

export function toIP(text: string): IP {
  const found = parseIP(text);
  if (found === undefined)
    throw new CelError(
      `IP Address ${JSON.stringify(text)} parse error during conversion from string: ParseAddr(${JSON.stringify(text)}): unable to parse IP`,
    );
  return found;
}

export function parseCIDR(text: string): CIDR | undefined {
  const match = /^(.+)\/(0|[1-9]\d{0,2})$/.exec(text);
  const address = match === null ? undefined : parseIP(match[1] ?? '');
  if (address === undefined) return undefined;
  const length = Number(match?.[2]);
  return length <= (address.family === 4 ? 32 : 128) ? new CIDR(address, length) : undefined;
}

export function toCIDR(text: string): CIDR {
  const found = parseCIDR(text);
  if (found === undefined)
    throw new CelError(
      `network address parse error during conversion from string: network address parse error during conversion from string: netip.ParsePrefix(${JSON.stringify(text)}): no '/'`,
    );
  return found;
}

export function ipText(ip: IP): string {
  if (ip.family === 4) return [24n, 16n, 8n, 0n].map((shift) => String((ip.bits >> shift) & 255n)).join('.');
  const groups = Array.from({ length: 8 }, (_, i) => Number((ip.bits >> BigInt(112 - 16 * i)) & 0xffffn));
  let best = { at: -1, length: 1 };
  for (let at = 0; at < 8; at++) {
    let length = 0;
    while (at + length < 8 && groups[at + length] === 0) length++;
    if (length > best.length) best = { at, length };
  }
  const hex = (list: number[]): string => list.map((group) => group.toString(16)).join(':');
  if (best.at < 0) return hex(groups);
  return `${hex(groups.slice(0, best.at))}::${hex(groups.slice(best.at + best.length))}`;
}

const inRange = (ip: IP, cidr: string): boolean => parseCIDR(cidr)?.contains(ip) ?? false;

export const isUnspecified = (ip: IP): boolean => ip.bits === 0n;
export const isLoopback = (ip: IP): boolean => inRange(ip, ip.family === 4 ? '127.0.0.0/8' : '::1/128');
export const isLinkLocalMulticast = (ip: IP): boolean =>
  ip.family === 4 ? inRange(ip, '224.0.0.0/24') : ((ip.bits >> 112n) & 0xff0fn) === 0xff02n;
export const isLinkLocalUnicast = (ip: IP): boolean =>
  inRange(ip, ip.family === 4 ? '169.254.0.0/16' : 'fe80::/10');
const isMulticast = (ip: IP): boolean => inRange(ip, ip.family === 4 ? '224.0.0.0/4' : 'ff00::/8');
export const isGlobalUnicast = (ip: IP): boolean =>
  !isUnspecified(ip) &&
  !isLoopback(ip) &&
  !isMulticast(ip) &&
  !isLinkLocalUnicast(ip) &&
  !(ip.family === 4 && ip.bits === 0xffffffffn);

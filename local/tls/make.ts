import {
  createHash,
  createPrivateKey,
  createPublicKey,
  generateKeyPairSync,
  type KeyObject,
  randomBytes,
  sign,
} from 'node:crypto';
import { isIP } from 'node:net';
import {
  bits,
  boolean,
  explicit,
  implicit,
  integer,
  octets,
  oid,
  pem,
  sequence,
  set,
  text,
  time,
} from './der.ts';

/**
 * Certificates by hand: the libraries that can make them cost 25 MB of memory, for two certificates in the life of
 * a data folder. ECDSA over P-256 with SHA-256 throughout.
 */

export interface KeyPair {
  /** PEM. */
  cert: string;
  key: string;
}

const DAY_MS = 86_400_000;
/** Back and ahead. Back, so that a clock that is set back, here or at a client, does not end what clients trust. */
const AUTHORITY_DAYS = { back: 365, ahead: 3650 };
const SERVER_DAYS = { back: 30, ahead: 365 };
const AUTHORITY_NAME = 'local-api-ca';
const SERVER_NAME = 'local-api';
/** An uncompressed point of the curve, which ends the key's encoding. */
const POINT_BYTES = 65;

const ecdsaWithSHA256 = sequence(oid('1.2.840.10045.4.3.2'));
const commonName = (name: string): Buffer => sequence(set(sequence(oid('2.5.4.3'), text(name))));

function extension(id: string, critical: boolean, value: Buffer): Buffer {
  return sequence(oid(id), ...(critical ? [boolean(true)] : []), octets(value));
}

const keyCertSignAndCRLSign = bits(Buffer.from([0x06]), 1);
const digitalSignature = bits(Buffer.from([0x80]), 7);
const serverAuth = sequence(oid('1.3.6.1.5.5.7.3.1'));

function publicKeyOf(key: KeyObject): Buffer {
  return createPublicKey(key).export({ type: 'spki', format: 'der' });
}

function keyIdentifier(key: KeyObject): Buffer {
  return createHash('sha1').update(publicKeyOf(key).subarray(-POINT_BYTES)).digest();
}

interface Request {
  subject: string;
  key: KeyObject;
  issuerKey: KeyObject;
  now: Date;
  days: { back: number; ahead: number };
  extensions: Buffer[];
}

function certificate({ subject, key, issuerKey, now, days, extensions }: Request): string {
  const serial = randomBytes(16);
  // Positive, and never empty.
  serial[0] = ((serial[0] ?? 0) & 0x7f) | 0x40;
  const validity = sequence(
    time(new Date(now.getTime() - days.back * DAY_MS)),
    time(new Date(now.getTime() + days.ahead * DAY_MS)),
  );
  const body = sequence(
    explicit(0, integer(Buffer.from([2]))),
    integer(serial),
    ecdsaWithSHA256,
    commonName(AUTHORITY_NAME),
    validity,
    commonName(subject),
    publicKeyOf(key),
    explicit(
      3,
      sequence(
        ...extensions,
        extension('2.5.29.14', false, octets(keyIdentifier(key))),
        extension('2.5.29.35', false, sequence(implicit(0, keyIdentifier(issuerKey)))),
      ),
    ),
  );
  return pem('CERTIFICATE', sequence(body, ecdsaWithSHA256, bits(sign('sha256', body, issuerKey))));
}

function newKey(): { key: KeyObject; pem: string } {
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  return { key: privateKey, pem: privateKey.export({ type: 'pkcs8', format: 'pem' }) as string };
}

export function makeAuthority(now: Date): KeyPair {
  const { key, pem: text } = newKey();
  const extensions = [
    extension('2.5.29.19', true, sequence(boolean(true), integer(Buffer.from([0])))),
    extension('2.5.29.15', true, keyCertSignAndCRLSign),
  ];
  return {
    cert: certificate({
      subject: AUTHORITY_NAME,
      key,
      issuerKey: key,
      now,
      days: AUTHORITY_DAYS,
      extensions,
    }),
    key: text,
  };
}

/** `hosts`: the addresses and names that clients will use. */
export function makeServerCertificate(authority: KeyPair, hosts: readonly string[], now: Date): KeyPair {
  const { key, pem: text } = newKey();
  const issuerKey = createPrivateKey(authority.key);
  const extensions = [
    extension('2.5.29.19', true, sequence()),
    extension('2.5.29.15', true, digitalSignature),
    extension('2.5.29.37', false, serverAuth),
    extension('2.5.29.17', false, sequence(...hosts.map(alternativeName))),
  ];
  return {
    cert: certificate({ subject: SERVER_NAME, key, issuerKey, now, days: SERVER_DAYS, extensions }),
    key: text,
  };
}

function alternativeName(host: string): Buffer {
  const family = isIP(host);
  if (family === 0) return implicit(2, Buffer.from(host));
  return implicit(7, family === 4 ? Buffer.from(host.split('.').map(Number)) : ipv6Bytes(host));
}

/** The URL parser writes any form of an address in hexadecimal groups, with at most one `::`. */
export function ipv6Bytes(address: string): Buffer {
  const [head = '', tail] = new URL(`http://[${address}]`).hostname.slice(1, -1).split('::');
  const groups = (part: string): string[] => (part === '' ? [] : part.split(':'));
  const before = groups(head);
  const after = groups(tail ?? '');
  const zeros = Array.from({ length: 8 - before.length - after.length }, () => '0');
  const all = [...before, ...zeros, ...after].map((group) => group.padStart(4, '0'));
  return Buffer.from(all.join(''), 'hex');
}

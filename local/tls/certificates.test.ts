import { X509Certificate } from 'node:crypto';
import { statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { temporaryFolder } from '../testing.ts';
import { certificates } from './certificates.ts';
import { ipv6Bytes, makeAuthority } from './make.ts';

let folder: ReturnType<typeof temporaryFolder>;
const NOW = new Date('2026-01-01T00:00:00Z');
const later = (days: number): Date => new Date(NOW.getTime() + days * 86_400_000);
const make = (now = NOW, hosts = ['127.0.0.1', '::1', 'localhost']) => certificates(folder.path, hosts, now);

beforeEach(() => {
  folder = temporaryFolder();
});
afterEach(() => folder.remove());

describe('the certificates of a data folder', () => {
  it('are an authority that can sign and nothing else, and a server certificate that it has signed for these names', () => {
    const { ca, cert } = make();
    const authority = new X509Certificate(ca);
    const server = new X509Certificate(cert);
    expect([authority.ca, server.ca]).toEqual([true, false]);
    expect(server.verify(authority.publicKey)).toBe(true);
    expect(server.checkIP('127.0.0.1')).toBe('127.0.0.1');
    expect(server.checkHost('localhost')).toBe('localhost');
    expect(server.checkIP('::1')).toBe('::1');
    expect(server.checkIP('::2')).toBeUndefined();
    expect(server.checkHost('example.com')).toBeUndefined();
    expect(server.keyUsage).toEqual(['1.3.6.1.5.5.7.3.1']);
  });

  it('are kept, with keys that only the owner can read', () => {
    const first = make();
    expect(make(later(100))).toEqual(first);
    for (const name of ['ca.key', 'server.key'])
      expect(statSync(join(folder.path, name)).mode & 0o777).toBe(0o600);
  });

  it('are made anew before the server’s runs out, under the same authority', () => {
    const first = make();
    const second = make(later(340));
    expect(second.cert).not.toBe(first.cert);
    expect(second.ca).toBe(first.ca);
  });

  it('are made anew for another address, for a clock before their time, and where a file is broken', () => {
    const first = make();
    const other = make(NOW, ['127.0.0.1', '10.1.2.3']);
    expect(new X509Certificate(other.cert).checkIP('10.1.2.3')).toBe('10.1.2.3');
    expect(other.ca).toBe(first.ca);
    const past = make(later(-1000));
    expect(new X509Certificate(past.ca).validFromDate.getTime()).toBeLessThan(later(-999).getTime());
    writeFileSync(join(folder.path, 'server.crt'), 'nonsense');
    expect(new X509Certificate(make(later(-1000)).cert).checkHost('localhost')).toBe('localhost');
  });

  it('outlast a clock that is set back by days', () => {
    const first = make();
    expect(make(later(-20))).toEqual(first);
    expect(make(later(-100)).ca).toBe(first.ca);
  });

  it('all begin anew when the authority runs out', () => {
    const first = make();
    const last = make(later(3640));
    expect(last.ca).not.toBe(first.ca);
    expect(new X509Certificate(last.cert).verify(new X509Certificate(last.ca).publicKey)).toBe(true);
  });
});

it.each([
  ['::1', '00000000000000000000000000000001'],
  ['::', '00000000000000000000000000000000'],
  ['fe80::1:2', 'fe800000000000000000000000010002'],
  ['2001:db8:1:2:3:4:5:6', '20010db8000100020003000400050006'],
  ['::ffff:10.1.2.3', '00000000000000000000ffff0a010203'],
  ['1::', '00010000000000000000000000000000'],
])('%s is %s', (address, hex) => {
  expect(ipv6Bytes(address).toString('hex')).toBe(hex);
});

it('times beyond 2049 are written as RFC 5280 asks', () => {
  const authority = makeAuthority(new Date('2045-06-01T00:00:00Z'));
  expect(new X509Certificate(authority.cert).validToDate.toISOString()).toBe('2055-05-30T00:00:00.000Z');
});

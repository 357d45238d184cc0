import { describe, expect, it } from 'vitest';
import { checkFormat, knownFormat } from './formats.ts';

const cases: Record<string, [good: string[], bad: string[]]> = {
  'date-time': [
    ['2024-02-29T12:00:00Z', '2024-01-01T00:00:00.123456789+02:00'],
    ['2024-02-30T12:00:00Z', '2024-01-01', '2024-01-01T24:00:00Z', ''],
  ],
  date: [['2024-02-29'], ['2023-02-29', '2024-1-1', 'x']],
  duration: [
    ['1h', '1.5h30m', '-5s', '0', '3 days'],
    ['', '1', 'x', '1 fortnight'],
  ],
  uuid: [
    ['6ba7b810-9dad-11d1-80b4-00c04fd430c8', '6BA7B8109DAD11D180B400C04FD430C8'],
    ['6ba7b810', 'x'],
  ],
  ipv4: [
    ['10.0.0.1', '010.0.0.1'],
    ['10.0.0', '::1', ''],
  ],
  ipv6: [
    ['::1', '2001:db8::1'],
    ['10.0.0.1', ':::', 'fe80::1%eth0'],
  ],
  cidr: [
    ['10.0.0.0/8', '::/0'],
    ['10.0.0.0', '10.0.0.0/33', 'x/8'],
  ],
  mac: [
    ['00:11:22:33:44:55', '0011.2233.4455'],
    ['00:11:22', 'x'],
  ],
  email: [
    ['a@example.com', 'A <a@example.com>'],
    ['a', '@x', 'a@', 'a..b@x.com'],
  ],
  uri: [
    ['https://example.com/a', '/a'],
    ['a', 'a b', ''],
  ],
  hostname: [
    ['example.com', 'a-b.c'],
    ['-a', 'a..b', ''],
  ],
  byte: [
    ['', 'aGVsbG8=', 'YQ=='],
    ['a', '***'],
  ],
  hexcolor: [
    ['#fff', 'ABCDEF'],
    ['#ff', 'red'],
  ],
  rgbcolor: [['rgb(1, 2, 3)'], ['rgb(1,2)', 'rgb(1,2,999)']],
  isbn10: [['0321751043'], ['0321751044']],
  isbn13: [['978-0321751041'], ['978-0321751042']],
  creditcard: [['4111 1111 1111 1111'], ['4111 1111 1111 1112']],
  ssn: [['111-22-3333'], ['111-22-33333']],
  'k8s-short-name': [['a-b'], ['A', '-a', 'a.b', 'a'.repeat(64)]],
  'k8s-long-name': [['a.b-c'], ['A', 'a..b', 'a'.repeat(254)]],
  bsonobjectid: [['507f1f77bcf86cd799439011'], ['507f']],
};

describe('formats', () => {
  for (const [format, [good, bad]] of Object.entries(cases)) {
    it.each(good)(`[K1] ${format} takes %j`, (value) => {
      expect(checkFormat(format, value)).toBe(true);
    });
    it.each(bad)(`[K1] ${format} refuses %j`, (value) => {
      expect(checkFormat(format, value)).toBe(false);
    });
  }

  it('[K1] formats that mean nothing are not checked', () => {
    expect(checkFormat('constructor', 'x')).toBeUndefined();
    expect(knownFormat('string', 'mine')).toBe(false);
    expect(knownFormat('integer', 'int32')).toBe(true);
    expect(knownFormat('integer', 'date')).toBe(false);
    expect(knownFormat('number', 'double')).toBe(true);
    expect(knownFormat('object', 'date')).toBe(false);
  });
});

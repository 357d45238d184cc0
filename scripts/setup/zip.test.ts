import { describe, expect, it } from 'vitest';
import { readZipEntry } from './zip.ts';

/** Two files, one stored and one deflated, as Python's zipfile writes them. */
const archive = Buffer.from(
  'UEsDBBQAAAAAAAAAIQAL+UNWBgAAAAYAAAAMAAAAYS9zdG9yZWQudHh0c3RvcmVkUEsDBBQAAAAIAAAAIQAuwnUvEAAAAA4BAAAUAAAAa3ViZWN0bC9kZWZsYXRlZC50eHRLSU3LSSxJTVFIGWWkKAAAUEsBAhQDFAAAAAAAAAAhAAv5Q1YGAAAABgAAAAwAAAAAAAAAAAAAAIABAAAAAGEvc3RvcmVkLnR4dFBLAQIUAxQAAAAIAAAAIQAuwnUvEAAAAA4BAAAUAAAAAAAAAAAAAACAATAAAABrdWJlY3RsL2RlZmxhdGVkLnR4dFBLBQYAAAAAAgACAHwAAAByAAAAAAA=',
  'base64',
);

describe('reading a zip archive', () => {
  it('finds a file that is stored and one that is deflated', () => {
    expect(readZipEntry(archive, 'a/stored.txt').toString()).toBe('stored');
    expect(readZipEntry(archive, 'kubectl/deflated.txt').toString()).toBe('deflated '.repeat(30));
  });

  it('says what is wrong with another one', () => {
    expect(() => readZipEntry(archive, 'b')).toThrow('no b in the zip archive');
    expect(() => readZipEntry(Buffer.from('text'), 'b')).toThrow('not a zip archive');
  });
});

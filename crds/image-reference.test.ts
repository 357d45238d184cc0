import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { isImageReference } from './image-reference.ts';

const hex = (length: number): string => 'a'.repeat(length);

describe('the name of an image', () => {
  it.each([
    'busybox',
    'busybox:1.36',
    'library/busybox:latest',
    'a',
    'docker.io/library/busybox',
    'localhost:1/no-such-image:1',
    'registry.example:5000/team/sub/app_x__y--z.w:V1_-.2',
    'Registry/app',
    '[::1]:5000/app',
    '127.0.0.1:5000/app:1',
    `busybox@sha256:${hex(64)}`,
    `busybox:1@sha256:${hex(64)}`,
    `busybox@sha512:${hex(128)}`,
    // The id of an image, whole and short.
    `sha256:${hex(64)}`,
    hex(64),
    '0123456789ab',
    `a:${hex(128)}`,
  ])('%s is one', (text) => {
    expect(isImageReference(text)).toBe(true);
  });

  it.each([
    '',
    '../../../etc',
    '/etc/passwd',
    './busybox',
    'busybox/',
    'a//b',
    'Busybox',
    'a/B',
    'a..b',
    'a___b',
    '-a',
    'a-',
    'busybox:',
    'busybox:-1',
    'busybox:1:2',
    `a:${hex(129)}`,
    'busybox@',
    'busybox@sha256:1234',
    `busybox@sha256:${'A'.repeat(64)}`,
    `busybox@md5:${hex(32)}`,
    'docker://busybox',
    'https://registry.example/app',
    'a?b=c',
    'a b',
    'busybox\n',
    '{{.Values.image}}',
  ])('%j is none', (text) => {
    expect(isImageReference(text)).toBe(false);
  });

  it('is found out about at once, however it looks', () => {
    const piece = fc.constantFrom('a', '-', '.', '_', '/', ':', '0', '@', 'A');
    fc.assert(
      fc.property(
        fc.array(piece, { minLength: 1, maxLength: 4 }),
        fc.integer({ min: 1, max: 250 }),
        (unit, n) => {
          expect(isImageReference(`${unit.join('').repeat(n)}!`)).toBe(false);
        },
      ),
    );
  });
});

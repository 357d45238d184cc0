import fc from 'fast-check';
import { expect, it } from 'vitest';
import { parseJSON } from './json-text.ts';
import { StatusError } from './status.ts';

it('reads whatever JSON.parse reads', () => {
  fc.assert(
    fc.property(fc.json(), (text) => {
      expect(parseJSON(text)).toEqual(JSON.parse(text));
    }),
  );
});

it('refuses a body that would exhaust the stack, and is not fooled by brackets in strings', () => {
  expect(() => parseJSON('['.repeat(1100) + ']'.repeat(1100))).toThrow(StatusError);
  expect(() => parseJSON('{"a":'.repeat(1_000_000))).toThrow(StatusError);
  expect(parseJSON(JSON.stringify('["\\'.repeat(1000)))).toBe('["\\'.repeat(1000));
  expect(parseJSON('['.repeat(1000) + ']'.repeat(1000))).toBeDefined();
});

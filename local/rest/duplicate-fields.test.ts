import fc from 'fast-check';
import { expect, it } from 'vitest';
import { duplicateFields } from './duplicate-fields.ts';

it.each([
  ['{"a":1,"a":2}', ['duplicate field "a"']],
  ['{"spec":{"a":[{"b":1,"b":2}], "a":{}}}', ['duplicate field "spec.a[0].b"', 'duplicate field "spec.a"']],
  ['{"a":"}\\"a\\":", "b":[1,true,null,"x"], "\\u0061": 1 }', ['duplicate field "a"']],
  [' { } ', []],
  ['[]', []],
])('%s', (text, expected) => {
  expect(duplicateFields(text)).toEqual(expected);
});

it('finds none in what JSON.stringify has written, whatever it is', () => {
  fc.assert(
    fc.property(fc.json(), fc.constantFrom(0, 2), (text, indent) => {
      expect(duplicateFields(JSON.stringify(JSON.parse(text), undefined, indent))).toEqual([]);
    }),
  );
});

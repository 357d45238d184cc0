import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { matchesFields, parseFieldSelector } from './field.ts';
import { SelectorError } from './label.ts';

const read = (field: string): string => ({ 'metadata.name': 'a', 'spec.x': 'b,c' })[field] ?? '';

describe('parseFieldSelector and matchesFields', () => {
  it.each<[string, boolean]>([
    ['', true],
    ['metadata.name=a', true],
    ['metadata.name==a', true],
    ['metadata.name!=a', false],
    ['metadata.name=a,spec.y=', true],
    ['spec.x=b\\,c', true],
    ['spec.x!=b\\,c', false],
    ['metadata.name=a,spec.x=z', false],
  ])('[K1] %s', (text, expected) => {
    expect(matchesFields(parseFieldSelector(text), read)).toBe(expected);
  });

  it.each([
    ['x', "invalid selector: 'x'; can't understand 'x'"],
    ['a=b\\c', 'invalid field selector: invalid escape sequence: \\c'],
    ['a=b\\', 'invalid field selector: invalid escape sequence: \\'],
    ['a=b=c', 'invalid field selector: unescaped character in value: 61'],
  ])('[K1] refuses %s', (text, message) => {
    expect(() => parseFieldSelector(text)).toThrow(new SelectorError(message));
  });

  it('[K1] every value survives being escaped', () => {
    fc.assert(
      fc.property(fc.string(), (value) => {
        const escaped = value.replace(/[\\,=]/g, '\\$&');
        expect(parseFieldSelector(`a=${escaped}`)).toEqual([{ field: 'a', operator: '=', value }]);
      }),
    );
  });

  it('[K1] throws nothing but a SelectorError, whatever it is given', () => {
    fc.assert(
      fc.property(fc.string(), (text) => {
        try {
          parseFieldSelector(text);
        } catch (error) {
          expect(error).toBeInstanceOf(SelectorError);
        }
      }),
    );
  });
});

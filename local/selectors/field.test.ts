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
    ['a=b,,x', "invalid selector: 'a=b,,x'; can't understand 'x'"],
    ['a=b,c', "invalid selector: 'a=b,c'; can't understand 'c'"],
    ['a!', "invalid selector: 'a!'; can't understand 'a!'"],
    ['a=b\\c', 'invalid field selector: invalid escape sequence: \\c'],
    ['a=b\\', 'invalid field selector: invalid escape sequence: \\'],
    ['a=b=c', 'invalid field selector: unescaped character in value: 61'],
  ])('[K1] refuses %s', (text, message) => {
    expect(() => parseFieldSelector(text)).toThrow(new SelectorError(message));
  });

  it.each([
    [
      'b=2,a!=1',
      [
        { field: 'a', operator: '!=', value: '1' },
        { field: 'b', operator: '=', value: '2' },
      ],
    ],
    ['a==1', [{ field: 'a', operator: '==', value: '1' }]],
    ['a=', [{ field: 'a', operator: '=', value: '' }]],
    ['=1', [{ field: '', operator: '=', value: '1' }]],
    ['a!b=1', [{ field: 'a!b', operator: '=', value: '1' }]],
    [',a=1,', [{ field: 'a', operator: '=', value: '1' }]],
    [
      'a=\\\\\\,,b=\\=',
      [
        { field: 'a', operator: '=', value: '\\,' },
        { field: 'b', operator: '=', value: '=' },
      ],
    ],
  ])('[K1] reads %s', (text, selector) => {
    expect(parseFieldSelector(text)).toEqual(selector);
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

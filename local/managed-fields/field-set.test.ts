import { describe, expect, it } from 'vitest';
import { FieldSet } from './field-set.ts';
import { decodeFields, encodeFields } from './fields-v1.ts';
import { field, item, keyed, readElement, showPath } from './path-element.ts';

const p = (text: string): string[] => text.split('.').map(field);
const set = (...paths: string[]): FieldSet => FieldSet.of(...paths.map(p));
const texts = (of: FieldSet): string[] => of.paths().map(showPath);

describe('[K1] sets of fields', () => {
  it('union, intersection and difference go path by path', () => {
    const [a, b] = [set('x', 'x.y', 'z'), set('x', 'w')];
    expect(texts(a.union(b))).toEqual(['.w', '.x', '.z', '.x.y']);
    expect(texts(a.intersection(b))).toEqual(['.x']);
    expect(texts(a.difference(b))).toEqual(['.z', '.x.y']);
  });

  it('without takes what is below, too', () => {
    expect(texts(set('x', 'x.y', 'z').without(set('x')))).toEqual(['.z']);
  });

  it('the empty path is no field', () => {
    expect(FieldSet.of([]).empty).toBe(true);
  });

  it('FieldsV1 says with a dot that the whole is owned beside its parts', () => {
    const json = {
      'f:a': { '.': {}, 'f:b': {} },
      'f:c': { 'k:{"n":"x"}': { 'f:v': {} } },
      'f:d': { 'v:"s"': {} },
    };
    const read = decodeFields(json);
    expect(read === undefined ? [] : texts(read)).toEqual(['.a', '.a.b', '.c[n="x"].v', '.d[="s"]']);
    expect(read === undefined ? {} : encodeFields(read)).toEqual(json);
  });

  it.each([{ bad: {} }, { 'f:a': 1 }, { 'k:x': {} }, { 'i:x': {} }, 'x', []])('%j is none', (value) => {
    expect(decodeFields(value as never)).toBeUndefined();
  });

  it('one key has one text, however it was written', () => {
    expect(readElement('k:{"b":1, "a":"x"}')).toBe(keyed({ a: 'x', b: 1 }));
    expect(readElement('v:"x"')).toBe(item('x'));
  });
});

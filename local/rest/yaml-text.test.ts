import { describe, expect, it } from 'vitest';
import { readYAML } from './yaml-text.ts';

describe('[K1] YAML bodies', () => {
  it('are read as JSON where they are JSON', () => {
    expect(readYAML('{"a":[1,{"b":null}]}')).toEqual({
      value: { a: [1, { b: null }] },
      repeated: [],
      error: undefined,
    });
  });

  it.each([
    ['a: 1\nb: {c: 2, c: 3}\n', { a: 1, b: { c: 3 } }, ['line 2: key "c" already set in map']],
    ['{"a":{"b":1,"b":2}}', { a: { b: 2 } }, ['line 1: key "b" already set in map']],
  ])('%j: of a key that stands twice the last one counts, and it is told', (text, value, repeated) => {
    expect(readYAML(text)).toEqual({ value, repeated, error: undefined });
  });

  it.each([
    ['two values', 'a: b: c'],
    ['an end that is not there', '{'],
    ['aliases', 'a: &x [1]\nb: *x\n'],
    ['lists in lists without end', '['.repeat(20_000)],
    ['more than is read', 'a: b\n'.repeat(100_000)],
    ['more marks than are read', '!!x '.repeat(100_000)],
  ])('%s: an error, and no exception', (_name, text) => {
    expect(readYAML(text).error).toEqual(expect.any(String));
  });

  it('where it is wrong is told', () => {
    expect(readYAML('a: 1\nb: c: d\n').error).toBe(
      'Nested mappings are not allowed in compact mappings at line 2, column 4:',
    );
  });

  it('keys without end are read in the time that they take, and so are mistakes', () => {
    const keys = Array.from({ length: 12_000 }, (_, i) => `k${i}: v\n`).join('');
    expect(readYAML(`${keys}k7: w\n`)).toMatchObject({
      repeated: ['line 12001: key "k7" already set in map'],
      error: undefined,
    });
    expect(readYAML('!!x '.repeat(40_000)).error).toContain('A node can have at most one tag at line 1');
  });
});

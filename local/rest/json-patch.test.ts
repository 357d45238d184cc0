import { describe, expect, it } from 'vitest';
import type { Json } from '../schema/json.ts';
import { applyJSONPatch, JSONPatchError } from './json-patch.ts';

const apply = (document: Json, ...operations: unknown[]): Json =>
  applyJSONPatch(structuredClone(document), operations);
const op = (name: string, path: string, value?: Json): object => ({
  op: name,
  path,
  ...(value === undefined ? {} : { value }),
});

describe('operations', () => {
  it.each<[string, Json, object[], Json]>([
    ['add a member', { a: 1 }, [op('add', '/b', 2)], { a: 1, b: 2 }],
    ['add over a member', { a: 1 }, [op('add', '/a', 2)], { a: 2 }],
    ['add into a list', { l: [1, 3] }, [op('add', '/l/1', 2)], { l: [1, 2, 3] }],
    ['add to the end of a list', { l: [1] }, [op('add', '/l/-', 2), op('add', '/l/2', 3)], { l: [1, 2, 3] }],
    ['remove a member', { a: 1, b: 2 }, [op('remove', '/a')], { b: 2 }],
    ['remove an item', { l: [1, 2] }, [op('remove', '/l/0')], { l: [2] }],
    ['replace', { a: 1, l: [1] }, [op('replace', '/a', 2), op('replace', '/l/0', 5)], { a: 2, l: [5] }],
    ['replace what is not there', {}, [op('replace', '/a', 2)], { a: 2 }],
    ['replace everything', { a: 1 }, [op('replace', '', { b: 2 })], { b: 2 }],
    ['move', { a: { b: 1 }, c: {} }, [{ op: 'move', from: '/a/b', path: '/c/d' }], { a: {}, c: { d: 1 } }],
    [
      'copy',
      { a: [1] },
      [{ op: 'copy', from: '/a', path: '/b' }, op('add', '/b/-', 2)],
      { a: [1], b: [1, 2] },
    ],
    ['test', { a: { b: [1] } }, [op('test', '/a', { b: [1] })], { a: { b: [1] } }],
    ['test that nothing is there', { a: 1 }, [op('test', '/b', null)], { a: 1 }],
    ['escapes', { 'a/b': 1, 'c~d': 2 }, [op('remove', '/a~1b'), op('replace', '/c~0d', 3)], { 'c~d': 3 }],
    ['an empty name', { '': { x: 1 } }, [op('remove', '//x')], { '': {} }],
  ])('%s', (_name, document, operations, expected) => {
    expect(apply(document, ...operations)).toEqual(expected);
  });
});

describe('what cannot be applied', () => {
  it.each<[string, Json, unknown]>([
    ['remove what is not there', {}, op('remove', '/a')],
    ['add below what is not there', {}, op('add', '/a/b', 1)],
    ['add beyond the end', { l: [] }, op('add', '/l/1', 1)],
    ['a leading zero', { l: [1, 2] }, op('replace', '/l/01', 1)],
    ['a failed test', { a: 1 }, op('test', '/a', 2)],
    ['an unknown operation', {}, op('frob', '/a')],
    ['no operation', {}, 5],
    ['no pointer', {}, op('add', 'a', 1)],
    ['no value', {}, op('add', '/a')],
    ['a move into itself', { a: {} }, { op: 'move', from: '/a', path: '/a/b' }],
    ['the prototype', {}, op('add', '/__proto__/polluted', 1)],
    ['a constructor', {}, op('add', '/constructor/prototype/polluted', 1)],
  ])('%s', (_name, document, operation) => {
    expect(() => apply(document, operation)).toThrow(JSONPatchError);
  });

  it('copies that double each time', () => {
    const copies = Array.from({ length: 60 }, (_, i) => ({ op: 'copy', from: '/a', path: `/a/k${i}` }));
    expect(() => apply({ a: { text: 'x'.repeat(100) } }, ...copies)).toThrow(
      'copies of more than 3145728 bytes',
    );
    expect(() => apply({ a: { text: 'x'.repeat(100) } }, ...copies.slice(0, 10))).not.toThrow();
  });

  const nest = (times: number): object[] => [
    op('add', '/y', { a: {} }),
    ...Array.from({ length: times }, () => [
      op('add', '/n', {}),
      { op: 'move', from: '/y', path: '/n/y' },
      { op: 'move', from: '/n', path: '/y' },
    ]).flat(),
  ];
  it.each([
    ['alone', []],
    ['and a copy', [{ op: 'copy', from: '/y', path: '/z' }]],
    ['and a test', [op('add', '/z', {}), op('test', '/y', {})]],
  ])('moves that make a value thousands of levels deep, %s', (_name, then) => {
    expect(() => apply({}, ...nest(3000), ...then)).toThrow(JSONPatchError);
    expect(() => apply({}, ...nest(300))).not.toThrow();
  });

  it('a member named __proto__ is a member', () => {
    const out = apply({}, op('add', '/__proto__', { polluted: 1 })) as Record<string, unknown>;
    expect(Object.keys(out)).toEqual(['__proto__']);
    expect(out['polluted']).toBeUndefined();
  });
});

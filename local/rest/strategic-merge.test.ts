import { describe, expect, it } from 'vitest';
import { strategicMerge } from './strategic-merge.ts';

const owner = (uid: string, extra: object = {}): object => ({ uid, name: uid, ...extra });

describe('strategic merge', () => {
  it.each<[string, object, object, object]>([
    [
      'merges maps, and removes what is null',
      { data: { a: '1', b: '2' } },
      { data: { a: null, c: '3' } },
      { data: { b: '2', c: '3' } },
    ],
    [
      'replaces a list that has no key',
      { rules: [{ verbs: ['get'] }] },
      { rules: [{ verbs: ['list'] }] },
      { rules: [{ verbs: ['list'] }] },
    ],
    [
      'merges owners by UID',
      { metadata: { ownerReferences: [owner('a'), owner('b')] } },
      { metadata: { ownerReferences: [owner('b', { name: 'x' }), owner('c')] } },
      { metadata: { ownerReferences: [owner('a'), owner('b', { name: 'x' }), owner('c')] } },
    ],
    [
      'takes an item out of a list by its key',
      { metadata: { ownerReferences: [owner('a'), owner('b')] } },
      { metadata: { ownerReferences: [{ $patch: 'delete', uid: 'a' }] } },
      { metadata: { ownerReferences: [owner('b')] } },
    ],
    [
      'replaces a keyed list where it is told to',
      { secrets: [{ name: 'a' }] },
      { secrets: [{ name: 'b' }, { $patch: 'replace' }] },
      { secrets: [{ name: 'b' }] },
    ],
    [
      'adds to a set, drops from it, keeps the order that is asked for',
      { metadata: { finalizers: ['a', 'b'] } },
      {
        metadata: {
          finalizers: ['c'],
          '$deleteFromPrimitiveList/finalizers': ['a'],
          '$setElementOrder/finalizers': ['c', 'b'],
        },
      },
      { metadata: { finalizers: ['c', 'b'] } },
    ],
    [
      'orders a keyed list as it is told',
      { imagePullSecrets: [{ name: 'a' }] },
      {
        imagePullSecrets: [{ name: 'b' }],
        '$setElementOrder/imagePullSecrets': [{ name: 'b' }, { name: 'a' }],
      },
      { imagePullSecrets: [{ name: 'b' }, { name: 'a' }] },
    ],
    [
      'replaces a map where it is told to',
      { data: { a: '1' } },
      { data: { $patch: 'replace', b: '2' } },
      { data: { b: '2' } },
    ],
    ['empties a map where it is told to', { data: { a: '1' } }, { data: { $patch: 'delete' } }, { data: {} }],
    [
      'keeps the keys that it is told to keep',
      { spec: { a: 1, b: 2 } },
      { spec: { $retainKeys: ['b'], b: 3 } },
      { spec: { b: 3 } },
    ],
  ])('%s', (_what, target, patch, expected) => {
    expect(strategicMerge(target, patch)).toEqual(expected);
  });

  it('refuses an unknown directive, an item without its key, a patch that is no object', () => {
    expect(() => strategicMerge({}, { data: { $patch: 'frob' } })).toThrow('Unknown patch type');
    expect(() => strategicMerge({}, { secrets: [{ nope: 1 }] })).toThrow(
      'does not contain declared merge key: name',
    );
    expect(() => strategicMerge({}, [])).toThrow('must be a JSON object');
  });

  it('of a key that a list has twice already the first is changed, and both stay', () => {
    const twice = {
      imagePullSecrets: [
        { name: 'a', n: 1 },
        { name: 'a', n: 2 },
      ],
    };
    expect(strategicMerge(twice, { imagePullSecrets: [{ name: 'a', n: 3 }] })).toEqual({
      imagePullSecrets: [
        { name: 'a', n: 3 },
        { name: 'a', n: 2 },
      ],
    });
  });

  it('takes lists of ten thousands in its stride', () => {
    const names = Array.from({ length: 50_000 }, (_, i) => `a.b/${i}`);
    const order = names.toReversed();
    const secrets = names.map((name) => ({ name }));
    expect(
      strategicMerge(
        { metadata: { finalizers: names }, secrets },
        {
          metadata: { finalizers: order, '$setElementOrder/finalizers': order },
          secrets: secrets.toReversed(),
          '$setElementOrder/secrets': secrets.toReversed(),
        },
      ),
    ).toEqual({ metadata: { finalizers: order }, secrets: secrets.toReversed() });
    expect(
      strategicMerge(
        { metadata: { finalizers: names } },
        { metadata: { '$deleteFromPrimitiveList/finalizers': order } },
      ),
    ).toEqual({ metadata: { finalizers: [] } });
  });
});

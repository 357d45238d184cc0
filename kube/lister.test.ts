import { describe, expect, it } from 'vitest';
import { keyOf, Lister, splitKey } from './lister.ts';
import { silent, thing, type Thing } from './testing/fixtures.ts';

function watched(options: ConstructorParameters<typeof Lister<Thing>>[0] = {}) {
  const lister = new Lister<Thing>({ log: silent, ...options });
  const seen: string[] = [];
  lister.onChange((key, old, object) => {
    seen.push(`${key} ${old?.metadata.resourceVersion ?? '-'}>${object?.metadata.resourceVersion ?? '-'}`);
  });
  return { lister, seen };
}

describe('Lister', () => {
  it('tells of what is new, changed and gone, with the old object', () => {
    const { lister, seen } = watched();
    lister.set(thing('a'));
    lister.set(thing('a', { resourceVersion: '2' }));
    lister.set(thing('a', { resourceVersion: '2' }));
    lister.delete('default/a');
    lister.delete('default/a');
    expect(seen).toEqual(['default/a ->1', 'default/a 1>2', 'default/a 2>-']);
  });

  it('[K5] a relist finds what was deleted while nobody watched', () => {
    const { lister, seen } = watched();
    lister.replace([thing('a'), thing('b')]);
    seen.length = 0;
    lister.replace([thing('b'), thing('c')]);
    expect(seen).toEqual(['default/a 1>-', 'default/c ->1']);
    expect(lister.keys()).toEqual(['default/b', 'default/c']);
  });

  it('[K5] the same name with a new UID is a delete and an add, in a watch and in a relist', () => {
    const { lister, seen } = watched();
    lister.set(thing('a'));
    lister.set(thing('a', { uid: 'other', resourceVersion: '5' }));
    lister.replace([thing('a', { uid: 'third', resourceVersion: '9' })]);
    expect(seen).toEqual([
      'default/a ->1',
      'default/a 1>-',
      'default/a ->5',
      'default/a 5>-',
      'default/a ->9',
    ]);
  });

  it('[K5] a handler that throws neither stops the others nor the store', () => {
    const lister = new Lister<Thing>({ log: silent });
    const seen: string[] = [];
    lister.onChange(() => {
      throw new Error('mine');
    });
    const end = lister.onChange((key) => seen.push(key));
    lister.set(thing('a'));
    end();
    lister.set(thing('b'));
    expect(seen).toEqual(['default/a']);
    expect(lister.size).toBe(2);
  });

  it('finds by index, as the objects change', () => {
    const lister = new Lister<Thing>({
      indexes: { node: (object) => (typeof object.spec?.['node'] === 'string' ? [object.spec['node']] : []) },
    });
    lister.set(thing('a', { spec: { node: 'n1' } }));
    lister.set(thing('b', { spec: { node: 'n1' } }));
    lister.set(thing('c'));
    expect(lister.byIndex('node', 'n1').map(keyOf)).toEqual(['default/a', 'default/b']);
    lister.set(thing('a', { resourceVersion: '2', spec: { node: 'n2' } }));
    lister.delete('default/b');
    expect(lister.byIndex('node', 'n1')).toEqual([]);
    expect(lister.byIndex('node', 'n2').map(keyOf)).toEqual(['default/a']);
    expect(() => lister.byIndex('other', 'x')).toThrow(TypeError);
  });

  it('shares frozen objects, without managedFields', () => {
    const lister = new Lister<Thing>();
    lister.set(thing('a', { managedFields: [{}], spec: { inner: { value: 1 } } }));
    const object = lister.get('default/a');
    expect(object?.metadata.managedFields).toBeUndefined();
    const inner = object?.spec?.['inner'] as { value: number };
    expect(() => {
      inner.value = 2;
    }).toThrow(TypeError);
  });

  it('has keys with and without a namespace', () => {
    expect(keyOf({ metadata: { name: 'n' } })).toBe('n');
    expect(splitKey('ns/n')).toEqual({ namespace: 'ns', name: 'n' });
    expect(splitKey('n')).toEqual({ name: 'n' });
  });
});

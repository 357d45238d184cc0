import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { deepEqual, isObject, type Json, type JsonObject } from '../schema/json.ts';
import { compare } from './compare.ts';
import { fieldSetOf, withDeclaredMembers } from './field-set-of.ts';
import { FieldSet } from './field-set.ts';
import { decodeManagers } from './managers.ts';
import { applyTo, ownersOfUpdate } from './owners.ts';
import { showPath } from './path-element.ts';
import { EMBEDDED, typeOfSchema, type TypeSchema } from './schema-type.ts';
import type { Write } from './tracking.ts';

/**
 * Whatever is applied and updated in whatever order, these hold; but for what is empty: an
 * empty list of items is no field, and of a map that is emptied a null is left.
 */

const META: TypeSchema = {
  type: 'object',
  properties: { name: { type: 'string' }, managedFields: { type: 'array', items: {} } },
};
const type = typeOfSchema(
  {
    type: 'object',
    properties: {
      ...EMBEDDED,
      spec: {
        type: 'object',
        properties: {
          a: { type: 'integer' },
          nested: { type: 'object', properties: { b: { type: 'integer' }, c: { type: 'integer' } } },
          map: { type: 'object', additionalProperties: { type: 'integer' } },
          whole: {
            type: 'object',
            'x-kubernetes-map-type': 'atomic',
            additionalProperties: { type: 'integer' },
          },
          set: { type: 'array', 'x-kubernetes-list-type': 'set', items: { type: 'string' } },
          items: {
            type: 'array',
            'x-kubernetes-list-type': 'map',
            'x-kubernetes-list-map-keys': ['k'],
            items: { type: 'object', properties: { k: { type: 'string' }, v: { type: 'integer' } } },
          },
          free: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
        },
      },
    },
  },
  () => META,
);
const V = 'example.com/v1';
const write = (manager: string): Write => ({
  manager,
  operation: 'Update',
  apiVersion: V,
  subresource: '',
  view: (version) => (version === V ? { type, convert: (object) => object } : undefined),
  reset: new FieldSet(),
  now: '2024-01-01T00:00:00Z',
});

const small = fc.integer({ min: 0, max: 2 });
const key = fc.constantFrom('x', 'y', 'z');
const spec = fc.record(
  {
    a: small,
    nested: fc.record({ b: small, c: small }, { requiredKeys: ['b'] }),
    map: fc.dictionary(key, small, { minKeys: 1, maxKeys: 3, noNullPrototype: true }),
    whole: fc.dictionary(key, small, { minKeys: 1, maxKeys: 3, noNullPrototype: true }),
    set: fc.uniqueArray(key, { minLength: 1, maxLength: 3 }),
    items: fc
      .uniqueArray(key, { minLength: 1, maxLength: 3 })
      .chain((keys) =>
        fc.tuple(...keys.map((k) => fc.option(small).map((v) => (v === null ? { k } : { k, v })))),
      ),
    free: fc.dictionary(
      key,
      fc.oneof(small, fc.dictionary(key, small, { minKeys: 1, maxKeys: 2, noNullPrototype: true })),
      {
        minKeys: 1,
        maxKeys: 2,
        noNullPrototype: true,
      },
    ),
  },
  { requiredKeys: ['a'] },
);
const step = fc.record({ apply: fc.boolean(), manager: fc.constantFrom('p', 'q', 'r'), spec });

const thing = (value: Json, metadata: JsonObject = {}): JsonObject => ({
  apiVersion: V,
  kind: 'Thing',
  metadata: { name: 't', ...metadata },
  spec: value,
});
const apply = (live: JsonObject | undefined, manager: string, value: Json): JsonObject =>
  applyTo(live, thing(value), write(manager), { force: true, describe: '' });
const update = (live: JsonObject | undefined, manager: string, value: Json): JsonObject => {
  const next = thing(value);
  const owners = ownersOfUpdate(live, next, write(manager));
  return owners === undefined ? next : thing(value, { managedFields: owners });
};
const plain = (object: JsonObject): JsonObject => {
  const { managedFields: _, ...rest } = isObject(object['metadata']) ? object['metadata'] : {};
  return { ...object, metadata: rest };
};
const ownersOf = (object: JsonObject) => [
  ...(decodeManagers((object['metadata'] as JsonObject)['managedFields'])?.values() ?? []),
];

describe('[K1] owners of fields, after anything', () => {
  it('what is applied is there, applying it again changes nothing, and nobody owns what is not there', () => {
    fc.assert(
      fc.property(fc.array(step, { minLength: 1, maxLength: 6 }), (steps) => {
        let object: JsonObject | undefined;
        for (const { apply: applies, manager, spec: value } of steps) {
          object = (applies ? apply : update)(object, manager, value);
          const there = withDeclaredMembers(fieldSetOf(plain(object), type), type);
          for (const owner of ownersOf(object))
            expect(owner.fields.difference(there).paths().map(showPath)).toEqual([]);
          if (!applies) continue;
          const config = thing(value);
          const lost = compare(config, plain(object), type);
          expect([...lost.removed.paths(), ...lost.modified.paths()].map(showPath)).toEqual([]);
          expect(deepEqual(apply(object, manager, value), object)).toBe(true);
        }
      }),
      { numRuns: 300 },
    );
  });
});

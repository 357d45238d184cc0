import { describe, expect, it } from 'vitest';
import { StatusError } from '../rest/status.ts';
import type { Json, JsonObject } from '../schema/json.ts';
import { FieldSet } from './field-set.ts';
import { applyTo, ownersOfUpdate } from './owners.ts';
import { EMBEDDED, typeOfSchema, type TypeSchema } from './schema-type.ts';
import type { Write } from './tracking.ts';

const V = 'example.com/v1';
const META: TypeSchema = {
  type: 'object',
  properties: {
    name: { type: 'string' },
    managedFields: { type: 'array', items: {} },
    labels: { type: 'object', additionalProperties: { type: 'string' } },
    annotations: { type: 'object', additionalProperties: { type: 'string' } },
  },
};
const type = typeOfSchema(
  {
    type: 'object',
    properties: {
      spec: {
        type: 'object',
        properties: {
          a: { type: 'string' },
          b: { type: 'integer' },
          list: { type: 'array', items: { type: 'string' } },
          set: { type: 'array', 'x-kubernetes-list-type': 'set', items: { type: 'string' } },
          items: {
            type: 'array',
            'x-kubernetes-list-type': 'map',
            'x-kubernetes-list-map-keys': ['k'],
            items: { type: 'object', properties: { k: { type: 'string' }, v: { type: 'integer' } } },
          },
        },
      },
      ...EMBEDDED,
    },
  },
  () => META,
);

function write(manager: string, more: Partial<Write> = {}): Write {
  return {
    manager,
    operation: 'Update',
    apiVersion: V,
    subresource: '',
    view: (version) => (version === V ? { type, convert: (object) => object } : undefined),
    reset: new FieldSet(),
    now: '2024-01-01T00:00:00Z',
    ...more,
  };
}
const thing = (spec: JsonObject, metadata: JsonObject = {}): JsonObject => ({
  apiVersion: V,
  kind: 'Thing',
  metadata: { name: 't', ...metadata },
  spec,
});
const apply = (live: JsonObject | undefined, manager: string, spec: JsonObject, force = false): JsonObject =>
  applyTo(live, thing(spec), write(manager), { force, describe: '/t; example.com/v1, Kind=Thing' });
const owners = (object: JsonObject): JsonObject =>
  Object.fromEntries(
    ((object['metadata'] as JsonObject)['managedFields'] as JsonObject[]).map((entry) => [
      entry['manager'] as string,
      ((entry['fieldsV1'] as JsonObject)['f:spec'] ?? {}) as Json,
    ]),
  );
const refusal = (run: () => unknown): StatusError => {
  try {
    run();
  } catch (error) {
    if (error instanceof StatusError) return error;
    throw error;
  }
  throw new Error('it was not refused');
};

describe('[K1] owners of fields', () => {
  it('who applies owns what is applied, and what is left out next time goes', () => {
    const first = apply(undefined, 'x', { a: '1', b: 2 });
    expect(owners(first)).toEqual({ x: { 'f:a': {}, 'f:b': {} } });
    const second = apply(first, 'x', { b: 2 });
    expect(second['spec']).toEqual({ b: 2 });
  });

  it('what two have applied stays until both have let go', () => {
    let object = apply(undefined, 'x', { a: '1' });
    object = apply(object, 'y', { a: '1' });
    object = apply(object, 'x', {});
    expect(object['spec']).toEqual({ a: '1' });
    object = apply(object, 'y', {});
    expect(object['spec'] ?? {}).toEqual({});
  });

  it('another value of a field that somebody owns is a conflict, with its path and owner', () => {
    const object = apply(undefined, 'x', { a: '1', items: [{ k: 'p', v: 1 }] });
    const { code, status } = refusal(() => apply(object, 'y', { a: '2', items: [{ k: 'p', v: 2 }] }));
    expect([code, status.details?.causes?.map(({ field, message }) => `${field}: ${message}`)]).toEqual([
      409,
      ['.spec.a: conflict with "x"', '.spec.items[k="p"].v: conflict with "x"'],
    ]);
    const forced = apply(object, 'y', { a: '2' }, true);
    expect(owners(forced)).toEqual({
      x: { 'f:items': { 'k:{"k":"p"}': { '.': {}, 'f:k': {}, 'f:v': {} } } },
      y: { 'f:a': {} },
    });
  });

  it('items of a map list and of a set are owned one by one, a plain list whole', () => {
    let object = apply(undefined, 'x', { items: [{ k: 'p' }], set: ['m'], list: ['a', 'b'] });
    object = apply(object, 'y', { items: [{ k: 'q' }], set: ['n'] });
    expect(object['spec']).toEqual({ items: [{ k: 'p' }, { k: 'q' }], set: ['m', 'n'], list: ['a', 'b'] });
    expect(refusal(() => apply(object, 'y', { list: ['a'] })).code).toBe(409);
  });

  it('an update owns what it changes, and takes it from who owned it', () => {
    const object = apply(undefined, 'x', { a: '1', b: 1 });
    const next = thing({ a: '2', b: 1 });
    const entries = ownersOfUpdate(object, next, write('editor'));
    expect(
      entries?.map((entry) => [(entry as JsonObject)['manager'], (entry as JsonObject)['fieldsV1']]),
    ).toEqual([
      ['x', { 'f:spec': { 'f:b': {} } }],
      ['editor', { 'f:spec': { 'f:a': {} } }],
    ]);
  });

  it('of more than ten updaters the oldest are put together', () => {
    let object = thing({});
    let entries: Json[] | undefined;
    for (let i = 0; i < 14; i++) {
      const live = i === 0 ? undefined : object;
      const labels = Object.fromEntries(Array.from({ length: i + 1 }, (_, n) => [`l${n}`, 'x']));
      const next = thing({}, { labels, ...(entries === undefined ? {} : { managedFields: entries }) });
      const now = `2024-01-01T00:00:${String(i).padStart(2, '0')}Z`;
      entries = ownersOfUpdate(live, next, write(`m${i}`, { now }));
      object = { ...next, metadata: { ...(next['metadata'] as JsonObject), managedFields: entries ?? [] } };
    }
    const names = (entries ?? []).map((entry) => (entry as JsonObject)['manager']);
    expect(names).toHaveLength(10);
    expect(names).toContain('ancient-changes');
  });

  it('owners of a version that is not served any more are forgotten', () => {
    const object = apply(undefined, 'x', { a: '1' });
    const entry = {
      manager: 'old',
      operation: 'Apply',
      apiVersion: 'example.com/v0',
      fieldsType: 'FieldsV1',
      fieldsV1: {},
    };
    const meta = object['metadata'] as JsonObject;
    const live = {
      ...object,
      metadata: { ...meta, managedFields: [...(meta['managedFields'] as Json[]), entry] },
    };
    expect(Object.keys(owners(apply(live, 'y', { b: 1 })))).toEqual(['x', 'y']);
  });

  it.each([
    ['a field without a schema', { bogus: 1 }, '.spec.bogus: field not declared in schema'],
    ['a wrong type', { b: 'x' }, '.spec.b: expected numeric (int or float), got string'],
    ['an item twice', { items: [{ k: 'p' }, { k: 'p' }] }, '.spec.items: duplicate entries for key [k="p"]'],
    ['an item without a key', { items: [{ v: 1 }] }, 'omits all key fields ["k"]'],
  ])('%s is refused', (_name, spec, text) => {
    expect(refusal(() => apply(undefined, 'x', spec as unknown as JsonObject)).message).toContain(text);
  });

  it('owners that would take more than their room: an apply is refused, an update goes without', () => {
    const many = Object.fromEntries(
      Array.from({ length: 40_000 }, (_, i) => [`label-${i}-${'x'.repeat(20)}`, '']),
    );
    const config = { ...thing({}, { labels: many }) };
    expect(refusal(() => applyTo(undefined, config, write('x'), { force: false, describe: '' })).code).toBe(
      413,
    );
    expect(ownersOfUpdate(undefined, config, write('x'))).toBeUndefined();
  });
});

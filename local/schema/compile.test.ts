import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { compileSchemas, strictDecodingMessage } from './compile.ts';
import type { CustomResourceDefinition, JSONSchemaProps } from './crd-types.ts';
import { errorText } from './field-error.ts';
import { invalidStatus } from './invalid-status.ts';
import type { JsonObject } from './json.ts';
import { DecodeError } from './object-meta.ts';

function compiled(spec: JSONSchemaProps, status?: JSONSchemaProps) {
  const crd: CustomResourceDefinition = {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: 'things.example.com' },
    spec: {
      group: 'example.com',
      scope: 'Namespaced',
      names: { plural: 'things', kind: 'Thing' },
      versions: [
        {
          name: 'v1',
          served: true,
          storage: true,
          subresources: { status: {} },
          schema: {
            openAPIV3Schema: {
              type: 'object',
              properties: { spec, ...(status === undefined ? {} : { status }) },
            },
          },
        },
      ],
    },
  };
  const found = compileSchemas(crd).get('v1');
  if (found === undefined) throw new Error('no version');
  return found;
}

const thing = (spec: unknown, more: object = {}): JsonObject =>
  JSON.parse(
    JSON.stringify({
      apiVersion: 'example.com/v1',
      kind: 'Thing',
      metadata: { name: 't', namespace: 'n', resourceVersion: '1' },
      spec,
      ...more,
    }),
  ) as JsonObject;

describe('CompiledSchema.prune', () => {
  const schema = compiled({
    type: 'object',
    properties: {
      a: { type: 'string' },
      list: { type: 'array', items: { type: 'object', properties: { b: { type: 'string' } } } },
      map: {
        type: 'object',
        additionalProperties: { type: 'object', properties: { c: { type: 'string' } } },
      },
      free: {
        type: 'object',
        'x-kubernetes-preserve-unknown-fields': true,
        properties: { strict: { type: 'object', properties: { d: { type: 'string' } } } },
      },
    },
  });

  it('[K1] drops what the schema does not name, and names it', () => {
    const object = thing(
      {
        a: 'x',
        odd: 1,
        list: [{ b: 'y', e: 1 }],
        map: { k: { c: 'z', f: 1 } },
        free: { any: 1, strict: { d: 'w', g: 1 } },
      },
      { top: 1 },
    );
    const { pruned, unknownFields } = schema.prune(object);
    expect(pruned['spec']).toEqual({
      a: 'x',
      list: [{ b: 'y' }],
      map: { k: { c: 'z' } },
      free: { any: 1, strict: { d: 'w' } },
    });
    expect(unknownFields).toEqual([
      'spec.free.strict.g',
      'spec.list[0].e',
      'spec.map.k.f',
      'spec.odd',
      'top',
    ]);
    expect(strictDecodingMessage(unknownFields.slice(3))).toBe(
      'strict decoding error: unknown field "spec.odd", unknown field "top"',
    );
  });

  it('[K1] reads metadata as the decoder does', () => {
    const object = thing({});
    object['metadata'] = { name: 't', colour: 'red', labels: {}, finalizers: null };
    const { pruned, unknownFields } = schema.prune(object);
    expect(pruned['metadata']).toEqual({ name: 't' });
    expect(unknownFields).toEqual(['metadata.colour']);
    object['metadata'] = { name: 5 };
    expect(() => schema.prune(object)).toThrow(DecodeError);
  });

  it('[K1] pruning twice is pruning once, and nothing is ever added', () => {
    fc.assert(
      fc.property(
        fc.dictionary(fc.constantFrom('a', 'list', 'map', 'free', 'odd', '__proto__'), fc.jsonValue()),
        (spec) => {
          const object = thing(spec);
          const before = JSON.stringify(object['spec']);
          schema.prune(object);
          const once = JSON.stringify(object['spec']);
          expect(schema.prune(object).unknownFields).toEqual([]);
          expect(JSON.stringify(object['spec'])).toBe(once);
          expect(once.length).toBeLessThanOrEqual(before.length);
        },
      ),
    );
  });
});

describe('CompiledSchema.default', () => {
  const schema = compiled({
    type: 'object',
    properties: {
      a: { type: 'string', default: 'x' },
      inner: { type: 'object', default: {}, properties: { n: { type: 'integer', default: 3 } } },
      outer: { type: 'object', properties: { n: { type: 'integer', default: 3 } } },
      list: { type: 'array', items: { type: 'object', properties: { m: { type: 'string', default: 'y' } } } },
      nullable: { type: 'string', nullable: true, default: 'z' },
      plain: { type: 'string' },
    },
  });

  it('[K1] fills in defaults, parents before children, and drops nulls that mean nothing', () => {
    const object = thing({ a: null, list: [{}], nullable: null, plain: null });
    schema.dropNulls(object);
    schema.default(object);
    expect(object['spec']).toEqual({ a: 'x', inner: { n: 3 }, list: [{ m: 'y' }], nullable: null });
  });

  it('[K1] gives every object its own copy', () => {
    const first = schema.default(thing({}))['spec'] as JsonObject;
    const second = schema.default(thing({}))['spec'] as JsonObject;
    expect(first['inner']).not.toBe(second['inner']);
  });
});

describe('CompiledSchema.validate', () => {
  const schema = compiled(
    {
      type: 'object',
      required: ['name'],
      properties: {
        name: { type: 'string', maxLength: 3 },
        items: {
          type: 'array',
          'x-kubernetes-list-type': 'map',
          'x-kubernetes-list-map-keys': ['k'],
          items: {
            type: 'object',
            properties: {
              k: { type: 'string' },
              v: {
                type: 'integer',
                'x-kubernetes-validations': [{ rule: 'self >= oldSelf', message: 'shrank' }],
              },
            },
          },
        },
      },
    },
    { type: 'object', properties: { phase: { type: 'string', enum: ['A', 'B'] } } },
  );

  it('[K1] a Status names every cause', () => {
    const errors = schema.validate(thing({ name: 'long', items: 'x' }));
    expect(invalidStatus('example.com', 'Thing', 't', errors)).toMatchObject({
      code: 422,
      reason: 'Invalid',
      message:
        'Thing.example.com "t" is invalid: [spec.name: Too long: may not be more than 3 bytes, spec.items: Invalid value: "string": spec.items in body must be of type array: "string", <nil>: Invalid value: null: some validation rules were not checked because the object was invalid; correct the existing errors to complete validation]',
      details: {
        name: 't',
        group: 'example.com',
        kind: 'Thing',
        causes: [
          { reason: 'FieldValueTooLong', field: 'spec.name' },
          { reason: 'FieldValueTypeInvalid', field: 'spec.items' },
          { reason: 'FieldValueInvalid', field: '<nil>' },
        ],
      },
    });
  });

  it('[K1] an update compares the items of a map list by their keys', () => {
    const old = thing({
      name: 'a',
      items: [
        { k: 'x', v: 5 },
        { k: 'y', v: 1 },
      ],
    });
    const next = thing({
      name: 'a',
      items: [
        { k: 'y', v: 2 },
        { k: 'x', v: 4 },
        { k: 'z', v: 0 },
      ],
    });
    expect(schema.validate(next, old).map(errorText)).toEqual(['spec.items[1].v: Invalid value: 4: shrank']);
  });

  it('[K1] what an update leaves alone may stay invalid', () => {
    const old = thing({ name: 'too long' });
    expect(schema.validate(thing({ name: 'too long', items: [] }), old)).toEqual([]);
    expect(schema.validate(thing({ name: 'longer still' }), old)).toHaveLength(2);
  });

  it('[K1] the status alone is checked when the status is written', () => {
    const old = thing({ name: 'too long' });
    const next = thing({ name: 'too long' }, { status: { phase: 'C' } });
    expect(schema.validateStatus(next, old).map(errorText)[0]).toBe(
      'status.phase: Unsupported value: "C": supported values: "A", "B"',
    );
  });

  it('[K1] is total: any spec is accepted or refused, never thrown at', () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.jsonValue(), (spec, status) => {
        const object = thing(spec, { status });
        schema.prune(object);
        schema.default(object);
        schema.validate(object);
        schema.validate(object, thing({ name: 'a' }));
        schema.validateStatus(object, thing({ name: 'a' }));
      }),
    );
  });
});

import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { RE2JS } from 're2js';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { z } from 'zod';
import { crdManifests } from './crd-manifests.ts';
import { generatedFiles } from './generated-files.ts';
import { structuralSchema, type StructuralSchema } from './structural-schema.ts';

const manifests = crdManifests();
const schemas = manifests.map((crd) => ({
  name: crd.metadata.name,
  schema: crd.spec.versions[0]?.schema.openAPIV3Schema ?? {},
}));

function* walk(schema: StructuralSchema, path: string): Generator<[string, StructuralSchema]> {
  yield [path, schema];
  for (const [name, child] of Object.entries(schema.properties ?? {})) yield* walk(child, `${path}.${name}`);
  if (schema.items !== undefined) yield* walk(schema.items, `${path}[]`);
  if (schema.additionalProperties !== undefined) yield* walk(schema.additionalProperties, `${path}{}`);
}

describe('CustomResourceDefinitions', () => {
  it.each(schemas)('[K1] every field of $name has a text for kubectl explain', ({ schema }) => {
    for (const [path, node] of walk(schema, '')) {
      if (/^\.(spec|status)/.test(path) && !/(\[\]|\{\})$/.test(path))
        expect(node.description, path).toMatch(/.\.?$/);
    }
  });

  it.each(schemas)('every pattern and CEL regular expression of $name is RE2', ({ schema }) => {
    for (const [path, node] of walk(schema, '')) {
      if (node.pattern !== undefined) expect(() => RE2JS.compile(node.pattern ?? ''), path).not.toThrow();
      for (const { rule } of node['x-kubernetes-validations'] ?? [])
        for (const [, literal = ''] of rule.matchAll(/\.matches\('((?:[^'\\]|\\.)*)'\)/g))
          expect(() => RE2JS.compile(literal.replaceAll('\\\\', '\\')), `${path} ${literal}`).not.toThrow();
    }
  });

  it.each(schemas)('every default of $name stands in an object that is there without it', ({ schema }) => {
    for (const [path, node] of walk(schema, ''))
      for (const [name, child] of Object.entries(node.properties ?? {}))
        if (child.default !== undefined) expect(node.required ?? [], `${path}.${name}`).not.toContain(name);
  });

  it('[K1] [K3] kinds have short names, a category, a status subresource and columns', () => {
    expect(
      manifests.map(({ spec }) => [spec.names.kind, spec.names.shortNames, spec.names.categories]),
    ).toEqual([
      ['Sandbox', ['hsb'], ['holdfast']],
      ['SandboxNode', ['hsn'], ['holdfast']],
    ]);
    for (const crd of manifests) {
      expect(crd.spec.versions[0]?.subresources).toEqual({ status: {} });
      expect(crd.spec.versions[0]?.additionalPrinterColumns.length).toBeGreaterThan(4);
    }
    expect(manifests[0]?.spec.versions[0]?.selectableFields).toEqual([{ jsonPath: '.status.nodeName' }]);
  });

  it('[L3] resources are a map of at most three, so that no server drops a key in silence', () => {
    const spec = schemas[0]?.schema.properties?.['spec'];
    expect(spec?.properties?.['resources']).toMatchObject({
      type: 'object',
      additionalProperties: { 'x-kubernetes-int-or-string': true, nullable: true },
      maxProperties: 3,
    });
  });

  it('the generated files are those of the schemas', async () => {
    for (const [name, content] of generatedFiles()) {
      expect(await readFile(join(import.meta.dirname, '..', name), 'utf8'), name).toBe(content);
    }
  });

  it.each(['1.1', '1.2'] as const)('the YAML says what the manifest says, read as %s', (version) => {
    const files = generatedFiles();
    for (const crd of manifests) {
      const text = files.get(`crds/generated/${crd.metadata.name}.yaml`) ?? '';
      expect(parse(text, { version })).toEqual(crd);
    }
  });
});

describe('structural schemas', () => {
  it.each<[string, z.ZodType, RegExp]>([
    [
      'a union',
      z.object({ a: z.union([z.string().max(1), z.boolean()]) }),
      /\.a: anyOf has no structural form/,
    ],
    ['a tuple', z.object({ a: z.tuple([z.int()]) }), /a/],
    ['a list without a bound', z.object({ a: z.array(z.int()) }), /\.a: a array without an upper bound/],
    ['a string without a bound', z.object({ a: z.array(z.string()).max(1) }), /\.a\[\]: a string without/],
    ['a map without a bound', z.object({ a: z.record(z.string(), z.int()) }), /\.a: a object without/],
    ['anything', z.object({ a: z.unknown() }), /\.a: no type|\.a: a undefined/],
  ])('refuses %s', (_, schema, message) => {
    expect(() => structuralSchema(schema)).toThrow(message);
  });

  it('keeps bounds and drops those that say nothing', () => {
    expect(
      structuralSchema(z.object({ a: z.int().min(1), b: z.int().optional(), c: z.iso.datetime() })),
    ).toEqual({
      type: 'object',
      required: ['a', 'c'],
      properties: {
        a: { type: 'integer', minimum: 1, format: 'int64' },
        b: { type: 'integer', format: 'int64' },
        c: { type: 'string', format: 'date-time' },
      },
    });
  });
});

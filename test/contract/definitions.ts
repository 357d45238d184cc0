import { readdirSync, readFileSync } from 'node:fs';
import { parse } from 'yaml';
import type { Server } from './client.ts';

export const GROUP = 'contract.example.com';

const strings = { type: 'array', items: { type: 'string' } };

/** A kind with something of everything that a schema can say. */
const widgetSpec = {
  type: 'object',
  properties: {
    text: { type: 'string', minLength: 2, maxLength: 8, pattern: '^[a-z]+$' },
    choice: { type: 'string', enum: ['red', 'green'] },
    count: { type: 'integer', minimum: 1, maximum: 10 },
    small: { type: 'integer', format: 'int32' },
    even: { type: 'integer', multipleOf: 2 },
    ratio: { type: 'number', minimum: 0, exclusiveMinimum: true, maximum: 1 },
    on: { type: 'boolean' },
    port: { 'x-kubernetes-int-or-string': true },
    when: { type: 'string', format: 'date-time' },
    day: { type: 'string', format: 'date' },
    span: { type: 'string', format: 'duration' },
    id: { type: 'string', format: 'uuid' },
    address: { type: 'string', format: 'ipv4' },
    mail: { type: 'string', format: 'email' },
    link: { type: 'string', format: 'uri' },
    name: { type: 'string', format: 'k8s-short-name' },
    blob: { type: 'string', format: 'byte' },
    list: { ...strings, minItems: 1, maxItems: 3 },
    set: { ...strings, 'x-kubernetes-list-type': 'set' },
    items: {
      type: 'array',
      maxItems: 100,
      'x-kubernetes-list-type': 'map',
      'x-kubernetes-list-map-keys': ['key'],
      items: {
        type: 'object',
        required: ['key'],
        properties: {
          key: { type: 'string' },
          value: {
            type: 'integer',
            'x-kubernetes-validations': [{ rule: 'self >= oldSelf', message: 'may not shrink' }],
          },
        },
      },
    },
    labels: { type: 'object', maxProperties: 2, additionalProperties: { type: 'string' } },
    free: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
    nothing: { type: 'string', nullable: true },
    required: {
      type: 'object',
      required: ['a', 'b'],
      properties: { a: { type: 'string' }, b: { type: 'string' } },
    },
    either: {
      type: 'object',
      properties: { a: { type: 'string' }, b: { type: 'string' } },
      oneOf: [{ required: ['a'] }, { required: ['b'] }],
    },
    any: {
      type: 'object',
      properties: { a: { type: 'string', maxLength: 9 }, b: { type: 'integer' } },
      anyOf: [{ required: ['a'] }, { required: ['b'] }],
      not: { required: ['a', 'b'] },
      allOf: [{ properties: { a: { minLength: 2 } } }],
    },
    defaulted: { type: 'string', default: 'standard' },
    nested: {
      type: 'object',
      default: {},
      properties: { size: { type: 'integer', default: 3 }, list: { ...strings, default: ['x'] } },
    },
    template: {
      type: 'object',
      'x-kubernetes-embedded-resource': true,
      'x-kubernetes-preserve-unknown-fields': true,
    },
    fixed: {
      type: 'string',
      'x-kubernetes-validations': [{ rule: 'self == oldSelf', message: 'is immutable' }],
    },
    low: { type: 'integer' },
    high: { type: 'integer' },
    rules: {
      type: 'object',
      properties: {
        a: { type: 'string', maxLength: 20 },
        b: { type: 'string', maxLength: 20 },
        list: { type: 'array', maxItems: 10, items: { type: 'integer' } },
        map: { type: 'object', maxProperties: 10, additionalProperties: { type: 'string', maxLength: 20 } },
        cpu: { 'x-kubernetes-int-or-string': true },
        ip: { type: 'string', maxLength: 50 },
        until: { type: 'string', format: 'date-time' },
      },
      'x-kubernetes-validations': [
        { rule: "!has(self.a) || self.a != 'bad'", message: 'a is bad', fieldPath: '.a' },
        {
          rule: "!has(self.b) || self.b != 'none'",
          reason: 'FieldValueForbidden',
          message: 'no b',
          fieldPath: '.b',
        },
        { rule: "!has(self.b) || self.b != 'missing'", reason: 'FieldValueRequired', message: 'give b' },
        { rule: "!has(self.b) || self.b != 'twice'", reason: 'FieldValueDuplicate', message: 'b again' },
        {
          rule: '!has(self.list) || self.list.sum() <= 10',
          messageExpression:
            "self.list.sum() > 20 ? 'far too much' : 'at most ten' + (has(self.a) ? self.a : '')",
        },
        { rule: '!has(self.list) || self.list.isSorted()' },
        { rule: "!has(self.map) || self.map.all(k, k.startsWith('x-'))" },
        {
          rule: "!has(self.cpu) || quantity(string(self.cpu)).isLessThan(quantity('2'))",
          message: 'too much cpu',
        },
        { rule: '!has(self.ip) || !ip(self.ip).isLoopback()', message: 'no loopback' },
        { rule: "!has(self.until) || self.until > timestamp('2000-01-01T00:00:00Z')", message: 'too old' },
        { rule: "!has(self.map) || !has(self.map.y) || self.map['z'] == 'q'" },
      ],
    },
  },
  'x-kubernetes-validations': [
    {
      rule: '!has(self.low) || !has(self.high) || self.low <= self.high',
      message: 'low must not exceed high',
    },
    {
      rule: '!oldSelf.hasValue() || !has(oldSelf.value().choice) || has(self.choice)',
      optionalOldSelf: true,
      message: 'choice may not be removed',
    },
  ],
};

const widgets = {
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: `widgets.${GROUP}` },
  spec: {
    group: GROUP,
    scope: 'Namespaced',
    names: { plural: 'widgets', singular: 'widget', kind: 'Widget', shortNames: ['wg'], categories: ['all'] },
    versions: [
      {
        name: 'v1',
        served: true,
        storage: true,
        subresources: { status: {} },
        selectableFields: [{ jsonPath: '.spec.choice' }, { jsonPath: '.spec.count' }],
        additionalPrinterColumns: [
          { name: 'Choice', type: 'string', jsonPath: '.spec.choice' },
          { name: 'Count', type: 'integer', jsonPath: '.spec.count', description: 'How many.' },
          { name: 'Ready', type: 'string', jsonPath: '.status.conditions[?(@.type=="Ready")].status' },
          { name: 'Wide', type: 'boolean', jsonPath: '.spec.on', priority: 1 },
          { name: 'Owner', type: 'string', jsonPath: '.metadata.labels.app\\.kubernetes\\.io/name' },
          { name: 'Age', type: 'date', jsonPath: '.metadata.creationTimestamp' },
        ],
        schema: {
          openAPIV3Schema: {
            type: 'object',
            description: 'A widget.',
            properties: {
              spec: widgetSpec,
              status: {
                type: 'object',
                properties: {
                  phase: { type: 'string', enum: ['Good', 'Bad'] },
                  conditions: {
                    type: 'array',
                    'x-kubernetes-list-type': 'map',
                    'x-kubernetes-list-map-keys': ['type'],
                    items: {
                      type: 'object',
                      required: ['type', 'status'],
                      properties: { type: { type: 'string' }, status: { type: 'string' } },
                    },
                  },
                },
              },
            },
          },
        },
      },
    ],
  },
};

const gadgets = {
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: `gadgets.${GROUP}` },
  spec: {
    group: GROUP,
    scope: 'Cluster',
    names: { plural: 'gadgets', singular: 'gadget', kind: 'Gadget' },
    versions: [
      {
        name: 'v1',
        served: true,
        storage: true,
        schema: {
          openAPIV3Schema: {
            type: 'object',
            properties: {
              spec: { type: 'object', properties: { size: { type: 'integer' } } },
              status: { type: 'object', properties: { phase: { type: 'string' } } },
            },
          },
        },
      },
    ],
  },
};

interface Definition {
  metadata: { name: string };
  spec: { group: string; names: { plural: string }; versions: { name: string }[] };
}

function own(): Definition[] {
  const dir = new URL('../../crds/generated/', import.meta.url);
  return readdirSync(dir)
    .filter((file) => file.endsWith('.yaml'))
    .map((file) => parse(readFileSync(new URL(file, dir), 'utf8')) as Definition & { kind: string })
    .filter(({ kind }) => kind === 'CustomResourceDefinition');
}

/** Creates the definitions that the cases use, and waits until they are served. */
export async function install(server: Server): Promise<void> {
  const path = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
  for (const definition of [widgets, gadgets, ...own()] as Definition[]) {
    const answer = await server.request({ method: 'POST', path, body: definition });
    if (answer.code !== 201 && answer.code !== 409)
      throw new Error(`${definition.metadata.name}: ${answer.code} ${answer.text}`);
    const { group, names, versions } = definition.spec;
    const list = `/apis/${group}/${versions[0]?.name ?? ''}/${names.plural}`;
    const deadline = Date.now() + 90_000;
    while ((await server.request({ method: 'GET', path: list })).code !== 200) {
      if (Date.now() > deadline) throw new Error(`${definition.metadata.name} is not served`);
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  }
}

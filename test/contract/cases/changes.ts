import type { Case, Step } from '../types.ts';

const CRDS = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
const GROUP = 'y${ns}.example.com';
const THINGS = `/apis/${GROUP}/v1/namespaces/\${ns}/things`;
const MERGE = 'application/merge-patch+json';

const crd = (versions: object[]): object => ({
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: `things.${GROUP}` },
  spec: { group: GROUP, scope: 'Namespaced', names: { plural: 'things', kind: 'Thing' }, versions },
});
const version = (name: string, spec: object, more: object = {}): object => ({
  name,
  served: true,
  storage: name === 'v1',
  subresources: { status: {} },
  schema: {
    openAPIV3Schema: {
      type: 'object',
      properties: { spec, status: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } },
    },
  },
  ...more,
});
const thing = (spec: object, apiVersion = 'v1'): object => ({
  apiVersion: `${GROUP}/${apiVersion}`,
  kind: 'Thing',
  metadata: { name: 't' },
  spec,
});
const define = (versions: object[]): Step[] => [
  { request: `POST ${CRDS}`, body: crd(versions), silent: true },
  { request: `GET ${THINGS}`, until: 200, silent: true },
];
/** The new schema is in force when the marker field's default shows in a dry run. */
const redefine = (versions: object[]): Step[] => [
  {
    request: `PATCH ${CRDS}/things.${GROUP}`,
    contentType: MERGE,
    body: { spec: { versions } },
    silent: true,
  },
  {
    request: `PATCH ${THINGS}/t?dryRun=All`,
    contentType: MERGE,
    body: { spec: { probe: 'x' } },
    until: 422,
    silent: true,
  },
];
const gone: Step = { request: `DELETE ${CRDS}/things.${GROUP}`, silent: true };
const patch = (spec: object): Step => ({ request: `PATCH ${THINGS}/t`, contentType: MERGE, body: { spec } });

const loose = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true };
/** `probe` may only be a number: that is how a case sees that the schema has changed. */
const tight = {
  type: 'object',
  properties: {
    probe: { type: 'integer' },
    name: { type: 'string', maxLength: 3 },
    choice: { type: 'string', enum: ['a', 'b'] },
    count: {
      type: 'integer',
      maximum: 5,
      'x-kubernetes-validations': [{ rule: 'self % 2 == 0', message: 'must be even' }],
    },
    inner: { type: 'object', required: ['x'], properties: { x: { type: 'string' }, y: { type: 'string' } } },
    list: { type: 'array', maxItems: 5, items: { type: 'string', maxLength: 1 } },
    items: {
      type: 'array',
      maxItems: 5,
      'x-kubernetes-list-type': 'map',
      'x-kubernetes-list-map-keys': ['k'],
      items: {
        type: 'object',
        required: ['k'],
        properties: { k: { type: 'string' }, v: { type: 'integer', maximum: 5 } },
      },
    },
    other: { type: 'string' },
  },
  'x-kubernetes-validations': [{ rule: '!has(self.count) || self.count != 7', message: 'not seven' }],
};
const old = {
  name: 'too long',
  choice: 'z',
  count: 7,
  inner: { y: 'y' },
  list: ['long', 'b'],
  items: [
    { k: 'a', v: 9 },
    { k: 'b', v: 1 },
  ],
};

export const changes: Case[] = [
  {
    name: 'what is unchanged may stay invalid',
    steps: [
      ...define([version('v1', loose)]),
      { request: `POST ${THINGS}`, body: thing(old), silent: true },
      ...redefine([version('v1', tight)]),
      patch({ other: 'x' }),
      patch({ name: 'longer still' }),
      patch({ choice: 'y' }),
      patch({ count: 9 }),
      patch({ inner: { y: 'z' } }),
      patch({ list: ['long', 'c'] }),
      patch({
        items: [
          { k: 'a', v: 9 },
          { k: 'b', v: 2 },
        ],
      }),
      patch({ items: [{ k: 'a', v: 8 }] }),
      patch({ name: 'ok', choice: 'a', count: 4, inner: { x: 'x' }, list: [], items: [] }),
      { request: `POST ${THINGS}`, body: { ...thing(old), metadata: { name: 'u' } } },
      gone,
    ],
  },
  {
    name: 'two versions of one schema',
    steps: [
      ...define([version('v1', loose), version('v2', loose)]),
      { request: `POST ${THINGS}`, body: thing({ a: 1 }) },
      { request: `GET /apis/${GROUP}/v2/namespaces/\${ns}/things/t`, until: 200 },
      {
        request: `PATCH /apis/${GROUP}/v2/namespaces/\${ns}/things/t`,
        contentType: MERGE,
        body: { spec: { b: 2 } },
      },
      { request: `GET ${THINGS}/t` },
      {
        request: `GET /apis/${GROUP}/v2/namespaces/\${ns}/things`,
        view: (body) => {
          const { apiVersion, kind, items } = body as {
            apiVersion: string;
            kind: string;
            items: { apiVersion: string }[];
          };
          return { apiVersion, kind, items: items.map((item) => item.apiVersion) };
        },
      },
      { request: `GET /apis/${GROUP}` },
      gone,
    ],
  },
  {
    name: 'a version that is deprecated, and one that is not served',
    steps: [
      ...define([
        version('v1', loose, { deprecated: true, deprecationWarning: 'v1 is old' }),
        version('v2', loose, { deprecated: true }),
        version('v3', loose, { served: false }),
      ]),
      { request: `POST ${THINGS}`, body: thing({}) },
      { request: `GET /apis/${GROUP}/v2/namespaces/\${ns}/things/t` },
      { request: `GET /apis/${GROUP}/v3/namespaces/\${ns}/things/t` },
      gone,
    ],
  },
  {
    name: 'a new default shows in what is stored',
    steps: [
      ...define([version('v1', { type: 'object', properties: { probe: { type: 'string' } } })]),
      { request: `POST ${THINGS}`, body: thing({}), silent: true },
      ...redefine([
        version('v1', {
          type: 'object',
          properties: { probe: { type: 'integer' }, mode: { type: 'string', default: 'fast' } },
        }),
      ]),
      { request: `GET ${THINGS}/t` },
      {
        request: `GET ${THINGS}`,
        view: (body) => (body as { items: { spec: unknown }[] }).items.map((item) => item.spec),
      },
      gone,
    ],
  },
  {
    name: 'a field that is dropped from the schema',
    steps: [
      ...define([version('v1', loose)]),
      { request: `POST ${THINGS}`, body: thing({ a: 1, other: 'x' }), silent: true },
      ...redefine([
        version('v1', {
          type: 'object',
          properties: { probe: { type: 'integer' }, other: { type: 'string' } },
        }),
      ]),
      { request: `GET ${THINGS}/t` },
      gone,
    ],
  },
  {
    name: 'a definition that is refused on update',
    steps: [
      ...define([version('v1', loose)]),
      {
        request: `PATCH ${CRDS}/things.${GROUP}`,
        contentType: MERGE,
        body: { spec: { versions: [version('v1', { type: 'object', properties: { a: {} } })] } },
      },
      { request: `PATCH ${CRDS}/things.${GROUP}`, contentType: MERGE, body: { spec: { versions: [] } } },
      {
        request: `PATCH ${CRDS}/things.${GROUP}`,
        contentType: MERGE,
        body: { spec: { group: 'other.example.com' } },
      },
      {
        request: `PATCH ${CRDS}/things.${GROUP}`,
        contentType: MERGE,
        body: { spec: { names: { kind: 'Other' } } },
      },
      gone,
    ],
  },
];

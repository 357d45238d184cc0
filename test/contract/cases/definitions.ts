import type { Case } from '../types.ts';

const CRDS = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';

interface Parts {
  name?: string;
  group?: string;
  scope?: string;
  names?: object;
  schema?: object | null;
  version?: object;
  versions?: object[];
}

/** A definition that would do, but for the parts given. Always a dry run: nothing is left behind. */
function crd(parts: Parts): object {
  const group = parts.group ?? 'try.example.com';
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: parts.name ?? `things.${group}` },
    spec: {
      group,
      scope: parts.scope ?? 'Namespaced',
      names: { plural: 'things', kind: 'Thing', ...parts.names },
      versions: parts.versions ?? [
        {
          name: 'v1',
          served: true,
          storage: true,
          ...(parts.schema === null
            ? {}
            : { schema: { openAPIV3Schema: parts.schema ?? { type: 'object' } } }),
          ...parts.version,
        },
      ],
    },
  };
}

const spec = (properties: object, more: object = {}): object => ({
  type: 'object',
  properties: { spec: { type: 'object', properties, ...more } },
});
const rule = (text: string, more: object = {}): object => ({
  'x-kubernetes-validations': [{ rule: text, ...more }],
});

const tried: Record<string, object> = {
  'one that is valid': crd({}),
  'a name that does not fit': crd({ name: 'others.try.example.com' }),
  'a group without a dot': crd({ group: 'example', name: 'things.example' }),
  'a group in capitals': crd({ group: 'Try.example.com', name: 'things.Try.example.com' }),
  'a scope that is none': crd({ scope: 'Global' }),
  'names that are none': crd({
    names: { kind: 'no kind', singular: 'Thing', shortNames: ['A'], categories: ['b_'] },
  }),
  'kind and listKind the same': crd({ names: { listKind: 'Thing' } }),
  'no kind': crd({ names: { kind: '' } }),
  'no schema': crd({ schema: null }),
  'no storage version': crd({ version: { storage: false } }),
  'two storage versions': crd({
    versions: ['v1', 'v2'].map((name) => ({
      name,
      served: true,
      storage: true,
      schema: { openAPIV3Schema: { type: 'object' } },
    })),
  }),
  'two versions of one name': crd({
    versions: ['v1', 'v1'].map((name, i) => ({
      name,
      served: true,
      storage: i === 0,
      schema: { openAPIV3Schema: { type: 'object' } },
    })),
  }),
  'a version that is none': crd({ version: { name: 'V_1' } }),
  'no type at the root': crd({ schema: { properties: {} } }),
  'another type at the root': crd({ schema: { type: 'string' } }),
  'a type that is none': crd({ schema: spec({ a: { type: 'text' } }) }),
  'a field without a type': crd({ schema: spec({ a: {} }) }),
  'a list without items': crd({ schema: spec({ a: { type: 'array' } }) }),
  'items without a type': crd({ schema: spec({ a: { type: 'array', items: {} } }) }),
  'properties and additionalProperties': crd({
    schema: spec({
      a: { type: 'object', properties: { b: { type: 'string' } }, additionalProperties: { type: 'string' } },
    }),
  }),
  'additionalProperties at the root': crd({
    schema: { type: 'object', additionalProperties: { type: 'string' } },
  }),
  uniqueItems: crd({ schema: spec({ a: { type: 'array', uniqueItems: true, items: { type: 'string' } } }) }),
  'a type in anyOf': crd({ schema: spec({ a: { type: 'string', anyOf: [{ type: 'string' }] } }) }),
  'a field that is in anyOf alone': crd({
    schema: spec({ a: { type: 'object', anyOf: [{ properties: { b: { minLength: 1 } } }] } }),
  }),
  'a description in allOf': crd({
    schema: spec({ a: { type: 'string', allOf: [{ description: 'x', default: 'y', nullable: true }] } }),
  }),
  'a pattern that does not compile': crd({ schema: spec({ a: { type: 'string', pattern: '(?=x)' } }) }),
  'preserve-unknown-fields: false': crd({
    schema: spec({ a: { type: 'object', 'x-kubernetes-preserve-unknown-fields': false } }),
  }),
  'int-or-string and preserve-unknown-fields': crd({
    schema: spec({ a: { 'x-kubernetes-int-or-string': true, 'x-kubernetes-preserve-unknown-fields': true } }),
  }),
  'an embedded resource of no type': crd({ schema: spec({ a: { 'x-kubernetes-embedded-resource': true } }) }),
  'a list type of a string': crd({
    schema: spec({ a: { type: 'string', 'x-kubernetes-list-type': 'set' } }),
  }),
  'a list type that is none': crd({
    schema: spec({ a: { type: 'array', items: { type: 'string' }, 'x-kubernetes-list-type': 'bag' } }),
  }),
  'a map list without keys': crd({
    schema: spec({ a: { type: 'array', items: { type: 'object' }, 'x-kubernetes-list-type': 'map' } }),
  }),
  'a map list with a key that is optional': crd({
    schema: spec({
      a: {
        type: 'array',
        'x-kubernetes-list-type': 'map',
        'x-kubernetes-list-map-keys': ['k'],
        items: { type: 'object', properties: { k: { type: 'string' } } },
      },
    }),
  }),
  'a map list with a key that is not there': crd({
    schema: spec({
      a: {
        type: 'array',
        'x-kubernetes-list-type': 'map',
        'x-kubernetes-list-map-keys': ['k', 'k'],
        items: { type: 'object', properties: { j: { type: 'string' } } },
      },
    }),
  }),
  'map keys without a map list': crd({
    schema: spec({ a: { type: 'array', 'x-kubernetes-list-map-keys': ['k'], items: { type: 'string' } } }),
  }),
  'a set of objects that are not atomic': crd({
    schema: spec({ a: { type: 'array', 'x-kubernetes-list-type': 'set', items: { type: 'object' } } }),
  }),
  'a map type that is none': crd({ schema: spec({ a: { type: 'object', 'x-kubernetes-map-type': 'odd' } }) }),
  'a default of the wrong type': crd({ schema: spec({ a: { type: 'string', default: 5 } }) }),
  'a default with an unknown field': crd({ schema: spec({ a: { type: 'object', default: { b: 1 } } }) }),
  'a default that a rule refuses': crd({
    schema: spec({ a: { type: 'integer', default: 5, ...rule('self < 5') } }),
  }),
  'a default at the root': crd({ schema: { type: 'object', default: {} } }),
  'a default in metadata': crd({
    schema: {
      type: 'object',
      properties: { metadata: { type: 'object', properties: { name: { type: 'string', default: 'a' } } } },
    },
  }),
  'labels in metadata': crd({
    schema: {
      type: 'object',
      properties: { metadata: { type: 'object', properties: { labels: { type: 'object' } } } },
    },
  }),
  'nullable at the root': crd({ schema: { type: 'object', nullable: true } }),
  'a column without a path': crd({
    version: { additionalPrinterColumns: [{ name: 'A', type: 'string', jsonPath: '' }] },
  }),
  'a column that is wrong': crd({
    version: { additionalPrinterColumns: [{ name: '', type: 'text', jsonPath: 'spec.a', format: 'odd' }] },
  }),
  'a selectable field that is not there': crd({
    schema: spec({ a: { type: 'string' } }),
    version: { selectableFields: [{ jsonPath: '.spec.b' }, { jsonPath: 'spec.a' }] },
  }),
  'a selectable field of another type': crd({
    schema: spec({ a: { type: 'array', items: { type: 'string' } } }),
    version: { selectableFields: [{ jsonPath: '.spec.a' }, { jsonPath: '.spec.a' }] },
  }),
  'a scale path that is wrong': crd({
    version: { subresources: { scale: { specReplicasPath: '.replicas', statusReplicasPath: 'status' } } },
  }),
  'an enum beside the status': crd({
    schema: { type: 'object', anyOf: [{ required: ['spec'] }] },
    version: { subresources: { status: {} } },
  }),
  'CEL: a syntax error': crd({ schema: spec({ a: { type: 'integer', ...rule('self >') } }) }),
  'CEL: an unknown name': crd({ schema: spec({ a: { type: 'integer', ...rule('other > 1') } }) }),
  'CEL: an unknown field': crd({
    schema: spec({ a: { type: 'object', properties: { b: { type: 'string' } }, ...rule("self.c == 'x'") } }),
  }),
  'CEL: types that do not go together': crd({
    schema: spec({ a: { type: 'integer', ...rule("self == 'x'") } }),
  }),
  'CEL: a method that is not there': crd({
    schema: spec({ a: { type: 'integer', ...rule("self.startsWith('x')") } }),
  }),
  'CEL: an unknown function': crd({ schema: spec({ a: { type: 'integer', ...rule('nothing(self)') } }) }),
  'CEL: not a bool': crd({ schema: spec({ a: { type: 'integer', ...rule('self + 1') } }) }),
  'CEL: a selection from an int': crd({ schema: spec({ a: { type: 'integer', ...rule('self.b') } }) }),
  'CEL: all over an int': crd({ schema: spec({ a: { type: 'integer', ...rule('self.all(x, x > 1)') } }) }),
  'CEL: a list of mixed types': crd({
    schema: spec({ a: { type: 'integer', ...rule("self in [1, 'a']") } }),
  }),
  'CEL: two errors in two lines': crd({
    schema: spec({ a: { type: 'integer', ...rule('self > other\n  && more', { message: 'x' }) } }),
  }),
  'CEL: a message that is no string': crd({
    schema: spec({ a: { type: 'integer', ...rule('self > 1', { messageExpression: 'self' }) } }),
  }),
  'CEL: an empty rule': crd({ schema: spec({ a: { type: 'integer', ...rule(' ') } }) }),
  'CEL: a message with a line break': crd({
    schema: spec({ a: { type: 'integer', ...rule('self > 1', { message: 'a\nb' }) } }),
  }),
  'CEL: line breaks without a message': crd({
    schema: spec({ a: { type: 'integer', ...rule('self\n> 1') } }),
  }),
  'CEL: a reason that is none': crd({
    schema: spec({ a: { type: 'integer', ...rule('self > 1', { reason: 'Because' }) } }),
  }),
  'CEL: a field path that is none': crd({
    schema: spec({
      a: {
        type: 'object',
        properties: { b: { type: 'string' } },
        ...rule("self.b == 'x'", { fieldPath: '.c' }),
      },
    }),
  }),
  'CEL: oldSelf in a list': crd({
    schema: spec({ a: { type: 'array', items: { type: 'integer', ...rule('self == oldSelf') } } }),
  }),
  'CEL: optionalOldSelf without oldSelf': crd({
    schema: spec({ a: { type: 'integer', ...rule('self > 1', { optionalOldSelf: true }) } }),
  }),
  'CEL: in allOf': crd({ schema: spec({ a: { type: 'integer', allOf: [rule('self > 1')] } }) }),
  'CEL: a pattern that does not compile': crd({
    schema: spec({ a: { type: 'string', maxLength: 5, ...rule("self.matches('(?=x)')") } }),
  }),
  'CEL: what it cannot do': crd({
    schema: spec({ a: { type: 'integer', ...rule('cel.bind(x, self, x + x) > 1') } }),
  }),
  'CEL: what it can do': crd({
    schema: spec(
      {
        a: {
          type: 'string',
          maxLength: 20,
          ...rule(
            "self.find('[a-z]+') != '' && isURL(self) && url(self).getHost() == 'x' && self.split('/').size() > 1 && self.lowerAscii() == self && format.dns1123Label().validate(self).hasValue()",
          ),
        },
        n: {
          type: 'integer',
          ...rule('[self, 2].max() == 2 && [1, self].isSorted() && dyn(self) != 3'),
        },
        q: {
          'x-kubernetes-int-or-string': true,
          ...rule("isQuantity(string(self)) && (type(self) == int ? self > 1 : self != '')"),
        },
        d: { type: 'string', format: 'duration', ...rule("self > duration('1h')") },
        l: {
          type: 'array',
          maxItems: 5,
          items: { type: 'string', maxLength: 5 },
          ...rule(
            "self.exists_one(x, x == 'a') && self.map(x, x + 'b').filter(y, y != '').size() == 1 && sets.contains(self, ['a']) && self.all(i, x, i < 5 && x != '')",
          ),
        },
        m: {
          type: 'object',
          maxProperties: 3,
          additionalProperties: { type: 'string', maxLength: 5 },
          ...rule(
            "self.all(k, k != '' && self[k] != '') && self[?'a'].orValue('b') != '' && self.transformList(k, v, v).size() > 0",
          ),
        },
        'x-y': { type: 'string' },
        namespace: { type: 'string' },
      },
      rule('!has(self.x__dash__y) || self.x__dash__y != self.__namespace__ || self.?x__dash__y.hasValue()'),
    ),
  }),
};

const settled = (body: unknown): unknown => {
  const { kind, spec: found, code } = body as { kind: string; spec?: object; code?: number };
  return code === undefined ? { kind, spec: found } : body;
};

export const definitions: Case[] = [
  ...Object.entries(tried).map(
    ([name, body]): Case => ({
      name,
      steps: [{ request: `POST ${CRDS}?dryRun=All`, body, view: settled }],
    }),
  ),
  {
    name: 'the life of a definition',
    steps: [
      {
        request: `POST ${CRDS}`,
        body: crd({
          group: '${ns}.example.com',
          name: 'things.${ns}.example.com',
          version: { subresources: { status: {} } },
        }),
        view: settled,
      },
      { request: 'GET /apis/${ns}.example.com/v1/namespaces/${ns}/things', until: 200 },
      {
        request: `GET ${CRDS}/things.\${ns}.example.com`,
        view: (body) => {
          const { status } = body as {
            status: {
              conditions: { type: string; status: string; reason: string; message: string }[];
              acceptedNames: object;
              storedVersions: string[];
            };
          };
          return {
            ...status,
            conditions: status.conditions
              .map(({ type, status: is, reason, message }) => ({ type, is, reason, message }))
              .sort((a, b) => (a.type < b.type ? -1 : 1)),
          };
        },
      },
      {
        request: 'POST /apis/${ns}.example.com/v1/namespaces/${ns}/things',
        body: { apiVersion: '${ns}.example.com/v1', kind: 'Thing', metadata: { name: 't' } },
        silent: true,
      },
      {
        request: `PATCH ${CRDS}/things.\${ns}.example.com`,
        contentType: 'application/merge-patch+json',
        body: { spec: { scope: 'Cluster' } },
      },
      {
        request: `PATCH ${CRDS}/things.\${ns}.example.com`,
        contentType: 'application/merge-patch+json',
        body: { spec: { names: { plural: 'others' } } },
      },
      {
        request: `DELETE ${CRDS}/things.\${ns}.example.com`,
        view: (body) => (body as { kind: string; status: unknown }).kind,
      },
      { request: `GET ${CRDS}/things.\${ns}.example.com`, until: 404 },
      { request: 'GET /apis/${ns}.example.com/v1/namespaces/${ns}/things', until: 404 },
    ],
  },
];

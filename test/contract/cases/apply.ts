import { GROUP } from '../definitions.ts';
import type { Case, Step } from '../types.ts';
import {
  APPLY,
  configMap,
  CONFIGMAPS,
  create,
  gadget,
  GADGETS,
  get,
  JSON_PATCH,
  MERGE,
  quiet,
  widget,
  WIDGETS,
} from './make.ts';

const as = (manager: string, body: unknown, query = '', path = `${WIDGETS}/w`): Step => ({
  request: `PATCH ${path}?fieldManager=${manager}${query}`,
  contentType: APPLY,
  body,
});
const spec = (value: unknown, meta: object = {}): object => widget('w', value, {}, meta);
const force = '&force=true';
const cm = (manager: string, data: object, query = '', meta: object = {}): Step =>
  as(manager, configMap('c', data, meta), query, `${CONFIGMAPS}/c`);
const LAST = 'kubectl.kubernetes.io/last-applied-configuration';
const update = (manager: string, body: unknown, path = `${WIDGETS}/w`): Step => ({
  request: `PATCH ${path}?fieldManager=${manager}`,
  contentType: MERGE,
  body,
});
/** What a YAML parser says is its own. */
const unparsed = (body: unknown): unknown => {
  const status = body as { message: string };
  return { ...status, message: status.message.replace(/(yaml:).*/s, '$1') };
};
/** The object that is shown has times and versions in it. */
const causes = (body: unknown): unknown => {
  const { code, reason, message } = body as { code: number; reason: string; message: string };
  return { code, reason, message: message.replace(/"\{.*\}"/s, '...') };
};
const item = (key: string, value?: number): object => ({ key, ...(value === undefined ? {} : { value }) });

const THINGS = '/apis/z${ns}.example.com/v1/namespaces/${ns}/things';

export const apply: Case[] = [
  {
    name: 'an object that is made by it',
    steps: [
      as('a', spec({ text: 'abc', labels: { x: 'y' } }, { labels: { l: '1' } })),
      get('w'),
      as('a', spec({ text: 'abc', labels: { x: 'y' } }, { labels: { l: '1' } })),
    ],
  },
  {
    name: 'a configuration that is empty',
    steps: [as('a', { apiVersion: `${GROUP}/v1`, kind: 'Widget', metadata: { name: 'w' } }), get('w')],
  },
  {
    name: 'fields that are no longer applied',
    steps: [
      quiet(as('a', spec({ text: 'abc', count: 3, labels: { x: '1', y: '2' }, free: { a: { b: 1 } } }))),
      as('a', spec({ count: 3, labels: { y: '2' }, free: { a: {} } })),
      as('a', spec({})),
      as('a', { apiVersion: `${GROUP}/v1`, kind: 'Widget', metadata: { name: 'w' } }),
    ],
  },
  {
    name: 'fields of two',
    steps: [
      quiet(as('a', spec({ text: 'abc', count: 3 }))),
      as('b', spec({ count: 3, on: true })),
      as('a', spec({ text: 'abc' })),
      as('b', spec({ on: true })),
      as('b', spec({ text: 'abc' })),
      as('a', spec({})),
      get('w'),
    ],
  },
  {
    name: 'conflicts',
    steps: [
      quiet(as('a', spec({ text: 'abc', count: 3, labels: { x: '1' } }))),
      as('b', spec({ text: 'abd' })),
      as('b', spec({ text: 'abd', count: 4, labels: { x: '2', y: '3' } })),
      as('b', spec({ text: 'abd', count: 4 }), '&force=false'),
      as('b', spec({ text: 'abd', count: 4 }), force),
      as('a', spec({ text: 'abc', count: 3 })),
      update('c', { spec: { labels: { x: '9' } } }),
      as('a', spec({ labels: { x: '1' } })),
      as('a', spec({ labels: { x: '1' } }), force),
    ],
  },
  {
    name: 'conflicts with several',
    steps: [
      quiet(as('a', spec({ text: 'abc', count: 3 }))),
      quiet(update('b', { spec: { on: true, small: 1 } })),
      quiet(as('c', spec({ even: 2 }))),
      as('d', spec({ text: 'abd', count: 4, on: false, small: 2, even: 4 })),
      as('d', spec({ on: false })),
    ],
  },
  {
    name: 'lists whose items have keys',
    steps: [
      quiet(as('a', spec({ items: [item('x', 1), item('y', 2)] }))),
      as('b', spec({ items: [item('z', 3), item('x')] })),
      as('b', spec({ items: [item('x', 5)] })),
      as('a', spec({ items: [item('y', 2)] })),
      as('a', spec({ items: [item('y', 2), item('x', 1)] }), force),
      as('c', spec({ items: [item('q'), item('q')] })),
      as('c', spec({ items: [{ value: 1 }] })),
      as('c', spec({ items: [null] })),
      as('c', spec({ items: ['x'] })),
      as('c', spec({ items: { key: 'x' } })),
      as('c', spec({ items: [] })),
    ],
  },
  {
    name: 'the order of items',
    steps: [
      quiet(as('a', spec({ items: [item('a'), item('b'), item('c'), item('d')] }))),
      as('b', spec({ items: [item('d'), item('x'), item('b')] })),
      as('c', spec({ items: [item('y'), item('c'), item('z')] })),
      as('a', spec({ items: [item('d'), item('c'), item('b'), item('a')] })),
    ],
  },
  {
    name: 'sets',
    steps: [
      quiet(as('a', spec({ set: ['x', 'y'] }))),
      as('b', spec({ set: ['y', 'z'] })),
      as('a', spec({ set: ['w'] })),
      as('b', spec({})),
      as('c', spec({ set: ['q', 'q'] })),
      as('c', spec({ set: [1] })),
      as('c', spec({ set: [null] })),
    ],
  },
  {
    name: 'lists that are one field',
    steps: [
      quiet(as('a', spec({ list: ['x', 'y'] }))),
      as('b', spec({ list: ['x', 'y'] })),
      as('b', spec({ list: ['x'] })),
      as('b', spec({ list: ['x'] }), force),
      as('a', spec({})),
    ],
  },
  {
    name: 'what has no schema',
    steps: [
      as('a', spec({ free: { a: 1, b: { c: [1, { d: 2 }], e: null }, f: {} } })),
      as('b', spec({ free: { b: { c: [1] } } })),
      as('b', spec({ free: { b: { g: 1 } } })),
      as('a', spec({ free: { b: 5 } }), force),
      as(
        'c',
        spec({ template: { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'p', labels: { a: 'b' } } } }),
      ),
      as('d', spec({ port: 'http' })),
      as('d', spec({ port: 80 })),
    ],
  },
  {
    name: 'defaults belong to nobody until they are applied',
    steps: [
      as('a', spec({ nested: { size: 4 } })),
      as('b', spec({ defaulted: 'standard' })),
      as('c', spec({ defaulted: 'other' })),
      as('b', spec({})),
    ],
  },
  {
    name: 'what the schema refuses',
    steps: [
      as('a', spec({ bogus: 1 })),
      as('a', spec({ count: 'x' })),
      as('a', spec({ text: 5 })),
      as('a', spec({ on: 'yes' })),
      as('a', spec('x')),
      as('a', spec({ labels: [] })),
      as('a', spec({ count: 99 })),
      as('a', spec({ low: 5, high: 1 })),
      as('a', widget('w', {}, {}, { labels: { a: 1 } })),
      as('a', widget('w', {}, {}, { colour: 'red' })),
      as('a', { ...widget('w'), extra: 1 }),
      as('a', spec({ text: 'abc', nothing: null })),
      as('a', spec({ text: null })),
    ],
  },
  {
    name: 'requests that are none',
    steps: [
      { request: `PATCH ${WIDGETS}/w`, contentType: APPLY, body: spec({}) },
      as('', spec({})),
      as('x'.repeat(129), spec({})),
      as('a%0Ab', spec({})),
      as('a', ''),
      as('a', 'null'),
      as('a', '[]'),
      as('a', 'text'),
      { ...as('a', '{'), view: unparsed },
      { ...as('a', 'a: b: c'), view: unparsed },
      as('a', '{}'),
      as('a', { kind: 'Widget' }),
      as('a', { ...widget('w'), kind: 'Gadget' }),
      as('a', { ...widget('w'), apiVersion: `${GROUP}/v9` }),
      as('a', widget('other')),
      as('a', { apiVersion: `${GROUP}/v1`, kind: 'Widget', spec: {} }),
      as('a', widget('w', {}, {}, { namespace: 'other' })),
      as('a', widget('w', {}, {}, { managedFields: [] })),
      as('a', widget('w', {}, {}, { managedFields: [{ manager: 'x' }] })),
      as('a', spec({}), '&dryRun=Some'),
      as('a', spec({}), '&fieldValidation=Odd'),
      as('a', spec({}), '&force=perhaps'),
      { ...as('a', spec({})), contentType: 'application/apply-patch+cbor' },
      { ...as('a', spec({})), contentType: 'application/apply-patch+json' },
      { ...as('a', spec({})), contentType: `${APPLY}; charset=utf-8` },
    ],
  },
  {
    name: 'YAML',
    steps: [
      as(
        'a',
        `apiVersion: ${GROUP}/v1\nkind: Widget\nmetadata:\n  name: w\nspec:\n  text: abc # why\n  count: 3\n`,
      ),
      as('a', `apiVersion: ${GROUP}/v1\nkind: Widget\nmetadata: {name: w}\nspec: {text: abc, text: abd}\n`),
      as(
        'a',
        `apiVersion: ${GROUP}/v1\nkind: Widget\nmetadata: {name: w}\nspec: {text: abc, text: abd}\n`,
        '&fieldValidation=Strict',
      ),
    ],
  },
  {
    name: 'a try that is not stored',
    steps: [
      as('a', spec({ text: 'abc' }), '&dryRun=All'),
      get('w'),
      quiet(as('a', spec({ text: 'abc' }))),
      as('b', spec({ text: 'abd' }), '&dryRun=All'),
      as('b', spec({ text: 'abd' }), `&dryRun=All${force}`),
      get('w'),
    ],
  },
  {
    name: 'preconditions',
    steps: [
      as('a', spec({}, { uid: '6ba7b810-9dad-11d1-80b4-00c04fd430c8' })),
      as('a', spec({}, { resourceVersion: '1' })),
      { ...as('a', spec({})), silent: true },
      as('a', spec({}, { uid: '6ba7b810-9dad-11d1-80b4-00c04fd430c8' })),
      as('a', spec({ text: 'abc' }, { resourceVersion: '1' })),
      as('a', spec({ text: 'abc' }, { generateName: 'x' })),
      as('a', spec({ text: 'abc' }, { creationTimestamp: '2001-01-01T00:00:00Z' })),
    ],
  },
  {
    name: 'other writes own what they set',
    steps: [
      { ...create(widget('w', { text: 'abc', count: 3 }, {}, { labels: { a: 'b' } }), '?fieldManager=one') },
      update('two', { spec: { text: 'abd', count: null, on: true } }),
      update('one', { spec: { on: true } }),
      {
        request: `PATCH ${WIDGETS}/w?fieldManager=three`,
        contentType: JSON_PATCH,
        body: [{ op: 'add', path: '/spec/items', value: [item('x', 1)] }],
      },
      {
        request: `PUT ${WIDGETS}/w?fieldManager=four`,
        body: widget('w', { small: 1 }, {}, { resourceVersion: '1' }),
      },
      { request: `GET ${WIDGETS}/w`, keep: { rv: 'metadata.resourceVersion' }, silent: true },
      {
        request: `PUT ${WIDGETS}/w?fieldManager=four`,
        body: widget('w', { small: 1 }, {}, { resourceVersion: '${rv}' }),
      },
      { request: `PATCH ${WIDGETS}/w`, contentType: MERGE, body: { spec: { text: 'abc' } } },
      {
        request: `PATCH ${WIDGETS}/w`,
        contentType: MERGE,
        body: { spec: { text: 'abe' } },
        headers: { 'user-agent': 'program/v1.2 (linux)' },
      },
    ],
  },
  {
    name: 'the status has owners of its own',
    steps: [
      quiet(as('a', widget('w', { text: 'abc' }, { status: { phase: 'Bad' } }))),
      get('w'),
      as('a', widget('w', {}, { status: { phase: 'Good' } }), '', `${WIDGETS}/w/status`),
      as(
        'a',
        widget('w', { text: 'abd' }, { status: { phase: 'Good' } }, { labels: { x: 'y' } }),
        '',
        `${WIDGETS}/w/status`,
      ),
      as('b', widget('w', {}, { status: { phase: 'Bad' } }), '', `${WIDGETS}/w/status`),
      update('c', { status: { conditions: [{ type: 'Ready', status: 'True' }] } }, `${WIDGETS}/w/status`),
      as(
        'd',
        widget(
          'w',
          {},
          {
            status: {
              conditions: [
                { type: 'Done', status: 'True' },
                { type: 'Ready', status: 'False' },
              ],
            },
          },
        ),
        '',
        `${WIDGETS}/w/status`,
      ),
      as(
        'd',
        widget('w', {}, { status: { conditions: [{ type: 'Done', status: 'True' }] } }),
        '',
        `${WIDGETS}/w/status`,
      ),
      update('e', { metadata: { labels: { x: 'y' } }, status: { phase: 'Bad' } }, `${WIDGETS}/w/status`),
      as('a', widget('v', {}, { status: { phase: 'Good' } }), '', `${WIDGETS}/v/status`),
    ],
  },
  {
    name: 'a status without a subresource',
    steps: [
      as('a', gadget('${ns}', { size: 1 }, { status: { phase: 'x' } }), '', `${GADGETS}/\${ns}`),
      as('b', gadget('${ns}', {}, { status: { phase: 'y' } }), '', `${GADGETS}/\${ns}`),
      quiet({ request: `DELETE ${GADGETS}/\${ns}` }),
    ],
  },
  {
    name: 'a map that is left empty',
    steps: [
      as('a', gadget('${ns}', { size: 1 }), '', `${GADGETS}/\${ns}`),
      as('a', gadget('${ns}', {}), '', `${GADGETS}/\${ns}`),
      as('a', gadget('${ns}', { size: 1 }), '', `${GADGETS}/\${ns}`),
      as(
        'a',
        { apiVersion: `${GROUP}/v1`, kind: 'Gadget', metadata: { name: '${ns}' } },
        '',
        `${GADGETS}/\${ns}`,
      ),
      quiet({ request: `DELETE ${GADGETS}/\${ns}` }),
      as('a', spec({ required: { a: 'x', b: 'y' }, free: { a: { b: 1 } }, labels: { x: '1' } })),
      as('a', spec({ free: { a: {} }, labels: {} })),
    ],
  },
  {
    name: 'owners that are forgotten',
    steps: [
      quiet(as('a', spec({ text: 'abc' }))),
      update('b', { metadata: { managedFields: [] } }),
      update('b', { spec: { text: 'abd' } }),
      as('c', spec({ text: 'abd', count: 3 })),
      as('c', spec({ text: 'abe' })),
      update('b', { metadata: { managedFields: [{}] } }),
      update('b', { metadata: { managedFields: null } }),
      quiet(as('c', spec({ text: 'abd' }))),
      update('b', { metadata: { managedFields: null } }),
      {
        request: `PATCH ${WIDGETS}/w?fieldManager=b`,
        contentType: JSON_PATCH,
        body: [{ op: 'replace', path: '/metadata/managedFields', value: [{}] }],
      },
      quiet(cm('a', { x: '1' })),
      update('b', { metadata: { managedFields: [] } }, `${CONFIGMAPS}/c`),
      update('b', { data: { y: '1' } }, `${CONFIGMAPS}/c`),
      cm('a', { x: '2' }),
    ],
  },
  {
    name: 'owners that are written by hand',
    steps: [
      quiet(as('a', spec({ text: 'abc', count: 3 }))),
      update('b', {
        metadata: {
          managedFields: [
            {
              manager: 'c',
              operation: 'Apply',
              apiVersion: `${GROUP}/v1`,
              fieldsType: 'FieldsV1',
              time: '2001-01-01T00:00:00Z',
              fieldsV1: { 'f:spec': { 'f:text': {} } },
            },
          ],
        },
      }),
      as('c', spec({})),
      update('b', { metadata: { managedFields: [{ manager: 'c', operation: 'Odd' }] } }),
      update('b', { metadata: { managedFields: [{ manager: 'c' }] } }),
      { ...update('b', { metadata: { managedFields: 'x' } }), view: causes },
      update('b', {
        metadata: {
          managedFields: [
            {
              manager: 'c',
              operation: 'Apply',
              apiVersion: `${GROUP}/v1`,
              fieldsType: 'FieldsV1',
              fieldsV1: { bad: {} },
            },
          ],
        },
      }),
      get('w'),
    ],
  },
  {
    name: 'many updaters',
    steps: [
      quiet(create(widget('w', {}, {}, { labels: { l: '0' } }), '?fieldManager=m0')),
      ...Array.from({ length: 12 }, (_, i) =>
        quiet(update(`m${i + 1}`, { metadata: { labels: { [`l${i}`]: 'x' } } })),
      ),
      {
        ...get('w'),
        // Which are the oldest of one second is told by their names.
        view: (body) => {
          const entries = (body as { metadata: { managedFields: { manager: string; fieldsV1: object }[] } })
            .metadata.managedFields;
          return { count: entries.length, old: entries.some((entry) => entry.manager === 'ancient-changes') };
        },
      },
    ],
  },
  {
    name: 'finalizers, owners, labels and annotations',
    steps: [
      as(
        'a',
        spec(
          {},
          { finalizers: ['example.com/a'], labels: { l: '1' }, annotations: { 'example.com/x': 'y' } },
        ),
      ),
      as('b', spec({}, { finalizers: ['example.com/b'], labels: { m: '1' } })),
      as('a', spec({}, { labels: { l: '2' } })),
      as('b', spec({})),
    ],
  },
  {
    name: 'built-in kinds',
    steps: [
      cm('a', { x: '1', y: '2' }),
      cm('b', { y: '3', z: '4' }),
      cm('b', { z: '4' }, '', { labels: { l: '1' } }),
      cm('a', { x: '1' }),
      as(
        'a',
        { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'c' }, bogus: 1 },
        '',
        `${CONFIGMAPS}/c`,
      ),
      as(
        'a',
        { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'c' }, data: { x: 1 } },
        '',
        `${CONFIGMAPS}/c`,
      ),
      {
        request: `PUT ${CONFIGMAPS}/c?fieldManager=d`,
        body: configMap('c', { q: '1' }),
      },
      as(
        'a',
        { apiVersion: 'v1', kind: 'Secret', metadata: { name: 's' }, stringData: { x: 'y' } },
        '',
        '/api/v1/namespaces/${ns}/secrets/s',
      ),
      as(
        'a',
        { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: 's' }, secrets: [{ name: 'x' }] },
        '',
        '/api/v1/namespaces/${ns}/serviceaccounts/s',
      ),
      as(
        'b',
        { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: 's' }, secrets: [{ name: 'y' }] },
        '',
        '/api/v1/namespaces/${ns}/serviceaccounts/s',
      ),
    ],
  },
  {
    name: 'leases, roles and bindings',
    steps: [
      as(
        'a',
        {
          apiVersion: 'coordination.k8s.io/v1',
          kind: 'Lease',
          metadata: { name: 'l' },
          spec: { holderIdentity: 'me', leaseDurationSeconds: 15, renewTime: '2024-01-02T03:04:05.123456Z' },
        },
        '',
        '/apis/coordination.k8s.io/v1/namespaces/${ns}/leases/l',
      ),
      as(
        'a',
        {
          apiVersion: 'rbac.authorization.k8s.io/v1',
          kind: 'Role',
          metadata: { name: 'r' },
          rules: [{ apiGroups: [''], resources: ['pods'], verbs: ['get'] }],
        },
        '',
        '/apis/rbac.authorization.k8s.io/v1/namespaces/${ns}/roles/r',
      ),
      as(
        'b',
        {
          apiVersion: 'rbac.authorization.k8s.io/v1',
          kind: 'Role',
          metadata: { name: 'r' },
          rules: [{ apiGroups: [''], resources: ['pods'], verbs: ['list'] }],
        },
        '',
        '/apis/rbac.authorization.k8s.io/v1/namespaces/${ns}/roles/r',
      ),
      as(
        'a',
        {
          apiVersion: 'rbac.authorization.k8s.io/v1',
          kind: 'RoleBinding',
          metadata: { name: 'b' },
          roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: 'r' },
          subjects: [{ kind: 'User', name: 'nobody' }],
        },
        '',
        '/apis/rbac.authorization.k8s.io/v1/namespaces/${ns}/rolebindings/b',
      ),
    ],
  },
  {
    name: 'from client-side apply',
    steps: [
      {
        request: `POST ${CONFIGMAPS}?fieldManager=kubectl-client-side-apply`,
        body: configMap(
          'c',
          { x: '1', y: '2' },
          {
            annotations: {
              [LAST]:
                '{"apiVersion":"v1","data":{"x":"1","y":"2"},"kind":"ConfigMap","metadata":{"annotations":{},"name":"c"}}\n',
            },
          },
        ),
      },
      cm('other', { x: '2' }),
      cm('kubectl', { x: '2', y: '2' }),
      { request: `GET ${CONFIGMAPS}/c` },
      quiet(update('b', { data: { y: '9' } }, `${CONFIGMAPS}/c`)),
      cm('kubectl', { x: '3', y: '2' }),
      cm('kubectl', { x: '3' }),
    ],
  },
  {
    name: 'from client-side apply, with others in between',
    steps: [
      quiet({
        request: `POST ${CONFIGMAPS}?fieldManager=kubectl-client-side-apply`,
        body: configMap(
          'c',
          { x: '1', y: '2', z: '3' },
          {
            annotations: {
              [LAST]:
                '{"apiVersion":"v1","data":{"x":"1","y":"2"},"kind":"ConfigMap","metadata":{"annotations":{},"name":"c"}}\n',
            },
          },
        ),
      }),
      quiet(update('b', { data: { y: '9' } }, `${CONFIGMAPS}/c`)),
      cm('kubectl', { x: '2', y: '3', z: '4' }),
      cm('kubectl', { x: '2', y: '3', z: '4' }, force),
    ],
  },
  {
    name: 'without the right to create',
    steps: [
      quiet({
        request: 'POST /apis/rbac.authorization.k8s.io/v1/namespaces/${ns}/roles',
        body: {
          apiVersion: 'rbac.authorization.k8s.io/v1',
          kind: 'Role',
          metadata: { name: 'patcher' },
          rules: [{ apiGroups: [GROUP], resources: ['widgets'], verbs: ['get', 'patch'] }],
        },
      }),
      quiet({
        request: 'POST /apis/rbac.authorization.k8s.io/v1/namespaces/${ns}/rolebindings',
        body: {
          apiVersion: 'rbac.authorization.k8s.io/v1',
          kind: 'RoleBinding',
          metadata: { name: 'patcher' },
          roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: 'patcher' },
          subjects: [{ kind: 'User', name: 'nobody' }],
        },
      }),
      { request: `GET ${WIDGETS}/w`, as: 'nobody', until: 404, silent: true },
      { ...as('a', spec({})), as: 'nobody' },
      quiet(as('a', spec({}))),
      { ...as('a', spec({ text: 'abc' })), as: 'nobody' },
    ],
  },
  {
    name: 'in a namespace that is not there',
    steps: [as('a', spec({}), '', '/apis/contract.example.com/v1/namespaces/none-${ns}/widgets/w')],
  },
  {
    name: 'a schema that changes',
    steps: [
      quiet({
        request: 'POST /apis/apiextensions.k8s.io/v1/customresourcedefinitions',
        body: things({ type: 'object', additionalProperties: { type: 'string' } }, 'array', 'set'),
      }),
      { request: `GET ${THINGS}`, until: 200, silent: true },
      as('a', thing({ map: { x: '1' }, list: ['a'] }), '', `${THINGS}/t`),
      quiet({
        request: `PATCH /apis/apiextensions.k8s.io/v1/customresourcedefinitions/things.z\${ns}.example.com`,
        contentType: MERGE,
        body: {
          spec: (
            things(
              { type: 'object', 'x-kubernetes-map-type': 'atomic', additionalProperties: { type: 'string' } },
              'array',
              'atomic',
            ) as { spec: object }
          ).spec,
        },
      }),
      {
        request: `PATCH ${THINGS}/t?dryRun=All`,
        contentType: MERGE,
        body: { spec: { probe: 'x' } },
        until: 422,
        silent: true,
      },
      as('b', thing({ map: { y: '1' } }), '', `${THINGS}/t`),
      as('b', thing({ map: { y: '1' }, list: ['b'] }), force, `${THINGS}/t`),
      as('a', thing({}), '', `${THINGS}/t`),
      quiet({
        request: 'DELETE /apis/apiextensions.k8s.io/v1/customresourcedefinitions/things.z${ns}.example.com',
      }),
    ],
  },
];

function things(map: object, list: string, listType: string): object {
  const probe = listType === 'set' ? 'string' : 'integer';
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: 'things.z${ns}.example.com' },
    spec: {
      group: 'z${ns}.example.com',
      scope: 'Namespaced',
      names: { plural: 'things', kind: 'Thing' },
      versions: [
        {
          name: 'v1',
          served: true,
          storage: true,
          schema: {
            openAPIV3Schema: {
              type: 'object',
              properties: {
                spec: {
                  type: 'object',
                  properties: {
                    probe: { type: probe },
                    map,
                    list: { type: list, 'x-kubernetes-list-type': listType, items: { type: 'string' } },
                  },
                },
              },
            },
          },
        },
      ],
    },
  };
}

function thing(value: object): object {
  return { apiVersion: 'z${ns}.example.com/v1', kind: 'Thing', metadata: { name: 't' }, spec: value };
}

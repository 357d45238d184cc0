import type { Case, Step } from '../types.ts';
import {
  configMap,
  CONFIGMAPS,
  create,
  gadget,
  GADGETS,
  get,
  JSON_PATCH,
  MERGE,
  METADATA,
  quiet,
  TABLE,
  widget,
  WIDGETS,
} from './make.ts';

const patch = (body: unknown, contentType: string, query = '', path = ''): Step => ({
  request: `PATCH ${WIDGETS}/w${path}${query}`,
  contentType,
  body,
});
const made = quiet(create(widget('w', { text: 'abc', labels: { a: '1' }, list: ['x', 'y'] })));

export const objects: Case[] = [
  {
    name: 'create and get',
    steps: [
      create(widget('w', { text: 'abc' }, {}, { labels: { a: 'b' }, annotations: { 'example.com/x': 'y' } })),
      get('w'),
    ],
  },
  { name: 'create twice', steps: [made, create(widget('w'))] },
  {
    name: 'get what is not there',
    steps: [get('none'), { request: 'GET /apis/contract.example.com/v1/namespaces/nowhere/widgets/none' }],
  },
  {
    name: 'a resource that is not served',
    steps: [
      { request: 'GET /apis/contract.example.com/v1/namespaces/${ns}/others' },
      { request: 'GET /apis/none.example.com/v1/things' },
      { request: 'GET /api/v2' },
    ],
  },
  {
    name: 'create in a namespace that is not there',
    steps: [{ request: 'POST /apis/contract.example.com/v1/namespaces/nowhere/widgets', body: widget('w') }],
  },
  { name: 'create without a body', steps: [{ request: `POST ${WIDGETS}` }] },
  {
    name: 'create with a body that is no JSON',
    steps: [{ request: `POST ${WIDGETS}`, body: '{"apiVersion":' }],
  },
  { name: 'create with a body that is a list', steps: [{ request: `POST ${WIDGETS}`, body: '[1]' }] },
  {
    name: 'create another kind',
    steps: [
      {
        request: `POST ${WIDGETS}`,
        body: { apiVersion: 'contract.example.com/v1', kind: 'Other', metadata: { name: 'w' } },
      },
    ],
  },
  {
    name: 'create another version',
    steps: [
      {
        request: `POST ${WIDGETS}`,
        body: { apiVersion: 'contract.example.com/v2', kind: 'Widget', metadata: { name: 'w' } },
      },
    ],
  },
  {
    name: 'create without a kind',
    steps: [{ request: `POST ${WIDGETS}`, body: { metadata: { name: 'w' } } }],
  },
  {
    name: 'a built-in object that does not say what it is',
    steps: [
      { request: `POST ${CONFIGMAPS}`, body: { metadata: { name: 'c' }, data: { a: 'b' } } },
      { request: `PUT ${CONFIGMAPS}/c`, body: { kind: 'ConfigMap', metadata: { name: 'c' } } },
      { request: `PUT ${CONFIGMAPS}/c`, body: { apiVersion: 'v1', metadata: { name: 'c' } } },
      { request: `PUT ${CONFIGMAPS}/c`, body: { apiVersion: 'v9', metadata: { name: 'c' } } },
      {
        request: 'POST /apis/authorization.k8s.io/v1/selfsubjectaccessreviews',
        body: { spec: { nonResourceAttributes: { path: '/x', verb: 'get' } } },
        view: (body) => (body as { status: { allowed: boolean } }).status.allowed,
      },
    ],
  },
  { name: 'create for another namespace', steps: [create(widget('w', {}, {}, { namespace: 'elsewhere' }))] },
  {
    name: 'create with an unknown content type',
    steps: [{ request: `POST ${WIDGETS}`, body: 'a', contentType: 'text/plain' }],
  },
  {
    name: 'create in YAML',
    steps: [
      {
        request: `POST ${WIDGETS}`,
        contentType: 'application/yaml',
        body: 'apiVersion: contract.example.com/v1\nkind: Widget\nmetadata:\n  name: w\nspec:\n  text: abc\n',
      },
    ],
  },
  {
    name: 'names',
    steps: ['', 'A', 'a_b', '-a', 'a..b', 'x'.repeat(254), 'a.b-c.1'].map((name) => create(widget(name))),
  },
  {
    name: 'labels and annotations',
    steps: [
      create(widget('w', {}, {}, { labels: { 'a b': 'c' } })),
      create(widget('w', {}, {}, { labels: { a: 'b c' } })),
      create(widget('w', {}, {}, { labels: { a: 5 } })),
      create(widget('w', {}, {}, { annotations: { 'a/b/c': 'd' } })),
      create(widget('w', {}, {}, { finalizers: ['no good'] })),
      create(widget('w', {}, {}, { ownerReferences: [{ apiVersion: 'v1', kind: 'Pod' }] })),
    ],
  },
  {
    name: 'metadata that the server owns',
    steps: [
      create(
        widget(
          'w',
          {},
          {},
          {
            uid: '6ba7b810-9dad-11d1-80b4-00c04fd430c8',
            generation: 7,
            creationTimestamp: '2001-01-01T00:00:00Z',
            selfLink: '/x',
          },
        ),
      ),
      create(widget('v', {}, {}, { resourceVersion: '5' })),
    ],
  },
  {
    name: 'generateName',
    steps: [
      {
        request: `POST ${WIDGETS}`,
        body: { ...widget('x'), metadata: { generateName: 'gen-' } },
        keep: { generated: 'metadata.name' },
      },
      {
        request: `POST ${WIDGETS}`,
        body: { ...widget('x'), metadata: { generateName: 'Bad_' } },
        view: (body) => (body as { code: number }).code,
      },
    ],
  },
  {
    name: 'status is not set by create or update',
    steps: [
      create(widget('w', { text: 'abc' }, { status: { phase: 'Good' } })),
      patch({ status: { phase: 'Bad' }, spec: { text: 'abd' } }, MERGE),
      get('w'),
    ],
  },
  {
    name: 'the status subresource',
    steps: [
      made,
      patch(
        { status: { phase: 'Good' }, spec: { text: 'zzz' }, metadata: { labels: { a: 'b' } } },
        MERGE,
        '',
        '/status',
      ),
      patch({ status: { phase: 'Worse' } }, MERGE, '', '/status'),
      patch({ status: { conditions: [{ type: 'Ready' }] } }, MERGE, '', '/status'),
      patch(
        {
          status: {
            conditions: [
              { type: 'Ready', status: 'True' },
              { type: 'Ready', status: 'False' },
            ],
          },
        },
        MERGE,
        '',
        '/status',
      ),
      { request: `GET ${WIDGETS}/w/status` },
      { request: `GET ${GADGETS}/g/status` },
    ],
  },
  {
    name: 'generation moves with the spec alone',
    steps: [
      made,
      patch({ metadata: { labels: { a: 'b' } } }, MERGE),
      patch({ spec: { text: 'new' } }, MERGE),
      patch({ spec: { text: 'new' } }, MERGE),
      patch({ status: { phase: 'Good' } }, MERGE, '', '/status'),
    ],
  },
  {
    name: 'without a status subresource',
    steps: [
      { request: `POST ${GADGETS}`, body: gadget('${ns}', { size: 1 }, { status: { phase: 'Good' } }) },
      { request: `PATCH ${GADGETS}/\${ns}`, contentType: MERGE, body: { status: { phase: 'Bad' } } },
      { request: `PUT ${GADGETS}/\${ns}/status`, body: gadget('${ns}') },
      { request: `DELETE ${GADGETS}/\${ns}` },
      { request: `POST ${GADGETS}`, body: { ...gadget('x'), metadata: { name: 'x', namespace: 'y' } } },
    ],
  },
  {
    name: 'update',
    steps: [
      { ...made, keep: { rv: 'metadata.resourceVersion', uid: 'metadata.uid' } },
      { request: `PUT ${WIDGETS}/w`, body: widget('w', { text: 'new' }) },
      { request: `PUT ${WIDGETS}/w`, body: widget('w', { text: 'new' }, {}, { resourceVersion: '1' }) },
      { request: `PUT ${WIDGETS}/w`, body: widget('w', { text: 'new' }, {}, { resourceVersion: 'x' }) },
      {
        request: `PUT ${WIDGETS}/w`,
        body: widget('other', { text: 'new' }, {}, { resourceVersion: '${rv}' }),
      },
      {
        request: `PUT ${WIDGETS}/w`,
        body: widget(
          'w',
          { text: 'new' },
          {},
          { resourceVersion: '${rv}', uid: '6ba7b810-9dad-11d1-80b4-00c04fd430c8' },
        ),
      },
      { request: `PUT ${WIDGETS}/w`, body: widget('w', { text: 'new' }, {}, { resourceVersion: '${rv}' }) },
      { request: `PUT ${WIDGETS}/w`, body: widget('w', { text: 'newer' }, {}, { resourceVersion: '${rv}' }) },
      { request: `PUT ${WIDGETS}/none`, body: widget('none', {}, {}, { resourceVersion: '5' }) },
      { request: `PUT ${WIDGETS}/none`, body: widget('none', {}) },
    ],
  },
  {
    name: 'update of the status',
    steps: [
      { ...made, keep: { rv: 'metadata.resourceVersion' } },
      {
        request: `PUT ${WIDGETS}/w/status`,
        body: widget('w', { text: 'zzz' }, { status: { phase: 'Good' } }, { resourceVersion: '${rv}' }),
      },
      {
        request: `PUT ${WIDGETS}/w/status`,
        body: widget('w', {}, { status: { phase: 'Bad' } }, { resourceVersion: '${rv}' }),
      },
      { request: `PUT ${WIDGETS}/w/status`, body: widget('w', {}, { status: { phase: 'Bad' } }) },
    ],
  },
  {
    name: 'merge patch',
    steps: [
      made,
      patch({ spec: { labels: { b: '2' }, text: null } }, MERGE),
      patch({ spec: { labels: null } }, MERGE),
      patch({ metadata: { resourceVersion: '1' }, spec: { text: 'xyz' } }, MERGE),
      patch({ metadata: { name: 'other' } }, MERGE),
      patch({ kind: 'Other' }, MERGE),
      patch([1], MERGE),
      patch('{"spec":', MERGE),
      patch({ spec: { count: 'x' } }, MERGE),
      { ...patch({ spec: {} }, MERGE), request: `PATCH ${WIDGETS}/none` },
    ],
  },
  {
    name: 'JSON patch',
    steps: [
      made,
      patch(
        [
          { op: 'replace', path: '/spec/text', value: 'new' },
          { op: 'add', path: '/spec/list/-', value: 'z' },
        ],
        JSON_PATCH,
      ),
      patch([{ op: 'test', path: '/spec/text', value: 'other' }], JSON_PATCH),
      patch([{ op: 'remove', path: '/spec/none' }], JSON_PATCH),
      patch([{ op: 'replace', path: '/spec/none', value: 1 }], JSON_PATCH),
      patch([{ op: 'odd', path: '/spec' }], JSON_PATCH),
      patch({ op: 'remove' }, JSON_PATCH),
      patch(
        [
          { op: 'move', from: '/spec/labels', path: '/spec/free' },
          { op: 'copy', from: '/spec/text', path: '/spec/defaulted' },
        ],
        JSON_PATCH,
      ),
      patch([{ op: 'add', path: '/spec/list/9', value: 'z' }], JSON_PATCH),
    ],
  },
  {
    name: 'other patches of a custom kind',
    steps: [
      made,
      patch({ spec: {} }, 'application/strategic-merge-patch+json'),
      patch({ spec: {} }, 'application/json'),
      patch({ spec: {} }, 'text/plain'),
    ],
  },
  {
    name: 'dry run',
    steps: [
      create(widget('w', { text: 'abc' }), '?dryRun=All'),
      get('w'),
      create(widget('w', { text: 'A' }), '?dryRun=All'),
      create(widget('w'), '?dryRun=Some'),
      made,
      patch({ spec: { text: 'new' } }, MERGE, '?dryRun=All'),
      { request: `DELETE ${WIDGETS}/w?dryRun=All` },
      get('w'),
    ],
  },
  {
    name: 'delete',
    steps: [made, { request: `DELETE ${WIDGETS}/w` }, get('w'), { request: `DELETE ${WIDGETS}/w` }],
  },
  {
    name: 'delete with preconditions',
    steps: [
      { ...made, keep: { uid: 'metadata.uid', rv: 'metadata.resourceVersion' } },
      {
        request: `DELETE ${WIDGETS}/w`,
        body: {
          apiVersion: 'v1',
          kind: 'DeleteOptions',
          preconditions: { uid: '6ba7b810-9dad-11d1-80b4-00c04fd430c8' },
        },
      },
      {
        request: `DELETE ${WIDGETS}/w`,
        body: { apiVersion: 'v1', kind: 'DeleteOptions', preconditions: { resourceVersion: '1' } },
      },
      {
        request: `DELETE ${WIDGETS}/w`,
        body: { apiVersion: 'v1', kind: 'DeleteOptions', propagationPolicy: 'Sideways' },
      },
      {
        request: `DELETE ${WIDGETS}/w`,
        body: { apiVersion: 'v1', kind: 'DeleteOptions', gracePeriodSeconds: 'x' },
      },
      {
        request: `DELETE ${WIDGETS}/w`,
        body: {
          apiVersion: 'v1',
          kind: 'DeleteOptions',
          preconditions: { uid: '${uid}', resourceVersion: '${rv}' },
        },
      },
    ],
  },
  {
    name: 'finalizers',
    steps: [
      create(widget('w', {}, {}, { finalizers: ['example.com/hold'] })),
      { request: `DELETE ${WIDGETS}/w` },
      { request: `DELETE ${WIDGETS}/w` },
      patch({ metadata: { finalizers: ['example.com/hold', 'example.com/more'] } }, MERGE),
      patch({ metadata: { labels: { a: 'b' } } }, MERGE),
      patch({ metadata: { finalizers: null } }, MERGE),
      get('w'),
    ],
  },
  {
    name: 'foreground deletion',
    steps: [
      { ...made, keep: { uid: 'metadata.uid' } },
      quiet(
        create(
          widget(
            'child',
            {},
            {},
            {
              ownerReferences: [
                {
                  apiVersion: 'contract.example.com/v1',
                  kind: 'Widget',
                  name: 'w',
                  uid: '${uid}',
                  blockOwnerDeletion: true,
                },
              ],
              finalizers: ['example.com/hold'],
            },
          ),
        ),
      ),
      { request: `DELETE ${WIDGETS}/w?propagationPolicy=Foreground` },
      {
        request: `PATCH ${WIDGETS}/child`,
        contentType: MERGE,
        body: { metadata: { finalizers: null } },
        silent: true,
      },
      { ...get('w'), until: 404 },
      { ...get('child'), until: 404 },
    ],
  },
  {
    name: 'background deletion takes the dependents',
    steps: [
      { ...made, keep: { uid: 'metadata.uid' } },
      quiet(
        create(
          widget(
            'child',
            {},
            {},
            {
              ownerReferences: [
                { apiVersion: 'contract.example.com/v1', kind: 'Widget', name: 'w', uid: '${uid}' },
              ],
            },
          ),
        ),
      ),
      { request: `DELETE ${WIDGETS}/w` },
      { ...get('child'), until: 404 },
    ],
  },
  {
    name: 'delete a collection',
    steps: [
      quiet(create(widget('a', {}, {}, { labels: { x: '1' } }))),
      quiet(create(widget('b', {}, {}, { labels: { x: '2' } }))),
      { request: `DELETE ${WIDGETS}?labelSelector=x%3D1` },
      {
        request: `GET ${WIDGETS}`,
        view: (body) =>
          (body as { items: { metadata: { name: string } }[] }).items.map((item) => item.metadata.name),
      },
    ],
  },
  {
    name: 'methods that are not there',
    steps: [{ request: `PUT ${WIDGETS}` }, { request: `POST ${WIDGETS}/w` }, { request: `PATCH ${WIDGETS}` }],
  },
  {
    name: 'media types of an answer',
    steps: [
      made,
      { ...get('w'), accept: METADATA },
      { ...get('w'), accept: TABLE },
      { ...get('w'), accept: 'text/plain' },
      { ...get('w'), accept: 'application/json;as=Other;v=v1;g=meta.k8s.io' },
      { ...get('w'), accept: 'text/plain, */*' },
    ],
  },
  {
    name: 'a built-in kind',
    steps: [
      { request: `POST ${CONFIGMAPS}`, body: configMap('c', { a: 'b' }) },
      { request: `PATCH ${CONFIGMAPS}/c`, contentType: MERGE, body: { data: { c: 'd' } } },
      {
        request: `PATCH ${CONFIGMAPS}/c`,
        contentType: 'application/strategic-merge-patch+json',
        body: { data: { a: null } },
      },
      { request: `PUT ${CONFIGMAPS}/c`, body: configMap('c', { e: 'f' }) },
      { request: `DELETE ${CONFIGMAPS}/c` },
    ],
  },
  {
    name: 'a built-in kind with a wrong type',
    steps: [
      { request: `POST ${CONFIGMAPS}`, body: configMap('c', { a: 5 }) },
      { request: `POST ${CONFIGMAPS}`, body: { ...configMap('c'), metadata: { name: 5 } } },
      { request: `POST ${CONFIGMAPS}?fieldValidation=Strict`, body: { ...configMap('c'), extra: 1 } },
      { request: `POST ${CONFIGMAPS}`, body: configMap('C_') },
    ],
  },
];

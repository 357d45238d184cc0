import type { Case, Step } from '../types.ts';
import {
  configMap,
  CONFIGMAPS,
  create,
  get,
  JSON_PATCH,
  MERGE,
  quiet,
  TABLE,
  widget,
  WIDGETS,
} from './make.ts';

const text = (body: unknown): unknown => (typeof body === 'string' ? body.slice(0, 300) : body);
/** What a JSON parser says is its own: the part after `json parse error:` is left out. */
const unparsed = (body: unknown): unknown => {
  const status = body as { message?: string };
  if (typeof status.message !== 'string') return body;
  return { ...status, message: status.message.replace(/(unrecognized \(must be of type Widget\)).*/s, '$1') };
};
/** Only what went wrong, and how it is called: the size itself is a server's own. */
const reason = (body: unknown): unknown => {
  const { code, reason: why } = body as { code?: number; reason?: string };
  return { code, reason: why };
};
const names = (body: unknown): unknown =>
  (body as { items?: { metadata: { name: string } }[] }).items?.map((item) => item.metadata.name) ?? body;
const made = quiet(create(widget('w', { text: 'abc' })));
const post = (body: unknown, more: Partial<Step> = {}): Step => ({
  request: `POST ${WIDGETS}`,
  body,
  ...more,
});
const raw = (json: string): string => `{"apiVersion":"contract.example.com/v1","kind":"Widget",${json}}`;

export const requests: Case[] = [
  {
    name: 'content types',
    steps: [
      post(widget('a'), { contentType: 'application/json; charset=utf-8' }),
      post(widget('b'), { contentType: 'application/json;charset=latin1' }),
      post(widget('c'), { contentType: 'APPLICATION/JSON' }),
      post(widget('d'), { contentType: 'application/xml' }),
      post(widget('e'), { contentType: 'nonsense' }),
      { ...made, request: `POST ${WIDGETS}`, silent: true },
      {
        request: `PATCH ${WIDGETS}/w`,
        contentType: `${MERGE}; charset=utf-8`,
        body: { spec: { text: 'abd' } },
      },
    ],
  },
  {
    name: 'bodies that are no object',
    steps: [
      '',
      'null',
      '5',
      '"a"',
      'true',
      '[]',
      '{}',
      '{',
      '{"a":}',
      raw('"metadata":null'),
      raw('"metadata":"x"'),
      raw('"metadata":[]'),
      '\u0000',
      '{"apiVersion":5,"kind":"Widget"}',
      '{"apiVersion":"contract.example.com/v1","kind":["Widget"]}',
    ].map((body) => post(body, { view: unparsed })),
  },
  {
    name: 'JSON that is odd',
    steps: [
      post(raw('"metadata":{"name":"a"},"spec":{"text":"abc","text":"abd"}')),
      post(raw('"metadata":{"name":"b"},"spec":{"count":1.0}')),
      post(raw('"metadata":{"name":"c"},"spec":{"count":1e0}')),
      post(raw('"metadata":{"name":"d"},"spec":{"free":{"n":12345678901234567890}}'), { view: reason }),
      post(
        raw('"metadata":{"name":"e"},"spec":{"free":{"__proto__":{"x":1},"constructor":2,"a\\u0000b":3}}'),
      ),
      post(raw('"metadata":{"name":"f"},"spec":{"text":"\\ud800"}'), { view: reason }),
      post(`${raw('"metadata":{"name":"g"}')} trailing`, { view: unparsed }),
      post(`\n\t ${raw('"metadata":{"name":"h"}')}\n`),
      post(raw('"metadata":{"name":"i"},"SPEC":{"text":"abc"}')),
      post(raw('"metadata":{"Name":"j"}')),
    ],
  },
  {
    name: 'bodies that are too large',
    steps: [
      post(JSON.stringify(widget('w', { free: { a: 'x'.repeat(3_200_000) } })), { view: reason }),
      post(widget('w', { free: { a: 'x'.repeat(100_000) } }), { view: reason }),
    ],
  },
  {
    name: 'nesting',
    steps: [
      post(raw(`"metadata":{"name":"a"},"spec":{"free":${'{"a":'.repeat(500)}1${'}'.repeat(500)}}`), {
        view: reason,
      }),
      post(raw(`"metadata":{"name":"b"},"spec":{"free":{"a":${'['.repeat(20_000)}${']'.repeat(20_000)}}}`), {
        view: reason,
      }),
    ],
  },
  {
    name: 'annotations that are too large',
    steps: [create(widget('w', {}, {}, { annotations: { a: 'x'.repeat(262_145) } }))],
  },
  {
    name: 'query parameters that are odd',
    steps: [
      made,
      { request: `GET ${WIDGETS}/w?nothing=1` },
      { request: `GET ${WIDGETS}/w?resourceVersion=x`, view: reason },
      { request: `GET ${WIDGETS}/w?resourceVersion=0`, view: (body) => (body as { kind: string }).kind },
      { request: `GET ${WIDGETS}?timeoutSeconds=x`, view: reason },
      { request: `GET ${WIDGETS}?limit=1&limit=2`, view: names },
      { request: `GET ${WIDGETS}?labelSelector=a&labelSelector=b`, view: names },
      { request: `GET ${WIDGETS}?limit=`, view: names },
      { request: `DELETE ${WIDGETS}/none?gracePeriodSeconds=x`, view: reason },
      { request: `DELETE ${WIDGETS}/none?propagationPolicy=Odd` },
      { request: `DELETE ${WIDGETS}/none?orphanDependents=perhaps`, view: reason },
      { request: `PATCH ${WIDGETS}/w?force=true`, contentType: MERGE, body: {} },
      { request: `POST ${WIDGETS}?fieldManager=${'x'.repeat(129)}`, body: widget('v') },
      {
        request: `POST ${WIDGETS}?dryRun=All&dryRun=All`,
        body: widget('v'),
        view: (body) => (body as { kind: string }).kind,
      },
      { request: `POST ${WIDGETS}?dryRun=`, body: widget('v') },
      { request: `GET ${WIDGETS}/w?pretty=true`, view: (body) => (body as { kind: string }).kind },
    ],
  },
  {
    name: 'paths that are odd',
    steps: [
      made,
      { request: `GET ${WIDGETS}/`, view: text },
      { request: `GET ${WIDGETS}/w/`, view: text },
      { request: `GET ${WIDGETS}/w/other`, view: text },
      { request: `GET ${WIDGETS}/w/scale`, view: text },
      { request: `GET ${WIDGETS}/%77` },
      { request: `GET ${WIDGETS}/a%2Fb`, view: text },
      { request: 'GET /api/v1/namespaces/${ns}/nothing', view: text },
      { request: 'GET /apis/contract.example.com/v1/namespaces/${ns}', view: text },
      { request: 'GET /apis/contract.example.com/v1/gadgets/none/status', view: text },
      { request: 'GET /apis/contract.example.com/v1/namespaces/${ns}/gadgets', view: text },
      { request: 'POST /apis/contract.example.com/v1/widgets', body: widget('w'), view: text },
      { request: 'GET /apis/contract.example.com/v1/widgets/w', view: text },
      { request: `DELETE ${WIDGETS}/w/status`, view: text },
      { request: `POST ${WIDGETS}/w/status`, body: widget('w'), view: text },
      {
        request: 'GET /apis/contract.example.com/v1/',
        view: (body) => (body as { kind?: string }).kind ?? text(body),
      },
      { request: 'OPTIONS /api/v1', view: text },
    ],
  },
  {
    name: 'the life of a name',
    steps: [
      { ...made, keep: { first: 'metadata.uid' } },
      quiet({ request: `DELETE ${WIDGETS}/w` }),
      { ...create(widget('w', { text: 'abc' })), keep: { second: 'metadata.uid' } },
      {
        request: `DELETE ${WIDGETS}/w`,
        body: { kind: 'DeleteOptions', apiVersion: 'v1', preconditions: { uid: '${first}' } },
      },
      { request: `PUT ${WIDGETS}/w`, body: widget('w', {}, {}, { uid: '${first}', resourceVersion: '1' }) },
      { request: `PATCH ${WIDGETS}/w`, contentType: MERGE, body: { metadata: { uid: '${first}' } } },
      {
        request: `PATCH ${WIDGETS}/w`,
        contentType: JSON_PATCH,
        body: [{ op: 'replace', path: '/metadata/uid', value: '${first}' }],
      },
      {
        request: `PATCH ${WIDGETS}/w`,
        contentType: MERGE,
        body: {
          metadata: {
            creationTimestamp: '2001-01-01T00:00:00Z',
            generation: 99,
            deletionTimestamp: '2001-01-01T00:00:00Z',
          },
        },
      },
      { request: `PATCH ${WIDGETS}/w`, contentType: MERGE, body: { metadata: { namespace: 'other' } } },
      { request: `PATCH ${WIDGETS}/w`, contentType: MERGE, body: { apiVersion: 'contract.example.com/v9' } },
      { request: `PATCH ${WIDGETS}/w`, contentType: MERGE, body: { metadata: { labels: { 'a b': 'c' } } } },
      { request: `PATCH ${WIDGETS}/w`, contentType: MERGE, body: { metadata: { finalizers: ['no good'] } } },
      get('w'),
    ],
  },
  {
    name: 'a write that changes nothing',
    steps: [
      { ...made, keep: { rv: 'metadata.resourceVersion' } },
      { request: `PATCH ${WIDGETS}/w`, contentType: MERGE, body: {}, silent: true },
      { request: `PATCH ${WIDGETS}/w`, contentType: MERGE, body: { spec: { text: 'abc' } }, silent: true },
      { request: `GET ${WIDGETS}?resourceVersion=\${rv}&resourceVersionMatch=Exact`, view: names },
      {
        request: `GET ${WIDGETS}?watch=true&timeoutSeconds=1&resourceVersion=\${rv}`,
        watch: { events: 1 },
        view: (events) => (events as unknown[]).length,
      },
    ],
  },
  {
    name: 'a merge patch of lists and nulls',
    steps: [
      quiet(
        create(widget('w', { list: ['a', 'b'], free: { a: 1, b: { c: 2, d: null }, e: [1, { f: null }] } })),
      ),
      {
        request: `PATCH ${WIDGETS}/w`,
        contentType: MERGE,
        body: { spec: { list: ['c'], free: { a: null, b: { c: null }, g: { h: null, i: 1 } } } },
      },
      { request: `PATCH ${WIDGETS}/w`, contentType: MERGE, body: { spec: { free: [1] } } },
      { request: `PATCH ${WIDGETS}/w`, contentType: MERGE, body: { spec: null } },
      { request: `PATCH ${WIDGETS}/w`, contentType: MERGE, body: { metadata: null } },
      { request: `PATCH ${WIDGETS}/w`, contentType: MERGE, body: 'null' },
    ],
  },
  {
    name: 'JSON patches at the edge',
    steps: [
      quiet(create(widget('w', { list: ['a', 'b'], free: { 'a/b': 1, 'c~d': 2, '': 3 } }))),
      {
        request: `PATCH ${WIDGETS}/w`,
        contentType: JSON_PATCH,
        body: [
          { op: 'replace', path: '/spec/free/a~1b', value: 5 },
          { op: 'remove', path: '/spec/free/c~0d' },
        ],
      },
      {
        request: `PATCH ${WIDGETS}/w`,
        contentType: JSON_PATCH,
        body: [
          { op: 'add', path: '/spec/list/0', value: 'c' },
          { op: 'remove', path: '/spec/list/2' },
        ],
      },
      { request: `PATCH ${WIDGETS}/w`, contentType: JSON_PATCH, body: [] },
      {
        request: `PATCH ${WIDGETS}/w`,
        contentType: JSON_PATCH,
        body: [{ op: 'test', path: '/spec/list', value: ['c', 'a'] }],
      },
      {
        request: `PATCH ${WIDGETS}/w`,
        contentType: JSON_PATCH,
        body: [{ op: 'replace', path: '/metadata/name', value: 'v' }],
      },
      {
        request: `PATCH ${WIDGETS}/w`,
        contentType: JSON_PATCH,
        body: [{ op: 'replace', path: '/status', value: { phase: 'Good' } }],
        view: reason,
      },
      {
        request: `PATCH ${WIDGETS}/w`,
        contentType: JSON_PATCH,
        body: [{ op: 'add', path: '/spec/free', value: null }],
      },
      { request: `PATCH ${WIDGETS}/w`, contentType: JSON_PATCH, body: '{', view: reason },
      {
        request: `PATCH ${WIDGETS}/w`,
        contentType: JSON_PATCH,
        body: Array.from({ length: 10_001 }, () => ({ op: 'test', path: '/kind', value: 'Widget' })),
        view: reason,
      },
    ],
  },
  {
    name: 'orphans',
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
      { request: `DELETE ${WIDGETS}/w?propagationPolicy=Orphan` },
      { ...get('w'), until: 404 },
      get('child'),
    ],
  },
  {
    name: 'an owner that is not there',
    steps: [
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
                  uid: '6ba7b810-9dad-11d1-80b4-00c04fd430c8',
                },
              ],
            },
          ),
        ),
      ),
      { ...get('child'), until: 404 },
    ],
  },
  {
    name: 'built-in kinds: strategic merge',
    steps: [
      quiet({
        request: `POST ${CONFIGMAPS}`,
        body: configMap('c', { a: '1', b: '2' }, { finalizers: ['example.com/a'] }),
      }),
      {
        request: `PATCH ${CONFIGMAPS}/c`,
        contentType: 'application/strategic-merge-patch+json',
        body: { data: { a: null, c: '3' }, metadata: { finalizers: ['example.com/b'] } },
      },
      {
        request: `PATCH ${CONFIGMAPS}/c`,
        contentType: 'application/strategic-merge-patch+json',
        body: {
          metadata: {
            $deleteFromPrimitiveList: null,
            '$deleteFromPrimitiveList/finalizers': ['example.com/a', 'example.com/b'],
          },
        },
      },
      {
        request: `PATCH ${CONFIGMAPS}/c`,
        contentType: 'application/strategic-merge-patch+json',
        body: { data: { $patch: 'replace', z: '9' } },
      },
      {
        request: `GET ${CONFIGMAPS}/c`,
        accept: TABLE,
        view: (body) => (body as { rows: { cells: unknown[] }[] }).rows[0]?.cells,
      },
    ],
  },
  {
    name: 'a namespace that is given up',
    steps: [
      made,
      quiet({ request: `POST ${CONFIGMAPS}`, body: configMap('c') }),
      {
        request: 'DELETE /api/v1/namespaces/${ns}',
        view: (body) => (body as { status: { phase: string } }).status.phase,
      },
      create(widget('late')),
      { ...get('w'), until: 404, silent: true },
      { request: 'GET /api/v1/namespaces/${ns}', until: 404 },
      get('w'),
      { request: `GET ${WIDGETS}`, view: names },
    ],
  },
];

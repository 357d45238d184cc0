import type { Case } from '../types.ts';
import { create, METADATA_LIST, quiet, TABLE, widget, WIDGETS } from './make.ts';

const names = (body: unknown): unknown => {
  const list = body as { items?: { metadata: { name: string } }[]; metadata?: object };
  return list.items === undefined
    ? body
    : { names: list.items.map((item) => item.metadata.name), metadata: list.metadata };
};
const some = [
  quiet(create(widget('a', { choice: 'red', count: 1 }, {}, { labels: { tier: 'front', n: '1' } }))),
  quiet(
    create(widget('b', { choice: 'green', count: 2, on: true }, {}, { labels: { tier: 'back', n: '2' } })),
  ),
  quiet(create(widget('c', { choice: 'red' }, {}, { labels: { n: '3', 'app.kubernetes.io/name': 'me' } }))),
];
const select = (query: string) => ({ request: `GET ${WIDGETS}?${query}`, view: names });
const label = (text: string) => select(`labelSelector=${encodeURIComponent(text)}`);
const field = (text: string) => select(`fieldSelector=${encodeURIComponent(text)}`);

export const lists: Case[] = [
  { name: 'a list', steps: [...some, { request: `GET ${WIDGETS}` }] },
  { name: 'an empty list', steps: [{ request: `GET ${WIDGETS}` }] },
  {
    name: 'label selectors',
    steps: [
      ...some,
      ...[
        'tier=front',
        'tier==front',
        'tier!=front',
        'tier',
        '!tier',
        'tier in (front,back)',
        'tier notin (front)',
        'n>1',
        'n<2',
        'tier=front,n=1',
        'tier in ()',
        'tier=',
        '',
      ].map(label),
    ],
  },
  {
    name: 'label selectors that are none',
    steps: [
      'tier=a b',
      'a,,b',
      '=b',
      'tier in front',
      'tier in (a',
      'a b',
      'a=b=c',
      '-a=b',
      'a in (b,c',
      'n>x',
      'a=!',
      '!a=b',
      'a/b/c=d',
      'tier in (a b)',
      ',',
    ].map(label),
  },
  {
    name: 'field selectors',
    steps: [
      ...some,
      ...[
        'metadata.name=a',
        'metadata.name!=a',
        'metadata.namespace=other',
        'spec.choice=red',
        'spec.choice!=red',
        'spec.count=2',
        'spec.count=',
        'spec.choice=red,metadata.name=c',
        '',
      ].map(field),
    ],
  },
  {
    name: 'field selectors that are none',
    steps: ['spec.text=a', 'metadata.labels=a', 'x', 'a=b\\c', 'spec.choice=a=b', '=a', 'metadata.name'].map(
      field,
    ),
  },
  {
    name: 'pages',
    steps: [
      ...some,
      { ...select('limit=2'), keep: { token: 'metadata.continue' } },
      { ...select('limit=2&continue=${token}'), keep: { end: 'metadata.continue' } },
      select('limit=5'),
      select('limit=2&labelSelector=tier'),
      {
        ...select('limit=1&continue=nonsense'),
        // what the decoder says of the bytes is its own affair
        view: (body) => {
          const status = body as { message: string };
          return { ...status, message: status.message.replace(/(is not valid).*/, '$1') };
        },
      },
      select('limit=x'),
      select('limit=-1'),
    ],
  },
  {
    name: 'resource versions of lists',
    steps: [
      ...some,
      select('resourceVersion=0'),
      select('resourceVersion=1'),
      select('resourceVersion=x'),
      select('resourceVersionMatch=Exact'),
      select('resourceVersion=0&resourceVersionMatch=Exact'),
      select('resourceVersion=1&resourceVersionMatch=Odd'),
      select('resourceVersion=1&resourceVersionMatch=NotOlderThan'),
      {
        ...select('resourceVersion=99999999999&resourceVersionMatch=Exact'),
        view: (body) => {
          const { code, reason } = body as { code: number; reason: string };
          return { code, reason };
        },
      },
    ],
  },
  {
    name: 'exact resource versions',
    steps: [
      ...some.slice(0, 1),
      { request: `GET ${WIDGETS}`, keep: { rv: 'metadata.resourceVersion' }, silent: true },
      ...some.slice(1, 2),
      select('resourceVersion=${rv}&resourceVersionMatch=Exact'),
      select('resourceVersion=${rv}&resourceVersionMatch=NotOlderThan'),
    ],
  },
  {
    name: 'pages of one state',
    steps: [
      ...some,
      { ...select('limit=1'), keep: { token: 'metadata.continue', rv: 'metadata.resourceVersion' } },
      quiet(create(widget('aa'))),
      quiet({ request: `DELETE ${WIDGETS}/b` }),
      { ...select('limit=1&continue=${token}'), keep: { next: 'metadata.continue' } },
      select('limit=5&continue=${next}'),
      select('continue=${token}'),
      select('limit=5'),
      select('limit=1&continue=${token}&resourceVersion=${rv}'),
      select('limit=1&continue=${token}&resourceVersion=0'),
      select('limit=1&continue=${token}&resourceVersionMatch=Exact'),
      select('limit=1&continue=${token}&labelSelector=tier'),
    ],
  },
  {
    name: 'pages that begin at a version',
    steps: [
      ...some.slice(0, 2),
      { request: `GET ${WIDGETS}`, keep: { rv: 'metadata.resourceVersion' }, silent: true },
      ...some.slice(2),
      {
        ...select('limit=1&resourceVersion=${rv}&resourceVersionMatch=Exact'),
        keep: { token: 'metadata.continue' },
      },
      select('limit=5&continue=${token}'),
      select('limit=1&resourceVersion=${rv}'),
      select('limit=1&resourceVersion=${rv}&resourceVersionMatch=NotOlderThan'),
      select('limit=2&resourceVersion=0'),
      select('limit=2&resourceVersion=0&resourceVersionMatch=NotOlderThan'),
      select('resourceVersion=${rv}'),
    ],
  },
  {
    name: 'a state that is gone',
    steps: [
      ...some,
      {
        ...select('limit=1'),
        keep: { token: 'metadata.continue', rv: 'metadata.resourceVersion' },
        silent: true,
      },
      quiet(create(widget('d'))),
      quiet(create(widget('e'))),
      {
        ...select('limit=1&continue=${token}'),
        compact: true,
        keep: { fresh: 'metadata.continue' },
      },
      select('limit=5&continue=${fresh}'),
      select('resourceVersion=${rv}&resourceVersionMatch=Exact'),
      select('resourceVersion=${rv}&resourceVersionMatch=NotOlderThan'),
      select('resourceVersion=${rv}'),
    ],
  },
  {
    name: 'tables',
    steps: [
      ...some,
      { request: `GET ${WIDGETS}`, accept: TABLE, view: withoutDescriptions },
      { request: `GET ${WIDGETS}?includeObject=None`, accept: TABLE, view: withoutDescriptions },
      { request: `GET ${WIDGETS}?includeObject=Object&limit=1`, accept: TABLE, view: withoutDescriptions },
      { request: `GET ${WIDGETS}?includeObject=Odd`, accept: TABLE },
      { request: `GET ${WIDGETS}/a`, accept: TABLE, view: withoutDescriptions },
      { request: `GET ${WIDGETS}/none`, accept: TABLE },
    ],
  },
  { name: 'metadata alone', steps: [...some, { request: `GET ${WIDGETS}`, accept: METADATA_LIST }] },
  {
    name: 'lists of all namespaces',
    steps: [
      ...some,
      {
        request: 'GET /apis/contract.example.com/v1/widgets?fieldSelector=metadata.namespace%3D${ns}',
        view: names,
      },
    ],
  },
];

/** Descriptions of columns are prose of the server's own. */
export function withoutDescriptions(body: unknown): unknown {
  const table = body as { columnDefinitions?: Record<string, unknown>[] };
  if (!Array.isArray(table.columnDefinitions)) return body;
  return {
    ...table,
    columnDefinitions: table.columnDefinitions.map(({ name, type, format, priority }) => ({
      name,
      type,
      format,
      priority,
    })),
  };
}

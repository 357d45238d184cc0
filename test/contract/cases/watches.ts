import type { Case, Step } from '../types.ts';
import { create, MERGE, METADATA, quiet, TABLE, widget, WIDGETS } from './make.ts';

const from: Step = { request: `GET ${WIDGETS}`, keep: { rv: 'metadata.resourceVersion' }, silent: true };
const short = (events: unknown): unknown =>
  (
    events as {
      type: string;
      object: { metadata?: { name?: string; labels?: unknown; annotations?: unknown }; kind: string };
    }[]
  ).map(({ type, object }) => ({
    type,
    kind: object.kind,
    name: object.metadata?.name,
    annotations: object.metadata?.annotations,
  }));
const history: Step[] = [
  quiet(create(widget('a', { choice: 'red' }, {}, { labels: { x: '1' } }))),
  quiet(create(widget('b', { choice: 'green' }))),
  quiet({ request: `PATCH ${WIDGETS}/a`, contentType: MERGE, body: { metadata: { labels: { x: '2' } } } }),
  quiet({ request: `PATCH ${WIDGETS}/b`, contentType: MERGE, body: { spec: { choice: 'red' } } }),
  quiet({ request: `DELETE ${WIDGETS}/a` }),
];
const watch = (query: string, events: number, more: Partial<Step> = {}): Step => ({
  request: `GET ${WIDGETS}?watch=true&timeoutSeconds=30&${query}`,
  watch: { events },
  view: short,
  ...more,
});

export const watches: Case[] = [
  { name: 'what happened since', steps: [from, ...history, watch('resourceVersion=${rv}', 5)] },
  {
    name: 'whole events',
    steps: [
      from,
      ...history.slice(0, 1),
      { request: `GET ${WIDGETS}?watch=true&timeoutSeconds=30&resourceVersion=\${rv}`, watch: { events: 1 } },
    ],
  },
  {
    name: 'a label selector',
    steps: [from, ...history, watch('resourceVersion=${rv}&labelSelector=x%3D1', 2)],
  },
  {
    name: 'a field selector',
    steps: [from, ...history, watch('resourceVersion=${rv}&fieldSelector=spec.choice%3Dred', 3)],
  },
  {
    name: 'a field selector on a name',
    steps: [from, ...history, watch('resourceVersion=${rv}&fieldSelector=metadata.name%3Db', 2)],
  },
  { name: 'from nothing: what there is first', steps: [...history, watch('', 1)] },
  { name: 'from 0', steps: [...history, watch('resourceVersion=0', 1)] },
  {
    name: 'sendInitialEvents',
    steps: [
      ...history,
      watch('sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true', 2, {
        watch: { events: 2, bookmarks: true },
      }),
    ],
  },
  {
    name: 'sendInitialEvents without its companions',
    steps: [
      { request: `GET ${WIDGETS}?watch=true&timeoutSeconds=3&sendInitialEvents=true` },
      {
        request: `GET ${WIDGETS}?watch=true&timeoutSeconds=30&sendInitialEvents=true&resourceVersionMatch=Exact&resourceVersion=0`,
      },
      {
        request: `GET ${WIDGETS}?watch=true&timeoutSeconds=30&resourceVersionMatch=NotOlderThan&resourceVersion=0`,
      },
      { request: `GET ${WIDGETS}?sendInitialEvents=true&resourceVersionMatch=NotOlderThan` },
    ],
  },
  {
    name: 'a version that is gone',
    steps: [
      from,
      {
        request: `GET ${WIDGETS}?watch=true&timeoutSeconds=30&resourceVersion=1`,
        compact: true,
        watch: { events: 1 },
        view: (events) =>
          (events as { type: string; object: { code?: number; reason?: string } }[]).map(
            ({ type, object }) => ({ type, code: object.code, reason: object.reason }),
          ),
      },
    ],
  },
  { name: 'a version that is none', steps: [{ request: `GET ${WIDGETS}?watch=true&resourceVersion=x` }] },
  {
    name: 'selectors that are none',
    steps: [
      { request: `GET ${WIDGETS}?watch=true&labelSelector=a%20b` },
      { request: `GET ${WIDGETS}?watch=true&fieldSelector=spec.text%3Da` },
    ],
  },
  {
    name: 'the end of a quiet watch',
    steps: [
      from,
      { request: `GET ${WIDGETS}?watch=true&timeoutSeconds=1&resourceVersion=\${rv}`, watch: { events: 1 } },
    ],
  },
  {
    name: 'tables',
    steps: [
      from,
      ...history.slice(0, 2),
      {
        request: `GET ${WIDGETS}?watch=true&timeoutSeconds=30&resourceVersion=\${rv}`,
        accept: TABLE,
        watch: { events: 2 },
        view: (events) =>
          (
            events as {
              type: string;
              object: { kind: string; columnDefinitions: unknown[] | null; rows: { cells: unknown[] }[] };
            }[]
          ).map(({ type, object }) => ({
            type,
            kind: object.kind,
            columns: object.columnDefinitions?.length ?? 0,
            rows: object.rows,
          })),
      },
    ],
  },
  {
    name: 'metadata alone',
    steps: [from, ...history.slice(0, 1), watch('resourceVersion=${rv}', 1, { accept: METADATA })],
  },
  {
    name: 'one object',
    steps: [
      from,
      ...history,
      {
        ...watch('resourceVersion=${rv}', 2),
        request: `GET ${WIDGETS.replace('/namespaces', '/watch/namespaces')}/b?timeoutSeconds=30&resourceVersion=\${rv}`,
      },
    ],
  },
];

import type { Case } from '../types.ts';
import { configMap, CONFIGMAPS, quiet, TABLE, WIDGETS } from './make.ts';
import { withoutDescriptions } from './lists.ts';

const AGGREGATED = 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList';
const ours = (body: unknown): unknown => {
  const { items, ...rest } = body as { items: { metadata: { name: string } }[] };
  return { ...rest, items: items.filter((item) => item.metadata.name === 'contract.example.com') };
};
const EVENTS = '/api/v1/namespaces/${ns}/events';
const NEW_EVENTS = '/apis/events.k8s.io/v1/namespaces/${ns}/events';
const newEvent = (name: string, more: object = {}): object => ({
  apiVersion: 'events.k8s.io/v1',
  kind: 'Event',
  metadata: { name, namespace: '${ns}' },
  eventTime: '2024-01-02T03:04:05.000000Z',
  regarding: { apiVersion: 'contract.example.com/v1', kind: 'Widget', name: 'w', namespace: '${ns}' },
  reason: 'Tested',
  action: 'Testing',
  note: 'It was tested.',
  type: 'Normal',
  reportingController: 'contract.example.com/tests',
  reportingInstance: 'tests-0',
  ...more,
});
const LEASES = '/apis/coordination.k8s.io/v1/namespaces/${ns}/leases';
const event = (name: string, more: object = {}): object => ({
  apiVersion: 'v1',
  kind: 'Event',
  metadata: { name, namespace: '${ns}' },
  involvedObject: { apiVersion: 'contract.example.com/v1', kind: 'Widget', name: 'w', namespace: '${ns}' },
  reason: 'Tested',
  message: 'It was tested.',
  type: 'Normal',
  firstTimestamp: '2024-01-02T03:04:05Z',
  lastTimestamp: '2024-01-02T03:04:05Z',
  count: 2,
  source: { component: 'tester' },
  ...more,
});
const lease = (name: string, spec: object): object => ({
  apiVersion: 'coordination.k8s.io/v1',
  kind: 'Lease',
  metadata: { name },
  spec,
});
const review = (attributes: object): object => ({
  apiVersion: 'authorization.k8s.io/v1',
  kind: 'SelfSubjectAccessReview',
  spec: { resourceAttributes: attributes },
});
const REVIEWS = '/apis/authorization.k8s.io/v1/selfsubjectaccessreviews';
const statusOf = (body: unknown): unknown => {
  const { status, code } = body as { status?: { allowed?: boolean }; code?: number };
  return code === undefined ? { allowed: status?.allowed } : body;
};
const namespace = (name: string, more: object = {}): object => ({
  apiVersion: 'v1',
  kind: 'Namespace',
  metadata: { name },
  ...more,
});

/** `k8s\0` and the message: Namespace named `pb-${ns}` is made by hand, as kubectl sends it. */
function protobufNamespace(name: string): Uint8Array {
  const field = (number: number, bytes: Uint8Array): Uint8Array =>
    Uint8Array.from([number * 8 + 2, bytes.length, ...bytes]);
  const text = (value: string): Uint8Array => Buffer.from(value);
  const join = (...parts: Uint8Array[]): Uint8Array => Uint8Array.from(parts.flatMap((part) => [...part]));
  const meta = join(field(1, text(name)), field(2, text('')), field(8, new Uint8Array()));
  const raw = join(field(1, meta), field(2, new Uint8Array()), field(3, field(1, text(''))));
  const type = join(field(1, text('v1')), field(2, text('Namespace')));
  return join(text('k8s\0'), field(1, type), field(2, raw), field(3, text('')), field(4, text('')));
}

export const server: Case[] = [
  { name: 'aggregated discovery', steps: [{ request: 'GET /apis', accept: AGGREGATED, view: ours }] },
  {
    name: 'aggregated discovery of the core',
    steps: [
      {
        request: 'GET /api',
        accept: AGGREGATED,
        view: (body) => {
          const { items, ...rest } = body as {
            items: { versions: { resources: { resource: string }[] }[] }[];
          };
          const wanted = ['namespaces', 'configmaps', 'events'];
          return {
            ...rest,
            resources: items[0]?.versions[0]?.resources.filter((resource) =>
              wanted.includes(resource.resource),
            ),
          };
        },
      },
    ],
  },
  {
    name: 'plain discovery',
    steps: [
      { request: 'GET /apis/contract.example.com' },
      { request: 'GET /apis/contract.example.com/v1' },
      { request: 'GET /apis/contract.example.com/v9' },
      { request: 'GET /api', view: (body) => (body as { kind: string; versions: string[] }).versions },
    ],
  },
  {
    name: 'OpenAPI',
    steps: [
      {
        request: 'GET /openapi/v3',
        view: (body) => {
          const paths = Object.keys((body as { paths: object }).paths);
          return [
            'api/v1',
            'apis/contract.example.com/v1',
            'apis/coordination.k8s.io/v1',
            'apis/apiextensions.k8s.io/v1',
          ].filter((path) => paths.includes(path));
        },
      },
      {
        request: 'GET /openapi/v3/apis/contract.example.com/v1',
        view: (body) => {
          const { components, paths } = body as {
            components: { schemas: Record<string, { properties: Record<string, unknown> }> };
            paths: Record<string, Record<string, Record<string, unknown>>>;
          };
          const schema = components.schemas['com.example.contract.v1.Widget'];
          return {
            gvk: (schema as Record<string, unknown> | undefined)?.['x-kubernetes-group-version-kind'],
            properties: Object.keys(schema?.properties ?? {}).sort(),
            spec: (
              schema?.properties['spec'] as { properties: { items: unknown; port: unknown } } | undefined
            )?.properties.items,
            paths: Object.entries(paths).map(([path, item]) => [
              path,
              ...Object.entries(item)
                .filter(([method]) => method !== 'parameters')
                .map(
                  ([method, operation]) =>
                    `${method} ${String(operation['x-kubernetes-action'])} ${String(operation['operationId'])}`,
                )
                .sort(),
            ]),
          };
        },
      },
    ],
  },
  {
    name: 'version and health',
    steps: [
      { request: 'GET /version', view: (body) => Object.keys(body as object).includes('gitVersion') },
      { request: 'GET /readyz' },
      { request: 'GET /livez' },
      { request: 'GET /healthz' },
    ],
  },
  {
    name: 'paths that are not there',
    steps: [
      { request: 'GET /nothing', view: (body) => body },
      { request: 'GET /apis/contract.example.com/v1/nothing' },
    ],
  },
  {
    name: 'without a right',
    steps: [
      { request: `GET ${WIDGETS}`, as: 'nobody' },
      { request: `GET ${WIDGETS}/w`, as: 'nobody' },
      {
        request: `POST ${WIDGETS}`,
        as: 'nobody',
        body: { apiVersion: 'contract.example.com/v1', kind: 'Widget', metadata: { name: 'w' } },
      },
      {
        request: `PATCH ${WIDGETS}/w/status`,
        as: 'nobody',
        contentType: 'application/merge-patch+json',
        body: {},
      },
      { request: 'GET /apis/contract.example.com/v1/gadgets', as: 'nobody' },
      { request: 'GET /api/v1/namespaces', as: 'nobody' },
      { request: 'GET /metrics', as: 'nobody' },
      { request: `DELETE ${CONFIGMAPS}`, as: 'nobody' },
    ],
  },
  {
    name: 'a token that is none',
    steps: [{ request: `GET ${WIDGETS}`, headers: { authorization: 'Bearer nonsense' } }],
  },
  {
    name: 'can-i',
    steps: [
      {
        request: `POST ${REVIEWS}`,
        body: review({
          verb: 'create',
          resource: 'widgets',
          group: 'contract.example.com',
          namespace: '${ns}',
        }),
        view: statusOf,
      },
      {
        request: `POST ${REVIEWS}`,
        as: 'nobody',
        body: review({
          verb: 'create',
          resource: 'widgets',
          group: 'contract.example.com',
          namespace: '${ns}',
        }),
        view: statusOf,
      },
      {
        request: `POST ${REVIEWS}`,
        body: { apiVersion: 'authorization.k8s.io/v1', kind: 'SelfSubjectAccessReview', spec: {} },
      },
      {
        request: `POST ${REVIEWS}`,
        body: {
          apiVersion: 'authorization.k8s.io/v1',
          kind: 'SelfSubjectAccessReview',
          spec: { nonResourceAttributes: { path: '/x', verb: 'get' } },
        },
        view: statusOf,
      },
      {
        request: 'POST /apis/authentication.k8s.io/v1/selfsubjectreviews',
        as: 'nobody',
        body: { apiVersion: 'authentication.k8s.io/v1', kind: 'SelfSubjectReview' },
        view: (body) => {
          const info = (body as { status: { userInfo: { username: string; groups: string[] } } }).status
            .userInfo;
          return { username: info.username, groups: [...info.groups].sort() };
        },
      },
    ],
  },
  {
    name: 'rights that are given',
    steps: [
      quiet({
        request: 'POST /apis/rbac.authorization.k8s.io/v1/namespaces/${ns}/roles',
        body: {
          apiVersion: 'rbac.authorization.k8s.io/v1',
          kind: 'Role',
          metadata: { name: 'reader' },
          rules: [{ apiGroups: ['contract.example.com'], resources: ['widgets'], verbs: ['get', 'list'] }],
        },
      }),
      {
        request: 'POST /apis/rbac.authorization.k8s.io/v1/namespaces/${ns}/rolebindings',
        body: {
          apiVersion: 'rbac.authorization.k8s.io/v1',
          kind: 'RoleBinding',
          metadata: { name: 'reader' },
          roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: 'reader' },
          subjects: [{ kind: 'User', name: 'nobody' }],
        },
      },
      { request: `GET ${WIDGETS}`, as: 'nobody', until: 200 },
      { request: `DELETE ${WIDGETS}/w`, as: 'nobody' },
      {
        request: 'GET /apis/rbac.authorization.k8s.io/v1/namespaces/${ns}/rolebindings',
        accept: TABLE,
        view: withoutDescriptions,
      },
      {
        request: 'POST /apis/rbac.authorization.k8s.io/v1/namespaces/${ns}/roles',
        body: {
          apiVersion: 'rbac.authorization.k8s.io/v1',
          kind: 'Role',
          metadata: { name: 'bad' },
          rules: [{ apiGroups: [''], resources: ['pods'] }],
        },
      },
      {
        request: 'POST /apis/rbac.authorization.k8s.io/v1/namespaces/${ns}/rolebindings',
        body: {
          apiVersion: 'rbac.authorization.k8s.io/v1',
          kind: 'RoleBinding',
          metadata: { name: 'bad' },
          roleRef: { kind: 'Other' },
        },
      },
    ],
  },
  {
    name: 'namespaces',
    steps: [
      { request: 'POST /api/v1/namespaces', body: namespace('n-${ns}') },
      { request: 'GET /api/v1/namespaces/n-${ns}', view: (body) => body },
      { request: 'POST /api/v1/namespaces', body: namespace('n-${ns}') },
      { request: 'POST /api/v1/namespaces', body: namespace('Not.Good') },
      quiet({
        request: 'POST /api/v1/namespaces/n-${ns}/configmaps',
        body: configMap('c', {}, { finalizers: ['example.com/hold'] }),
      }),
      { request: 'DELETE /api/v1/namespaces/n-${ns}' },
      { request: 'POST /api/v1/namespaces/n-${ns}/configmaps', body: configMap('d') },
      quiet({
        request: 'PATCH /api/v1/namespaces/n-${ns}/configmaps/c',
        contentType: 'application/merge-patch+json',
        body: { metadata: { finalizers: null } },
      }),
      { request: 'GET /api/v1/namespaces/n-${ns}', until: 404 },
      { request: 'DELETE /api/v1/namespaces/kube-system' },
      {
        request: 'GET /api/v1/namespaces/default',
        accept: TABLE,
        view: (body) => {
          const { rows } = withoutDescriptions(body) as { rows: { cells: unknown[] }[] };
          return rows[0]?.cells.slice(0, 2);
        },
      },
    ],
  },
  {
    name: 'a namespace in protobuf',
    steps: [
      {
        request: 'POST /api/v1/namespaces',
        contentType: 'application/vnd.kubernetes.protobuf',
        body: protobufNamespace('contract-protobuf'),
        view: (body) => {
          const { metadata, kind, code } = body as {
            metadata: { name: string };
            kind: string;
            code?: number;
          };
          return { kind, name: metadata.name, code };
        },
      },
      {
        request: 'POST /api/v1/namespaces',
        contentType: 'application/vnd.kubernetes.protobuf',
        body: Buffer.from('garbage'),
        view: (body) => (body as { code: number; reason: string }).reason,
      },
    ],
  },
  {
    name: 'events',
    steps: [
      { request: `POST ${EVENTS}`, body: event('e') },
      {
        request: `POST ${EVENTS}`,
        body: event('f', { involvedObject: { kind: 'Widget', name: 'w', namespace: 'other' } }),
      },
      { request: `PATCH ${EVENTS}/e`, contentType: 'application/merge-patch+json', body: { count: 3 } },
      {
        request: `GET ${EVENTS}?fieldSelector=involvedObject.name%3Dw%2Creason%3DTested`,
        view: (body) => (body as { items: unknown[] }).items.length,
      },
      { request: `GET ${EVENTS}?fieldSelector=spec.x%3Dw` },
      {
        request: `GET ${EVENTS}`,
        accept: TABLE,
        view: (body) => {
          const table = withoutDescriptions(body) as {
            columnDefinitions: unknown[];
            rows: { cells: unknown[] }[];
          };
          return {
            columns: table.columnDefinitions,
            cells: table.rows.map((row) => row.cells.filter((_, i) => i !== 0 && i !== 7)),
          };
        },
      },
      { request: 'GET /apis/events.k8s.io/v1/namespaces/${ns}/events/e' },
      {
        request: 'POST /apis/events.k8s.io/v1/namespaces/${ns}/events',
        body: { apiVersion: 'events.k8s.io/v1', kind: 'Event', metadata: { name: 'g' } },
      },
    ],
  },
  {
    name: 'events of the new group',
    steps: [
      { request: `POST ${NEW_EVENTS}`, body: newEvent('e') },
      { request: `GET ${EVENTS}/e` },
      { request: `POST ${NEW_EVENTS}`, body: newEvent('f', { reason: '' }) },
      { request: `POST ${NEW_EVENTS}`, body: newEvent('f', { action: 'x'.repeat(129) }) },
      { request: `POST ${NEW_EVENTS}`, body: newEvent('f', { note: 'x'.repeat(1025) }) },
      { request: `POST ${NEW_EVENTS}`, body: newEvent('f', { type: 'Odd' }) },
      {
        request: `POST ${NEW_EVENTS}`,
        body: newEvent('f', { regarding: { kind: 'Widget', namespace: 'other' } }),
      },
      {
        request: `PATCH ${NEW_EVENTS}/e`,
        contentType: 'application/merge-patch+json',
        body: { series: { count: 2, lastObservedTime: '2024-01-02T03:05:05.000000Z' } },
      },
      {
        request: `PATCH ${NEW_EVENTS}/e`,
        contentType: 'application/merge-patch+json',
        body: { note: 'Other.' },
      },
      {
        request: `GET ${NEW_EVENTS}?fieldSelector=reason%3DTested`,
        view: (body) => (body as { items?: unknown[] }).items?.length ?? body,
      },
      { request: `DELETE ${NEW_EVENTS}/e` },
      { request: `GET ${EVENTS}/e` },
    ],
  },
  {
    name: 'leases',
    steps: [
      {
        request: `POST ${LEASES}`,
        body: lease('l', {
          holderIdentity: 'me',
          leaseDurationSeconds: 15,
          renewTime: '2024-01-02T03:04:05.123456Z',
        }),
      },
      { request: `POST ${LEASES}`, body: lease('m', { leaseDurationSeconds: 0 }) },
      { request: `POST ${LEASES}`, body: lease('m', { leaseTransitions: -1 }) },
      { request: `PUT ${LEASES}/l`, body: lease('l', { holderIdentity: 'you' }) },
      { request: `GET ${LEASES}/l`, keep: { rv: 'metadata.resourceVersion' }, silent: true },
      {
        request: `PUT ${LEASES}/l`,
        body: { ...lease('l', { holderIdentity: 'you' }), metadata: { name: 'l', resourceVersion: '${rv}' } },
      },
      {
        request: `PUT ${LEASES}/l`,
        body: {
          ...lease('l', { holderIdentity: 'they' }),
          metadata: { name: 'l', resourceVersion: '${rv}' },
        },
      },
      { request: `GET ${LEASES}`, accept: TABLE, view: withoutDescriptions },
    ],
  },
  {
    name: 'secrets and service accounts',
    steps: [
      {
        request: 'POST /api/v1/namespaces/${ns}/secrets',
        body: { apiVersion: 'v1', kind: 'Secret', metadata: { name: 's' }, stringData: { a: 'b' } },
      },
      {
        request: 'POST /api/v1/namespaces/${ns}/secrets',
        body: { apiVersion: 'v1', kind: 'Secret', metadata: { name: 't' }, data: { a: '***' } },
      },
      {
        request: 'POST /api/v1/namespaces/${ns}/secrets',
        body: { apiVersion: 'v1', kind: 'Secret', metadata: { name: 't' }, data: { 'a b': '' } },
      },
      {
        request: 'PATCH /api/v1/namespaces/${ns}/secrets/s',
        contentType: 'application/merge-patch+json',
        body: { type: 'Other' },
      },
      { request: 'GET /api/v1/namespaces/${ns}/secrets/s', accept: TABLE, view: withoutDescriptions },
      {
        request: 'POST /api/v1/namespaces/${ns}/serviceaccounts',
        body: { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: 'sa' } },
      },
      { request: `POST ${CONFIGMAPS}`, body: configMap('c', { 'a b': 'c' }) },
      {
        request: `POST ${CONFIGMAPS}`,
        body: { ...configMap('c', { a: 'c' }), immutable: true },
        silent: true,
      },
      {
        request: `PATCH ${CONFIGMAPS}/c`,
        contentType: 'application/merge-patch+json',
        body: { data: { a: 'd' } },
      },
      { request: `GET ${CONFIGMAPS}/c`, accept: TABLE, view: withoutDescriptions },
    ],
  },
];

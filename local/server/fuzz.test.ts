import fc from 'fast-check';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { startTestServer, type TestServer, widget, widgetDefinition, WIDGETS } from '../testing.ts';

let server: TestServer;
beforeAll(async () => {
  server = await startTestServer();
  await server.client.call('POST', WIDGETS, { body: widget('w') });
});
afterAll(() => server.stop());

/** A valid body with one place in it replaced by anything. */
const spoiled = fc
  .tuple(
    fc.constantFrom(
      ['metadata'],
      ['spec'],
      ['spec', 'size'],
      ['apiVersion'],
      ['kind'],
      ['status'],
      ['metadata', 'name'],
      ['metadata', 'labels'],
      ['metadata', 'annotations'],
      ['metadata', 'finalizers'],
      ['metadata', 'ownerReferences'],
      ['metadata', 'deletionTimestamp'],
      ['metadata', 'generateName'],
      ['metadata', 'resourceVersion'],
    ),
    fc.jsonValue({ maxDepth: 3 }),
  )
  .map(([path, value]) => {
    const body: Record<string, unknown> = widget('w');
    let at = body;
    for (const key of path.slice(0, -1)) at = at[key] as Record<string, unknown>;
    at[path.at(-1) ?? ''] = value;
    return JSON.stringify(body);
  });
const body = fc.oneof(
  { weight: 3, arbitrary: spoiled },
  fc.json({ maxDepth: 4 }),
  fc.string({ maxLength: 60 }),
);
const segment = fc.oneof(
  fc.constantFrom(
    'api',
    'apis',
    'v1',
    'example.com',
    'namespaces',
    'default',
    'widgets',
    'w',
    'status',
    'watch',
    'events',
    'secrets',
    '',
    '..',
    '%00',
    '%2f',
    '%',
  ),
  fc.string({ maxLength: 8 }).map(encodeURIComponent),
);
const path = fc.oneof(
  fc.constantFrom(
    WIDGETS,
    `${WIDGETS}/w`,
    `${WIDGETS}/w/status`,
    '/api/v1/namespaces/default/configmaps',
    '/api/v1/namespaces',
    '/apis/rbac.authorization.k8s.io/v1/clusterroles',
    '/apis/apiextensions.k8s.io/v1/customresourcedefinitions',
    '/apis/authorization.k8s.io/v1/selfsubjectaccessreviews',
  ),
  fc.array(segment, { maxLength: 8 }).map((parts) => `/${parts.join('/')}`),
);
const query = fc.array(
  fc.tuple(
    fc.constantFrom(
      'labelSelector',
      'fieldSelector',
      'limit',
      'continue',
      'resourceVersion',
      'resourceVersionMatch',
      'dryRun',
      'fieldValidation',
      'propagationPolicy',
      'includeObject',
      'pretty',
    ),
    fc.oneof(
      fc.string({ maxLength: 20 }),
      fc.constantFrom('1', '0', 'All', 'a=b', 'a in (b)', '-1', 'Exact'),
    ),
  ),
  { maxLength: 3 },
);
const contentType = fc.constantFrom(
  'application/json',
  'application/yaml',
  'application/merge-patch+json',
  'application/json-patch+json',
  'application/strategic-merge-patch+json',
  'application/apply-patch+yaml',
  'application/vnd.kubernetes.protobuf',
  'text/plain',
  '',
);

it('no request brings it down or shows more than a Status', async () => {
  const surprises: unknown[] = [];
  await fc.assert(
    fc.asyncProperty(
      fc.constantFrom('GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'HEAD'),
      path,
      query,
      body,
      contentType,
      async (method, where, what, text, type) => {
        const target = `${where}?${new URLSearchParams(what.map(([k, v]): [string, string] => [k, v])).toString()}`;
        const bodiless = method === 'GET' || method === 'HEAD';
        const answer = await server.client.call(
          method,
          target,
          bodiless ? {} : { body: text, contentType: type },
        );
        // 500 is what a kube-apiserver says of a resourceVersion that it cannot take; 504 of one from the future.
        const known =
          answer.code < 500 || answer.code === 504 || /resourceVersion|strconv/.test(answer.text + target);
        if (!known) surprises.push({ method, target, text, type, code: answer.code, answer: answer.text });
        expect(answer.text).not.toMatch(/\n {4}at |node:internal|\.ts:\d+/);
      },
    ),
    { numRuns: 600 },
  );
  expect(surprises).toEqual([]);
  expect((await server.client.call('GET', '/readyz')).text).toBe('ok');
}, 120_000);

type Place = (string | number)[];

/** Every place in a value. */
function places(value: unknown, at: Place = []): Place[] {
  const below =
    typeof value === 'object' && value !== null
      ? Object.entries(value).flatMap(([key, item]) =>
          places(item, [...at, Array.isArray(value) ? Number(key) : key]),
        )
      : [];
  return at.length === 0 ? below : [at, ...below];
}

const RBAC = 'rbac.authorization.k8s.io';
const named = (apiVersion: string, kind: string, rest: object): Record<string, unknown> => ({
  apiVersion,
  kind,
  metadata: { name: 'x' },
  ...rest,
});
const kinds: [string, Record<string, unknown>][] = [
  [WIDGETS, widget('x')],
  [
    '/apis/apiextensions.k8s.io/v1/customresourcedefinitions',
    { ...widgetDefinition(), status: { storedVersions: ['v1'] } },
  ],
  [
    `/apis/${RBAC}/v1/clusterroles`,
    named(`${RBAC}/v1`, 'ClusterRole', { rules: [{ verbs: ['get'], apiGroups: [''], resources: ['x'] }] }),
  ],
  [
    `/apis/${RBAC}/v1/clusterrolebindings`,
    named(`${RBAC}/v1`, 'ClusterRoleBinding', {
      subjects: [{ kind: 'User', name: 'x' }],
      roleRef: { kind: 'ClusterRole', name: 'x' },
    }),
  ],
  [
    '/api/v1/namespaces',
    named('v1', 'Namespace', { spec: { finalizers: ['kubernetes'] }, status: { phase: 'Active' } }),
  ],
  [
    '/api/v1/namespaces/default/secrets',
    named('v1', 'Secret', { type: 'Opaque', data: { a: 'Yg==' }, stringData: { b: 'c' } }),
  ],
  [
    '/api/v1/namespaces/default/events',
    named('v1', 'Event', {
      involvedObject: { kind: 'X', namespace: 'default', name: 'a' },
      reason: 'x',
      type: 'Normal',
    }),
  ],
  [
    '/apis/events.k8s.io/v1/namespaces/default/events',
    named('events.k8s.io/v1', 'Event', {
      regarding: { namespace: 'default' },
      type: 'Normal',
      eventTime: '2026-01-01T00:00:00.000000Z',
    }),
  ],
  [
    '/apis/coordination.k8s.io/v1/namespaces/default/leases',
    named('coordination.k8s.io/v1', 'Lease', { spec: { leaseDurationSeconds: 3 } }),
  ],
  [
    '/apis/authorization.k8s.io/v1/subjectaccessreviews',
    named('authorization.k8s.io/v1', 'SubjectAccessReview', {
      spec: { user: 'x', groups: ['a'], resourceAttributes: { verb: 'get' } },
    }),
  ],
];

const TYPES: Record<string, string> = {
  PUT: 'application/json',
  PATCH: 'application/merge-patch+json',
  apply: 'application/apply-patch+yaml',
};

it('no object of any kind, spoiled in one place, is more than refused', async () => {
  const target = fc
    .constantFrom(...kinds)
    .chain(([url, object]) => fc.constantFrom(...places(object)).map((at) => ({ url, object, at })));
  const value = fc.oneof(
    fc.jsonValue({ maxDepth: 2 }),
    fc.constantFrom(null, -1, 1.5, '', [], {}, [null], [{}], 'a'.repeat(300)),
  );
  await fc.assert(
    fc.asyncProperty(
      target,
      value,
      fc.constantFrom('POST', 'PUT', 'PATCH', 'apply'),
      async ({ url, object, at }, anything, method) => {
        const body = structuredClone(object);
        let parent = body as Record<string | number, unknown>;
        for (const key of at.slice(0, -1)) parent = parent[key] as Record<string | number, unknown>;
        parent[at.at(-1) ?? ''] = anything;
        const name = (object['metadata'] as { name: string }).name;
        const answer =
          method === 'POST'
            ? await server.client.call('POST', url, { body })
            : await server.client.call(
                method === 'apply' ? 'PATCH' : method,
                `${url}/${name}${method === 'apply' ? '?fieldManager=f&force=true' : ''}`,
                { body, contentType: TYPES[method] ?? '' },
              );
        const known =
          answer.code < 500 || /resourceVersion|strconv|failed to create typed patch/.test(answer.text);
        expect({ known, url, at, anything, answer: known ? '' : answer.text }).toMatchObject({ known: true });
      },
    ),
    { numRuns: 600 },
  );
}, 120_000);

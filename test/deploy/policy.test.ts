import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { until } from '../until.ts';
import { kustomize, type Answer, type Call, useServer } from './server.ts';

const DENIED = "ValidatingAdmissionPolicy 'holdfast-agent' with binding 'holdfast-agent' denied request";
const NODES = '/apis/holdfast.dev/v1alpha1/sandboxnodes';
const SANDBOXES = '/apis/holdfast.dev/v1alpha1/namespaces/default/sandboxes';
const LEASES = '/apis/coordination.k8s.io/v1/namespaces/holdfast-system/leases';
const EVENTS = '/api/v1/namespaces/default/events';

/** The nodes: agent-a is ours, agent-b somebody else's. */
const A = 'node-a.example.internal';
const B = 'node-b.example.internal';

const node = (name: string, more: object = {}) => ({
  apiVersion: 'holdfast.dev/v1alpha1',
  kind: 'SandboxNode',
  metadata: { name },
  ...more,
});
const sandbox = (name: string, more: object = {}) => ({
  apiVersion: 'holdfast.dev/v1alpha1',
  kind: 'Sandbox',
  metadata: { name },
  spec: { image: 'busybox' },
  ...more,
});
const lease = (name: string, more: object = {}) => ({
  apiVersion: 'coordination.k8s.io/v1',
  kind: 'Lease',
  metadata: { name },
  spec: { holderIdentity: 'x' },
  ...more,
});
const event = (name: string, reporter: string, more: object = {}) => ({
  apiVersion: 'v1',
  kind: 'Event',
  metadata: { name, namespace: 'default' },
  involvedObject: {
    apiVersion: 'holdfast.dev/v1alpha1',
    kind: 'Sandbox',
    namespace: 'default',
    name: 'on-a',
  },
  reason: 'Started',
  message: 'm',
  type: 'Normal',
  source: { component: 'holdfast-agent', host: reporter },
  reportingComponent: 'holdfast-agent',
  reportingInstance: reporter,
  ...more,
});
const status = (name: string, nodeName?: string) =>
  sandbox(name, { status: { ...(nodeName !== undefined && { nodeName }), phase: 'Running' } });
const apply = '?fieldManager=t&force=true';

describe('the admission policy for agents on kube-apiserver', () => {
  const server = useServer({ controllerManager: false });
  const tokens = { a: '', b: '', unbound: '' };

  const admin = (call: Call) => server.current.admin(call);
  const as = (who: keyof typeof tokens, call: Call): Promise<Answer> =>
    server.current.call(tokens[who], call);
  const versionOf = async (path: string): Promise<string> =>
    ((await admin({ method: 'GET', path }))['metadata'] as { resourceVersion: string }).resourceVersion;
  /** PUT with the resourceVersion that is there, so that nothing but a rule can refuse it. */
  const put = async (path: string, body: { metadata: object }, subresource = ''): Promise<Call> => ({
    method: 'PUT',
    path: `${path}${subresource}`,
    body: { ...body, metadata: { ...body.metadata, resourceVersion: await versionOf(path) } },
  });

  beforeAll(async () => {
    if (server.missing !== undefined) return;
    await server.current.kubectl(['apply', '--server-side', '-f', '-'], await kustomize('base'));
    for (const name of [A, B])
      await admin({
        method: 'POST',
        path: '/api/v1/nodes',
        body: { apiVersion: 'v1', kind: 'Node', metadata: { name } },
      });
    tokens.a = await tokenOfPod('agent-a', A);
    tokens.b = await tokenOfNode(B);
    tokens.unbound = (
      await server.current.kubectl(['-n', 'holdfast-system', 'create', 'token', 'holdfast-agent'])
    ).stdout.trim();
    await until(
      'the CRDs are served',
      async () =>
        (await server.current.call(server.current.cluster.token, { method: 'GET', path: SANDBOXES })).code ===
        200,
    );
    for (const [name, owner] of [
      ['on-a', A],
      ['on-b', B],
      ['free', undefined],
    ] as const) {
      await admin({ method: 'POST', path: SANDBOXES, body: sandbox(name) });
      await admin(await put(`${SANDBOXES}/${name}`, status(name, owner), '/status'));
    }
    await until('the policy is in force', async () =>
      (await as('a', { method: 'POST', path: LEASES, body: lease('probe') })).body.message?.includes(DENIED),
    );
  }, 120_000);

  beforeEach((context) => {
    if (server.missing !== undefined) context.skip(server.missing);
  });

  /** As the kubelet asks for one for a pod. */
  async function tokenOfPod(name: string, nodeName: string): Promise<string> {
    const pods = '/api/v1/namespaces/holdfast-system/pods';
    await admin({
      method: 'POST',
      path: pods,
      body: {
        apiVersion: 'v1',
        kind: 'Pod',
        metadata: { name },
        spec: {
          nodeName,
          serviceAccountName: 'holdfast-agent',
          containers: [{ name: 'agent', image: 'holdfast' }],
        },
      },
    });
    return createToken('Pod', name);
  }

  function tokenOfNode(name: string): Promise<string> {
    return createToken('Node', name);
  }

  async function createToken(kind: string, name: string): Promise<string> {
    const args = [
      'create',
      'token',
      'holdfast-agent',
      `--bound-object-kind=${kind}`,
      `--bound-object-name=${name}`,
    ];
    return (await server.current.kubectl(['-n', 'holdfast-system', ...args])).stdout.trim();
  }

  it('[K7] each agent writes what its own node has, with the rights of the manifests and no more', async () => {
    for (const [who, name, mine] of [
      ['a', A, 'on-a'],
      ['b', B, 'on-b'],
    ] as const) {
      const allowed = async (call: Call): Promise<void> => {
        const { code, body } = await as(who, call);
        expect([
          code,
          `${call.method} ${call.path}: ${body['kind'] === 'Status' ? body.message : 'ok'}`,
        ]).toEqual([call.method === 'POST' ? 201 : 200, `${call.method} ${call.path}: ok`]);
      };
      await allowed({
        method: 'POST',
        path: NODES,
        body: node(name, { spec: { reserved: { memory: '1Gi' } } }),
      });
      await allowed(await put(`${NODES}/${name}`, node(name, { status: { conditions: [] } }), '/status'));
      await allowed({
        method: 'POST',
        path: LEASES,
        body: lease(name, { metadata: { name, labels: { 'holdfast.dev/node': name } } }),
      });
      await allowed(await put(`${LEASES}/${name}`, lease(name)));
      await allowed(await put(`${SANDBOXES}/${mine}`, status(mine, name), '/status'));
      await allowed({ method: 'POST', path: EVENTS, body: event(`of-${who}`, name) });
      await allowed({ method: 'PATCH', path: `${EVENTS}/of-${who}`, body: { count: 2 } });
      await allowed({
        method: 'POST',
        path: EVENTS,
        body: event(`node-of-${who}`, name, {
          involvedObject: { apiVersion: 'holdfast.dev/v1alpha1', kind: 'SandboxNode', name },
        }),
      });
    }
  });

  it('[K3] [K7] an agent hands a sandbox back by taking its own name out, and can not take it again', async () => {
    const path = `${SANDBOXES}/given-back`;
    await admin({ method: 'POST', path: SANDBOXES, body: sandbox('given-back') });
    await admin(await put(path, status('given-back', A), '/status'));
    expect((await as('a', await put(path, status('given-back', ''), '/status'))).code).toBe(200);
    expect((await as('a', await put(path, status('given-back', A), '/status'))).body.message).toContain(
      DENIED,
    );
  });

  it('[K7] the roles alone refuse what an agent never does', async () => {
    for (const call of [
      { method: 'DELETE', path: `${SANDBOXES}/on-a` },
      { method: 'PATCH', path: `${SANDBOXES}/on-a`, body: { metadata: { labels: { x: 'y' } } } },
      { method: 'PATCH', path: `${NODES}/${A}`, body: { spec: { maxSandboxes: 9 } } },
      { method: 'DELETE', path: LEASES },
      { method: 'POST', path: '/api/v1/namespaces/default/pods', body: {} },
    ] satisfies Call[]) {
      const { code, body } = await as('a', call);
      expect(code).toBe(403);
      expect(body.message).not.toContain(DENIED);
    }
  });

  it('[K12] no agent reads Secrets, and neither does the controller', async () => {
    for (const name of ['holdfast-agent', 'holdfast-controller']) {
      for (const verb of ['get', 'list', 'watch']) {
        const user = `--as=system:serviceaccount:holdfast-system:${name}`;
        const asked = server.current.kubectl(['auth', 'can-i', verb, 'secrets', '-A', user]);
        await expect(asked.then(({ stdout }) => stdout)).rejects.toThrow(/auth can-i/);
      }
    }
  });

  describe('with the rights of an administrator', () => {
    beforeAll(async () => {
      if (server.missing !== undefined) return;
      const subject = '--serviceaccount=holdfast-system:holdfast-agent';
      await server.current.kubectl([
        'create',
        'clusterrolebinding',
        'far-too-much',
        '--clusterrole=cluster-admin',
        subject,
      ]);
      await admin({ method: 'POST', path: LEASES, body: lease('holdfast-controller') });
      await admin({
        method: 'POST',
        path: EVENTS,
        body: event('of-the-controller', 'c', { reportingComponent: 'holdfast-controller' }),
      });
      await until(
        'the binding is known',
        async () => (await as('a', { method: 'GET', path: '/api/v1/secrets' })).code === 200,
      );
    });

    const merge = (path: string, body: object): Call => ({ method: 'PATCH', path, body });
    const json = (path: string, body: object[]): Call => ({ method: 'PATCH', path, body, patch: 'json' });
    const ssa = (path: string, body: object): Call => ({
      method: 'PATCH',
      path: `${path}${apply}`,
      body,
      patch: 'apply',
    });
    const attacks: Record<string, (Call | (() => Promise<Call>))[]> = {
      "another node's SandboxNode": [
        () => put(`${NODES}/${B}`, node(B, { spec: { maxSandboxes: 1 } })),
        () => put(`${NODES}/${B}`, node(B, { status: { runtimes: [] } }), '/status'),
        merge(`${NODES}/${B}`, { spec: { unschedulable: true } }),
        merge(`${NODES}/${B}`, { metadata: { labels: { stolen: 'yes' } } }),
        merge(`${NODES}/${B}`, { metadata: { annotations: { stolen: 'yes' } } }),
        merge(`${NODES}/${B}`, { metadata: { finalizers: ['x.example/stuck'] } }),
        merge(`${NODES}/${B}/status`, { status: { conditions: [] } }),
        json(`${NODES}/${B}`, [{ op: 'add', path: '/metadata/labels', value: { stolen: 'yes' } }]),
        json(`${NODES}/${B}/status`, [{ op: 'add', path: '/status/runtimes', value: [] }]),
        ssa(`${NODES}/${B}`, node(B, { spec: { unschedulable: true } })),
        ssa(`${NODES}/${B}/status`, node(B, { status: { runtimes: [] } })),
        { method: 'DELETE', path: `${NODES}/${B}` },
        { method: 'DELETE', path: NODES },
      ],
      'a SandboxNode of a node that does not exist': [
        { method: 'POST', path: NODES, body: node('invented') },
        { method: 'POST', path: NODES, body: { ...node(''), metadata: { generateName: A } } },
        ssa(`${NODES}/invented`, node('invented')),
      ],
      'what the operator says of its own node': [
        () => put(`${NODES}/${A}`, node(A, { spec: { maxSandboxes: 1000 } })),
        merge(`${NODES}/${A}`, { spec: { reserved: null } }),
        merge(`${NODES}/${A}`, { metadata: { labels: { gpu: 'yes' } } }),
        { method: 'DELETE', path: `${NODES}/${A}` },
        // As after an operator's delete: it would come back with labels that attract sandboxes.
        async () => {
          await admin({ method: 'DELETE', path: `${NODES}/${A}` });
          return {
            method: 'POST',
            path: NODES,
            body: node(A, { metadata: { name: A, labels: { gpu: 'yes' } } }),
          };
        },
        {
          method: 'POST',
          path: NODES,
          body: node(A, { metadata: { name: A, finalizers: ['x.example/stuck'] } }),
        },
        { method: 'POST', path: NODES, body: node(A, { spec: { maxSandboxes: 1000 } }) },
        { method: 'POST', path: NODES, body: node(A, { spec: { attestation: 'Disabled' } }) },
        { method: 'POST', path: NODES, body: node(A, { spec: { storageReserveMiB: 0 } }) },
      ],
      "another node's sandbox": [
        () => put(`${SANDBOXES}/on-b`, status('on-b', B), '/status'),
        () => put(`${SANDBOXES}/on-b`, status('on-b', A), '/status'),
        () => put(`${SANDBOXES}/on-b`, status('on-b'), '/status'),
        merge(`${SANDBOXES}/on-b/status`, { status: { phase: 'Failed' } }),
        json(`${SANDBOXES}/on-b/status`, [{ op: 'replace', path: '/status/phase', value: 'Failed' }]),
        ssa(`${SANDBOXES}/on-b/status`, { ...sandbox('on-b'), spec: undefined, status: { phase: 'Failed' } }),
        () => put(`${SANDBOXES}/on-b`, sandbox('on-b', { spec: { image: 'evil' } })),
        merge(`${SANDBOXES}/on-b`, { metadata: { labels: { stolen: 'yes' } } }),
        merge(`${SANDBOXES}/on-b`, { metadata: { finalizers: [], labels: { x: 'y' } } }),
        ssa(`${SANDBOXES}/on-b`, sandbox('on-b', { spec: { image: 'evil' } })),
        { method: 'DELETE', path: `${SANDBOXES}/on-b` },
        { method: 'DELETE', path: SANDBOXES },
      ],
      'a sandbox that no node has': [
        () => put(`${SANDBOXES}/free`, status('free', A), '/status'),
        merge(`${SANDBOXES}/free/status`, { status: { nodeName: A } }),
        { method: 'POST', path: SANDBOXES, body: sandbox('made-by-an-agent') },
        ssa(`${SANDBOXES}/made-by-an-agent`, sandbox('made-by-an-agent')),
      ],
      'more of its own sandbox than the status': [
        () => put(`${SANDBOXES}/on-a`, status('on-a', B), '/status'),
        merge(`${SANDBOXES}/on-a/status`, { status: { nodeName: B } }),
        () => put(`${SANDBOXES}/on-a`, sandbox('on-a', { spec: { image: 'evil' } })),
        merge(`${SANDBOXES}/on-a`, { metadata: { labels: { x: 'y' } } }),
        merge(`${SANDBOXES}/on-a`, { metadata: { finalizers: ['x.example/stuck'] } }),
        { method: 'DELETE', path: `${SANDBOXES}/on-a` },
      ],
      "another's lease": [
        () => put(`${LEASES}/${B}`, lease(B, { spec: { holderIdentity: '' } })),
        merge(`${LEASES}/${B}`, { spec: { holderIdentity: 'a' } }),
        merge(`${LEASES}/${B}`, { metadata: { labels: { x: 'y' } } }),
        json(`${LEASES}/${B}`, [{ op: 'replace', path: '/spec/holderIdentity', value: 'a' }]),
        ssa(`${LEASES}/${B}`, lease(B)),
        { method: 'DELETE', path: `${LEASES}/${B}` },
        { method: 'DELETE', path: LEASES },
        { method: 'POST', path: LEASES, body: lease('invented') },
        ssa(`${LEASES}/invented`, lease('invented')),
        merge(`${LEASES}/holdfast-controller`, { spec: { holderIdentity: 'a' } }),
        { method: 'POST', path: '/apis/coordination.k8s.io/v1/namespaces/default/leases', body: lease(A) },
        { method: 'DELETE', path: `${LEASES}/${A}` },
      ],
      "events in another's name": [
        { method: 'POST', path: EVENTS, body: event('x', B) },
        {
          method: 'POST',
          path: EVENTS,
          body: event('x', A, { reportingInstance: '', reportingComponent: '' }),
        },
        {
          method: 'POST',
          path: EVENTS,
          body: event('x', A, { source: { component: 'holdfast-agent', host: B } }),
        },
        { method: 'POST', path: EVENTS, body: event('x', A, { source: { component: 'kubelet', host: A } }) },
        { method: 'POST', path: EVENTS, body: event('x', A, { reportingComponent: 'holdfast-controller' }) },
        {
          method: 'POST',
          path: EVENTS,
          body: event('x', A, {
            involvedObject: { apiVersion: 'v1', kind: 'Pod', namespace: 'default', name: 'p' },
          }),
        },
        {
          method: 'POST',
          path: EVENTS,
          body: event('x', A, {
            involvedObject: { apiVersion: 'holdfast.dev/v1alpha1', kind: 'SandboxNode', name: B },
          }),
        },
        {
          method: 'POST',
          path: '/apis/events.k8s.io/v1/namespaces/default/events',
          body: {
            apiVersion: 'events.k8s.io/v1',
            kind: 'Event',
            metadata: { name: 'x', namespace: 'default' },
            eventTime: '2026-01-01T00:00:00.000000Z',
            action: 'Start',
            reason: 'Started',
            type: 'Normal',
            regarding: {
              apiVersion: 'holdfast.dev/v1alpha1',
              kind: 'Sandbox',
              namespace: 'default',
              name: 'on-b',
            },
            reportingController: 'holdfast-agent',
            reportingInstance: B,
          },
        },
        merge(`${EVENTS}/of-b`, { message: 'other words' }),
        merge(`${EVENTS}/of-b`, { reportingInstance: A, source: { host: A } }),
        merge(`${EVENTS}/of-a`, { reportingInstance: B }),
        merge(`${EVENTS}/of-the-controller`, { reportingComponent: 'holdfast-agent', reportingInstance: A }),
        ssa(`${EVENTS}/of-b`, event('of-b', B)),
        { method: 'DELETE', path: `${EVENTS}/of-b` },
        { method: 'DELETE', path: `${EVENTS}/of-a` },
        { method: 'DELETE', path: EVENTS },
      ],
    };

    it.each(Object.entries(attacks))(
      '[K7] an agent does not write %s: each refusal names the policy',
      async (_what, calls) => {
        for (const attack of calls) {
          const call = typeof attack === 'function' ? await attack() : attack;
          const { code, body } = await as('a', call);
          const said = `${call.method} ${call.path} ${JSON.stringify(call.body ?? {}).slice(0, 200)} -> ${code} ${body.message}`;
          expect(said).toContain(` -> 403 `);
          expect(said).toContain(DENIED);
        }
      },
    );

    it('[K7] a token that names no node writes nothing, not even what some node has', async () => {
      for (const call of [
        await put(`${SANDBOXES}/on-b`, status('on-b', B), '/status'),
        await put(`${LEASES}/${B}`, lease(B)),
        { method: 'POST', path: NODES, body: node('c') },
        { method: 'POST', path: EVENTS, body: event('x', '') },
      ] satisfies Call[]) {
        const { code, body } = await as('unbound', call);
        expect([code, body.message]).toEqual([
          403,
          expect.stringContaining('the credential of this agent names no node'),
        ]);
        expect(body.message).toContain(DENIED);
      }
    });

    it('[K7] what was attacked is as it was, and the right agent still writes it', async () => {
      expect((await as('b', await put(`${SANDBOXES}/on-b`, status('on-b', B), '/status'))).code).toBe(200);
      expect((await as('b', await put(`${LEASES}/${B}`, lease(B)))).code).toBe(200);
      expect((await as('b', { method: 'PATCH', path: `${EVENTS}/of-b`, body: { count: 3 } })).code).toBe(200);
      const { body } = await as('b', { method: 'GET', path: `${NODES}/${B}` });
      expect((body['metadata'] as { labels?: object }).labels).toBeUndefined();
    });
  });

  describe('for agents outside of pods', () => {
    const impersonate = (user: string) => [
      '--as',
      user,
      '--as-group',
      'holdfast:agents',
      '--as-group',
      'system:authenticated',
    ];

    it('[K7] a user holdfast:agent:NODE of the group holdfast:agents is the agent of that node', async () => {
      const make = (name: string) =>
        JSON.stringify({ ...lease(name), metadata: { name, namespace: 'holdfast-system' } });
      const { kubectl } = { kubectl: (args: string[], input: string) => server.current.kubectl(args, input) };
      await kubectl(['create', '-f', '-', ...impersonate('holdfast:agent:vm-1')], make('vm-1'));
      await expect(
        kubectl(['create', '-f', '-', ...impersonate('holdfast:agent:vm-1')], make('vm-2')),
      ).rejects.toThrow(DENIED);
      await expect(kubectl(['create', '-f', '-', ...impersonate('someone')], make('vm-2'))).rejects.toThrow(
        'names no node',
      );
      await expect(
        kubectl(['create', '-f', '-', ...impersonate('holdfast:agent:')], make('vm-2')),
      ).rejects.toThrow('names no node');
    });
  });
});

import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startTestServer, type TestServer, widget, WIDGETS } from '../testing.ts';

let server: TestServer;
const RBAC = '/apis/rbac.authorization.k8s.io/v1';
const API = 'rbac.authorization.k8s.io/v1';
const admin: TestServer['client']['call'] = (...parameters) => server.client.call(...parameters);

beforeAll(async () => {
  server = await startTestServer();
  await admin('POST', `${RBAC}/namespaces/default/roles`, {
    body: {
      apiVersion: API,
      kind: 'Role',
      metadata: { name: 'reader' },
      rules: [
        { apiGroups: ['example.com'], resources: ['widgets'], verbs: ['get', 'list', 'watch'] },
        {
          apiGroups: ['example.com'],
          resources: ['widgets/status'],
          resourceNames: ['mine'],
          verbs: ['update'],
        },
      ],
    },
  });
  await admin('POST', `${RBAC}/namespaces/default/rolebindings`, {
    body: {
      apiVersion: API,
      kind: 'RoleBinding',
      metadata: { name: 'readers' },
      subjects: [{ kind: 'Group', name: 'readers', apiGroup: 'rbac.authorization.k8s.io' }],
      roleRef: { kind: 'Role', name: 'reader', apiGroup: 'rbac.authorization.k8s.io' },
    },
  });
});
afterAll(() => server.stop());

describe('who asks', () => {
  it('a token that is not ours is 401; none at all is nobody, who may do nothing', async () => {
    const bad = await admin('GET', WIDGETS, { token: 'nonsense' });
    expect([bad.code, bad.body]).toEqual([
      401,
      expect.objectContaining({ reason: 'Unauthorized', message: 'Unauthorized' }),
    ]);
    const none = await admin('GET', WIDGETS, { token: undefined });
    expect([none.code, (none.body as unknown as { message: string }).message]).toEqual([
      403,
      'widgets.example.com is forbidden: User "system:anonymous" cannot list resource "widgets" in API group "example.com" in the namespace "default"',
    ]);
    const path = await admin('GET', '/apis', { token: undefined });
    expect([path.code, (path.body as unknown as { message: string }).message]).toEqual([
      403,
      'forbidden: User "system:anonymous" cannot get path "/apis"',
    ]);
  });

  it('a token stands for one user in one set of groups, however often it is asked for', () => {
    expect(server.api.token('ann', ['a', 'b'])).toBe(server.api.token('ann', ['b', 'a']));
    expect(server.api.token('ann', ['a'])).not.toBe(server.api.token('ann', ['b']));
  });

  it('TokenReview and SelfSubjectReview say who it is', async () => {
    const { body } = await admin('POST', '/apis/authentication.k8s.io/v1/tokenreviews', {
      body: {
        apiVersion: 'authentication.k8s.io/v1',
        kind: 'TokenReview',
        spec: { token: server.api.token('ann', ['a']) },
      },
    });
    expect(body['status']).toMatchObject({
      authenticated: true,
      user: { username: 'ann', groups: ['a', 'system:authenticated'] },
    });
    const self = await server
      .clientFor('ann')
      .call('POST', '/apis/authentication.k8s.io/v1/selfsubjectreviews', {
        body: { apiVersion: 'authentication.k8s.io/v1', kind: 'SelfSubjectReview' },
      });
    expect(self.body['status']).toMatchObject({ userInfo: { username: 'ann' } });
  });
});

describe('impersonation', () => {
  const as = { 'Impersonate-User': 'ann', 'Impersonate-Group': 'readers' };

  it('counts for the other one, and is for those who may', async () => {
    expect((await admin('GET', WIDGETS, { headers: as })).code).toBe(200);
    expect((await admin('POST', WIDGETS, { headers: as, body: widget('x') })).code).toBe(403);
    const refused = await server.clientFor('bob').call('GET', WIDGETS, { headers: as });
    expect([refused.code, refused.text]).toEqual([
      403,
      expect.stringContaining('User \\"bob\\" cannot impersonate resource \\"users\\"'),
    ]);
  });

  it('of a group without a user is refused', async () => {
    expect((await admin('GET', WIDGETS, { headers: { 'Impersonate-Group': 'readers' } })).code).toBe(400);
  });
});

describe('what they may do', () => {
  it('is what a role gives them, there and no further', async () => {
    const reader = server.clientFor('ann', ['readers']);
    expect((await reader.call('GET', WIDGETS)).code).toBe(200);
    expect((await reader.call('GET', '/apis')).code).toBe(200);
    expect((await reader.call('GET', '/apis/example.com/v1/namespaces/kube-system/widgets')).code).toBe(403);
    expect((await reader.call('GET', '/apis/example.com/v1/widgets')).code).toBe(403);
    const refused = await reader.call('POST', WIDGETS, { body: widget('x') });
    expect([refused.code, refused.text]).toEqual([
      403,
      expect.stringContaining('cannot create resource \\"widgets\\"'),
    ]);
  });

  it('a name in a rule is that name', async () => {
    const reader = server.clientFor('ann', ['readers']);
    expect((await reader.call('PUT', `${WIDGETS}/mine/status`, { body: widget('mine') })).code).toBe(404);
    expect((await reader.call('PUT', `${WIDGETS}/other/status`, { body: widget('other') })).code).toBe(403);
    expect((await reader.call('PUT', `${WIDGETS}/mine`, { body: widget('mine') })).code).toBe(403);
  });

  it('follows a binding that is taken away at once', async () => {
    const temporary = server.clientFor('bob', ['temps']);
    const binding = {
      apiVersion: API,
      kind: 'ClusterRoleBinding',
      metadata: { name: 'temps' },
      subjects: [{ kind: 'User', name: 'bob', apiGroup: 'rbac.authorization.k8s.io' }],
      roleRef: { kind: 'ClusterRole', name: 'cluster-admin', apiGroup: 'rbac.authorization.k8s.io' },
    };
    expect((await temporary.call('GET', WIDGETS)).code).toBe(403);
    await admin('POST', `${RBAC}/clusterrolebindings`, { body: binding });
    expect((await temporary.call('GET', WIDGETS)).code).toBe(200);
    await admin('DELETE', `${RBAC}/clusterrolebindings/temps`);
    expect((await temporary.call('GET', WIDGETS)).code).toBe(403);
  });

  it('is what a review says', async () => {
    const review = async (verb: string): Promise<unknown> => {
      const { body } = await server
        .clientFor('ann', ['readers'])
        .call('POST', '/apis/authorization.k8s.io/v1/selfsubjectaccessreviews', {
          body: {
            apiVersion: 'authorization.k8s.io/v1',
            kind: 'SelfSubjectAccessReview',
            spec: {
              resourceAttributes: { verb, group: 'example.com', resource: 'widgets', namespace: 'default' },
            },
          },
        });
      return body['status'];
    };
    expect(await review('list')).toMatchObject({
      allowed: true,
      reason: expect.stringContaining('RBAC: allowed by RoleBinding') as unknown,
    });
    expect(await review('delete')).toEqual({ allowed: false });
    const rules = await server
      .clientFor('ann', ['readers'])
      .call('POST', '/apis/authorization.k8s.io/v1/selfsubjectrulesreviews', {
        body: {
          apiVersion: 'authorization.k8s.io/v1',
          kind: 'SelfSubjectRulesReview',
          spec: { namespace: 'default' },
        },
      });
    expect(JSON.stringify(rules.body['status'])).toContain('"widgets/status"');
  });

  it('a role that may not be escalated to is refused', async () => {
    await admin('POST', `${RBAC}/clusterroles`, {
      body: {
        apiVersion: API,
        kind: 'ClusterRole',
        metadata: { name: 'role-writer' },
        rules: [
          {
            apiGroups: ['rbac.authorization.k8s.io'],
            resources: ['*'],
            verbs: ['create', 'update', 'patch'],
          },
        ],
      },
    });
    await admin('POST', `${RBAC}/clusterrolebindings`, {
      body: {
        apiVersion: API,
        kind: 'ClusterRoleBinding',
        metadata: { name: 'role-writer' },
        subjects: [{ kind: 'User', name: 'eve', apiGroup: 'rbac.authorization.k8s.io' }],
        roleRef: { kind: 'ClusterRole', name: 'role-writer', apiGroup: 'rbac.authorization.k8s.io' },
      },
    });
    const eve = server.clientFor('eve');
    const role = await eve.call('POST', `${RBAC}/clusterroles`, {
      body: {
        apiVersion: API,
        kind: 'ClusterRole',
        metadata: { name: 'all' },
        rules: [{ apiGroups: ['*'], resources: ['*'], verbs: ['*'] }],
      },
    });
    expect([role.code, role.text]).toEqual([
      403,
      expect.stringContaining('is attempting to grant RBAC permissions not currently held'),
    ]);
    const binding = await eve.call('POST', `${RBAC}/clusterrolebindings`, {
      body: {
        apiVersion: API,
        kind: 'ClusterRoleBinding',
        metadata: { name: 'eve-admin' },
        subjects: [{ kind: 'User', name: 'eve', apiGroup: 'rbac.authorization.k8s.io' }],
        roleRef: { kind: 'ClusterRole', name: 'cluster-admin', apiGroup: 'rbac.authorization.k8s.io' },
      },
    });
    expect(binding.code).toBe(403);
    const within = await eve.call('POST', `${RBAC}/clusterroles`, {
      body: {
        apiVersion: API,
        kind: 'ClusterRole',
        metadata: { name: 'within' },
        rules: [{ apiGroups: ['rbac.authorization.k8s.io'], resources: ['roles'], verbs: ['create'] }],
      },
    });
    expect(within.code).toBe(201);
  });
});

describe('a continue token', () => {
  it('that names a key of another namespace reaches nothing there, to read or to delete', async () => {
    for (const name of ['alpha', 'omega']) {
      await admin('POST', '/api/v1/namespaces', {
        body: { apiVersion: 'v1', kind: 'Namespace', metadata: { name } },
      });
    }
    await admin('POST', WIDGETS.replace('/default/', '/alpha/'), { body: widget('kept') });
    const forged = (start: string): string =>
      Buffer.from(JSON.stringify({ v: 'meta.k8s.io/v1', rv: -1, start })).toString('base64url');
    for (const start of ['', 'a', 'alpha/', '../alpha/a', '/']) {
      const there = `${WIDGETS.replace('/default/', '/omega/')}?continue=${forged(start)}`;
      const listed = await admin('GET', there);
      expect([listed.code, listed.body['items'] ?? []], start).toEqual([200, []]);
      await admin('DELETE', there);
      expect((await admin('GET', `${WIDGETS.replace('/default/', '/alpha/')}/kept`)).code, start).toBe(200);
    }
  });
});

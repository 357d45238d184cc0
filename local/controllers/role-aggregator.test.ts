import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { eventually, startTestServer, type TestServer } from '../testing.ts';

let server: TestServer;
beforeAll(async () => {
  server = await startTestServer();
});
afterAll(() => server.stop());

const ROLES = '/apis/rbac.authorization.k8s.io/v1/clusterroles';
const rule = (verb: string): object => ({
  apiGroups: ['example.com'],
  resources: ['widgets'],
  verbs: [verb],
});
const made = async (name: string, more: object): Promise<number> =>
  (await server.client.call('POST', ROLES, { body: { metadata: { name }, ...more } })).code;
const rulesOf = async (name: string): Promise<unknown> =>
  (await server.client.call('GET', `${ROLES}/${name}`)).body['rules'];
const become = (name: string, verbs: string[]) =>
  eventually(async () => JSON.stringify(await rulesOf(name)) === JSON.stringify(verbs.map(rule)));

describe('[K2] a ClusterRole with an aggregationRule', () => {
  it('has the rules of those that it selects, in the order of their names, each once', async () => {
    await made('b', { metadata: { name: 'b', labels: { to: 'sum' } }, rules: [rule('list'), rule('get')] });
    await made('sum', { aggregationRule: { clusterRoleSelectors: [{ matchLabels: { to: 'sum' } }] } });
    await become('sum', ['list', 'get']);
    await made('a', { metadata: { name: 'a', labels: { to: 'sum' } }, rules: [rule('get'), rule('watch')] });
    await become('sum', ['get', 'watch', 'list']);
    await server.client.call('DELETE', `${ROLES}/b`);
    await become('sum', ['get', 'watch']);
  });

  it('selects by expressions, too', async () => {
    await made('c', { metadata: { name: 'c', labels: { tier: 'x' } }, rules: [rule('patch')] });
    await made('some', {
      aggregationRule: {
        clusterRoleSelectors: [{ matchExpressions: [{ key: 'tier', operator: 'In', values: ['x', 'y'] }] }],
      },
    });
    await become('some', ['patch']);
  });

  it('what is written into its rules by hand does not stay', async () => {
    await server.client.call('PATCH', `${ROLES}/some`, {
      body: { rules: [rule('delete')] },
      contentType: 'application/merge-patch+json',
    });
    await become('some', ['patch']);
  });

  it('is for those who may do everything', async () => {
    await made('maker', {
      rules: [{ apiGroups: ['rbac.authorization.k8s.io'], resources: ['clusterroles'], verbs: ['create'] }],
    });
    await server.client.call('POST', '/apis/rbac.authorization.k8s.io/v1/clusterrolebindings', {
      body: {
        metadata: { name: 'maker' },
        roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'maker' },
        subjects: [{ kind: 'User', name: 'mallory' }],
      },
    });
    const body = {
      metadata: { name: 'all' },
      aggregationRule: { clusterRoleSelectors: [{ matchLabels: {} }] },
    };
    const { code, text } = await server.clientFor('mallory').call('POST', ROLES, { body });
    expect([code, text]).toEqual([403, expect.stringContaining('must have cluster-admin privileges')]);
  });
});

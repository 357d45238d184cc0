import { GROUP } from '../definitions.ts';
import type { Case, Step } from '../types.ts';
import { CONFIGMAPS, configMap, gadget, GADGETS, MERGE, quiet, widget, WIDGETS } from './make.ts';

const RBAC = 'rbac.authorization.k8s.io';
const ROLES = `/apis/${RBAC}/v1/namespaces/\${ns}/roles`;
const BINDINGS = `/apis/${RBAC}/v1/namespaces/\${ns}/rolebindings`;
const CLUSTER_ROLES = `/apis/${RBAC}/v1/clusterroles`;
const CLUSTER_BINDINGS = `/apis/${RBAC}/v1/clusterrolebindings`;
const ACCOUNT = 'system:serviceaccount:${ns}:robot';

interface Rule {
  verbs: string[];
  apiGroups?: string[];
  resources?: string[];
  resourceNames?: string[];
  nonResourceURLs?: string[];
}

const on = (resources: string[], verbs: string[], resourceNames?: string[]): Rule => ({
  apiGroups: [GROUP],
  resources,
  verbs,
  ...(resourceNames === undefined ? {} : { resourceNames }),
});
const role = (rules: Rule[], name = 'r'): object => ({
  apiVersion: `${RBAC}/v1`,
  kind: 'Role',
  metadata: { name },
  rules,
});
const clusterRole = (rules: Rule[], name = 'r-${ns}'): object => ({
  ...role(rules, name),
  kind: 'ClusterRole',
});
const user = (name: string): object => ({ kind: 'User', apiGroup: RBAC, name });
const group = (name: string): object => ({ kind: 'Group', apiGroup: RBAC, name });
const account = (name: string, namespace = '${ns}'): object => ({ kind: 'ServiceAccount', name, namespace });
const binding = (to: object[], kind = 'Role', name = 'r'): object => ({
  apiVersion: `${RBAC}/v1`,
  kind: 'RoleBinding',
  metadata: { name: 'b' },
  roleRef: { apiGroup: RBAC, kind, name },
  subjects: to,
});
const clusterBinding = (to: object[], name = 'r-${ns}'): object => ({
  ...binding(to, 'ClusterRole', name),
  kind: 'ClusterRoleBinding',
  metadata: { name },
});
const given = (rules: Rule[], to: object[] = [user('alice')]): Step[] => [
  quiet({ request: `POST ${ROLES}`, body: role(rules) }),
  quiet({ request: `POST ${BINDINGS}`, body: binding(to) }),
];
const givenEverywhere = (rules: Rule[], to: object[] = [user('alice-${ns}')]): Step[] => [
  quiet({ request: `POST ${CLUSTER_ROLES}`, body: clusterRole(rules) }),
  quiet({ request: `POST ${CLUSTER_BINDINGS}`, body: clusterBinding(to) }),
];
const taken: Step[] = [
  quiet({ request: `DELETE ${CLUSTER_BINDINGS}/r-\${ns}` }),
  quiet({ request: `DELETE ${CLUSTER_ROLES}/r-\${ns}` }),
];
const as = (name: string, step: Step, groups?: string): Step => ({
  ...step,
  headers: { 'impersonate-user': name, ...(groups === undefined ? {} : { 'impersonate-group': groups }) },
});
const alice = (step: Step): Step => as('alice', step);
/** A right is in force a moment after it was given. */
const inForce = (step: Step, code = 200): Step => ({ ...step, until: code, silent: true });
const post = (name: string): Step => ({ request: `POST ${WIDGETS}`, body: widget(name) });
const patch = (name: string, sub = ''): Step => ({
  request: `PATCH ${WIDGETS}/${name}${sub}`,
  contentType: MERGE,
  body: sub === '' ? { metadata: { labels: { a: 'b' } } } : { status: { phase: 'Good' } },
});
const names = (body: unknown): unknown =>
  (body as { items?: { metadata: { name: string } }[] }).items?.map((each) => each.metadata.name) ?? body;
const kind = (body: unknown): unknown =>
  (body as { kind?: string; code?: number }).code === undefined ? (body as { kind?: string }).kind : body;
const list = { request: `GET ${WIDGETS}`, view: names };
const REVIEW = '/apis/authorization.k8s.io/v1/';
const review = (kind: string, spec: object, path = ''): Step => ({
  request: `POST ${REVIEW}${path}${kind.toLowerCase()}s`,
  body: { apiVersion: 'authorization.k8s.io/v1', kind, spec },
  view: (body) => {
    const { code, status, message, details } = body as {
      code?: number;
      status: unknown;
      message?: string;
      details?: unknown;
    };
    return code === undefined ? status : { code, message, details };
  },
});
const about = (verb: string, more: object = {}): object => ({
  resourceAttributes: { group: GROUP, resource: 'widgets', namespace: '${ns}', verb, ...more },
});

const self = { apiVersion: 'authentication.k8s.io/v1', kind: 'SelfSubjectReview' };
const who = (body: unknown): unknown => {
  const { code, status } = body as {
    code?: number;
    status: { userInfo: { username: string; groups: string[]; uid?: string; extra?: object } };
  };
  if (code !== undefined) return body;
  const { username, groups, uid, extra } = status.userInfo;
  return { username, groups: [...groups].sort(), uid, extra };
};

export const access: Case[] = [
  {
    name: 'a role of a namespace',
    steps: [
      ...given([on(['widgets'], ['get', 'list'])]),
      quiet(post('w')),
      inForce(alice(list)),
      alice(list),
      alice({ request: `GET ${WIDGETS}/w`, view: kind }),
      alice({ request: `GET ${WIDGETS}/w/status` }),
      alice({ request: `GET ${WIDGETS}?watch=true` }),
      alice(post('v')),
      alice({ request: `PUT ${WIDGETS}/w`, body: widget('w') }),
      alice(patch('w')),
      alice({ request: `DELETE ${WIDGETS}/w` }),
      alice({ request: `DELETE ${WIDGETS}` }),
      alice({ request: `GET /apis/${GROUP}/v1/widgets` }),
      alice({ request: `GET /apis/${GROUP}/v1/namespaces/default/widgets` }),
      alice({ request: `GET ${GADGETS}` }),
      alice({ request: `GET ${CONFIGMAPS}` }),
      as('bob', list),
    ],
  },
  {
    name: 'rights to some names',
    steps: [
      ...given([on(['widgets'], ['get', 'list', 'watch', 'patch', 'create', 'delete'], ['a'])]),
      quiet(post('a')),
      quiet(post('b')),
      inForce(alice({ request: `GET ${WIDGETS}/a` })),
      alice({ request: `GET ${WIDGETS}/b` }),
      alice(list),
      alice({ ...list, request: `GET ${WIDGETS}?fieldSelector=metadata.name%3Da` }),
      alice({ ...list, request: `GET ${WIDGETS}?fieldSelector=metadata.name%3Db` }),
      alice({ ...list, request: `GET ${WIDGETS}?fieldSelector=metadata.name!%3Da` }),
      alice(post('a')),
      alice({ ...patch('a'), view: kind }),
      alice(patch('b')),
      alice({ request: `DELETE ${WIDGETS}` }),
      alice({ request: `DELETE ${WIDGETS}/b` }),
    ],
  },
  {
    name: 'rights to a subresource',
    steps: [
      ...given([on(['widgets/status'], ['get', 'patch', 'update'])]),
      quiet(post('w')),
      inForce(alice({ request: `GET ${WIDGETS}/w/status` })),
      alice({ ...patch('w', '/status'), view: kind }),
      alice(patch('w')),
      alice({ request: `GET ${WIDGETS}/w` }),
      alice({ request: `DELETE ${WIDGETS}/w/status` }),
    ],
  },
  {
    name: 'rights to all that has a name',
    steps: [
      ...given([
        { apiGroups: ['*'], resources: ['*/status'], verbs: ['get'] },
        { apiGroups: [GROUP], resources: ['*'], verbs: ['list'] },
        { apiGroups: [''], resources: ['configmaps'], verbs: ['*'] },
      ]),
      quiet(post('w')),
      inForce(alice(list)),
      alice({ request: `GET ${WIDGETS}/w/status`, view: kind }),
      alice({ request: `GET ${WIDGETS}/w` }),
      alice({ request: `POST ${CONFIGMAPS}`, body: configMap('c'), view: kind }),
      // Where a controller publishes certificates, one more is there.
      alice({ request: `DELETE ${CONFIGMAPS}`, view: (body) => typeof names(body) }),
      alice({ request: 'GET /api/v1/namespaces/${ns}/secrets' }),
    ],
  },
  {
    name: 'a cluster role in a namespace',
    steps: [
      quiet({ request: `POST ${CLUSTER_ROLES}`, body: clusterRole([on(['widgets', 'gadgets'], ['list'])]) }),
      quiet({ request: `POST ${BINDINGS}`, body: binding([user('alice')], 'ClusterRole', 'r-${ns}') }),
      inForce(alice(list)),
      alice(list),
      alice({ request: `GET ${GADGETS}` }),
      alice({ request: `GET /apis/${GROUP}/v1/widgets` }),
      ...taken,
    ],
  },
  {
    name: 'a cluster role everywhere',
    steps: [
      ...givenEverywhere([
        on(['widgets', 'gadgets'], ['list', 'create', 'get']),
        { nonResourceURLs: ['/metrics', '/livez/*'], verbs: ['get'] },
      ]),
      inForce(as('alice-${ns}', { request: `GET ${GADGETS}` })),
      as('alice-${ns}', list),
      as('alice-${ns}', { request: `GET /apis/${GROUP}/v1/namespaces/default/widgets`, view: names }),
      as('alice-${ns}', { request: `POST ${GADGETS}`, body: gadget('${ns}'), view: kind }),
      as('alice-${ns}', { request: `DELETE ${GADGETS}/\${ns}` }),
      as('alice-${ns}', { request: 'GET /livez/ping' }),
      as('alice-${ns}', { request: 'GET /readyz/ping' }),
      as('alice-${ns}', { request: 'GET /logs' }),
      as('alice-${ns}', { request: 'POST /livez/ping' }),
      quiet({ request: `DELETE ${GADGETS}/\${ns}` }),
      ...taken,
      { ...as('alice-${ns}', { request: `GET ${GADGETS}` }), until: 403 },
    ],
  },
  {
    name: 'service accounts and groups',
    steps: [
      ...given([on(['widgets'], ['list'])], [account('robot'), group('team'), account('other', 'default')]),
      inForce(as(ACCOUNT, list)),
      as(ACCOUNT, list),
      as(ACCOUNT, post('w')),
      as('system:serviceaccount:default:robot', list),
      as('system:serviceaccount:default:other', list),
      as('carol', list, 'team'),
      as('carol', list, 'squad'),
      as('carol', list),
      as('carol', post('w'), 'system:masters'),
    ],
  },
  {
    name: 'all accounts of a namespace',
    steps: [
      ...given([on(['widgets'], ['list'])], [group('system:serviceaccounts:${ns}')]),
      inForce(as(ACCOUNT, list)),
      as('system:serviceaccount:${ns}:any', list),
      as('system:serviceaccount:default:any', list),
    ],
  },
  {
    name: 'rights that are taken back',
    steps: [
      ...given([on(['widgets'], ['list'])]),
      inForce(alice(list)),
      quiet({ request: `PATCH ${ROLES}/r`, contentType: MERGE, body: { rules: [on(['widgets'], ['get'])] } }),
      { ...alice(list), until: 403 },
      quiet({
        request: `PATCH ${ROLES}/r`,
        contentType: MERGE,
        body: { rules: [on(['widgets'], ['list'])] },
      }),
      inForce(alice(list)),
      quiet({ request: `DELETE ${ROLES}/r` }),
      // A binding whose role is not there gives nothing, and the refusal says so.
      { ...alice(list), until: 403 },
      review('SubjectAccessReview', { user: 'alice', ...about('list') }),
      alice({ request: 'GET /metrics' }),
    ],
  },
  {
    name: 'a role that is made of others',
    steps: [
      quiet({
        request: `POST ${CLUSTER_ROLES}`,
        body: {
          ...clusterRole([]),
          rules: undefined,
          aggregationRule: { clusterRoleSelectors: [{ matchLabels: { 'example.com/to': '${ns}' } }] },
        },
      }),
      quiet({ request: `POST ${BINDINGS}`, body: binding([user('alice')], 'ClusterRole', 'r-${ns}') }),
      quiet({
        request: `POST ${CLUSTER_ROLES}`,
        body: {
          ...clusterRole([on(['widgets'], ['list'])], 'part-${ns}'),
          metadata: { name: 'part-${ns}', labels: { 'example.com/to': '${ns}' } },
        },
      }),
      inForce(alice(list)),
      { request: `GET ${CLUSTER_ROLES}/r-\${ns}` },
      quiet({ request: `DELETE ${CLUSTER_ROLES}/part-\${ns}` }),
      { ...alice(list), until: 403 },
      quiet({ request: `DELETE ${CLUSTER_ROLES}/r-\${ns}` }),
    ],
  },
  {
    name: 'a role that is made of others is for administrators',
    steps: [
      ...givenEverywhere([{ apiGroups: [RBAC], resources: ['clusterroles'], verbs: ['create', 'get'] }]),
      inForce(as('alice-${ns}', { request: `GET ${CLUSTER_ROLES}/none` }), 404),
      as('alice-${ns}', {
        request: `POST ${CLUSTER_ROLES}`,
        body: {
          ...clusterRole([], 'all-${ns}'),
          aggregationRule: { clusterRoleSelectors: [{ matchLabels: {} }] },
        },
      }),
      ...taken,
    ],
  },
  {
    name: 'nobody gives what they do not have',
    steps: [
      ...given([
        {
          apiGroups: [RBAC],
          resources: ['roles', 'rolebindings'],
          verbs: ['create', 'update', 'patch', 'get'],
        },
        on(['widgets'], ['get']),
      ]),
      inForce(alice({ request: `GET ${ROLES}/r` })),
      alice({ request: `POST ${ROLES}`, body: role([on(['widgets'], ['get'])], 'mine'), view: kind }),
      alice({ request: `POST ${ROLES}`, body: role([on(['widgets'], ['get', 'list'])], 'more') }),
      alice({
        request: `POST ${ROLES}`,
        body: role(
          [on(['widgets', 'gadgets'], ['get', 'list'], ['x']), { nonResourceURLs: ['/x'], verbs: ['get'] }],
          'more',
        ),
      }),
      alice({ request: `PATCH ${ROLES}/mine`, contentType: MERGE, body: { rules: [on(['*'], ['*'])] } }),
      alice({
        request: `PATCH ${ROLES}/mine`,
        contentType: MERGE,
        body: { metadata: { labels: { a: 'b' } } },
        view: kind,
      }),
      alice({
        request: `POST ${BINDINGS}`,
        body: { ...binding([user('bob')], 'Role', 'mine'), metadata: { name: 'mine' } },
        view: kind,
      }),
      quiet({ request: `POST ${ROLES}`, body: role([on(['widgets'], ['delete'])], 'strong') }),
      { request: `GET ${ROLES}/strong`, silent: true },
      alice({
        request: `POST ${BINDINGS}`,
        body: { ...binding([user('bob')], 'Role', 'strong'), metadata: { name: 'strong' } },
      }),
      alice({
        request: `POST ${BINDINGS}`,
        body: { ...binding([user('bob')], 'Role', 'none'), metadata: { name: 'none' } },
      }),
      alice({
        request: `POST ${BINDINGS}`,
        body: { ...binding([user('bob')], 'ClusterRole', 'cluster-admin'), metadata: { name: 'admin' } },
        // The list of what is missing is as long as the role.
        view: (body) => ((body as { message: string }).message ?? '').split(':')[0],
      }),
    ],
  },
  {
    name: 'impersonation',
    steps: [
      as('alice', {
        request: 'POST /apis/authentication.k8s.io/v1/selfsubjectreviews',
        body: self,
        view: who,
      }),
      as(ACCOUNT, {
        request: 'POST /apis/authentication.k8s.io/v1/selfsubjectreviews',
        body: self,
        view: who,
      }),
      {
        ...as('alice', {
          request: 'POST /apis/authentication.k8s.io/v1/selfsubjectreviews',
          body: self,
          view: who,
        }),
        headers: {
          'impersonate-user': 'alice',
          'impersonate-uid': 'u1',
          'impersonate-extra-scopes': 'one',
        },
      },
      as('system:anonymous', {
        request: 'POST /apis/authentication.k8s.io/v1/selfsubjectreviews',
        body: self,
      }),
      { request: `GET ${WIDGETS}`, headers: { 'impersonate-group': 'team' } },
      { ...as('alice', list), as: 'nobody' },
      { ...as(ACCOUNT, list), as: 'nobody' },
    ],
  },
  {
    name: 'without a token',
    steps: [
      { request: 'GET /livez', as: 'anonymous' },
      {
        request: 'GET /version',
        as: 'anonymous',
        view: (body) => typeof (body as { gitVersion: string }).gitVersion,
      },
      { request: 'GET /apis', as: 'anonymous' },
      { request: `GET ${WIDGETS}`, as: 'anonymous' },
      { request: `POST ${WIDGETS}`, as: 'anonymous', body: widget('w') },
    ],
  },
  {
    name: 'questions about others',
    steps: [
      ...given([
        on(['widgets'], ['get']),
        on(['widgets/status'], ['update']),
        on(['widgets'], ['delete'], ['x']),
      ]),
      inForce(alice({ request: `GET ${WIDGETS}/none` }), 404),
      review('SubjectAccessReview', { user: 'alice', ...about('get') }),
      review('SubjectAccessReview', { user: 'alice', ...about('list') }),
      review('SubjectAccessReview', { user: 'alice', ...about('update', { subresource: 'status' }) }),
      review('SubjectAccessReview', { user: 'alice', ...about('delete', { name: 'x' }) }),
      review('SubjectAccessReview', { user: 'alice', ...about('delete', { name: 'y' }) }),
      review('SubjectAccessReview', { user: 'alice', ...about('get', { namespace: 'default' }) }),
      review('SubjectAccessReview', { groups: ['system:masters'], ...about('get') }),
      review('SubjectAccessReview', {
        user: 'alice',
        groups: ['system:authenticated'],
        // More than one role gives /version, and which is named is a matter of chance.
        nonResourceAttributes: { path: '/apis', verb: 'get' },
      }),
      review('SubjectAccessReview', {
        user: 'alice',
        nonResourceAttributes: { path: '/metrics', verb: 'get' },
      }),
      review('SubjectAccessReview', about('get')),
      review('SubjectAccessReview', { user: 'alice' }),
      review('SubjectAccessReview', {
        user: 'alice',
        ...about('get'),
        nonResourceAttributes: { path: '/metrics', verb: 'get' },
      }),
      review('LocalSubjectAccessReview', { user: 'alice', ...about('get') }, 'namespaces/${ns}/'),
      review(
        'LocalSubjectAccessReview',
        { user: 'alice', ...about('get', { namespace: 'x' }) },
        'namespaces/${ns}/',
      ),
      review('SelfSubjectAccessReview', about('get', { resource: 'nothing' })),
      alice(review('SelfSubjectAccessReview', about('get'))),
      alice(review('SelfSubjectAccessReview', about('patch'))),
      alice(review('SubjectAccessReview', { user: 'bob', ...about('get') })),
    ],
  },
  {
    name: 'the rules that hold',
    steps: [
      ...given([on(['widgets'], ['get', 'list']), on(['widgets'], ['delete'], ['x'])]),
      inForce(alice(list)),
      alice({
        ...review('SelfSubjectRulesReview', { namespace: '${ns}' }),
        view: ours,
      }),
      alice({
        ...review('SelfSubjectRulesReview', { namespace: 'default' }),
        view: ours,
      }),
      alice(review('SelfSubjectRulesReview', {})),
    ],
  },
  {
    name: 'whose token it is',
    steps: [
      tokenReview({ token: '${nobodyToken}' }),
      {
        ...tokenReview({ token: 'nonsense' }),
        view: (body) => Object.keys((body as { status: object }).status).sort(),
      },
      tokenReview({ token: '' }),
      alice(tokenReview({ token: 'x' })),
    ],
  },
];

function tokenReview(spec: object): Step {
  return {
    request: 'POST /apis/authentication.k8s.io/v1/tokenreviews',
    body: { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenReview', spec },
    view: (body) => {
      const { code, status } = body as {
        code?: number;
        status: { authenticated?: boolean; user?: { username?: string; groups?: string[] } };
      };
      if (code !== undefined) return body;
      return {
        authenticated: status.authenticated,
        username: status.user?.username,
        groups: [...(status.user?.groups ?? [])].sort(),
      };
    },
  };
}

function ours(body: unknown): unknown {
  const { status } = body as {
    status: { incomplete: boolean; resourceRules: { apiGroups: string[] }[]; nonResourceRules: unknown[] };
  };
  return {
    incomplete: status.incomplete,
    rules: status.resourceRules.filter(({ apiGroups }) => apiGroups.includes(GROUP)),
    paths: status.nonResourceRules.length > 0,
  };
}

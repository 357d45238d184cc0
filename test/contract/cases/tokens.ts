import type { Case, Step } from '../types.ts';
import { quiet } from './make.ts';

const ACCOUNTS = '/api/v1/namespaces/${ns}/serviceaccounts';
const AUTHENTICATION = 'authentication.k8s.io';
const robot: Step = {
  request: `POST ${ACCOUNTS}`,
  body: { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: 'robot' } },
  silent: true,
};
const claims = (token: string): Record<string, unknown> =>
  JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString('utf8')) as Record<string, unknown>;

/** The token by what it says, without what is of the moment. */
const told = (body: unknown): unknown => {
  const { code, kind, spec, status } = body as {
    code?: number;
    kind: string;
    spec: object;
    status: { token: string; expirationTimestamp: string };
  };
  if (code !== undefined) return body;
  const {
    iat,
    nbf,
    exp,
    jti,
    'kubernetes.io': own,
    iss,
    sub,
    aud,
  } = claims(status.token) as Record<string, number>;
  const { namespace, serviceaccount, node, secret } = own as unknown as Record<
    string,
    { name: string; uid: string }
  >;
  return {
    kind,
    spec,
    seconds: (exp ?? 0) - (iat ?? 0),
    sameStart: nbf === iat,
    id: typeof jti,
    claims: { iss, sub, aud, namespace, serviceaccount, node: node?.name, secret: secret?.name },
    expires: typeof status.expirationTimestamp,
  };
};
const ask = (spec: object = {}, more: Partial<Step> = {}): Step => ({
  request: `POST ${ACCOUNTS}/robot/token`,
  body: { apiVersion: `${AUTHENTICATION}/v1`, kind: 'TokenRequest', spec },
  view: told,
  ...more,
});
const kept = { keep: { token: 'status.token' }, silent: true } as const;
const who = (more: Partial<Step> = {}): Step => ({
  request: `POST /apis/${AUTHENTICATION}/v1/selfsubjectreviews`,
  headers: { authorization: 'Bearer ${token}' },
  body: { apiVersion: `${AUTHENTICATION}/v1`, kind: 'SelfSubjectReview' },
  view: (body) => {
    const { code, status } = body as {
      code?: number;
      status: { userInfo: { username: string; groups: string[]; extra: Record<string, string[]> } };
    };
    if (code !== undefined) return body;
    const { username, groups, extra } = status.userInfo;
    return {
      username,
      groups: [...groups].sort(),
      credential: extra['authentication.kubernetes.io/credential-id']?.map((id) => id.slice(0, 4)),
      node: extra['authentication.kubernetes.io/node-name'],
    };
  },
  ...more,
});
const review = (spec: object): Step => ({
  request: `POST /apis/${AUTHENTICATION}/v1/tokenreviews`,
  body: { apiVersion: `${AUTHENTICATION}/v1`, kind: 'TokenReview', spec },
  view: (body) => {
    const { status } = body as {
      status: { authenticated?: boolean; audiences?: string[]; user?: { username?: string } };
    };
    return { authenticated: status.authenticated, audiences: status.audiences, user: status.user?.username };
  },
});

export const tokens: Case[] = [
  {
    name: 'a token of a service account',
    steps: [
      robot,
      ask(),
      ask({ expirationSeconds: 601, audiences: ['a', 'b'] }),
      ask({}, kept),
      who(),
      review({ token: '${token}' }),
      review({ token: '${token}', audiences: ['other'] }),
      review({ token: '${token}', audiences: ['other', 'https://kubernetes.default.svc'] }),
      { request: 'GET /api/v1/namespaces/${ns}/configmaps', headers: { authorization: 'Bearer ${token}' } },
    ],
  },
  {
    name: 'a token for somebody else',
    steps: [
      robot,
      ask({ audiences: ['vault'] }, kept),
      who(),
      review({ token: '${token}' }),
      review({ token: '${token}', audiences: ['vault'] }),
    ],
  },
  {
    name: 'a token that is changed',
    steps: [robot, ask({}, kept), who({ headers: { authorization: 'Bearer ${token}x' } })],
  },
  {
    name: 'a token ends with its account',
    steps: [
      robot,
      ask({}, kept),
      who({ silent: true }),
      quiet({ request: `DELETE ${ACCOUNTS}/robot` }),
      who({ until: 401 }),
      { ...robot },
      who({ until: 401 }),
    ],
  },
  {
    name: 'a token that is bound to a secret',
    steps: [
      robot,
      ask({ boundObjectRef: { kind: 'Secret', apiVersion: 'v1', name: 's' } }),
      quiet({
        request: 'POST /api/v1/namespaces/${ns}/secrets',
        body: { apiVersion: 'v1', kind: 'Secret', metadata: { name: 's' } },
      }),
      ask({ boundObjectRef: { kind: 'Secret', apiVersion: 'v1', name: 's' } }),
      ask({ boundObjectRef: { kind: 'Secret', apiVersion: 'v1', name: 's', uid: 'x' } }),
      ask({ boundObjectRef: { kind: 'Secret', apiVersion: 'v1', name: 's' } }, kept),
      who({ silent: true }),
      quiet({ request: 'DELETE /api/v1/namespaces/${ns}/secrets/s' }),
      who({ until: 401 }),
    ],
  },
  {
    name: 'a token that is bound to a node',
    steps: [
      robot,
      quiet({
        request: 'POST /api/v1/nodes',
        body: { apiVersion: 'v1', kind: 'Node', metadata: { name: 'n-${ns}' } },
      }),
      ask({ boundObjectRef: { kind: 'Node', apiVersion: 'v1', name: 'n-${ns}' } }),
      ask({ boundObjectRef: { kind: 'Node', apiVersion: 'v1', name: 'n-${ns}' } }, kept),
      who(),
      quiet({ request: 'DELETE /api/v1/nodes/n-${ns}' }),
    ],
  },
  {
    name: 'requests for tokens that are none',
    steps: [
      ask(),
      robot,
      ask({ expirationSeconds: 5 }),
      ask({ expirationSeconds: 4294967297 }),
      ask({ boundObjectRef: { kind: 'ConfigMap', apiVersion: 'v1', name: 'c' } }),
      ask({}, { as: 'nobody' }),
      { request: `GET ${ACCOUNTS}/robot/token`, view: (body) => (body as { code?: number }).code ?? body },
    ],
  },
];

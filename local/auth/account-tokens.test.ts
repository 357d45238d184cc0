import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startTestServer, type TestServer } from '../testing.ts';

let server: TestServer;
/** Of the day: the server's certificate is of it, too. */
let now = new Date();
beforeAll(async () => {
  server = await startTestServer({ clock: { now: () => now } });
});
afterAll(() => server.stop());

const ACCOUNTS = '/api/v1/namespaces/default/serviceaccounts';
const SELF = '/apis/authentication.k8s.io/v1/selfsubjectreviews';

async function tokenOf(spec: object = {}): Promise<string> {
  const body = { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest', spec };
  const answer = await server.client.call('POST', `${ACCOUNTS}/robot/token`, { body });
  return (answer.body['status'] as { token: string }).token;
}
const codeWith = async (token: string): Promise<number> =>
  (await server.client.call('POST', SELF, { token, body: {} })).code;

describe('[K2] tokens of service accounts', () => {
  beforeAll(async () => {
    await server.client.call('POST', ACCOUNTS, { body: { metadata: { name: 'robot' } } });
  });

  it('one runs out at its time', async () => {
    const token = await tokenOf({ expirationSeconds: 600 });
    expect(await codeWith(token)).toBe(201);
    now = new Date(now.getTime() + 599_000);
    expect(await codeWith(token)).toBe(201);
    now = new Date(now.getTime() + 1000);
    expect(await codeWith(token)).toBe(401);
  });

  it.each([
    ['another signature', (token: string) => `${token.slice(0, -2)}xx`],
    ['no signature', (token: string) => token.split('.').slice(0, 2).join('.')],
    [
      'another account',
      (token: string) => {
        const [head = '', claims = '', signature = ''] = token.split('.');
        const text = Buffer.from(claims, 'base64url').toString().replaceAll('robot', 'admin');
        return `${head}.${Buffer.from(text).toString('base64url')}.${signature}`;
      },
    ],
    [
      'no algorithm',
      (token: string) =>
        `${Buffer.from('{"alg":"none"}').toString('base64url')}.${token.split('.')[1] ?? ''}.`,
    ],
    ['nonsense', () => 'a.b.c'],
  ])('one with %s is none', async (_name, change) => {
    expect(await codeWith(change(await tokenOf()))).toBe(401);
  });

  it('one for a node says so in the extras of its user', async () => {
    const token = await tokenOf({ boundObjectRef: { kind: 'Node', apiVersion: 'v1', name: 'n1' } });
    const { body } = await server.client.call('POST', SELF, { token, body: {} });
    expect(body['status']).toMatchObject({
      userInfo: {
        username: 'system:serviceaccount:default:robot',
        extra: { 'authentication.kubernetes.io/node-name': ['n1'] },
      },
    });
  });

  it('it has the rights of the account, and no others', async () => {
    const token = await tokenOf();
    expect((await server.client.call('GET', ACCOUNTS, { token })).code).toBe(403);
  });

  it('it is no token of another server', async () => {
    const other = await startTestServer({ clock: { now: () => now } });
    try {
      const answer = await other.client.call('POST', SELF, { token: await tokenOf(), body: {} });
      expect(answer.code).toBe(401);
    } finally {
      await other.stop();
    }
  });
});

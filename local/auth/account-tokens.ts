import { createHmac, randomUUID, timingSafeEqual } from 'node:crypto';
import type { Clock } from '../clock.ts';
import { isRecord, type StoredObject } from '../object.ts';
import { kindId } from '../registry/kind.ts';
import type { Store } from '../store/store.ts';
import { AUTHENTICATED, type User } from './user.ts';

/** Who issues the tokens, and whom they are for when a request names nobody: this API. */
const ISSUER = 'https://kubernetes.default.svc';
export const API_AUDIENCE = ISSUER;

export interface BoundTo {
  kind: 'Node' | 'Pod' | 'Secret';
  name: string;
  uid: string;
}

export interface AccountToken {
  account: StoredObject;
  audiences: readonly string[];
  seconds: number;
  boundTo: BoundTo | undefined;
}

interface Reference {
  name: string;
  uid?: string;
}

interface Claims {
  iss: string;
  sub: string;
  aud: string[];
  iat: number;
  nbf: number;
  exp: number;
  jti: string;
  'kubernetes.io': {
    namespace: string;
    serviceaccount: Reference;
    node?: Reference;
    pod?: Reference;
    secret?: Reference;
  };
}

const ACCOUNTS = kindId('', 'serviceaccounts');
const SECRETS = kindId('', 'secrets');
const PREFIX = 'authentication.kubernetes.io';

/**
 * Tokens of service accounts, as the TokenRequest API gives them: they run out, end with the account or the secret
 * that they are bound to, and say which node or pod they were made for. Nothing of them is kept.
 */
export class AccountTokens {
  readonly #key: Buffer;
  readonly #store: Store;
  readonly #clock: Clock;

  constructor(key: Buffer, store: Store, clock: Clock) {
    this.#key = key;
    this.#store = store;
    this.#clock = clock;
  }

  issue({ account, audiences, seconds, boundTo }: AccountToken): { token: string; expires: Date } {
    const now = Math.floor(this.#clock.now().getTime() / 1000);
    const { name, namespace = '', uid = '' } = account.metadata;
    const claims: Claims = {
      iss: ISSUER,
      sub: `system:serviceaccount:${namespace}:${name}`,
      aud: [...audiences],
      iat: now,
      nbf: now,
      exp: now + seconds,
      jti: randomUUID(),
      'kubernetes.io': {
        namespace,
        serviceaccount: { name, uid },
        ...(boundTo === undefined
          ? {}
          : {
              [boundTo.kind.toLowerCase()]: {
                name: boundTo.name,
                ...(boundTo.uid === '' ? {} : { uid: boundTo.uid }),
              },
            }),
      },
    };
    const body = `${encode({ alg: 'HS256', typ: 'JWT' })}.${encode(claims)}`;
    return { token: `${body}.${this.#sign(body)}`, expires: new Date((now + seconds) * 1000) };
  }

  /** Whose token it is; undefined for one that is not ours, not for any of these audiences, or not valid any more. */
  read(token: string, audiences: readonly string[]): { user: User; audiences: string[] } | undefined {
    const claims = this.#verify(token);
    if (claims === undefined) return undefined;
    const common = audiences.filter((each) => claims.aud.includes(each));
    if (common.length === 0) return undefined;
    const now = this.#clock.now().getTime() / 1000;
    if (claims.exp <= now || claims.nbf > now + 60) return undefined;
    const { namespace, serviceaccount, secret } = claims['kubernetes.io'];
    if (!this.#isThere(ACCOUNTS, namespace, serviceaccount)) return undefined;
    if (secret !== undefined && !this.#isThere(SECRETS, namespace, secret)) return undefined;
    const user = {
      name: claims.sub,
      uid: serviceaccount.uid ?? '',
      groups: ['system:serviceaccounts', `system:serviceaccounts:${namespace}`, AUTHENTICATED],
      extra: extraOf(claims),
    };
    return { user, audiences: common };
  }

  #isThere(resource: string, namespace: string, { name, uid }: Reference): boolean {
    const object = this.#store.get(resource, `${namespace}/${name}`);
    return (
      object !== undefined && object.metadata.uid === uid && object.metadata.deletionTimestamp === undefined
    );
  }

  #sign(body: string): string {
    return createHmac('sha256', this.#key).update(body).digest('base64url');
  }

  #verify(token: string): Claims | undefined {
    const [head = '', claims = '', signature = '', ...more] = token.split('.');
    if (more.length > 0) return undefined;
    const wanted = Buffer.from(this.#sign(`${head}.${claims}`));
    const found = Buffer.from(signature);
    if (wanted.length !== found.length || !timingSafeEqual(wanted, found)) return undefined;
    // Signed by this server: the claims are as they were issued.
    const value: unknown = JSON.parse(Buffer.from(claims, 'base64url').toString('utf8'));
    return isRecord(value) ? (value as unknown as Claims) : undefined;
  }
}

function extraOf(claims: Claims): Record<string, string[]> {
  const { node, pod } = claims['kubernetes.io'];
  const extra: Record<string, string[]> = { [`${PREFIX}/credential-id`]: [`JTI=${claims.jti}`] };
  for (const [kind, reference] of [
    ['node', node],
    ['pod', pod],
  ] as const) {
    if (reference === undefined) continue;
    extra[`${PREFIX}/${kind}-name`] = [reference.name];
    if (reference.uid !== undefined) extra[`${PREFIX}/${kind}-uid`] = [reference.uid];
  }
  return extra;
}

const encode = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url');

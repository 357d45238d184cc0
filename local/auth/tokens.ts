import { createHash, createHmac, randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { writeFileAtomic } from '../files.ts';
import { isRecord } from '../object.ts';
import { type AccountTokens, API_AUDIENCE } from './account-tokens.ts';
import { ANONYMOUS, AUTHENTICATED, type User } from './user.ts';

const FORMAT = 1;

interface Entry {
  user: string;
  groups: string[];
}

/**
 * Bearer tokens. A token is derived from a random key of this data folder and the identity that it stands for, so
 * asking again gives the same one; the file (0600) has only hashes beside the key, and an entry taken out of it
 * ends the token.
 */
export class Tokens {
  readonly #path: string;
  readonly #key: Buffer;
  readonly #entries: Map<string, Entry>;
  #accounts: AccountTokens | undefined;

  private constructor(path: string, key: Buffer, entries: Map<string, Entry>) {
    this.#path = path;
    this.#key = key;
    this.#entries = entries;
  }

  /** Throws where the file is there and cannot be read. */
  static open(path: string): Tokens {
    let text: string;
    try {
      text = readFileSync(path, 'utf8');
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
      const tokens = new Tokens(path, randomBytes(32), new Map());
      tokens.#save();
      return tokens;
    }
    const value = parse(text);
    if (
      !isRecord(value) ||
      value['format'] !== FORMAT ||
      typeof value['key'] !== 'string' ||
      !isRecord(value['tokens'])
    ) {
      throw new Error(`${path} is not a token file of this version: move it away to have new tokens made`);
    }
    return new Tokens(
      path,
      Buffer.from(value['key'], 'base64'),
      new Map(Object.entries(value['tokens'] as Record<string, Entry>)),
    );
  }

  /** The token that stands for this user in these groups. */
  issue(user: string, groups: readonly string[]): string {
    const identity = JSON.stringify([user, [...groups].sort()]);
    const token = `hf1.${createHmac('sha256', this.#key).update(identity).digest('base64url')}`;
    const hash = hashOf(token);
    if (!this.#entries.has(hash)) {
      this.#entries.set(hash, { user, groups: [...groups] });
      this.#save();
    }
    return token;
  }

  /** A key for what is signed, not kept: of this data folder, and of this purpose. */
  keyFor(purpose: string): Buffer {
    return createHmac('sha256', this.#key).update(purpose).digest();
  }

  /** From now on tokens of service accounts are known, too. */
  readAccounts(accounts: AccountTokens): void {
    this.#accounts = accounts;
  }

  /** The user behind an Authorization header; anonymous without one; undefined for a token that is not ours. */
  authenticate(authorization: string | undefined): User | undefined {
    if (authorization === undefined) return ANONYMOUS;
    const match = /^Bearer +(\S+)$/i.exec(authorization);
    return match?.[1] === undefined ? undefined : this.lookup(match[1]);
  }

  /** Whose token it is, for this API. */
  lookup(token: string): User | undefined {
    return this.review(token, [API_AUDIENCE])?.user;
  }

  /** Whose token it is, and for which of these audiences: one that says nothing of them is for all. */
  review(
    token: string,
    audiences: readonly string[],
  ): { user: User; audiences: readonly string[] } | undefined {
    if (JWT.test(token)) return this.#accounts?.read(token, audiences);
    const user = this.#own(token);
    return user === undefined ? undefined : { user, audiences };
  }

  #own(token: string): User | undefined {
    const hash = hashOf(token);
    const entry = this.#entries.get(hash);
    if (entry === undefined) return undefined;
    return { name: entry.user, uid: hash.slice(0, 16), groups: [...entry.groups, AUTHENTICATED] };
  }

  #save(): void {
    const value = {
      format: FORMAT,
      key: this.#key.toString('base64'),
      tokens: Object.fromEntries(this.#entries),
    };
    writeFileAtomic(this.#path, `${JSON.stringify(value, null, 2)}\n`, 0o600);
  }
}

/** Undefined where it is no JSON: then it is no token file either. */
function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

const JWT = /^[\w-]+\.[\w-]+\.[\w-]+$/;

function hashOf(token: string): string {
  return createHash('sha256').update(token).digest('base64url');
}

import type { StoredObject } from '../object.ts';
import type { ChangeType } from './change.ts';

export interface Mutation {
  rv: number;
  resource: string;
  key: string;
  type: ChangeType;
  object: StoredObject;
  body: string;
  previous: { rv: number; body: string } | undefined;
}

export interface Reader {
  /** The newest revision of an object, or undefined. `resource` is `group/plural`, `key` as objectKey() makes it. */
  read(resource: string, key: string): { rv: number; body: string } | undefined;
}

/**
 * What one write may do. Its mutations are held back until it has returned, so that one that throws half-way has
 * done nothing; it sees its own mutations and those of the writes before it in the same commit.
 */
export class Transaction {
  readonly mutations: Mutation[] = [];
  readonly #reader: Reader;
  readonly #nextRV: () => number;

  constructor(reader: Reader, nextRV: () => number) {
    this.#reader = reader;
    this.#nextRV = nextRV;
  }

  get(resource: string, key: string): StoredObject | undefined {
    const row = this.#read(resource, key);
    return row === undefined ? undefined : (JSON.parse(row.body) as StoredObject);
  }

  has(resource: string, key: string): boolean {
    return this.#read(resource, key) !== undefined;
  }

  /** Stores the object under a new resourceVersion, which is set in it. */
  put(resource: string, key: string, object: StoredObject): void {
    const previous = this.#read(resource, key);
    this.#add(previous === undefined ? 'ADDED' : 'MODIFIED', resource, key, object, previous);
  }

  /** Deletes the object; `object` is its last state, as watches will see it. */
  remove(resource: string, key: string, object: StoredObject): void {
    const previous = this.#read(resource, key);
    if (previous !== undefined) this.#add('DELETED', resource, key, object, previous);
  }

  #add(
    type: ChangeType,
    resource: string,
    key: string,
    object: StoredObject,
    previous: { rv: number; body: string } | undefined,
  ): void {
    const rv = this.#nextRV();
    object.metadata.resourceVersion = String(rv);
    this.mutations.push({ rv, resource, key, type, object, body: JSON.stringify(object), previous });
  }

  #read(resource: string, key: string): { rv: number; body: string } | undefined {
    const own = this.mutations.findLast((m) => m.resource === resource && m.key === key);
    if (own === undefined) return this.#reader.read(resource, key);
    return own.type === 'DELETED' ? undefined : { rv: own.rv, body: own.body };
  }
}

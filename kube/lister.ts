import type { Logger } from 'pino';
import type { KubeObject } from './client.ts';
import { deepFreeze } from './equal.ts';

/** `old` undefined: it is new. `object` undefined: it is gone. */
export type ChangeHandler<T> = (key: string, old: T | undefined, object: T | undefined) => void;

export interface ListerOptions<T> {
  /** name -> the values an object is found under. Objects without one are not in that index. */
  indexes?: Record<string, (object: T) => string[]>;
  log?: Logger;
}

/** `namespace/name`, or `name` of what has no namespace. */
export function keyOf(object: { metadata: { namespace?: string; name: string } }): string {
  const { namespace, name } = object.metadata;
  return namespace === undefined ? name : `${namespace}/${name}`;
}

/** The parts of a key. */
export function splitKey(key: string): { namespace?: string; name: string } {
  const slash = key.indexOf('/');
  return slash === -1 ? { name: key } : { namespace: key.slice(0, slash), name: key.slice(slash + 1) };
}

/**
 * The objects of a resource as last seen, kept by a Reflector. They are frozen: what many readers share nobody
 * changes. Handlers are told of each change after the store has it; one that throws harms nobody else.
 */
export class Lister<T extends KubeObject> {
  readonly #objects = new Map<string, T>();
  readonly #indexOf: Map<string, (object: T) => string[]>;
  readonly #indexes = new Map<string, Map<string, Map<string, T>>>();
  readonly #handlers = new Set<ChangeHandler<T>>();
  readonly #log: Logger | undefined;

  constructor(options: ListerOptions<T> = {}) {
    this.#indexOf = new Map(Object.entries(options.indexes ?? {}));
    for (const name of this.#indexOf.keys()) this.#indexes.set(name, new Map());
    this.#log = options.log;
  }

  get(key: string): T | undefined {
    return this.#objects.get(key);
  }

  list(): T[] {
    return [...this.#objects.values()];
  }

  keys(): string[] {
    return [...this.#objects.keys()];
  }

  get size(): number {
    return this.#objects.size;
  }

  /** The objects that have this value in the named index. Throws TypeError for an index that was not declared. */
  byIndex(name: string, value: string): T[] {
    const index = this.#indexes.get(name);
    if (!index) throw new TypeError(`there is no index "${name}"`);
    return [...(index.get(value)?.values() ?? [])];
  }

  /** Answers how to end it. What is in the store already is not repeated. */
  onChange(handler: ChangeHandler<T>): () => void {
    this.#handlers.add(handler);
    return () => this.#handlers.delete(handler);
  }

  /** An object as a watch or a write of our own showed it. */
  set(object: T): void {
    const key = keyOf(object);
    const old = this.#objects.get(key);
    if (old && old.metadata.uid !== object.metadata.uid) {
      // The same name, another object: whoever kept something about the first must hear that it is gone.
      this.#remove(key, old);
    } else if (old && old.metadata.resourceVersion === object.metadata.resourceVersion) {
      return;
    }
    this.#put(key, this.#objects.get(key), object);
  }

  delete(key: string): void {
    const old = this.#objects.get(key);
    if (old) this.#remove(key, old);
  }

  /** The whole list: what is not in it is gone, whether or not anybody saw it go. */
  replace(objects: T[]): void {
    const keys = new Set(objects.map(keyOf));
    for (const [key, old] of this.#objects) if (!keys.has(key)) this.#remove(key, old);
    for (const object of objects) this.set(object);
  }

  #put(key: string, old: T | undefined, object: T): void {
    const stored = stored_(object);
    if (old) this.#unindex(key, old);
    this.#objects.set(key, stored);
    for (const [name, valuesOf] of this.#indexOf) {
      const index = this.#indexes.get(name);
      for (const value of new Set(valuesOf(stored))) {
        const entries = index?.get(value) ?? new Map<string, T>();
        entries.set(key, stored);
        index?.set(value, entries);
      }
    }
    this.#tell(key, old, stored);
  }

  #remove(key: string, old: T): void {
    this.#objects.delete(key);
    this.#unindex(key, old);
    this.#tell(key, old, undefined);
  }

  #unindex(key: string, old: T): void {
    for (const [name, valuesOf] of this.#indexOf) {
      const index = this.#indexes.get(name);
      for (const value of valuesOf(old)) {
        const entries = index?.get(value);
        entries?.delete(key);
        if (entries?.size === 0) index?.delete(value);
      }
    }
  }

  #tell(key: string, old: T | undefined, object: T | undefined): void {
    for (const handler of this.#handlers) {
      try {
        handler(key, old, object);
      } catch (error) {
        this.#log?.error({ err: error, key }, 'a change handler failed');
      }
    }
  }
}

/** Without managedFields: larger than all the rest, read by nobody here, and kept by the server when left out. */
function stored_<T extends KubeObject>(object: T): T {
  if (object.metadata.managedFields === undefined) return deepFreeze(object);
  const { managedFields: _, ...metadata } = object.metadata;
  return deepFreeze({ ...object, metadata });
}

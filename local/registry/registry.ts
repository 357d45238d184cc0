import type { Logger } from 'pino';
import type { StoredObject } from '../object.ts';
import type { Store } from '../store/store.ts';
import { builtinKinds, CRDS } from './builtin.ts';
import { customKind } from './custom.ts';
import { type Kind, kindId, type ServedVersion } from './kind.ts';

export interface ServedKind {
  kind: Kind;
  version: ServedVersion;
}

/** Every kind that is served now: the built-in ones, and what the stored definitions declare. */
export class Registry {
  readonly #kinds = new Map<string, Kind>();
  readonly #byDefinition = new Map<string, string>();
  readonly #log: Logger;
  #revision = 0;

  constructor(store: Store, log: Logger) {
    this.#log = log;
    for (const kind of builtinKinds()) this.#kinds.set(kind.id, kind);
    for (const row of store.page(CRDS, { prefix: '', limit: -1 }))
      this.#define(JSON.parse(row.body) as StoredObject);
    store.subscribe((changes) => {
      for (const change of changes) {
        if (change.resource !== CRDS) continue;
        if (change.type === 'DELETED') this.#forget(change.key);
        else this.#define(structuredClone(change.object));
      }
    });
  }

  /** Moves when the kinds change: what was computed from them is stale then. */
  get revision(): number {
    return this.#revision;
  }

  kinds(): Kind[] {
    return [...this.#kinds.values()];
  }

  get(id: string): Kind | undefined {
    return this.#kinds.get(id);
  }

  find(group: string, version: string, plural: string): ServedKind | undefined {
    const kind = this.#kinds.get(kindId(group, plural));
    const served = kind?.versions.get(version);
    return kind === undefined || served === undefined ? undefined : { kind, version: served };
  }

  /** The kind an ownerReference names. */
  byKind(apiVersion: string, name: string): Kind | undefined {
    const slash = apiVersion.indexOf('/');
    const group = slash < 0 ? '' : apiVersion.slice(0, slash);
    return this.kinds().find((kind) => kind.group === group && kind.kind === name);
  }

  #define(crd: StoredObject): void {
    try {
      const kind = customKind(crd);
      const builtin = this.#kinds.get(kind.id);
      if (builtin !== undefined && builtin.crd === undefined) return;
      this.#kinds.set(kind.id, kind);
      this.#byDefinition.set(crd.metadata.name, kind.id);
    } catch (error) {
      this.#log.error(
        { err: error, definition: crd.metadata.name },
        'definition is not served: its schema cannot be used',
      );
      this.#forget(crd.metadata.name);
    }
    this.#revision += 1;
  }

  #forget(name: string): void {
    const id = this.#byDefinition.get(name);
    if (id === undefined) return;
    this.#byDefinition.delete(name);
    this.#kinds.delete(id);
    this.#revision += 1;
  }
}

import { randomUUID } from 'node:crypto';
import jsonPatch from 'fast-json-patch';
import {
  ApiError,
  type CallOptions,
  type KubeClient,
  type KubeObject,
  type ListOptions,
  type ListResult,
  type ObjectRef,
  type PatchType,
  type Resource,
  type WatchEvent,
  type WatchOptions,
} from '../client.ts';
import { timestamp } from '../conditions.ts';
import { sameJSON } from '../equal.ts';
import { keyOf } from '../lister.ts';

type Stored = KubeObject & { spec?: unknown; status?: unknown };

export interface FakeCall {
  verb: 'get' | 'list' | 'create' | 'update' | 'patch' | 'delete' | 'watch';
  plural: string;
  key: string;
  subresource: string | undefined;
}

interface Change {
  resourceVersion: number;
  plural: string;
  old: Stored | undefined;
  object: Stored | undefined;
}

export interface FakeKubeClientOptions {
  now?: () => Date;
  /** Plurals whose status is written through the subresource alone. Default: the kinds of Holdfast. */
  withStatus?: string[];
}

/**
 * For tests: an API in memory with the rules that controllers rely on (resourceVersions, conflicts, the status
 * subresource, generations, finalizers, selectors, watches). It validates nothing.
 */
export class FakeKubeClient implements KubeClient {
  /** Every call, in order. */
  readonly calls: FakeCall[] = [];
  /** Called before each call takes effect; what it throws the caller gets. */
  before: ((call: FakeCall) => void | Promise<void>) | undefined;
  readonly #objects = new Map<string, Map<string, Stored>>();
  readonly #changes: Change[] = [];
  readonly #wakers = new Set<() => void>();
  readonly #now: () => Date;
  readonly #withStatus: Set<string>;
  #resourceVersion = 1;
  #closedWatches = 0;

  constructor(options: FakeKubeClientOptions = {}) {
    this.#now = options.now ?? (() => new Date());
    this.#withStatus = new Set(options.withStatus ?? ['sandboxes', 'sandboxnodes', 'sandboxprocesses']);
  }

  /** The calls that changed something. */
  get writes(): FakeCall[] {
    return this.calls.filter((call) => !['get', 'list', 'watch'].includes(call.verb));
  }

  /** Ends every watch, as a server does after timeoutSeconds. */
  closeWatches(): void {
    this.#closedWatches += 1;
    this.#wake();
  }

  async get<T extends KubeObject>(resource: Resource, ref: ObjectRef, options: CallOptions = {}): Promise<T> {
    await this.#enter('get', resource, keyOfRef(ref), options);
    return copy(this.#find(resource, keyOfRef(ref))) as unknown as T;
  }

  async list<T extends KubeObject>(
    resource: Resource,
    options: ListOptions & CallOptions,
  ): Promise<ListResult<T>> {
    await this.#enter('list', resource, options.namespace ?? '', options);
    const all = [...this.#of(resource).entries()]
      .toSorted(([a], [b]) => (a < b ? -1 : 1))
      .map(([, object]) => object)
      .filter((object) => matches(object, options));
    const from = Number(options.continueToken ?? 0);
    const to = options.limit === undefined ? all.length : from + options.limit;
    return {
      items: all.slice(from, to).map((object) => copy(object) as unknown as T),
      resourceVersion: String(this.#resourceVersion),
      ...(to < all.length && { continueToken: String(to) }),
    };
  }

  async create<T extends KubeObject>(resource: Resource, object: T, options: CallOptions = {}): Promise<T> {
    const key = keyOf(object);
    await this.#enter('create', resource, key, options);
    if (this.#of(resource).has(key)) {
      throw failure(409, 'AlreadyExists', `${resource.plural} "${object.metadata.name}" already exists`);
    }
    const stored = copy(object) as Stored;
    if (this.#withStatus.has(resource.plural)) delete stored.status;
    stored.metadata = {
      ...stored.metadata,
      uid: randomUUID(),
      generation: 1,
      creationTimestamp: timestamp(this.#now()),
    };
    if (!options.dryRun) this.#store(resource, key, stored);
    return copy(stored) as unknown as T;
  }

  async update<T extends KubeObject>(
    resource: Resource,
    object: T,
    options: CallOptions & { subresource?: 'status' } = {},
  ): Promise<T> {
    const key = keyOf(object);
    await this.#enter('update', resource, key, options);
    return this.#replace(resource, key, object, options) as unknown as T;
  }

  async patch<T extends KubeObject>(
    resource: Resource,
    ref: ObjectRef,
    body: unknown,
    options: CallOptions & { type: PatchType; subresource?: 'status' },
  ): Promise<T> {
    const key = keyOfRef(ref);
    await this.#enter('patch', resource, key, options);
    const before = copy(this.#find(resource, key));
    const patched =
      options.type === 'merge'
        ? mergePatch(before, body)
        : jsonPatch.applyPatch(before, body as jsonPatch.Operation[], true).newDocument;
    return this.#replace(resource, key, patched as Stored, options) as unknown as T;
  }

  async delete(
    resource: Resource,
    ref: ObjectRef,
    options: CallOptions & { uid?: string; resourceVersion?: string } = {},
  ): Promise<void> {
    const key = keyOfRef(ref);
    await this.#enter('delete', resource, key, options);
    const before = this.#find(resource, key);
    const { uid, resourceVersion } = options;
    if (
      (uid !== undefined && uid !== before.metadata.uid) ||
      (resourceVersion !== undefined && resourceVersion !== before.metadata.resourceVersion)
    ) {
      throw failure(409, 'Conflict', `Precondition failed for ${key}`);
    }
    if (options.dryRun) return;
    if (!before.metadata.finalizers?.length) {
      this.#store(resource, key, undefined);
    } else if (before.metadata.deletionTimestamp === undefined) {
      const object = copy(before);
      object.metadata.deletionTimestamp = timestamp(this.#now());
      object.metadata.generation = (object.metadata.generation ?? 0) + 1;
      this.#store(resource, key, object);
    }
  }

  async *watch<T extends KubeObject>(
    resource: Resource,
    options: WatchOptions & { signal: AbortSignal },
  ): AsyncGenerator<WatchEvent<T>, void, void> {
    await this.#enter('watch', resource, options.namespace ?? '', options);
    const closed = this.#closedWatches;
    let at = this.#changes.findIndex((change) => change.resourceVersion > Number(options.resourceVersion));
    if (at === -1) at = this.#changes.length;
    while (closed === this.#closedWatches) {
      options.signal.throwIfAborted();
      const change = this.#changes[at];
      if (!change) {
        await this.#nextChange(options.signal);
        continue;
      }
      at += 1;
      if (change.plural !== resource.plural) continue;
      const was = change.old !== undefined && matches(change.old, options);
      const is = change.object !== undefined && matches(change.object, options);
      if (!was && !is) continue;
      const object = copy(is ? change.object : change.old) as Stored;
      object.metadata.resourceVersion = String(change.resourceVersion);
      yield {
        type: is ? (was ? 'MODIFIED' : 'ADDED') : 'DELETED',
        object: object as unknown as T,
      };
    }
  }

  close(): void {
    this.closeWatches();
  }

  async #enter(
    verb: FakeCall['verb'],
    resource: Resource,
    key: string,
    options: { signal?: AbortSignal; subresource?: string },
  ): Promise<void> {
    options.signal?.throwIfAborted();
    const call = { verb, plural: resource.plural, key, subresource: options.subresource };
    this.calls.push(call);
    await this.before?.(call);
    options.signal?.throwIfAborted();
  }

  #replace(
    resource: Resource,
    key: string,
    object: Stored,
    options: { subresource?: 'status'; dryRun?: boolean },
  ): Stored {
    const before = this.#find(resource, key);
    const { uid, resourceVersion } = object.metadata;
    if (
      (uid !== undefined && uid !== before.metadata.uid) ||
      (resourceVersion !== undefined && resourceVersion !== before.metadata.resourceVersion)
    ) {
      throw failure(409, 'Conflict', `${key}: the object has been modified`);
    }
    const next = copy(options.subresource === 'status' ? before : object);
    if (options.subresource === 'status') {
      if (object.status === undefined) delete next.status;
      else next.status = copy(object.status);
    } else {
      if (this.#withStatus.has(resource.plural)) {
        if (before.status === undefined) delete next.status;
        else next.status = copy(before.status);
      }
      const { uid, creationTimestamp, deletionTimestamp, generation } = before.metadata;
      next.metadata = {
        ...next.metadata,
        ...(uid !== undefined && { uid }),
        ...(creationTimestamp !== undefined && { creationTimestamp }),
        ...(deletionTimestamp !== undefined && { deletionTimestamp }),
        generation: (generation ?? 0) + (sameJSON(before.spec, next.spec) ? 0 : 1),
      };
    }
    next.metadata.resourceVersion = before.metadata.resourceVersion ?? '';
    // As an API server: what changes nothing is not written and wakes nobody.
    if (sameJSON(before, next) || options.dryRun) return copy(next);
    if (next.metadata.deletionTimestamp !== undefined && !next.metadata.finalizers?.length) {
      this.#store(resource, key, undefined);
    } else {
      this.#store(resource, key, next);
    }
    return copy(next);
  }

  #of(resource: Resource): Map<string, Stored> {
    let objects = this.#objects.get(resource.plural);
    if (!objects) this.#objects.set(resource.plural, (objects = new Map<string, Stored>()));
    return objects;
  }

  #find(resource: Resource, key: string): Stored {
    const object = this.#of(resource).get(key);
    if (!object)
      throw failure(404, 'NotFound', `${resource.plural} "${key}" not found`, key.split('/').at(-1));
    return object;
  }

  #store(resource: Resource, key: string, object: Stored | undefined): void {
    const objects = this.#of(resource);
    const old = objects.get(key);
    this.#resourceVersion += 1;
    if (object) {
      object.metadata.resourceVersion = String(this.#resourceVersion);
      objects.set(key, copy(object));
    } else {
      objects.delete(key);
    }
    this.#changes.push({
      resourceVersion: this.#resourceVersion,
      plural: resource.plural,
      old: old && copy(old),
      object: object && copy(object),
    });
    this.#wake();
  }

  #wake(): void {
    for (const wake of this.#wakers) wake();
  }

  #nextChange(signal: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      const wake = (): void => {
        this.#wakers.delete(wake);
        signal.removeEventListener('abort', wake);
        resolve();
      };
      this.#wakers.add(wake);
      signal.addEventListener('abort', wake, { once: true });
    });
  }
}

function keyOfRef(ref: ObjectRef): string {
  return keyOf({ metadata: ref });
}

function copy<V>(value: V): V {
  return structuredClone(value);
}

function failure(code: number, reason: string, message: string, name?: string): ApiError {
  return new ApiError(message, {
    code,
    reason,
    status: {
      kind: 'Status',
      apiVersion: 'v1',
      status: 'Failure',
      message,
      reason,
      code,
      ...(name !== undefined && { details: { name } }),
    },
  });
}

function matches(
  object: KubeObject,
  options: { namespace?: string; labelSelector?: string; fieldSelector?: string },
): boolean {
  if (options.namespace !== undefined && object.metadata.namespace !== options.namespace) return false;
  const labels = object.metadata.labels ?? {};
  return (
    equalities(options.labelSelector).every(({ key, value, not }) => (labels[key] === value) !== not) &&
    equalities(options.fieldSelector).every(({ key, value, not }) => (field(object, key) === value) !== not)
  );
}

function equalities(selector: string | undefined): { key: string; value: string; not: boolean }[] {
  return (selector ?? '')
    .split(',')
    .filter((term) => term !== '')
    .map((term) => {
      const match = /^([^!=]+)(!?)==?(.*)$/.exec(term);
      if (!match) throw new TypeError(`not an equality: "${term}"`);
      return { key: match[1] ?? '', not: match[2] === '!', value: match[3] ?? '' };
    });
}

/** '' where there is none, as field selectors have it. */
function field(object: unknown, path: string): string {
  let value = object;
  for (const key of path.split('.')) value = (value as Record<string, unknown> | undefined)?.[key];
  return typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean'
    ? `${value}`
    : '';
}

function mergePatch(target: unknown, patch: unknown): unknown {
  if (typeof patch !== 'object' || patch === null || Array.isArray(patch)) return copy(patch);
  const merged: Record<string, unknown> =
    typeof target === 'object' && target !== null && !Array.isArray(target) ? { ...target } : {};
  for (const [key, value] of Object.entries(patch)) {
    if (value === null) delete merged[key];
    else merged[key] = mergePatch(merged[key], value);
  }
  return merged;
}

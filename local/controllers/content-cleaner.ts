import { CRDS, NAMESPACES } from '../registry/builtin.ts';
import { asCRD, CLEANUP_FINALIZER } from '../registry/crd-traits.ts';
import { type Kind, kindId } from '../registry/kind.ts';
import { dropContentFinalizer, isTerminating } from '../registry/namespace-traits.ts';
import { deleteStored } from '../rest/delete.ts';
import { isReleased } from '../rest/update.ts';
import type { Change } from '../store/change.ts';
import { type ControllerContext, parseRefKey, refKey } from './context.ts';
import { Work } from './work.ts';

/** Objects deleted in one commit. */
const BATCH = 200;

/**
 * Empties what is being deleted and has contents of its own: a namespace its objects, a definition the objects of
 * its kind. Each goes when nothing is left in it.
 */
export class ContentCleaner {
  readonly #context: ControllerContext;
  readonly #work: Work;
  readonly #unsubscribe: () => void;

  constructor(context: ControllerContext) {
    this.#context = context;
    this.#work = new Work((ref) => this.#empty(ref), context.log);
    this.#unsubscribe = context.store.subscribe((changes) => {
      for (const change of changes) this.#onChange(change);
    });
    for (const { resource, key } of context.store.deleting()) {
      if (resource === NAMESPACES || resource === CRDS) this.#work.add(refKey(resource, key));
    }
  }

  async stop(): Promise<void> {
    this.#unsubscribe();
    await this.#work.stop();
  }

  #onChange(change: Change): void {
    if (change.resource === NAMESPACES || change.resource === CRDS) {
      if (change.type === 'MODIFIED' && change.object.metadata.deletionTimestamp !== undefined) {
        this.#work.add(refKey(change.resource, change.key));
      }
      return;
    }
    if (change.type !== 'DELETED') return;
    const slash = change.key.indexOf('/');
    const namespace = slash < 0 ? undefined : change.key.slice(0, slash);
    if (namespace !== undefined) this.#addIfDeleting(NAMESPACES, namespace);
    const crd = this.#context.registry.get(change.resource)?.crd;
    if (crd !== undefined) this.#addIfDeleting(CRDS, crd.metadata.name);
  }

  #addIfDeleting(resource: string, key: string): void {
    const row = this.#context.store.read(resource, key);
    if (row?.body.includes('"deletionTimestamp"') === true) this.#work.add(refKey(resource, key));
  }

  async #empty(ref: string): Promise<void> {
    const { resource, key } = parseRefKey(ref);
    const container = this.#context.store.get(resource, key);
    if (container === undefined || !isTerminating(container)) return;
    let left = 0;
    if (resource === NAMESPACES) {
      for (const kind of this.#context.registry.kinds()) {
        if (kind.namespaced && kind.storedAs === undefined) left += await this.#deleteAll(kind, `${key}/`);
      }
    } else {
      const { group, names } = asCRD(container).spec;
      const kind = this.#context.registry.get(kindId(group, names.plural));
      if (kind !== undefined) left = await this.#deleteAll(kind, '');
    }
    if (left === 0) await this.#release(resource, key);
  }

  /** Asks for the deletion of everything with a prefix. Resolves with how many objects are held back. */
  async #deleteAll(kind: Kind, prefix: string): Promise<number> {
    let after: string | undefined;
    let left = 0;
    for (;;) {
      const rows = this.#context.store.page(kind.id, { prefix, after, limit: BATCH });
      after = rows.at(-1)?.key;
      left += await this.#context.store.write((tx) => {
        let held = 0;
        for (const row of rows) {
          const object = tx.get(kind.id, row.key);
          if (object === undefined) continue;
          const gone =
            object.metadata.deletionTimestamp === undefined &&
            deleteStored(tx, kind, object, { propagationPolicy: 'Background' }, this.#context.clock).gone;
          if (!gone) held += 1;
        }
        return held;
      });
      if (rows.length < BATCH) return left;
    }
  }

  async #release(resource: string, key: string): Promise<void> {
    await this.#context.store.write((tx) => {
      const object = tx.get(resource, key);
      const kind = this.#context.registry.get(resource);
      if (object === undefined || kind === undefined || !isTerminating(object)) return;
      if (resource === NAMESPACES) dropContentFinalizer(object);
      else {
        object.metadata.finalizers = (object.metadata.finalizers ?? []).filter(
          (name) => name !== CLEANUP_FINALIZER,
        );
      }
      if (isReleased({ kind }, object)) tx.remove(resource, key, object);
      else tx.put(resource, key, object);
    });
  }
}

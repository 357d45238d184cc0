import { FieldSet } from '../managed-fields/field-set.ts';
import { forgetFields } from '../managed-fields/managers.ts';
import { field, item, keyed, type PathElement } from '../managed-fields/path-element.ts';
import type { OwnerReference } from '../../crds/meta.ts';
import { objectKey, type StoredObject } from '../object.ts';
import { storageId } from '../rest/call.ts';
import { type DeleteOptions, deleteStored, FOREGROUND, ORPHAN } from '../rest/delete.ts';
import { isReleased } from '../rest/update.ts';
import type { Change } from '../store/change.ts';
import type { Transaction } from '../store/transaction.ts';
import { type ControllerContext, parseRefKey, refKey } from './context.ts';
import { Work } from './work.ts';

/**
 * Deletes what is owned by nothing any more, and does what the finalizers `foregroundDeletion` and `orphan` ask
 * for. Every look at an object is from its present state; commits only say where to look.
 */
export class GarbageCollector {
  readonly #context: ControllerContext;
  readonly #work: Work;
  readonly #unsubscribe: () => void;

  constructor(context: ControllerContext) {
    this.#context = context;
    this.#work = new Work((ref) => this.#look(ref), context.log);
    this.#unsubscribe = context.store.subscribe((changes) => {
      for (const change of changes) this.#onChange(change);
    });
    for (const { resource, key } of [...context.store.owned(), ...context.store.deleting()]) {
      this.#work.add(refKey(resource, key));
    }
  }

  async stop(): Promise<void> {
    this.#unsubscribe();
    await this.#work.stop();
  }

  #onChange(change: Change): void {
    const owned = change.body.includes('"ownerReferences"');
    if (change.type === 'DELETED') {
      const uid = change.object.metadata.uid;
      if (uid !== undefined) {
        for (const { resource, key } of this.#context.store.dependents(uid))
          this.#work.add(refKey(resource, key));
      }
      // An owner may have waited for this one to go.
      if (owned)
        for (const owner of change.object.metadata.ownerReferences ?? []) this.#addOwner(change, owner);
      return;
    }
    if (owned || change.body.includes('"deletionTimestamp"'))
      this.#work.add(refKey(change.resource, change.key));
  }

  #addOwner(change: Change, owner: OwnerReference): void {
    const kind = this.#context.registry.byKind(owner.apiVersion, owner.kind);
    if (kind === undefined) return;
    const namespace = kind.namespaced ? change.object.metadata.namespace : undefined;
    this.#work.add(refKey(storageId(kind), objectKey(namespace, owner.name)));
  }

  async #look(ref: string): Promise<void> {
    const { resource, key } = parseRefKey(ref);
    const object = this.#context.store.get(resource, key);
    if (object === undefined) return;
    const finalizers = object.metadata.finalizers ?? [];
    if (object.metadata.deletionTimestamp !== undefined) {
      if (finalizers.includes(ORPHAN)) await this.#orphan(resource, key, object);
      else if (finalizers.includes(FOREGROUND)) await this.#foreground(resource, key, object);
    }
    if ((object.metadata.ownerReferences ?? []).length > 0) await this.#collect(resource, key);
  }

  /** Deletes an object all of whose owners are gone; takes the references to those that are from the others. */
  async #collect(resource: string, key: string): Promise<void> {
    await this.#context.store.write((tx) => {
      const object = tx.get(resource, key);
      if (object === undefined) return;
      const owners = object.metadata.ownerReferences ?? [];
      const absent = owners.filter((owner) => this.#isAbsent(tx, object, owner));
      if (absent.length === 0) return;
      if (absent.length === owners.length) {
        if (object.metadata.deletionTimestamp === undefined)
          this.#delete(tx, resource, object, policyOf(object));
        return;
      }
      object.metadata.ownerReferences = owners.filter((owner) => !absent.includes(owner));
      tx.put(resource, key, object);
    });
  }

  /** Not there, or there under another UID. An owner of a kind that is not served is not known to be absent. */
  #isAbsent(tx: Transaction, dependent: StoredObject, owner: OwnerReference): boolean {
    const kind = this.#context.registry.byKind(owner.apiVersion, owner.kind);
    if (kind === undefined) return false;
    if (kind.namespaced && dependent.metadata.namespace === undefined) return false;
    const namespace = kind.namespaced ? dependent.metadata.namespace : undefined;
    return tx.get(storageId(kind), objectKey(namespace, owner.name))?.metadata.uid !== owner.uid;
  }

  /** Deletes the dependents first; the owner goes when none of those that block it is left. */
  async #foreground(resource: string, key: string, owner: StoredObject): Promise<void> {
    const uid = owner.metadata.uid ?? '';
    const dependents = this.#context.store.dependents(uid);
    await this.#context.store.write((tx) => {
      let blocked = false;
      for (const ref of dependents) {
        const dependent = tx.get(ref.resource, ref.key);
        const reference = dependent?.metadata.ownerReferences?.find((each) => each.uid === uid);
        if (dependent === undefined || reference === undefined) continue;
        const gone =
          dependent.metadata.deletionTimestamp === undefined
            ? this.#delete(
                tx,
                ref.resource,
                dependent,
                reference.blockOwnerDeletion === true ? 'Foreground' : 'Background',
              )
            : false;
        if (!gone && reference.blockOwnerDeletion === true) blocked = true;
      }
      if (!blocked) this.#dropFinalizer(tx, resource, key, FOREGROUND);
    });
  }

  async #orphan(resource: string, key: string, owner: StoredObject): Promise<void> {
    const uid = owner.metadata.uid ?? '';
    const dependents = this.#context.store.dependents(uid);
    await this.#context.store.write((tx) => {
      for (const ref of dependents) {
        const dependent = tx.get(ref.resource, ref.key);
        if (dependent === undefined) continue;
        const rest = (dependent.metadata.ownerReferences ?? []).filter((each) => each.uid !== uid);
        if (rest.length > 0) dependent.metadata.ownerReferences = rest;
        else delete dependent.metadata.ownerReferences;
        disown(dependent, rest.length > 0 ? [OWNERS, keyed({ uid })] : [OWNERS]);
        tx.put(ref.resource, ref.key, dependent);
      }
      this.#dropFinalizer(tx, resource, key, ORPHAN);
    });
  }

  #delete(
    tx: Transaction,
    resource: string,
    object: StoredObject,
    propagationPolicy: NonNullable<DeleteOptions['propagationPolicy']>,
  ): boolean {
    const kind = this.#context.registry.get(resource);
    if (kind === undefined) return false;
    const { name } = object.metadata;
    this.#context.log.debug({ resource, name, propagationPolicy }, 'deleting an object whose owner goes');
    return deleteStored(tx, kind, object, { propagationPolicy }, this.#context.clock).gone;
  }

  #dropFinalizer(tx: Transaction, resource: string, key: string, finalizer: string): void {
    const object = tx.get(resource, key);
    const kind = this.#context.registry.get(resource);
    if (object === undefined || kind === undefined) return;
    const rest = (object.metadata.finalizers ?? []).filter((name) => name !== finalizer);
    if (rest.length > 0) object.metadata.finalizers = rest;
    else delete object.metadata.finalizers;
    disown(object, rest.length > 0 ? [FINALIZERS, item(finalizer)] : [FINALIZERS]);
    if (isReleased({ kind }, object)) tx.remove(resource, key, object);
    else tx.put(resource, key, object);
  }
}

const OWNERS = field('ownerReferences');
const FINALIZERS = field('finalizers');

/** What is taken from an object's metadata is nobody's any more. */
function disown({ metadata }: StoredObject, path: PathElement[]): void {
  if (metadata.managedFields === undefined) return;
  const left = forgetFields(metadata.managedFields, FieldSet.of([field('metadata'), ...path]));
  if (left.length > 0) metadata.managedFields = left;
  else delete metadata.managedFields;
}

/** The finalizers an object already has say how its own dependents are to go. */
function policyOf(object: StoredObject): NonNullable<DeleteOptions['propagationPolicy']> {
  const finalizers = object.metadata.finalizers ?? [];
  if (finalizers.includes(ORPHAN)) return 'Orphan';
  return finalizers.includes(FOREGROUND) ? 'Foreground' : 'Background';
}

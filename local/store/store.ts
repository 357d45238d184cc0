import { basename, dirname } from 'node:path';
import type { DatabaseSync } from 'node:sqlite';
import { syncStepsFromEnvironment } from '../../kube/fault-points.ts';
import type { Clock } from '../clock.ts';
import type { StoredObject } from '../object.ts';
import { Change, typeCode, typeOf } from './change.ts';
import { openDatabase } from './database.ts';
import { StoreError, toStoreError } from './errors.ts';
import { GroupCommit, type Outcome, type WriteOperation } from './group-commit.ts';
import { prefixEnd, prepareStatements, type Statements } from './statements.ts';
import { type Mutation, Transaction } from './transaction.ts';

export interface Row {
  key: string;
  rv: number;
  body: string;
}

export interface PageOptions {
  /** Only keys that start with this (`namespace/`). */
  prefix: string;
  /** Only keys after this one. */
  after?: string | undefined;
  limit: number;
  /** The state at this revision; absent: now. */
  at?: number | undefined;
}

export interface StoreOptions {
  clock: Clock;
  /** Bounds the size of the file; beyond it a write fails as on a full disk. */
  maxPages?: number | undefined;
  /** Hears of what a listener has thrown. */
  onListenerError?: (error: unknown) => void;
}

export type ChangeListener = (changes: readonly Change[]) => void;

/**
 * Objects as JSON with a history, over one SQLite file that this process alone has open. Reads are synchronous
 * and see what has been committed; a write resolves when it has reached the disk.
 */
export class Store {
  readonly #db: DatabaseSync;
  readonly #sql: Statements;
  readonly #clock: Clock;
  readonly #commits: GroupCommit;
  readonly #listeners = new Set<ChangeListener>();
  readonly #onListenerError: (error: unknown) => void;
  readonly #step = syncStepsFromEnvironment();
  #rv: number;
  #compacted: number;
  #closed = false;

  private constructor(db: DatabaseSync, options: StoreOptions) {
    const { clock } = options;
    this.#onListenerError = options.onListenerError ?? (() => undefined);
    this.#db = db;
    this.#sql = prepareStatements(db);
    this.#clock = clock;
    this.#rv = Number(this.#sql.lastRV.get()?.['rv'] ?? 0);
    this.#compacted = Number(this.#sql.compacted.get()?.['value'] ?? 0);
    this.#commits = new GroupCommit((operations) => this.#commit(operations));
  }

  /**
   * Throws StoreError `Locked` or `Version`, or the file system's error.
   */
  static open(path: string, options: StoreOptions): Store {
    try {
      return new Store(openDatabase(path, options.maxPages), options);
    } catch (error) {
      const mapped = toStoreError(error);
      if (mapped instanceof StoreError && mapped !== error) {
        throw new StoreError(
          mapped.code,
          `the data folder ${dirname(path)} cannot be opened: ${basename(path)}: ${error instanceof Error ? error.message : String(error)}; use a copy of the folder, or another one`,
          { cause: error },
        );
      }
      throw error;
    }
  }

  /** The newest committed revision. */
  get rv(): number {
    return this.#rv;
  }

  /** Up to this revision history is gone: a watch can start here or later, a snapshot must be newer or equal. */
  get compacted(): number {
    return this.#compacted;
  }

  read(resource: string, key: string): { rv: number; body: string } | undefined {
    const row = this.#sql.read.get(resource, key);
    return row === undefined ? undefined : { rv: Number(row['rv']), body: String(row['body']) };
  }

  get(resource: string, key: string): StoredObject | undefined {
    const row = this.read(resource, key);
    return row === undefined ? undefined : (JSON.parse(row.body) as StoredObject);
  }

  page(resource: string, options: PageOptions): Row[] {
    const from = options.after ?? options.prefix;
    const end = prefixEnd(options.prefix);
    const rows =
      options.at === undefined || options.at === this.#rv
        ? this.#sql.page.all(resource, from, end, options.limit)
        : this.#sql.pageAt.all(resource, from, end, options.at, options.limit);
    return rows.map((row) => ({ key: String(row['key']), rv: Number(row['rv']), body: String(row['body']) }));
  }

  count(resource: string, options: Omit<PageOptions, 'limit'>): number {
    const from = options.after ?? options.prefix;
    const end = prefixEnd(options.prefix);
    const row =
      options.at === undefined || options.at === this.#rv
        ? this.#sql.count.get(resource, from, end)
        : this.#sql.countAt.get(resource, from, end, options.at);
    return Number(row?.['n'] ?? 0);
  }

  /** Changes of a resource after a revision, oldest first. */
  history(resource: string, after: number, prefix: string, limit: number): Change[] {
    return this.#sql.history.all(resource, after, prefix, prefixEnd(prefix), limit).map(
      (row) =>
        new Change({
          rv: Number(row['rv']),
          resource,
          key: String(row['key']),
          type: typeOf(Number(row['type'])),
          body: String(row['body']),
          previousBody: row['previous'] === null ? undefined : String(row['previous']),
        }),
    );
  }

  /** What names `owner` (a UID) in its ownerReferences. */
  dependents(owner: string): { resource: string; key: string }[] {
    return this.#sql.dependents.all(owner).map(toRef);
  }

  /** Everything that has ownerReferences. */
  owned(): { resource: string; key: string }[] {
    return this.#sql.owned.all().map(toRef);
  }

  /** Everything that says of itself that it is being deleted. */
  deleting(): { resource: string; key: string }[] {
    return this.#sql.deleting.all().map(toRef);
  }

  /**
   * Runs `operation` in the next commit. It must be synchronous, and runs once; the promise settles when the
   * commit has reached the disk. Rejects with what the operation threw, or a StoreError.
   */
  write<T>(operation: WriteOperation<T>): Promise<T> {
    return this.#commits.submit(operation);
  }

  /** `listener` hears of every commit, after it, in order. Returns what ends that. */
  subscribe(listener: ChangeListener): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /**
   * Forgets one step of history up to `target`, at most `maxRevisions` of it, so that no caller waits long.
   * Returns whether there is more to do.
   */
  compact(target: number, maxRevisions: number): boolean {
    const to = Math.min(target, this.#compacted + maxRevisions, this.#rv);
    if (this.#closed || to <= this.#compacted) return false;
    this.#inTransaction(() => {
      this.#sql.dropReplaced.run(this.#compacted, to);
      this.#sql.dropDeletions.run(this.#compacted, to);
      this.#sql.setCompacted.run(to);
    });
    this.#compacted = to;
    return to < Math.min(target, this.#rv);
  }

  /** The newest revision that was made before `moment`. */
  revisionBefore(moment: Date): number {
    return Number(this.#sql.revisionAt.get(moment.getTime())?.['rv'] ?? 0);
  }

  /**
   * Gives a step of the pages that compaction has freed back to the file system, and keeps `spare` of them for
   * what will be written next. Returns whether there is more to do.
   */
  shrink(options: { step: number; spare: number }): boolean {
    if (this.#closed) return false;
    const free = Number(this.#sql.freePages.get()?.['freelist_count'] ?? 0) - options.spare;
    if (free <= 0) return false;
    this.#db.exec(`PRAGMA incremental_vacuum(${Math.min(free, options.step)})`);
    return free > options.step;
  }

  close(): void {
    if (this.#closed) return;
    this.#commits.close();
    this.#closed = true;
    this.#listeners.clear();
    this.#db.close();
  }

  #commit(operations: WriteOperation<unknown>[]): Outcome[] {
    let rv = this.#rv;
    const changes: Change[] = [];
    const outcomes: Outcome[] = [];
    this.#inTransaction(() => {
      for (const operation of operations) {
        const before = rv;
        const tx = new Transaction(this, () => ++rv);
        try {
          outcomes.push({ value: operation(tx) });
        } catch (error) {
          // A number that was given out and not stored would be given out again after a restart.
          rv = before;
          outcomes.push({ error });
          continue;
        }
        for (const mutation of tx.mutations) changes.push(this.#apply(mutation));
      }
      return changes.length > 0;
    });
    this.#rv = rv;
    if (changes.length > 0) this.#tell(changes);
    return outcomes;
  }

  /** What a listener makes of it cannot undo the commit, nor keep it from the others. */
  #tell(changes: readonly Change[]): void {
    for (const listener of this.#listeners) {
      try {
        listener(changes);
      } catch (error) {
        this.#onListenerError(error);
      }
    }
  }

  #apply(mutation: Mutation): Change {
    const { rv, resource, key, type, body, object, previous } = mutation;
    this.#sql.insert.run(
      rv,
      resource,
      key,
      typeCode(type),
      previous?.rv ?? 0,
      this.#clock.now().getTime(),
      body,
    );
    if (type === 'DELETED') this.#sql.unsetCurrent.run(resource, key);
    else this.#sql.setCurrent.run(resource, key, rv);
    const owners = type === 'DELETED' ? [] : (object.metadata.ownerReferences ?? []);
    if (owners.length > 0 || previous?.body.includes('"ownerReferences"') === true) {
      this.#sql.dropOwners.run(resource, key);
      for (const owner of owners) this.#sql.addOwner.run(owner.uid, resource, key);
    }
    return new Change({ rv, resource, key, type, body, previousBody: previous?.body });
  }

  /** `work` may answer false: nothing was written, so there is nothing to make durable. */
  #inTransaction(work: () => boolean | void): void {
    try {
      this.#sql.begin.run();
      try {
        if (work() === false) this.#sql.rollback.run();
        else this.#step('commit', () => this.#sql.commit.run());
      } catch (error) {
        // After some errors (a full disk) SQLite has rolled back by itself.
        if (this.#db.isTransaction) this.#sql.rollback.run();
        throw error;
      }
    } catch (error) {
      throw toStoreError(error);
    }
  }
}

function toRef(row: Record<string, unknown>): { resource: string; key: string } {
  return { resource: String(row['resource']), key: String(row['key']) };
}

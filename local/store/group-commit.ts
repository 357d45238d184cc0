import { StoreError } from './errors.ts';
import type { Transaction } from './transaction.ts';

export type WriteOperation<T> = (tx: Transaction) => T;

interface Pending {
  operation: WriteOperation<unknown>;
  resolve: (value: unknown) => void;
  reject: (error: unknown) => void;
}

/** More writes than this waiting for a commit means that the disk cannot keep up. */
const MAX_WAITING = 4096;
/** One commit takes at most this many, so that reads get their turn. */
const MAX_BATCH = 512;

/** The outcome of each operation of a batch, in order: a value, or the error that it threw. */
export type Outcome = { value: unknown } | { error: unknown };

/**
 * Collects the writes of one turn of the event loop into one commit, so that the price of one fsync is shared
 * by all of them; each is answered after the commit. While a commit holds the thread, the next requests gather
 * in the sockets, so the batches grow with the load by themselves.
 */
export class GroupCommit {
  #waiting: Pending[] = [];
  #scheduled = false;
  #closed = false;
  readonly #commit: (operations: WriteOperation<unknown>[]) => Outcome[];

  /** `commit` runs the operations in one transaction; when it throws, all of them have failed. */
  constructor(commit: (operations: WriteOperation<unknown>[]) => Outcome[]) {
    this.#commit = commit;
  }

  /** Rejects with the operation's own error, or a StoreError. */
  submit<T>(operation: WriteOperation<T>): Promise<T> {
    if (this.#closed) return Promise.reject(new StoreError('Closed', 'the server is shutting down'));
    if (this.#waiting.length >= MAX_WAITING) {
      return Promise.reject(new StoreError('Busy', 'too many writes are waiting for the disk'));
    }
    return new Promise<T>((resolve, reject) => {
      this.#waiting.push({ operation, resolve: resolve as (value: unknown) => void, reject });
      this.#schedule();
    });
  }

  /** Commits what is waiting and takes no more. */
  close(): void {
    this.#closed = true;
    while (this.#waiting.length > 0) this.#flush();
  }

  #schedule(): void {
    if (this.#scheduled) return;
    this.#scheduled = true;
    setImmediate(() => {
      this.#scheduled = false;
      this.#flush();
      if (this.#waiting.length > 0) this.#schedule();
    });
  }

  #flush(): void {
    const batch = this.#waiting.splice(0, MAX_BATCH);
    if (batch.length === 0) return;
    let outcomes: Outcome[];
    try {
      outcomes = this.#commit(batch.map((pending) => pending.operation));
    } catch (error) {
      for (const pending of batch) pending.reject(error);
      return;
    }
    for (const [index, pending] of batch.entries()) {
      const outcome = outcomes[index];
      if (outcome === undefined) pending.reject(new StoreError('IO', 'the write was lost'));
      else if ('error' in outcome) pending.reject(outcome.error);
      else pending.resolve(outcome.value);
    }
  }
}

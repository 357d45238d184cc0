import type { Change } from '../store/change.ts';
import type { Store } from '../store/store.ts';

export interface Subscriber {
  /** Of every commit, in order. Must not throw. */
  onCommit(changes: readonly Change[]): void;
  /** Time for a sign of life that carries the newest revision. */
  onBookmark(): void;
  /** The server is going down. */
  onShutdown(): void;
}

const BOOKMARK_INTERVAL_MS = 60_000;

/** Hands every commit to the watches that run, and keeps their bookmarks going. */
export class WatchHub {
  readonly #subscribers = new Set<Subscriber>();
  readonly #unsubscribe: () => void;
  #timer: NodeJS.Timeout | undefined;

  constructor(store: Store) {
    this.#unsubscribe = store.subscribe((changes) => {
      for (const subscriber of this.#subscribers) subscriber.onCommit(changes);
    });
  }

  get size(): number {
    return this.#subscribers.size;
  }

  add(subscriber: Subscriber): void {
    this.#subscribers.add(subscriber);
    this.#timer ??= setInterval(() => {
      for (const each of this.#subscribers) each.onBookmark();
    }, BOOKMARK_INTERVAL_MS).unref();
  }

  remove(subscriber: Subscriber): void {
    this.#subscribers.delete(subscriber);
    if (this.#subscribers.size > 0) return;
    clearInterval(this.#timer);
    this.#timer = undefined;
  }

  close(): void {
    this.#unsubscribe();
    clearInterval(this.#timer);
    for (const subscriber of this.#subscribers) subscriber.onShutdown();
    this.#subscribers.clear();
  }
}

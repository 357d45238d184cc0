import type { Clock } from '../clock.ts';
import type { Store } from '../store/store.ts';

export interface CompactionLimits {
  /** History younger than this is kept, up to maxRevisions. */
  ageMs: number;
  /** History longer than this is cut, however young. */
  maxRevisions: number;
}

const DEFAULT_LIMITS: CompactionLimits = { ageMs: 5 * 60_000, maxRevisions: 20_000 };

const CHECK_MS = 60_000;
/** Revisions dropped in one commit: a few milliseconds. */
const STEP = 500;
const SHRINK = { step: 256, spare: 1024 };

/**
 * Cuts the history that watches can go back into. It runs when there is something to cut and leaves the disk
 * alone when there is not.
 */
export class Compactor {
  readonly #store: Store;
  readonly #clock: Clock;
  readonly #limits: CompactionLimits;
  readonly #timer: NodeJS.Timeout;
  readonly #unsubscribe: () => void;
  #step: NodeJS.Immediate | undefined;

  constructor(store: Store, clock: Clock, limits: CompactionLimits = DEFAULT_LIMITS) {
    this.#store = store;
    this.#clock = clock;
    this.#limits = limits;
    this.#timer = setInterval(() => this.run(), CHECK_MS).unref();
    this.#unsubscribe = store.subscribe(() => {
      if (store.rv - store.compacted > limits.maxRevisions + STEP) this.#continue();
    });
  }

  /** Begins cutting, piece by piece. */
  run(): void {
    if (this.#target() > this.#store.compacted) this.#continue();
  }

  stop(): void {
    clearInterval(this.#timer);
    clearImmediate(this.#step);
    this.#unsubscribe();
  }

  #target(): number {
    const old = this.#store.revisionBefore(new Date(this.#clock.now().getTime() - this.#limits.ageMs));
    return Math.max(old, this.#store.rv - this.#limits.maxRevisions);
  }

  #continue(): void {
    this.#step ??= setImmediate(() => {
      this.#step = undefined;
      try {
        if (this.#store.compact(this.#target(), STEP) || this.#store.shrink(SHRINK)) this.#continue();
      } catch {
        // A full disk: the history is kept, and the next check tries again.
      }
    });
  }
}

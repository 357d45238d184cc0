import type { Logger } from 'pino';
import { backoffMs } from './backoff.ts';
import type { CancelTimer, Clock } from './clock.ts';
import { isConflict, retryAfterMs } from './errors.ts';
import { type Reconcile, TerminalError } from './reconcile.ts';
import { TokenBucket } from './token-bucket.ts';

export interface WorkQueueOptions {
  /** In logs and metrics. */
  name: string;
  clock: Clock;
  random: () => number;
  log: Logger;
  /** After the first failure of a key; doubled with each further one. Default 100 ms. */
  baseDelayMs?: number;
  /** Default 60 s. */
  maxDelayMs?: number;
  /** Retries of all keys together. Default 50 at once and 20 a second. */
  retries?: { burst: number; perSecond: number };
}

export interface WorkQueueStats {
  /** Keys that wait for a worker now. */
  depth: number;
  /** Keys that a worker has now. */
  active: number;
  /** Keys that wait for their time. */
  delayed: number;
  added: number;
  done: number;
  retried: number;
  failedForGood: number;
  /** Sum over all keys taken, from their add to their start. */
  waitedMs: number;
  /** Sum over all keys done. */
  workedMs: number;
}

interface Delayed {
  dueMs: number;
  cancel: CancelTimer;
}

/**
 * Keys that wait to be reconciled. A key is in it at most once; while a worker has it, it may be added again and is
 * then worked on once more afterwards, by one worker at a time.
 */
export class WorkQueue {
  readonly #options: WorkQueueOptions;
  readonly #bucket: TokenBucket;
  /** key -> when it was added */
  readonly #ready = new Map<string, number>();
  readonly #active = new Set<string>();
  readonly #again = new Set<string>();
  readonly #delayed = new Map<string, Delayed>();
  readonly #failures = new Map<string, number>();
  readonly #idle: (() => void)[] = [];
  readonly #counts = { added: 0, done: 0, retried: 0, failedForGood: 0, waitedMs: 0, workedMs: 0 };
  #stopped = false;

  constructor(options: WorkQueueOptions) {
    this.#options = options;
    this.#bucket = new TokenBucket({
      clock: options.clock,
      ...(options.retries ?? { burst: 50, perSecond: 20 }),
    });
  }

  /** As soon as a worker is free. */
  add(key: string): void {
    if (this.#stopped) return;
    this.#counts.added += 1;
    if (this.#active.has(key)) {
      this.#again.add(key);
      return;
    }
    if (this.#ready.has(key)) return;
    this.#ready.set(key, this.#options.clock.monotonicMs());
    this.#idle.shift()?.();
  }

  /** After `ms`. Of several for one key the earliest counts. */
  addAfter(key: string, ms: number): void {
    if (this.#stopped) return;
    if (!(ms > 0)) {
      this.add(key);
      return;
    }
    const dueMs = this.#options.clock.monotonicMs() + ms;
    const before = this.#delayed.get(key);
    if (before && before.dueMs <= dueMs) return;
    before?.cancel();
    const cancel = this.#options.clock.setTimer(ms, () => {
      this.#delayed.delete(key);
      this.add(key);
    });
    this.#delayed.set(key, { dueMs, cancel });
  }

  /** After a wait that grows with each failure of this key; `atLeastMs`: and not before. */
  addRateLimited(key: string, atLeastMs = 0): void {
    const failures = (this.#failures.get(key) ?? 0) + 1;
    this.#failures.set(key, failures);
    this.#counts.retried += 1;
    const ownMs = backoffMs(failures, {
      baseMs: this.#options.baseDelayMs ?? 100,
      maxMs: this.#options.maxDelayMs ?? 60_000,
      random: this.#options.random,
    });
    this.addAfter(key, Math.max(ownMs, atLeastMs, this.#bucket.reserveMs()));
  }

  /** Its next failure is its first. */
  forget(key: string): void {
    this.#failures.delete(key);
  }

  get stats(): WorkQueueStats {
    return {
      ...this.#counts,
      depth: this.#ready.size,
      active: this.#active.size,
      delayed: this.#delayed.size,
    };
  }

  /**
   * Works until the signal aborts; resolves when what was begun has ended. What was not begun is dropped: the next
   * start lists everything anyway.
   */
  async run(workers: number, reconcile: Reconcile, signal: AbortSignal): Promise<void> {
    const stop = (): void => {
      this.#stopped = true;
      for (const { cancel } of this.#delayed.values()) cancel();
      this.#delayed.clear();
      this.#ready.clear();
      for (const wake of this.#idle.splice(0)) wake();
    };
    if (signal.aborted) stop();
    signal.addEventListener('abort', stop, { once: true });
    await Promise.all(Array.from({ length: workers }, () => this.#work(reconcile, signal)));
    signal.removeEventListener('abort', stop);
  }

  async #work(reconcile: Reconcile, signal: AbortSignal): Promise<void> {
    while (!this.#stopped) {
      const [next] = this.#ready;
      if (!next) {
        await new Promise<void>((resolve) => this.#idle.push(resolve));
        continue;
      }
      const [key, addedMs] = next;
      const startedMs = this.#options.clock.monotonicMs();
      this.#ready.delete(key);
      this.#active.add(key);
      this.#counts.waitedMs += startedMs - addedMs;
      await this.#one(key, reconcile, signal);
      this.#counts.workedMs += this.#options.clock.monotonicMs() - startedMs;
      this.#counts.done += 1;
      this.#active.delete(key);
      if (this.#again.delete(key)) this.add(key);
    }
  }

  async #one(key: string, reconcile: Reconcile, signal: AbortSignal): Promise<void> {
    const { log, name } = this.#options;
    try {
      const { after } = await reconcile(key, signal);
      this.forget(key);
      if (after !== undefined) this.addAfter(key, after);
    } catch (error) {
      if (signal.aborted) return;
      if (error instanceof TerminalError) {
        this.forget(key);
        this.#counts.failedForGood += 1;
        log.error({ err: error, queue: name, key }, 'reconcile failed for good');
        return;
      }
      this.addRateLimited(key, retryAfterMs(error));
      // A lost race is nobody's fault: what won it comes by the watch.
      if (isConflict(error)) log.debug({ err: error, queue: name, key }, 'reconcile met a conflict');
      else log.warn({ err: error, queue: name, key }, 'reconcile failed; it is tried again');
    }
  }
}

import type { CancelTimer, Clock } from '../clock.ts';

interface FakeTimer {
  atMs: number;
  order: number;
  fn: () => void;
}

/** For tests: time moves only when told to. `jump` moves the wall clock alone, as an administrator does. */
export class FakeClock implements Clock {
  #monotonicMs = 0;
  #wallOffsetMs: number;
  #order = 0;
  readonly #timers = new Set<FakeTimer>();
  readonly #watchers = new Set<() => void>();

  constructor(start: Date = new Date('2026-01-01T00:00:00Z')) {
    this.#wallOffsetMs = start.getTime();
  }

  now(): Date {
    return new Date(this.#wallOffsetMs + this.#monotonicMs);
  }

  monotonicMs(): number {
    return this.#monotonicMs;
  }

  setTimer(ms: number, fn: () => void): CancelTimer {
    const timer = { atMs: this.#monotonicMs + Math.max(0, ms), order: this.#order++, fn };
    this.#timers.add(timer);
    for (const watcher of this.#watchers) watcher();
    return () => this.#timers.delete(timer);
  }

  /** How many timers wait. */
  get pending(): number {
    return this.#timers.size;
  }

  /** Milliseconds until the next timer; undefined without one. */
  get nextInMs(): number | undefined {
    const next = this.#next();
    return next && next.atMs - this.#monotonicMs;
  }

  jump(ms: number): void {
    this.#wallOffsetMs += ms;
  }

  /** Time goes by while nothing here runs, as for a process that is stopped: no timer fires before the next `advance`. */
  leap(ms: number): void {
    this.#monotonicMs += ms;
  }

  /** Moves on by `ms`, firing what is due in order; promises settle between two timers. */
  async advance(ms: number): Promise<void> {
    const end = this.#monotonicMs + ms;
    for (;;) {
      await settle();
      const next = this.#next();
      if (!next || next.atMs > end) break;
      this.#timers.delete(next);
      this.#monotonicMs = Math.max(this.#monotonicMs, next.atMs);
      next.fn();
    }
    this.#monotonicMs = end;
    await settle();
  }

  /** Resolves once a timer of at least `ms` waits: the code under test has come to its wait. */
  timerSet(ms = 0): Promise<void> {
    return new Promise((resolve) => {
      const look = (): void => {
        const found = [...this.#timers].some((timer) => timer.atMs - this.#monotonicMs >= ms);
        if (!found) return;
        this.#watchers.delete(look);
        resolve();
      };
      this.#watchers.add(look);
      look();
    });
  }

  #next(): FakeTimer | undefined {
    let best: FakeTimer | undefined;
    for (const timer of this.#timers) {
      if (!best || timer.atMs < best.atMs || (timer.atMs === best.atMs && timer.order < best.order))
        best = timer;
    }
    return best;
  }
}

/** Lets every promise that can settle without I/O do so. */
function settle(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

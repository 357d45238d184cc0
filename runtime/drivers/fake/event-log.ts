import type { Clock } from '../../../kube/clock.ts';
import { DriverError, type RuntimeEvent } from '../../driver.ts';
import { asError } from './faults.ts';

/** The events of a fake runtime: the last ones are kept for those who ask for the past. */
export class EventLog {
  readonly #clock: Clock;
  readonly #kept: RuntimeEvent[] = [];
  readonly #followers = new Set<Follower>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  emit(event: Omit<RuntimeEvent, 'timeMs' | 'detail'>, detail?: number): void {
    const whole: RuntimeEvent = { ...event, timeMs: this.#clock.now().getTime() };
    if (detail !== undefined) whole.detail = detail;
    this.#kept.push(whole);
    if (this.#kept.length > MAX_KEPT) this.#kept.shift();
    for (const follower of this.#followers) follower.push(whole);
  }

  /** Breaks every stream, and forgets. */
  breakAll(): void {
    this.#kept.length = 0;
    for (const follower of this.#followers)
      follower.fail(new DriverError('Unavailable', 'the stream broke off'));
  }

  async *follow(sinceMs: number, signal: AbortSignal | undefined): AsyncGenerator<RuntimeEvent, void, void> {
    const follower = new Follower(this.#kept.filter((event) => event.timeMs >= sinceMs));
    const onAbort = (): void => follower.fail(asError(signal?.reason));
    this.#followers.add(follower);
    signal?.addEventListener('abort', onAbort, { once: true });
    try {
      for (;;) yield await follower.next();
    } finally {
      this.#followers.delete(follower);
      signal?.removeEventListener('abort', onAbort);
    }
  }
}

/** As many as Docker keeps. */
const MAX_KEPT = 256;

class Follower {
  readonly #queue: RuntimeEvent[];
  #failure: Error | undefined;
  #wake: (() => void) | undefined;

  constructor(past: RuntimeEvent[]) {
    this.#queue = past;
  }

  push(event: RuntimeEvent): void {
    this.#queue.push(event);
    this.#wake?.();
  }

  fail(error: Error): void {
    this.#failure = error;
    this.#wake?.();
  }

  async next(): Promise<RuntimeEvent> {
    for (;;) {
      const event = this.#queue.shift();
      if (event !== undefined) return event;
      if (this.#failure !== undefined) throw this.#failure;
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
  }
}

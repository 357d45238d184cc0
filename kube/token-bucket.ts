import type { Clock } from './clock.ts';

export interface TokenBucketOptions {
  clock: Clock;
  /** How many may pass at once. */
  burst: number;
  perSecond: number;
}

/** Lets `burst` pass at once and `perSecond` in the long run. */
export class TokenBucket {
  readonly #options: TokenBucketOptions;
  #tokens: number;
  #atMs: number;

  constructor(options: TokenBucketOptions) {
    this.#options = options;
    this.#tokens = options.burst;
    this.#atMs = options.clock.monotonicMs();
  }

  /** true: one was taken. */
  take(): boolean {
    this.#refill();
    if (this.#tokens < 1) return false;
    this.#tokens -= 1;
    return true;
  }

  /** Takes one in any case and answers how long to wait until it is really there. */
  reserveMs(): number {
    this.#refill();
    this.#tokens -= 1;
    return this.#tokens >= 0 ? 0 : (-this.#tokens / this.#options.perSecond) * 1000;
  }

  #refill(): void {
    const { burst, perSecond, clock } = this.#options;
    const nowMs = clock.monotonicMs();
    this.#tokens = Math.min(burst, this.#tokens + ((nowMs - this.#atMs) / 1000) * perSecond);
    this.#atMs = nowMs;
  }
}

export interface BackoffOptions {
  /** The first wait, before jitter. */
  baseMs: number;
  /** The longest wait, jitter included. */
  maxMs: number;
  /** 0 <= random() < 1. */
  random: () => number;
}

/**
 * The wait after the given number of failures in a row (1 for the first): doubled each time, between half and the
 * whole of it at random, so that many clients that failed together don't come back together.
 */
export function backoffMs(failures: number, options: BackoffOptions): number {
  const exponent = Math.min(Math.max(0, failures - 1), 40);
  const wholeMs = Math.min(options.maxMs, options.baseMs * 2 ** exponent);
  return wholeMs * (0.5 + options.random() / 2);
}

/** Counts the failures in a row of one thing. */
export class Backoff {
  #failures = 0;
  readonly #options: BackoffOptions;

  constructor(options: BackoffOptions) {
    this.#options = options;
  }

  /** Milliseconds to wait after one more failure. */
  next(): number {
    this.#failures += 1;
    return backoffMs(this.#failures, this.#options);
  }

  reset(): void {
    this.#failures = 0;
  }

  get failures(): number {
    return this.#failures;
  }
}

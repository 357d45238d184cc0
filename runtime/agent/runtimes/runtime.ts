import type { Clock } from '../../../kube/clock.ts';
import { DriverError, type RuntimeDriver } from '../../driver.ts';
import type { ProbeKeeper } from '../probe/keeper.ts';
import type { RuntimeAnswer } from '../sandbox/types.ts';

/** How long a readable answer about capabilities is taken for fresh. One that could not be read is never kept (L7). */
const FRESH_MS = 10_000;
const BREAKS_KEPT = 16;

/** A time in which the runtime did not answer (Unix ms); `toMs` undefined: it still does not. */
export interface RuntimeBreak {
  fromMs: number;
  toMs: number | undefined;
}

/** One container runtime of the node and what is known about it. */
export class Runtime {
  readonly driver: RuntimeDriver;
  readonly probe: ProbeKeeper;
  readonly #clock: Clock;
  #answer: { at: number; answer: RuntimeAnswer } | undefined;
  #asking: Promise<RuntimeAnswer> | undefined;
  readonly breaks: RuntimeBreak[] = [];

  constructor(options: { driver: RuntimeDriver; probe: ProbeKeeper; clock: Clock }) {
    this.driver = options.driver;
    this.probe = options.probe;
    this.#clock = options.clock;
  }

  /** Asks the runtime, unless it gave a readable answer a moment ago. Never rejects. */
  async answer(options: { signal?: AbortSignal } = {}): Promise<RuntimeAnswer> {
    const known = this.#answer;
    if (known?.answer.state === 'Ok' && this.#clock.monotonicMs() - known.at < FRESH_MS) return known.answer;
    return this.ask(options);
  }

  /** Asks in any case; several that ask at once get one answer. */
  ask(options: { signal?: AbortSignal } = {}): Promise<RuntimeAnswer> {
    this.#asking ??= this.#ask(options).finally(() => {
      this.#asking = undefined;
    });
    return this.#asking;
  }

  /** The last answer, however old. */
  get last(): RuntimeAnswer | undefined {
    return this.#answer?.answer;
  }

  forget(): void {
    this.#answer = undefined;
  }

  broke(nowMs: number): void {
    if (this.breaks.at(-1)?.toMs === undefined && this.breaks.length > 0) return;
    this.breaks.push({ fromMs: nowMs, toMs: undefined });
    if (this.breaks.length > BREAKS_KEPT) this.breaks.shift();
    this.forget();
  }

  answers(nowMs: number): void {
    const last = this.breaks.at(-1);
    if (last !== undefined && last.toMs === undefined) last.toMs = nowMs;
  }

  async #ask(options: { signal?: AbortSignal }): Promise<RuntimeAnswer> {
    const at = this.#clock.monotonicMs();
    let answer: RuntimeAnswer;
    try {
      answer = { state: 'Ok', info: await this.driver.info(options) };
    } catch (error) {
      const message = error instanceof Error ? error.message : String(error);
      const unavailable = error instanceof DriverError && error.code === 'Unavailable';
      answer = { state: unavailable ? 'Unavailable' : 'Unreadable', message };
    }
    this.#answer = { at, answer };
    return answer;
  }
}

import type { Clock } from '../../../kube/clock.ts';
import { DriverError, type ImageInfo, type RuntimeDriver } from '../../driver.ts';
import type { ProbeKeeper } from '../probe/keeper.ts';
import type { RuntimeAnswer } from '../sandbox/types.ts';

/** How long a readable answer about capabilities is taken for fresh. One that could not be read is never kept (L7). */
const FRESH_MS = 10_000;
const BREAKS_KEPT = 16;

/** From a break of the event stream until the runtime answers (Unix ms); `toMs` undefined: it still does not. */
export interface RuntimeBreak {
  fromMs: number;
  toMs: number | undefined;
  /** It was asked meanwhile and gave no answer, or was slow: a socket that is kept open for it waits until it is up. */
  silent: boolean;
  /**
   * Known at its end. A stream breaks for many reasons (a proxy's idle timeout, a reset); containers go with the
   * runtime only where it restarted.
   */
  restarted: boolean;
}

/** How long before the stream broke a probe may have gone for the same reason. */
const TOGETHER_MS = 20_000;
/** An answer that took longer came from a runtime that was not up. */
const SLOW_MS = 1000;

/** One container runtime of the node and what is known about it. */
export class Runtime {
  readonly driver: RuntimeDriver;
  readonly probe: ProbeKeeper;
  readonly #clock: Clock;
  #answer: { at: number; answer: RuntimeAnswer } | undefined;
  #asking: Promise<RuntimeAnswer> | undefined;
  readonly #images = new Map<string, Promise<ImageInfo | undefined>>();
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

  /** The image as it is now; many sandboxes of one image that are launched at once ask once. */
  image(reference: string, options: { signal?: AbortSignal } = {}): Promise<ImageInfo | undefined> {
    const asking = this.#images.get(reference);
    if (asking !== undefined) return asking;
    const answer = this.driver.inspectImage(reference, options).finally(() => {
      this.#images.delete(reference);
    });
    this.#images.set(reference, answer);
    return answer;
  }

  broke(nowMs: number): void {
    if (this.breaks.at(-1)?.toMs === undefined && this.breaks.length > 0) return;
    this.breaks.push({ fromMs: nowMs, toMs: undefined, silent: false, restarted: false });
    if (this.breaks.length > BREAKS_KEPT) this.breaks.shift();
    this.forget();
  }

  /** When the break under way began; undefined: none is. */
  get brokenSinceMs(): number | undefined {
    return this.#open()?.fromMs;
  }

  /** It was asked during a break, for so long, and gave no answer. */
  silent(): void {
    const last = this.#open();
    if (last !== undefined) last.silent = true;
  }

  /**
   * It answers. `survived`: a container of this agent runs that was started before the break, so whatever happened
   * ended none. Whether it restarted: only where its probe went as well and it did not answer in between.
   */
  answers(nowMs: number, how: { tookMs: number; survived: boolean }): void {
    const last = this.#open();
    if (last === undefined) return;
    last.toMs = nowMs;
    if (how.tookMs > SLOW_MS) last.silent = true;
    const went = this.probe.wentAtMs;
    const probeWent =
      this.probe.probe === undefined || (went !== undefined && went >= last.fromMs - TOGETHER_MS);
    last.restarted = last.silent && probeWent && !how.survived;
  }

  #open(): RuntimeBreak | undefined {
    const last = this.breaks.at(-1);
    return last?.toMs === undefined ? last : undefined;
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

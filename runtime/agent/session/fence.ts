import type { HeartbeatResult, InitSession } from '../../link/types.ts';

/** What init exits with when it has ended the sandbox by itself. */
export const FENCED_EXIT_CODE = 94;

/**
 * Heartbeats to one init (docs/decisions/0081-fencing.md). What init is told is a moment of its own clock that was not
 * later than the renewal of the lease: of its clock it is known what it showed at some moment before, and how much time
 * has passed here since.
 */
export class InitFence {
  readonly can: boolean;
  /** How long after the last heartbeat it ends the sandbox; undefined: this agent has not told it to. */
  seconds: number | undefined;
  /** It has ended the sandbox. */
  fell: boolean;
  readonly #init: Pick<InitSession, 'heartbeat'>;
  readonly #nowMs: () => number;
  /** Init's clock showed `bootMs` at `atMs` of ours, or before. */
  #known: { bootMs: number; atMs: number } | undefined;

  constructor(init: Pick<InitSession, 'heartbeat' | 'hello'>, nowMs: () => number) {
    this.#init = init;
    this.#nowMs = nowMs;
    const { bootMs, gate, fencedAtBootMs } = init.hello;
    this.can = bootMs !== undefined && !gate;
    this.fell = fencedAtBootMs !== undefined;
    this.#known = bootMs === undefined ? undefined : { bootMs, atMs: nowMs() };
  }

  /** After a renewal of the lease whose request was sent at `renewedMs`. */
  async beat(renewedMs: number, seconds: number): Promise<HeartbeatResult['is'] | 'not-renewed'> {
    const known = this.#known;
    if (known === undefined) return 'unsupported';
    // Only forwards: a clock that stands still while the machine sleeps would make more of the time before.
    if (renewedMs < known.atMs) return 'not-renewed';
    const answer = await this.#init.heartbeat({
      fromBootMs: Math.floor(known.bootMs + (renewedMs - known.atMs)),
      forMs: seconds * 1000,
    });
    if (answer.is === 'taken') {
      this.seconds = seconds;
      this.#known = { bootMs: answer.bootMs, atMs: this.#nowMs() };
    }
    if (answer.is === 'too-late') this.fell = true;
    return answer.is;
  }

  async lift(): Promise<HeartbeatResult['is']> {
    const answer = await this.#init.heartbeat(undefined);
    if (answer.is === 'taken') this.seconds = undefined;
    if (answer.is === 'too-late') this.fell = true;
    return answer.is;
  }
}

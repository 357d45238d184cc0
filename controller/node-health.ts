import type { CancelTimer, Clock } from '../kube/clock.ts';
import { BoundedMap } from '../kube/bounded-map.ts';
import { LeaseObserver } from '../kube/lease-observer.ts';
import type { Lease } from '../kube/lease.ts';
import type { Heartbeat } from './placement/types.ts';

/** A timer may fire a little early by another clock's measure. */
const SLACK_MS = 50;
const MOST_NODES = 10_000;

interface Known {
  lease: Lease;
  /** A renewal was seen since this controller began. */
  renewed: boolean;
  /** It was deleted: the agent gets the rest of its time to make it anew. */
  deleted: boolean;
  /** Monotonic; when it expires unless it is renewed. Worked out once a renewal: every placement asks every node. */
  expiresMs: number;
  /** Its own words, in milliseconds since 1970 and for how long. */
  renewedAt: number;
  durationMs: number;
  cancel: CancelTimer;
}

/**
 * Whether the agent of each node is alive, by its lease: renewals are counted as they are seen here, so another
 * machine's clock decides nothing. `onChange` is called when the answer for a node may have changed; nothing is
 * polled.
 */
export class NodeHealth {
  readonly #clock: Clock;
  readonly #observer: LeaseObserver;
  readonly #onChange: (node: string) => void;
  readonly #known = new Map<string, Known>();
  /** Monotonic; when a renewal of each was last seen, or when it was first looked for. */
  readonly #heard = new BoundedMap<string, number>(MOST_NODES);
  readonly #said = new Map<string, Heartbeat>();

  constructor(options: { clock: Clock; onChange: (node: string) => void }) {
    this.#clock = options.clock;
    this.#observer = new LeaseObserver(options.clock);
    this.#onChange = options.onChange;
  }

  /** To be told each state of each lease; undefined: it is gone. */
  observe(node: string, lease: Lease | undefined): void {
    const before = this.#known.get(node);
    before?.cancel();
    if (lease !== undefined && lease.spec?.renewTime !== before?.lease.spec?.renewTime) {
      this.#heard.set(node, this.#clock.monotonicMs());
    }
    const last = lease ?? before?.lease;
    if (last === undefined) return;
    const renewed =
      before !== undefined &&
      before.lease.metadata.uid === last.metadata.uid &&
      (before.renewed || before.lease.spec?.renewTime !== last.spec?.renewTime);
    const leftMs = this.#observer.leftMs(last);
    const cancel = leftMs > 0 ? this.#clock.setTimer(leftMs + SLACK_MS, () => this.#tell(node)) : () => {};
    this.#known.set(node, {
      lease: last,
      renewed,
      deleted: lease === undefined,
      expiresMs: this.#clock.monotonicMs() + leftMs,
      renewedAt: Date.parse(last.spec?.renewTime ?? ''),
      durationMs: (last.spec?.leaseDurationSeconds ?? 0) * 1000,
      cancel,
    });
    this.#tell(node);
  }

  of(node: string): Heartbeat {
    const known = this.#known.get(node);
    if (known === undefined) return 'Missing';
    if (known.expiresMs <= this.#clock.monotonicMs()) return known.deleted ? 'Missing' : 'Expired';
    if (known.deleted || (known.lease.spec?.holderIdentity ?? '') === '') return 'Released';
    return known.renewed || this.#recentByItsOwnWords(known) ? 'Alive' : 'Unproven';
  }

  /**
   * For how long no renewal has been seen here, whatever has become of the lease; at most since this controller began
   * to look. So it is never longer than it has been.
   */
  silentMs(node: string): number {
    const now = this.#clock.monotonicMs();
    const heard = this.#heard.get(node);
    if (heard !== undefined) return now - heard;
    this.#heard.set(node, now);
    return 0;
  }

  stop(): void {
    for (const { cancel } of this.#known.values()) cancel();
    this.#known.clear();
  }

  #tell(node: string): void {
    const now = this.of(node);
    if ((this.#said.get(node) ?? 'Missing') === now) return;
    if (now === 'Missing') {
      this.#said.delete(node);
      this.#known.delete(node);
    } else this.#said.set(node, now);
    this.#onChange(node);
  }

  /** Good enough to place on before a renewal was seen, never to call a node lost. */
  #recentByItsOwnWords({ renewedAt, durationMs }: Known): boolean {
    return Math.abs(this.#clock.now().getTime() - renewedAt) <= durationMs;
  }
}

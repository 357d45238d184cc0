import type { Clock } from './clock.ts';
import { BoundedMap } from './bounded-map.ts';
import type { Lease } from './lease.ts';
import { keyOf } from './lister.ts';

interface Observation {
  /** Changes with each renewal. */
  mark: string;
  /** Monotonic; when this mark was first seen. */
  seenMs: number;
}

/** A lease without a duration of its own. */
const DEFAULT_DURATION_SECONDS = 15;

/**
 * Judges whether leases of others have run out by renewals seen here: a lease has expired when it was not renewed for
 * its own duration since it was first seen in its present state. The times written in it come from another machine's
 * clock and decide nothing.
 */
export class LeaseObserver {
  readonly #clock: Clock;
  readonly #seen: BoundedMap<string, Observation>;

  constructor(clock: Clock, most = 10_000) {
    this.#clock = clock;
    this.#seen = new BoundedMap(most);
  }

  /** To be told each state of the lease as it is seen. */
  observe(lease: Lease): void {
    const key = keyOf(lease);
    const mark = markOf(lease);
    if (this.#seen.get(key)?.mark !== mark) this.#seen.set(key, { mark, seenMs: this.#clock.monotonicMs() });
  }

  /** Milliseconds until it expires unless it is renewed; 0 or less: it has expired. */
  leftMs(lease: Lease): number {
    this.observe(lease);
    const durationMs = (lease.spec?.leaseDurationSeconds ?? DEFAULT_DURATION_SECONDS) * 1000;
    const seenMs = this.#seen.get(keyOf(lease))?.seenMs ?? this.#clock.monotonicMs();
    return seenMs + durationMs - this.#clock.monotonicMs();
  }

  /** Not renewed in time. (One that was given back has no holder and expires like any other.) */
  expired(lease: Lease): boolean {
    return this.leftMs(lease) <= 0;
  }
}

function markOf(lease: Lease): string {
  const { uid } = lease.metadata;
  const { holderIdentity, renewTime, leaseTransitions } = lease.spec ?? {};
  return JSON.stringify([uid, holderIdentity, renewTime, leaseTransitions]);
}

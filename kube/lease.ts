import type { Logger } from 'pino';
import type { KubeClient, KubeObject } from './client.ts';
import { sleep, type Clock } from './clock.ts';
import { isAlreadyExists, isConflict, isNotFound } from './errors.ts';
import { LeaseObserver } from './lease-observer.ts';
import { LEASES } from './resources.ts';

/** `coordination.k8s.io/v1` */
export interface Lease extends KubeObject {
  spec?: {
    holderIdentity?: string;
    leaseDurationSeconds?: number;
    /** RFC 3339 with microseconds. */
    acquireTime?: string;
    renewTime?: string;
    leaseTransitions?: number;
  };
}

export interface LeaseOptions {
  client: KubeClient;
  clock: Clock;
  random: () => number;
  log: Logger;
  namespace: string;
  name: string;
  /** Who holds it. The same identity after a restart takes its own lease back at once. */
  identity: string;
  /** Others may take it when no renewal was seen for this long. Whole seconds. Default 15. */
  durationSeconds?: number;
  /** Between two renewals, and between two looks while another holds it. Default a third of the duration. */
  renewEveryMs?: number;
  /**
   * When we stop believing that we hold it, counted from when the last renewal that succeeded was sent. Default four
   * fifths of the duration: what is on its way by then arrives before others may take it.
   */
  renewDeadlineMs?: number;
  /** How long one renewal may take. Default as `renewEveryMs`: one that hangs leaves time for another. */
  attemptMs?: number;
  /** Give it back at the end, so that the next need not wait. Default true. */
  releaseOnStop?: boolean;
  labels?: Record<string, string>;
  /** When the Lease could not be made because its namespace is missing. What it throws is tried again. */
  makeNamespace?: (signal: AbortSignal) => Promise<void>;
}

export interface LeaseCallbacks {
  /**
   * It is ours. `lost` aborts when it is no longer certain that it is, before anybody else may take it: stop every
   * write then. The lease is given back or tried for again once what this returned has settled.
   */
  onHeld(lost: AbortSignal): Promise<void> | void;
  /** A renewal succeeded, the first included; its request was sent then (monotonic). */
  onRenewed?(sentMs: number): void;
  /** Another holds it (told once for each holder). */
  onRefused?(holder: string): void;
}

/** The longest wait after a renewal that failed. */
const RETRY_MS = 2_000;

/**
 * Holds one Lease while it can: a node's heartbeat, or the leadership of a controller. Whether another's lease has
 * run out is judged by renewals seen here, on the monotonic clock: the times written in it are another machine's.
 */
export class LeaseHolder {
  readonly #options: Required<Omit<LeaseOptions, 'labels' | 'makeNamespace'>> &
    Pick<LeaseOptions, 'labels' | 'makeNamespace'>;
  readonly #observer: LeaseObserver;
  #lease: Lease | undefined;
  /** Monotonic; when the request of the last renewal that succeeded was sent. */
  #renewedMs = Number.NEGATIVE_INFINITY;
  /** The last state of it in which another held it. */
  #others: Lease | undefined;
  #onRenewed: ((sentMs: number) => void) | undefined;
  #refusedBy: string | undefined;
  #held = false;
  /** Those who wait for a renewal that begins after they asked. */
  #asked: (() => void)[] = [];
  #wake: (() => void) | undefined;

  constructor(options: LeaseOptions) {
    const durationSeconds = options.durationSeconds ?? 15;
    this.#options = {
      durationSeconds,
      renewEveryMs: (durationSeconds * 1000) / 3,
      renewDeadlineMs: durationSeconds * 800,
      attemptMs: options.renewEveryMs ?? (durationSeconds * 1000) / 3,
      releaseOnStop: true,
      ...options,
    };
    this.#observer = new LeaseObserver(options.clock);
  }

  get held(): boolean {
    return this.#held;
  }

  /**
   * Milliseconds for which it is certain that it is ours; 0 or less: it is not. By the clock alone: in a process that
   * was stopped for a while no timer has had its turn when it goes on.
   */
  leftMs(): number {
    if (!this.#held) return Number.NEGATIVE_INFINITY;
    return this.#renewedMs + this.#options.renewDeadlineMs - this.#options.clock.monotonicMs();
  }

  /** Monotonic; when the last renewal that succeeded was sent. */
  get renewedMs(): number {
    return this.#renewedMs;
  }

  /** Renews now instead of when it is due. Resolves once that was done, or once it is not ours any more. */
  renewNow(): Promise<void> {
    if (!this.#held) return Promise.resolve();
    const renewed = new Promise<void>((resolve) => this.#asked.push(resolve));
    this.#wake?.();
    return renewed;
  }

  /** Until the signal aborts and what `onHeld` began has ended. Never rejects because of the API. */
  async run(signal: AbortSignal, callbacks: LeaseCallbacks): Promise<void> {
    this.#onRenewed = (sentMs) => callbacks.onRenewed?.(sentMs);
    while (!signal.aborted) {
      if (await this.#try(signal, callbacks)) await this.#hold(signal, callbacks);
      if (!signal.aborted) await this.#pause(this.#options.renewEveryMs, signal);
    }
  }

  async #hold(signal: AbortSignal, callbacks: LeaseCallbacks): Promise<void> {
    const lost = new AbortController();
    const stop = (): void => lost.abort(signal.reason);
    signal.addEventListener('abort', stop, { once: true });
    this.#held = true;
    this.#options.log.info({ lease: this.#options.name, identity: this.#options.identity }, 'lease held');
    const work = (async () => callbacks.onHeld(lost.signal))();
    let workEnded = false;
    const watched = work.then(
      () => {
        workEnded = true;
      },
      (error: unknown) => {
        this.#options.log.error({ err: error, lease: this.#options.name }, 'work under a lease failed');
        lost.abort(error);
      },
    );
    await this.#renewUntil(lost);
    this.#held = false;
    signal.removeEventListener('abort', stop);
    await watched;
    if (signal.aborted && workEnded && this.#options.releaseOnStop) await this.#release();
  }

  async #renewUntil(lost: AbortController): Promise<void> {
    const { clock, log, name, renewEveryMs, renewDeadlineMs } = this.#options;
    let pauseMs = renewEveryMs;
    let failed = false;
    while (!lost.signal.aborted) {
      const leftMs = this.#renewedMs + renewDeadlineMs - clock.monotonicMs();
      // A call that hangs must not keep us from stepping down in time.
      const cancel = clock.setTimer(leftMs, () =>
        lost.abort(new Error(`the lease ${name} was not renewed in time`)),
      );
      await (failed ? this.#pause(pauseMs, lost.signal) : this.#pauseUntilAsked(pauseMs, lost.signal));
      failed = false;
      // In a process that was stopped for a while the timer above may not have had its turn yet.
      if (this.leftMs() <= 0 && !lost.signal.aborted) {
        lost.abort(new Error(`the lease ${name} was not renewed in time`));
      }
      if (!lost.signal.aborted) {
        const asked = this.#asked.splice(0);
        try {
          if (!(await this.#attempt(lost.signal))) {
            lost.abort(new Error(`the lease ${name} was taken by ${this.#lease?.spec?.holderIdentity}`));
          }
          pauseMs = renewEveryMs;
          for (const tell of asked) tell();
        } catch (error) {
          // They wait for the next attempt, and that is not made at once.
          this.#asked.unshift(...asked);
          failed = true;
          pauseMs = Math.min(renewEveryMs / 2, RETRY_MS);
          if (!lost.signal.aborted) log.warn({ err: error, lease: name }, 'lease not renewed');
        }
      }
      cancel();
    }
    this.#held = false;
    for (const tell of this.#asked.splice(0)) tell();
    const { reason } = lost.signal as { reason: unknown };
    log.info(
      { lease: name, reason: reason instanceof Error ? reason.message : String(reason) },
      'lease no longer held',
    );
  }

  /** true: it is ours now. */
  async #try(signal: AbortSignal, callbacks: LeaseCallbacks): Promise<boolean> {
    const { log, name } = this.#options;
    try {
      if (await this.#attempt(signal)) {
        this.#refusedBy = undefined;
        return true;
      }
      const holder = this.#lease?.spec?.holderIdentity ?? '';
      if (holder !== '' && holder !== this.#refusedBy) {
        this.#refusedBy = holder;
        log.info({ lease: name, holder }, 'lease held by another');
        callbacks.onRefused?.(holder);
      }
    } catch (error) {
      if (!signal.aborted) log.warn({ err: error, lease: name }, 'lease not reached');
    }
    return false;
  }

  /** One renewal with a time limit that leaves room for another before we must step down. */
  async #attempt(signal: AbortSignal): Promise<boolean> {
    const { clock, attemptMs, name } = this.#options;
    const limit = new AbortController();
    const stop = (): void => limit.abort(signal.reason);
    signal.addEventListener('abort', stop, { once: true });
    const cancel = clock.setTimer(attemptMs, () =>
      limit.abort(new Error(`the lease ${name}: no answer within ${attemptMs} ms`)),
    );
    try {
      return await this.#renew(limit.signal);
    } finally {
      cancel();
      signal.removeEventListener('abort', stop);
    }
  }

  /** Writes a renewal where that is right. false: another holds it. Throws what the API threw. */
  async #renew(signal: AbortSignal): Promise<boolean> {
    const { client, clock, identity } = this.#options;
    const sentMs = clock.monotonicMs();
    try {
      // While we hold it the copy of our last write will do: one request a renewal, guarded by its resourceVersion.
      if (!this.#held || !this.#lease) this.#lease = await this.#read(signal);
      if (this.#lease) {
        this.#observer.observe(this.#lease);
        const holder = this.#lease.spec?.holderIdentity ?? '';
        if (holder !== identity && holder !== '' && !this.#observer.expired(this.#lease)) {
          this.#others = this.#lease;
          return false;
        }
        this.#lease = await client.update(LEASES, this.#claim(this.#lease), { signal });
      } else {
        // Deleted under its holder, who cannot know yet and works on: it gets the rest of its time.
        if (this.#others !== undefined && !this.#observer.expired(this.#others)) return false;
        this.#lease = await this.#create(signal);
      }
      this.#others = undefined;
      this.#renewedMs = sentMs;
      this.#onRenewed?.(sentMs);
      return true;
    } catch (error) {
      if (!isConflict(error) && !isAlreadyExists(error) && !isNotFound(error)) throw error;
      // Written by another, or deleted, since we looked. Whose is it now?
      this.#lease = await this.#read(signal);
      if (!this.#lease) throw error;
      this.#observer.observe(this.#lease);
      const holder = this.#lease.spec?.holderIdentity ?? '';
      if (holder !== identity) return false;
      throw error;
    }
  }

  async #create(signal: AbortSignal): Promise<Lease> {
    const { client, makeNamespace } = this.#options;
    const create = (): Promise<Lease> => client.create(LEASES, this.#claim(undefined), { signal });
    try {
      return await create();
    } catch (error) {
      // A missing namespace is the only thing that a creation does not find.
      if (makeNamespace === undefined || !isNotFound(error)) throw error;
      await makeNamespace(signal);
      return create();
    }
  }

  async #read(signal: AbortSignal): Promise<Lease | undefined> {
    const { client, namespace, name } = this.#options;
    try {
      return await client.get<Lease>(LEASES, { namespace, name }, { signal });
    } catch (error) {
      if (isNotFound(error)) return undefined;
      throw error;
    }
  }

  #claim(before: Lease | undefined): Lease {
    const { namespace, name, identity, durationSeconds, labels } = this.#options;
    const now = microTime(this.#options.clock.now());
    const ours = before?.spec?.holderIdentity === identity;
    return {
      apiVersion: 'coordination.k8s.io/v1',
      kind: 'Lease',
      metadata: before?.metadata ?? { namespace, name, ...(labels && { labels }) },
      spec: {
        ...before?.spec,
        holderIdentity: identity,
        leaseDurationSeconds: durationSeconds,
        acquireTime: (ours && before.spec?.acquireTime) || now,
        renewTime: now,
        leaseTransitions: (before?.spec?.leaseTransitions ?? 0) + (before && !ours ? 1 : 0),
      },
    };
  }

  /** Only the holder is taken out: for those who watch heartbeats the node is not lost before its time. */
  async #release(): Promise<void> {
    const { client, clock, log, name } = this.#options;
    if (!this.#lease) return;
    const limit = new AbortController();
    const cancel = clock.setTimer(2_000, () => limit.abort());
    try {
      const spec = { ...this.#lease.spec, holderIdentity: '' };
      await client.update(LEASES, { ...this.#lease, spec }, { signal: limit.signal });
    } catch (error) {
      log.debug({ err: error, lease: name }, 'lease not given back');
    } finally {
      cancel();
    }
  }

  /** As #pause; whoever asks for a renewal ends it. */
  async #pauseUntilAsked(ms: number, signal: AbortSignal): Promise<void> {
    if (this.#asked.length > 0) return;
    const woken = new AbortController();
    const wake = (): void => woken.abort();
    signal.addEventListener('abort', wake, { once: true });
    this.#wake = wake;
    await this.#pause(ms, woken.signal);
    this.#wake = undefined;
    signal.removeEventListener('abort', wake);
  }

  async #pause(ms: number, signal: AbortSignal): Promise<void> {
    const { clock, random } = this.#options;
    await sleep(clock, ms * (0.9 + random() * 0.2), signal);
  }
}

/** The leadership of one controller among several. */
export class LeaderElector {
  readonly #holder: LeaseHolder;

  constructor(options: LeaseOptions) {
    this.#holder = new LeaseHolder(options);
  }

  /** Milliseconds for which it is certain that no other leads; 0 or less: it is not. */
  leftMs(): number {
    return this.#holder.leftMs();
  }

  /** Calls `lead` each time it is elected; `lost` aborts before anybody else can be. Until the signal aborts. */
  async run(signal: AbortSignal, lead: (lost: AbortSignal) => Promise<void>): Promise<void> {
    await this.#holder.run(signal, {
      onHeld: async (lost) => {
        await lead(lost);
        // Somebody else may do better than a leader who does nothing.
        if (!lost.aborted) throw new Error('the work of the leader ended');
      },
    });
  }
}

/** As `metav1.MicroTime` is written. */
export function microTime(time: Date): string {
  return time.toISOString().replace('Z', '000Z');
}

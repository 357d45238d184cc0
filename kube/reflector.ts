import type { Logger } from 'pino';
import { statusError } from './answers.ts';
import { Backoff } from './backoff.ts';
import { ApiError, type KubeClient, type KubeObject, type Resource } from './client.ts';
import { sleep, type Clock } from './clock.ts';
import { isGone, isNotFound, retryAfterMs } from './errors.ts';
import { keyOf, type Lister } from './lister.ts';

export interface ReflectorOptions<T extends KubeObject> {
  client: KubeClient;
  resource: Resource;
  /** Which objects; all by default. */
  options?: { namespace?: string; labelSelector?: string; fieldSelector?: string };
  lister: Lister<T>;
  clock: Clock;
  random: () => number;
  log: Logger;
  /** Each watch is asked to last between one and two times this. Default 60 s. */
  watchSeconds?: number;
  /** Objects a page of a list. Default 500. */
  pageSize?: number;
}

/** How long after its promised end a watch that says nothing is still believed. */
const GRACE_MS = 10_000;
/** A watch that lasted this long was healthy, whatever it brought. */
const HEALTHY_MS = 5_000;
const BACKOFF_BASE_MS = 500;
const BACKOFF_MAX_MS = 30_000;
/** A Retry-After beyond this is taken for a mistake. */
const LONGEST_RETRY_AFTER_MS = 120_000;

const NO_SUCH_KIND =
  'the API has no such kind: is its CustomResourceDefinition installed? (holdfast crds | kubectl apply -f -)';

export interface ReflectorStats {
  lists: number;
  watches: number;
  events: number;
  failures: number;
}

/**
 * Keeps a Lister true to the API: lists in pages, then watches from there, for ever.
 *
 * **Resync bound.** A change is in the lister at the latest 2 * watchSeconds + 10 s after it happened plus the wait
 * after a failure (30 s, or the server's Retry-After), however the connection fails: a watch that went silent is
 * given up then, one that was cut off is resumed, and where the server no longer has what was missed (410) all is
 * listed anew. At most one request is under way at any moment, and never more than one starts in 250 ms once a
 * request failed or a watch was closed at once.
 */
export class Reflector<T extends KubeObject> {
  readonly synced: Promise<void>;
  readonly stats: ReflectorStats = { lists: 0, watches: 0, events: 0, failures: 0 };
  readonly #options: ReflectorOptions<T>;
  readonly #backoff: Backoff;
  /** Of lists that a refused resourceVersion made necessary: the server answers, so the waits before do not count. */
  readonly #relistBackoff: Backoff;
  #markSynced!: () => void;
  #failSynced!: (reason: unknown) => void;
  #running = false;
  /** Where the next watch begins; undefined: list first. */
  #resourceVersion: string | undefined;

  constructor(options: ReflectorOptions<T>) {
    this.#options = options;
    const backoff = { baseMs: BACKOFF_BASE_MS, maxMs: BACKOFF_MAX_MS, random: options.random };
    this.#backoff = new Backoff(backoff);
    this.#relistBackoff = new Backoff(backoff);
    this.synced = new Promise((resolve, reject) => {
      this.#markSynced = resolve;
      this.#failSynced = reject;
    });
    // Whoever awaits it hears of a stop before the first list; nobody has to.
    this.synced.catch(() => {});
  }

  /** Until the signal aborts; then no request of it is left. Never rejects; throws when called twice. */
  async run(signal: AbortSignal): Promise<void> {
    if (this.#running) throw new Error('this reflector runs already');
    this.#running = true;
    while (!signal.aborted) {
      const waitMs = await this.#step(signal);
      if (waitMs > 0 && !signal.aborted) await sleep(this.#options.clock, waitMs, signal);
    }
    this.#failSynced(signal.reason);
  }

  /** One list or one watch; answers how long to wait before the next. */
  async #step(signal: AbortSignal): Promise<number> {
    const startedMs = this.#options.clock.monotonicMs();
    const eventsBefore = this.stats.events;
    try {
      if (this.#resourceVersion === undefined) {
        await this.#list(signal);
        return 0;
      }
      await this.#watch(this.#resourceVersion, signal);
    } catch (error) {
      if (signal.aborted) return 0;
      return this.#afterFailure(error, startedMs);
    }
    if (this.#lasted(startedMs)) return 0;
    // Closed at once: without a wait this would be a hot loop. It did bring something: begin with a short one.
    if (this.stats.events > eventsBefore) this.#backoff.reset();
    return this.#backoff.next();
  }

  #afterFailure(error: unknown, startedMs: number): number {
    this.stats.failures += 1;
    if (this.#options.clock.monotonicMs() - startedMs >= HEALTHY_MS) this.#backoff.reset();
    // The server refused where we want to begin (410, or a resourceVersion it does not understand or have yet).
    if (isGone(error) || (error instanceof ApiError && [400, 422, 504].includes(error.code))) {
      this.#resourceVersion = undefined;
    }
    const waitMs = Math.max(this.#backoff.next(), Math.min(retryAfterMs(error) ?? 0, LONGEST_RETRY_AFTER_MS));
    const fields = { err: error, resource: this.#options.resource.plural, waitMs: Math.round(waitMs) };
    if (isGone(error)) this.#options.log.debug(fields, 'the watch is too old; listing anew');
    else if (isNotFound(error)) this.#options.log.warn(fields, NO_SUCH_KIND);
    else this.#options.log.warn(fields, 'list or watch failed');
    return waitMs;
  }

  /** Whether what began then was healthy; if so, the next failure is a first one again. */
  #lasted(startedMs: number): boolean {
    if (this.#options.clock.monotonicMs() - startedMs < HEALTHY_MS) return false;
    this.#backoff.reset();
    this.#relistBackoff.reset();
    return true;
  }

  async #list(signal: AbortSignal): Promise<void> {
    const { client, resource, options, pageSize = 500 } = this.#options;
    const items: T[] = [];
    let continueToken: string | undefined;
    let resourceVersion = '';
    do {
      this.stats.lists += 1;
      const page = await client.list<T>(resource, {
        ...options,
        limit: pageSize,
        ...(continueToken !== undefined && { continueToken }),
        signal,
      });
      items.push(...page.items);
      ({ resourceVersion, continueToken } = { continueToken: undefined, ...page });
    } while (continueToken !== undefined);
    this.#options.lister.replace(items);
    this.#resourceVersion = resourceVersion;
    this.#markSynced();
  }

  async #watch(resourceVersion: string, signal: AbortSignal): Promise<void> {
    const { client, resource, options, lister, random, watchSeconds = 60 } = this.#options;
    const timeoutSeconds = Math.ceil(watchSeconds * (1 + random()));
    this.stats.watches += 1;
    const events = client.watch<T>(resource, {
      ...options,
      resourceVersion,
      allowWatchBookmarks: true,
      timeoutSeconds,
      idleTimeoutMs: timeoutSeconds * 1000 + GRACE_MS,
      signal,
    });
    for await (const event of events) {
      if (event.type === 'ERROR') throw statusError(event.object);
      this.#resourceVersion = event.object.metadata.resourceVersion ?? this.#resourceVersion;
      if (event.type === 'BOOKMARK') continue;
      this.stats.events += 1;
      if (event.type === 'DELETED') lister.delete(keyOf(event.object));
      else lister.set(event.object);
    }
  }
}

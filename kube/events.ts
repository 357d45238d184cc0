import type { Logger } from 'pino';
import type { EventReason } from '../crds/conditions.ts';
import { Backoff } from './backoff.ts';
import type { KubeClient, KubeObject } from './client.ts';
import { type CancelTimer, type Clock, sleep } from './clock.ts';
import { timestamp } from './conditions.ts';
import { isNotFound, isRetriable, retryAfterMs } from './errors.ts';
import { BoundedMap } from './bounded-map.ts';
import { EVENTS } from './resources.ts';
import { TokenBucket } from './token-bucket.ts';

export interface EventRecorderOptions {
  client: KubeClient;
  clock: Clock;
  random: () => number;
  log: Logger;
  /** Who says it: `holdfast-controller`, `holdfast-agent`. */
  component: string;
  /** Which of them: a host or node name. */
  instance: string;
  /** Events that wait to be written; more are dropped. Default 512. */
  maxQueued?: number;
  /**
   * That things are as they should be is written once nothing was recorded for this long, at the latest after four
   * times that: on one machine each event is a write to the disk which the work it tells of is waiting for. It has the
   * time at which it was recorded all the same. A warning waits for nothing. Default 0.
   */
  quietMs?: number;
}

/** What an event is about: any object of the API will do. */
export type EventSubject = Pick<KubeObject, 'apiVersion' | 'kind' | 'metadata'>;

export interface EventRecorderStats {
  written: number;
  /** Over the rate of their object, over the queue's bound, or refused by the server. */
  dropped: number;
}

interface Entry {
  key: string;
  subject: EventSubject;
  type: 'Normal' | 'Warning';
  reason: EventReason;
  message: string;
  /** Occurrences not yet written. */
  fresh: number;
  /** Occurrences on the API. */
  count: number;
  first: Date;
  last: Date;
  /** On the API, once it was created. */
  name: string | undefined;
}

/** As client-go: this many at once for one object, then one in five minutes. */
const OBJECT_BURST = 25;
const OBJECT_PER_SECOND = 1 / 300;
const MOST_REMEMBERED = 4096;
/** An event that repeats within this time is counted up; later it is a new one. */
const SAME_EVENT_MS = 10 * 60_000;
const MOST_TRIES = 5;
const LONGEST_MESSAGE = 1024;

/**
 * Events for users. `record` never throws and never waits: events are written one after the other in the background,
 * repeated ones as a higher count of the first, and what cannot be written is dropped and counted.
 */
export class EventRecorder {
  readonly stats: EventRecorderStats = { written: 0, dropped: 0 };
  readonly #options: EventRecorderOptions;
  readonly #queue = new Map<string, Entry>();
  readonly #known = new BoundedMap<string, Entry>(MOST_REMEMBERED);
  readonly #rates = new BoundedMap<string, TokenBucket>(MOST_REMEMBERED);
  readonly #stop = new AbortController();
  #pump: Promise<void> | undefined;
  #cancelWait: CancelTimer | undefined;
  #waitingSince: number | undefined;
  #lastName = 0n;

  constructor(options: EventRecorderOptions) {
    this.#options = options;
  }

  record(subject: EventSubject, type: 'Normal' | 'Warning', reason: EventReason, message: string): void {
    if (this.#stop.signal.aborted || !this.#rate(subject).take()) {
      this.stats.dropped += 1;
      return;
    }
    const text = message.length > LONGEST_MESSAGE ? `${message.slice(0, LONGEST_MESSAGE - 4)} ...` : message;
    const key = JSON.stringify([idOf(subject), type, reason, text]);
    const now = this.#options.clock.now();
    const entry = this.#entry(key, now, { subject: nameOf(subject), type, reason, message: text });
    entry.fresh += 1;
    entry.last = now;
    if (!this.#queue.has(key) && this.#queue.size >= (this.#options.maxQueued ?? 512)) {
      entry.fresh = 0;
      this.stats.dropped += 1;
      return;
    }
    this.#queue.set(key, entry);
    if (this.#pump === undefined) this.#writeSoon(type);
  }

  /** Resolves when what was recorded is written, at the latest after `withinMs`. */
  async flush(withinMs = 2_000): Promise<void> {
    if (this.#queue.size > 0) this.#writeNow();
    if (this.#pump === undefined) return;
    let cancel = (): void => {};
    const late = new Promise<void>((resolve) => {
      cancel = this.#options.clock.setTimer(withinMs, resolve);
    });
    await Promise.race([this.#pump, late]);
    cancel();
  }

  /** Takes no more; resolves when what was recorded is written, at the latest after `withinMs`. */
  async stop(withinMs = 5_000): Promise<void> {
    if (this.#queue.size > 0) this.#writeNow();
    const cancel = this.#options.clock.setTimer(withinMs, () => this.#stop.abort());
    await this.#pump;
    cancel();
    this.#stop.abort();
  }

  #writeSoon(type: 'Normal' | 'Warning'): void {
    const { clock, quietMs = 0 } = this.#options;
    const nowMs = clock.monotonicMs();
    this.#waitingSince ??= nowMs;
    const leftMs = Math.min(quietMs, this.#waitingSince + 4 * quietMs - nowMs);
    if (type === 'Warning' || leftMs <= 0) {
      this.#writeNow();
      return;
    }
    this.#cancelWait?.();
    this.#cancelWait = clock.setTimer(leftMs, () => this.#writeNow());
  }

  #writeNow(): void {
    this.#cancelWait?.();
    this.#cancelWait = undefined;
    this.#waitingSince = undefined;
    this.#pump ??= this.#write().finally(() => {
      this.#pump = undefined;
    });
  }

  #entry(key: string, now: Date, about: Pick<Entry, 'subject' | 'type' | 'reason' | 'message'>): Entry {
    const before = this.#queue.get(key) ?? this.#known.get(key);
    // Math.abs: after a jump of the clock the event is a new one in either direction.
    if (before && Math.abs(now.getTime() - before.last.getTime()) < SAME_EVENT_MS) return before;
    const entry: Entry = { key, ...about, fresh: 0, count: 0, first: now, last: now, name: undefined };
    this.#known.set(key, entry);
    return entry;
  }

  #rate(subject: EventSubject): TokenBucket {
    const id = idOf(subject);
    let bucket = this.#rates.get(id);
    if (!bucket) {
      bucket = new TokenBucket({
        clock: this.#options.clock,
        burst: OBJECT_BURST,
        perSecond: OBJECT_PER_SECOND,
      });
      this.#rates.set(id, bucket);
    }
    return bucket;
  }

  async #write(): Promise<void> {
    const { clock, random, log } = this.#options;
    const { signal } = this.#stop;
    // What is recorded in the same turn is written together.
    await Promise.resolve();
    const backoff = new Backoff({ baseMs: 250, maxMs: 10_000, random });
    while (this.#queue.size > 0 && !signal.aborted) {
      const [next] = this.#queue.values();
      if (!next) return;
      try {
        await this.#one(next, signal);
        this.stats.written += 1;
        backoff.reset();
      } catch (error) {
        if (isRetriable(error) && backoff.failures < MOST_TRIES - 1 && !signal.aborted) {
          await sleep(clock, Math.max(backoff.next(), retryAfterMs(error) ?? 0), signal);
          continue;
        }
        this.stats.dropped += 1;
        backoff.reset();
        log.warn({ err: error, reason: next.reason, subject: next.subject.metadata.name }, 'event dropped');
        next.fresh = 0;
      }
      if (next.fresh === 0) this.#queue.delete(next.key);
    }
    this.stats.dropped += this.#queue.size;
    this.#queue.clear();
  }

  async #one(entry: Entry, signal: AbortSignal): Promise<void> {
    const { fresh, last } = entry;
    const count = entry.count + fresh;
    if (entry.name !== undefined) {
      try {
        await this.#options.client.patch(
          EVENTS,
          { namespace: namespaceOf(entry.subject), name: entry.name },
          { count, lastTimestamp: timestamp(last) },
          { type: 'merge', signal },
        );
        entry.count = count;
        entry.fresh -= fresh;
        return;
      } catch (error) {
        // Events are removed after an hour or so: then it begins anew.
        if (!isNotFound(error)) throw error;
        entry.name = undefined;
      }
    }
    const body = this.#body(entry, count);
    await this.#options.client.create(EVENTS, body, { signal });
    entry.name = body.metadata.name;
    entry.count = count;
    entry.fresh -= fresh;
  }

  #body(entry: Entry, count: number): KubeObject {
    const { component, instance } = this.#options;
    const { metadata, apiVersion, kind } = entry.subject;
    return {
      apiVersion: 'v1',
      kind: 'Event',
      metadata: { namespace: namespaceOf(entry.subject), name: this.#name(metadata.name) },
      involvedObject: {
        apiVersion,
        kind,
        name: metadata.name,
        ...(metadata.namespace !== undefined && { namespace: metadata.namespace }),
        ...(metadata.uid !== undefined && { uid: metadata.uid }),
        ...(metadata.resourceVersion !== undefined && { resourceVersion: metadata.resourceVersion }),
      },
      type: entry.type,
      reason: entry.reason,
      message: entry.message,
      source: { component, host: instance },
      reportingComponent: component,
      reportingInstance: instance,
      firstTimestamp: timestamp(entry.first),
      lastTimestamp: timestamp(entry.last),
      count,
    } as KubeObject;
  }

  /** `name.hex`, as every recorder does; never the same twice, and never longer than a name may be. */
  #name(subject: string): string {
    const micros = BigInt(this.#options.clock.now().getTime()) * 1_000_000n;
    const random = BigInt(Math.floor(this.#options.random() * 1_000_000));
    const next = micros + random;
    this.#lastName = next > this.#lastName ? next : this.#lastName + 1n;
    const suffix = this.#lastName.toString(16);
    return `${subject.slice(0, 253 - suffix.length - 1).replace(/[-.]+$/, '')}.${suffix}`;
  }
}

/** What an event says of its object, and no more: it is remembered long after the object has changed. */
function nameOf({ apiVersion, kind, metadata }: EventSubject): EventSubject {
  const { name, namespace, uid, resourceVersion } = metadata;
  return {
    apiVersion,
    kind,
    metadata: {
      name,
      ...(namespace !== undefined && { namespace }),
      ...(uid !== undefined && { uid }),
      ...(resourceVersion !== undefined && { resourceVersion }),
    },
  };
}

function idOf(subject: EventSubject): string {
  const { uid, namespace, name } = subject.metadata;
  return uid ?? `${subject.kind}/${namespace ?? ''}/${name}`;
}

/** Events about what has no namespace are kept in `default`. */
function namespaceOf(subject: EventSubject): string {
  return subject.metadata.namespace ?? 'default';
}

import type { Clock } from '../clock.ts';
import { isRecord, type StoredObject } from '../object.ts';
import { kindId } from '../registry/kind.ts';
import type { Store } from '../store/store.ts';

const EVENTS = kindId('', 'events');
/** As kube-apiserver's --event-ttl. */
const TTL_MS = 60 * 60_000;
const CHECK_MS = 5 * 60_000;
const BATCH = 500;
/** More Events than this, and the oldest go before their time. */
const MAX_EVENTS = 20_000;

/** Events are kept for an hour after they were last seen. */
export class EventExpirer {
  readonly #store: Store;
  readonly #clock: Clock;
  readonly #timer: NodeJS.Timeout;
  #running: Promise<void> = Promise.resolve();

  constructor(store: Store, clock: Clock) {
    this.#store = store;
    this.#clock = clock;
    this.#timer = setInterval(() => {
      this.#running = this.run().catch(() => undefined);
    }, CHECK_MS).unref();
  }

  async stop(): Promise<void> {
    clearInterval(this.#timer);
    await this.#running;
  }

  async run(): Promise<void> {
    const limit = this.#clock.now().getTime() - TTL_MS;
    let surplus = this.#store.count(EVENTS, { prefix: '' }) - MAX_EVENTS;
    let after: string | undefined;
    for (;;) {
      const rows = this.#store.page(EVENTS, { prefix: '', after, limit: BATCH });
      after = rows.at(-1)?.key;
      const expired = rows.filter(
        (row) => surplus-- > 0 || lastSeen(JSON.parse(row.body) as StoredObject) < limit,
      );
      if (expired.length > 0) {
        await this.#store.write((tx) => {
          for (const row of expired) {
            const event = tx.get(EVENTS, row.key);
            if (event !== undefined && event.metadata.resourceVersion === String(row.rv))
              tx.remove(EVENTS, row.key, event);
          }
        });
      }
      if (rows.length < BATCH) return;
    }
  }
}

function lastSeen(event: StoredObject): number {
  const series = isRecord(event['series']) ? event['series']['lastObservedTime'] : undefined;
  const times = [event.metadata.creationTimestamp, event['lastTimestamp'], event['eventTime'], series];
  return Math.max(...times.map((time) => (typeof time === 'string' ? Date.parse(time) || 0 : 0)));
}

import { type Call, fromStorage, storageId } from '../rest/call.ts';
import type { ListOptions } from '../rest/list-options.ts';
import type { Representation } from '../rest/represent.ts';
import type { Selection } from '../rest/selection.ts';
import { refuse, type Status } from '../rest/status.ts';
import type { StoredObject } from '../object.ts';
import { CRDS } from '../registry/builtin.ts';
import { deepEqual, type Json } from '../schema/json.ts';
import type { Change } from '../store/change.ts';
import type { Store } from '../store/store.ts';
import { selectEvent } from './filter.ts';
import type { ServerAnswer } from '../server/connection.ts';
import type { Subscriber, WatchHub } from './hub.ts';

/** Rows read at a time while a watch catches up: all that a slow client makes the server hold. */
const CHUNK = 100;
const MIN_TIMEOUT_SECONDS = 1800;
/** A client that has read nothing for this long is gone. */
const STALLED_MS = 300_000;
/** The last bytes of an ended watch get this long to leave. */
const FLUSH_MS = 5000;

/**
 * One watch: a place in the history, and a connection. While the client reads as fast as things happen, commits
 * go straight to it; when it does not, or while it catches up, the history is read from the database piece by
 * piece, as it takes them. So no watch has a buffer to overflow; one that falls behind compaction is told 410.
 */
export class Watch implements Subscriber {
  readonly #response: ServerAnswer;
  readonly #store: Store;
  readonly #hub: WatchHub;
  readonly #view: Representation;
  readonly #matches: ((object: StoredObject) => boolean) | undefined;
  readonly #shown: (object: StoredObject) => StoredObject;
  readonly #id: string;
  readonly #definition: StoredObject | undefined;
  readonly #prefix: string;
  readonly #bookmarks: boolean;
  #cursor: number;
  #catchingUp = false;
  #ended = false;
  #timeout: NodeJS.Timeout | undefined;
  #stall: NodeJS.Timeout | undefined;

  constructor(options: {
    call: Call;
    response: ServerAnswer;
    store: Store;
    hub: WatchHub;
    view: Representation;
    selection: Selection;
    list: ListOptions;
  }) {
    const { call, selection } = options;
    this.#response = options.response;
    this.#store = options.store;
    this.#hub = options.hub;
    this.#view = options.view;
    this.#shown = (object) => fromStorage(call, object);
    this.#matches = selection.all ? undefined : (object) => selection.matches(this.#shown(object));
    this.#id = storageId(call.kind);
    this.#definition = call.kind.crd;
    this.#prefix = call.kind.namespaced && call.namespace !== undefined ? `${call.namespace}/` : '';
    this.#bookmarks = options.list.bookmarks;
    this.#cursor = this.#store.rv;
  }

  /** Answers the request; the watch ends with its connection, its time, or the server. */
  start(options: ListOptions): void {
    const wanted = options.resourceVersion ?? 0;
    this.#response.writeHead(200, {
      'Content-Type': this.#view.contentType,
      'Cache-Control': 'no-cache, private',
    });
    this.#response.flushHeaders();
    this.#response.on('close', () => this.#end());
    // 0 asks for the server's own choice.
    const seconds = options.timeoutSeconds || MIN_TIMEOUT_SECONDS * (1 + Math.random());
    this.#timeout = setTimeout(() => this.#finish(), Math.min(seconds, 86_400) * 1000).unref();
    this.#hub.add(this);
    const initial = options.sendInitialEvents ?? wanted === 0;
    if (!initial) this.#cursor = wanted === 0 ? this.#store.rv : wanted;
    this.#catchingUp = true;
    this.#run(initial, options.sendInitialEvents === true && options.bookmarks).catch(() => this.#abort());
  }

  onCommit(changes: readonly Change[]): void {
    if (this.#catchingUp || this.#ended) return;
    try {
      this.#follow(changes);
    } catch (error) {
      this.#abort();
      throw error;
    }
  }

  #follow(changes: readonly Change[]): void {
    for (const change of changes) {
      if (this.#redefines(change)) {
        this.#finish();
        return;
      }
      if (!this.#send(change)) continue;
      this.#catchingUp = true;
      this.#catchUp().catch(() => this.#abort());
      return;
    }
    this.#cursor = Math.max(this.#cursor, changes.at(-1)?.rv ?? 0);
  }

  /** The kind is gone, or another than the one this watch shows: the client begins anew with what there is. */
  #redefines(change: Change): boolean {
    const definition = this.#definition;
    if (definition === undefined || change.resource !== CRDS || change.key !== definition.metadata.name)
      return false;
    return change.type === 'DELETED' || !deepEqual(change.object['spec'] as Json, definition['spec'] as Json);
  }

  onBookmark(): void {
    if (this.#bookmarks && !this.#catchingUp && !this.#ended) this.#bookmark(false);
  }

  onShutdown(): void {
    this.#finish();
  }

  async #run(initial: boolean, markEnd: boolean): Promise<void> {
    if (initial) {
      const at = this.#store.rv;
      if (!(await this.#sendState(at))) return;
      this.#cursor = at;
      if (markEnd) this.#bookmark(true);
    }
    await this.#catchUp();
  }

  /** Everything there is, as added. Answers false when the watch has ended meanwhile. */
  async #sendState(at: number): Promise<boolean> {
    let after: string | undefined;
    for (;;) {
      if (at < this.#store.compacted) return this.#expired(at);
      const rows = this.#store.page(this.#id, { prefix: this.#prefix, after, at, limit: CHUNK });
      for (const row of rows) {
        if (this.#matches !== undefined && !this.#matches(JSON.parse(row.body) as StoredObject)) continue;
        this.#write(this.#view.event('ADDED', row));
      }
      if (rows.length < CHUNK) return !this.#ended;
      after = rows.at(-1)?.key;
      await turn();
      if (!(await this.#drained())) return false;
    }
  }

  /** From the cursor to now, at the client's pace; then commits come directly again. */
  async #catchUp(): Promise<void> {
    for (;;) {
      if (!(await this.#drained())) return;
      if (this.#cursor < this.#store.compacted) {
        this.#expired(this.#cursor);
        return;
      }
      const now = this.#store.rv;
      const changes = this.#store.history(this.#id, this.#cursor, this.#prefix, CHUNK);
      for (const change of changes) this.#send(change);
      if (changes.length === CHUNK || this.#response.writableNeedDrain) {
        await turn();
        continue;
      }
      // No await since the history was read: nothing can have come between.
      this.#cursor = Math.max(this.#cursor, now);
      this.#catchingUp = false;
      return;
    }
  }

  /** Sends what the change is to this watch, if anything. Answers whether the client is behind now. */
  #send(change: Change): boolean {
    if (change.rv <= this.#cursor) return false;
    if (change.resource !== this.#id || !change.key.startsWith(this.#prefix)) return false;
    this.#cursor = change.rv;
    const event = selectEvent(change, this.#matches, this.#shown);
    if (event === undefined) return false;
    return !this.#write(this.#view.event(event.type, event.source));
  }

  #bookmark(initialEventsEnd: boolean): void {
    this.#write(this.#view.bookmark(this.#cursor, initialEventsEnd));
  }

  #expired(rv: number): false {
    const { status } = refuse.expired(`too old resource version: ${rv} (${this.#store.compacted})`);
    this.#write(errorEvent(status));
    this.#finish();
    return false;
  }

  #write(line: string): boolean {
    return this.#ended || this.#response.write(line);
  }

  /** When the client has taken what was sent; false when the watch has ended. */
  async #drained(): Promise<boolean> {
    if (this.#ended) return false;
    if (!this.#response.writableNeedDrain) return true;
    this.#stall = setTimeout(() => this.#abort(), STALLED_MS).unref();
    await new Promise<void>((resolve) => {
      const done = (): void => {
        this.#response.off('drain', done);
        this.#response.off('close', done);
        resolve();
      };
      this.#response.on('drain', done);
      this.#response.on('close', done);
    });
    clearTimeout(this.#stall);
    return !this.#ended;
  }

  /** A last bookmark spares the client a relist. */
  #finish(): void {
    if (this.#ended) return;
    if (this.#bookmarks && !this.#catchingUp) this.#bookmark(false);
    this.#end();
    this.#response.end();
    const flush = setTimeout(() => this.#response.destroy(), FLUSH_MS).unref();
    this.#response.on('close', () => clearTimeout(flush));
  }

  #abort(): void {
    this.#end();
    this.#response.destroy();
  }

  #end(): void {
    if (this.#ended) return;
    this.#ended = true;
    clearTimeout(this.#timeout);
    clearTimeout(this.#stall);
    this.#hub.remove(this);
  }
}

/** Lets others have the thread between two pieces. */
function turn(): Promise<void> {
  return new Promise((resolve) => void setImmediate(resolve));
}

function errorEvent(status: Status): string {
  return `${JSON.stringify({ type: 'ERROR', object: status })}\n`;
}

import type { Sandbox } from '../../crds/sandbox.ts';
import type { ObjectWrite } from './history.ts';

const PREFIX = '/registry/holdfast.dev/sandboxes/';

interface Answer {
  result?: {
    header?: { revision?: string };
    canceled?: boolean;
    cancel_reason?: string;
    events?: { type?: 'DELETE'; kv: KeyValue; prev_kv?: KeyValue }[];
  };
}

interface KeyValue {
  key: string;
  value?: string;
  mod_revision: string;
}

/**
 * Every write of every Sandbox, from etcd itself, so that nothing between us and the API server and no watch cache can
 * hide one. Over restarts of etcd it goes on where it was.
 */
export class ObjectRecorder {
  readonly writes: ObjectWrite[] = [];
  readonly #url: string;
  readonly #stop = new AbortController();
  #revision = 0;
  #running: Promise<void> = Promise.resolve();

  constructor(etcdURL: string) {
    this.#url = etcdURL;
  }

  start(): void {
    this.#running = this.#run();
  }

  async stop(): Promise<void> {
    this.#stop.abort();
    await this.#running;
  }

  /** Of the last write that was seen. */
  get revision(): number {
    return this.#revision;
  }

  async #run(): Promise<void> {
    while (!this.#stop.signal.aborted) {
      try {
        await this.#watch();
      } catch (error) {
        if (error instanceof HistoryLost) throw error;
        // etcd is away: it is asked again.
      }
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  }

  async #watch(): Promise<void> {
    const from = Buffer.from(PREFIX);
    const end = Buffer.from(from);
    end[end.length - 1] = (end.at(-1) ?? 0) + 1;
    const answer = await fetch(`${this.#url}/v3/watch`, {
      method: 'POST',
      signal: this.#stop.signal,
      body: JSON.stringify({
        create_request: {
          key: from.toString('base64'),
          range_end: end.toString('base64'),
          start_revision: String(this.#revision + 1),
          prev_kv: true,
        },
      }),
    });
    if (answer.body === null) return;
    let text = '';
    for await (const chunk of answer.body.pipeThrough(new TextDecoderStream())) {
      text += chunk;
      for (let at = text.indexOf('\n'); at !== -1; at = text.indexOf('\n')) {
        this.#take(JSON.parse(text.slice(0, at)) as Answer);
        text = text.slice(at + 1);
      }
    }
  }

  #take({ result }: Answer): void {
    if (result?.canceled === true) throw new HistoryLost(result.cancel_reason ?? 'compacted');
    for (const { type, kv, prev_kv } of result?.events ?? []) {
      const deleted = type === 'DELETE';
      const value = deleted ? prev_kv?.value : kv.value;
      const revision = Number(kv.mod_revision);
      this.#revision = Math.max(this.#revision, revision);
      if (value === undefined) continue;
      this.writes.push({
        revision,
        key: Buffer.from(kv.key, 'base64').toString().slice(PREFIX.length),
        sandbox: JSON.parse(Buffer.from(value, 'base64').toString()) as Sandbox,
        deleted,
        atMs: Date.now(),
      });
    }
  }
}

/** etcd no longer has what was not yet seen: the run proves nothing. */
class HistoryLost extends Error {}

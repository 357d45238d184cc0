import { EventEmitter } from 'node:events';
import type { IncomingHttpHeaders, OutgoingHttpHeaders } from 'node:http';
import type { ServerAnswer } from './connection.ts';

/** Text that may wait for its reader before the server is asked to pause, as a socket's buffers. */
const HIGH_WATER = 64 * 1024;

/** An answer that goes to a reader in the same process: a queue of texts, bounded as a connection is. */
export class InProcessAnswer extends EventEmitter implements ServerAnswer {
  code = 0;
  readonly headers: IncomingHttpHeaders = {};
  headersSent = false;
  destroyed = false;
  closed = false;
  writableEnded = false;
  writableNeedDrain = false;
  #waiting: string[] = [];
  #length = 0;
  #onHeaders: (() => void) | undefined;
  #onData: (() => void) | undefined;

  get writableLength(): number {
    return this.#length;
  }

  setHeader(name: string, value: string): void {
    this.headers[name.toLowerCase()] = value;
  }

  writeHead(code: number, headers: OutgoingHttpHeaders): void {
    this.code = code;
    for (const [name, value] of Object.entries(headers))
      if (value !== undefined) this.setHeader(name, Array.isArray(value) ? value.join(', ') : String(value));
    this.headersSent = true;
    this.#onHeaders?.();
  }

  flushHeaders(): void {
    // They have no way to go.
  }

  write(chunk: string): boolean {
    if (this.destroyed || this.writableEnded) return false;
    this.#waiting.push(chunk);
    this.#length += chunk.length;
    if (this.#length >= HIGH_WATER) this.writableNeedDrain = true;
    this.#onData?.();
    return !this.writableNeedDrain;
  }

  end(chunk?: string): void {
    if (this.destroyed || this.writableEnded) return;
    if (chunk !== undefined) this.write(chunk);
    this.writableEnded = true;
    this.#onData?.();
    this.#close();
  }

  destroy(): void {
    if (this.destroyed) return;
    this.destroyed = true;
    this.#waiting = [];
    this.#onHeaders?.();
    this.#onData?.();
    this.#close();
  }

  /** Resolves when the answer has begun, or was given up before. */
  async begun(): Promise<void> {
    while (!this.headersSent && !this.destroyed) {
      await new Promise<void>((resolve) => {
        this.#onHeaders = resolve;
      });
    }
  }

  /** What has come since the last reading; undefined at the end. Throws where the server has broken off. */
  async read(): Promise<Buffer | undefined> {
    while (this.#waiting.length === 0 && !this.writableEnded && !this.destroyed) {
      await new Promise<void>((resolve) => {
        this.#onData = resolve;
      });
    }
    if (this.destroyed) throw new Error('the answer broke off');
    if (this.#waiting.length === 0) return undefined;
    const text = this.#waiting.length === 1 ? (this.#waiting[0] ?? '') : this.#waiting.join('');
    this.#waiting = [];
    this.#length = 0;
    if (this.writableNeedDrain) {
      this.writableNeedDrain = false;
      this.emit('drain');
    }
    return Buffer.from(text);
  }

  #close(): void {
    queueMicrotask(() => {
      if (this.closed) return;
      this.closed = true;
      this.emit('close');
    });
  }
}

import { setImmediate as turn } from 'node:timers/promises';
import { type Clock, systemClock } from '../../kube/clock.ts';
import { TransportError } from '../../kube/errors.ts';
import type { OpenAnswer, Transport, TransportAnswer, TransportRequest } from '../../kube/transport.ts';
import type { ServerAnswer, ServerRequest } from './connection.ts';
import { InProcessAnswer } from './in-process-answer.ts';

type Handler = (request: ServerRequest, answer: ServerAnswer) => void;

/**
 * Requests of the same process: the same handler with the same texts, tokens and limits as behind HTTPS, without
 * encryption and sockets, which take longer than all the rest of a small request.
 */
export class InProcessServer {
  readonly #handler: Handler;
  readonly #running = new Set<InProcessAnswer>();
  #stopped = false;

  constructor(handler: Handler) {
    this.#handler = handler;
  }

  /** A way here for one client; `headers` are those of each of its requests. */
  transport(headers: Record<string, string>, clock: Clock = systemClock): Transport {
    return new InProcessTransport((request, answer) => this.#serve(request, answer), headers, clock);
  }

  /** Takes no more requests; those that run are answered first. */
  async stop(): Promise<void> {
    this.#stopped = true;
    await Promise.all(
      [...this.#running].map(
        (answer) => new Promise<void>((resolve) => void answer.once('close', () => resolve())),
      ),
    );
  }

  #serve(request: ServerRequest, answer: InProcessAnswer): void {
    if (this.#stopped) {
      answer.destroy();
      return;
    }
    this.#running.add(answer);
    answer.once('close', () => this.#running.delete(answer));
    this.#handler(request, answer);
  }
}

class InProcessTransport implements Transport {
  readonly #serve: (request: ServerRequest, answer: InProcessAnswer) => void;
  readonly #headers: Record<string, string>;
  readonly #clock: Clock;
  readonly #open = new Set<Opened>();
  #closed = false;

  constructor(
    serve: (request: ServerRequest, answer: InProcessAnswer) => void,
    headers: Record<string, string>,
    clock: Clock,
  ) {
    this.#serve = serve;
    this.#headers = headers;
    this.#clock = clock;
  }

  async call(request: TransportRequest & { maxBytes: number }): Promise<TransportAnswer> {
    const opened = await this.#begin(request);
    try {
      const body = await opened.body(request.maxBytes);
      return { code: opened.code, headers: opened.headers, body };
    } finally {
      opened.close();
    }
  }

  async stream(request: TransportRequest): Promise<OpenAnswer> {
    const opened = await this.#begin(request);
    opened.stopTimer();
    return opened;
  }

  close(): void {
    this.#closed = true;
    for (const opened of this.#open)
      opened.fail(new TransportError('Unreachable', `${opened.what}: the client was closed`));
  }

  async #begin(request: TransportRequest): Promise<Opened> {
    request.signal?.throwIfAborted();
    const what = `${request.method} ${request.path}`;
    // A write takes a turn of the event loop by its commit. A read takes one here, so that a program which does
    // nothing but read does not keep everything else waiting.
    if (request.method === 'GET') await turn();
    request.signal?.throwIfAborted();
    if (this.#closed) throw new TransportError('Unreachable', `${what}: the client was closed`);
    request.beforeSend?.();
    const opened = new Opened(what, request, this.#clock, () => this.#open.delete(opened));
    this.#open.add(opened);
    try {
      this.#serve(requestOf(request, this.#headers), opened.answer);
      await opened.answer.begun();
      opened.throwIfFailed();
      if (opened.answer.destroyed) throw opened.explain(new Error('the server has stopped'));
      return opened;
    } catch (error) {
      opened.close();
      throw error;
    }
  }
}

function requestOf(request: TransportRequest, headers: Record<string, string>): ServerRequest {
  const body = request.body === undefined ? undefined : Buffer.from(request.body);
  return {
    method: request.method,
    url: request.path,
    headers: {
      ...headers,
      ...request.headers,
      ...(body === undefined ? {} : { 'content-length': String(body.length) }),
    },
    complete: true,
    destroyed: false,
    on: () => undefined,
    async *[Symbol.asyncIterator]() {
      if (body !== undefined) yield body;
    },
  };
}

/** Owns the time limit and the abort listener of its request. */
class Opened implements OpenAnswer {
  readonly what: string;
  readonly answer = new InProcessAnswer();
  readonly #request: TransportRequest;
  readonly #done: () => void;
  readonly #abort: () => void;
  readonly #cancelTimer: () => void;
  #cause: unknown;

  constructor(what: string, request: TransportRequest, clock: Clock, done: () => void) {
    this.what = what;
    this.#request = request;
    this.#done = done;
    this.#abort = () => this.fail(request.signal?.reason);
    request.signal?.addEventListener('abort', this.#abort, { once: true });
    this.#cancelTimer = clock.setTimer(request.timeoutMs, () =>
      this.fail(new TransportError('Timeout', `${what}: no answer within ${request.timeoutMs} ms`)),
    );
  }

  get code(): number {
    return this.answer.code;
  }

  get headers(): TransportAnswer['headers'] {
    return this.answer.headers;
  }

  stopTimer(): void {
    this.#cancelTimer();
  }

  chunks(): AsyncIterator<Buffer> {
    return {
      next: async () => {
        const value = await this.answer.read();
        return value === undefined ? { done: true, value: undefined } : { done: false, value };
      },
    };
  }

  async body(maxBytes: number): Promise<Buffer> {
    const parts: Buffer[] = [];
    let bytes = 0;
    for (;;) {
      let chunk: Buffer | undefined;
      try {
        chunk = await this.answer.read();
      } catch (error) {
        throw this.explain(error);
      }
      if (chunk === undefined) break;
      bytes += chunk.length;
      if (bytes > maxBytes) {
        throw new TransportError('TooLarge', `${this.what}: the answer has more than ${maxBytes} bytes`);
      }
      parts.push(chunk);
    }
    this.throwIfFailed();
    return parts.length === 1 && parts[0] !== undefined ? parts[0] : Buffer.concat(parts, bytes);
  }

  fail(cause: unknown): void {
    this.#cause ??= cause;
    this.answer.destroy();
  }

  throwIfFailed(): void {
    if (this.#cause !== undefined) throw this.explain(undefined);
  }

  explain(error: unknown): unknown {
    if (this.#cause !== undefined) return this.#cause;
    if (error instanceof TransportError) return error;
    const text = error instanceof Error ? error.message : String(error);
    return new TransportError('Unreachable', `${this.what}: ${text}`, { cause: error });
  }

  close(): void {
    this.#cancelTimer();
    this.#request.signal?.removeEventListener('abort', this.#abort);
    this.#done();
    // An answer that was read to its end is closed already.
    this.answer.destroy();
  }
}

import { Agent, request as httpRequest, type ClientRequest, type IncomingMessage } from 'node:http';
import { finished } from 'node:stream';
import type { Readable } from 'node:stream';
import type { Socket } from 'node:net';
import type { Clock } from '../../../kube/clock.ts';
import { DriverError } from '../../driver.ts';
import { transportError } from './map-errors.ts';
import type { DaemonAddress } from './address.ts';
import { watchCall, type CallWatch } from './call-watch.ts';

/** One request to the daemon. `query` values that are undefined are left out. */
export interface DaemonRequest {
  method: 'GET' | 'POST' | 'DELETE' | 'HEAD';
  path: string;
  query?: Record<string, string | number | boolean | undefined>;
  headers?: Record<string, string>;
  /** Sent as JSON. */
  json?: unknown;
  /** Sent as it is, with backpressure. */
  stream?: { body: Readable; contentType: string };
  /** For the whole call, or, for a streamed answer, until its headers are here. */
  timeoutMs: number;
  /** For streamed answers: the longest silence. Absent: silence is normal. */
  idleMs?: number;
  signal?: AbortSignal | undefined;
}

export interface Answer {
  status: number;
  headers: IncomingMessage['headers'];
  body: Buffer;
}

export interface StreamedAnswer {
  status: number;
  headers: IncomingMessage['headers'];
  /** The body as it comes, read once; ends with it, throws DriverError where it breaks off. */
  chunks(): AsyncGenerator<Buffer, void, void>;
  /** The whole body, for error answers. */
  rest(): Promise<Buffer>;
  /** Gives up the connection. */
  close(): void;
}

const MAX_ERROR_BYTES = 64 * 1024;

/**
 * HTTP/1.1 to one daemon. Plain calls share kept-alive connections; an answer that is streamed has one of its own,
 * since giving it up means closing it. Every failure is a DriverError, but for a signal of the caller's: its
 * reason is thrown as it is.
 */
export class DaemonHTTP {
  readonly #address: DaemonAddress;
  readonly #clock: Clock;
  readonly #agent: Agent;

  constructor(address: DaemonAddress, clock: Clock) {
    this.#address = address;
    this.#clock = clock;
    this.#agent = new Agent({ keepAlive: true, maxFreeSockets: 8 });
  }

  /** The whole answer, at most `maxBytes` of it: a longer one is `Unreadable`. */
  async call(request: DaemonRequest & { maxBytes: number }): Promise<Answer> {
    try {
      return await this.#callOnce(request);
    } catch (error) {
      // A kept-alive connection that the daemon closed just as we used it. Nothing was answered, and these
      // methods may be sent twice.
      if (error instanceof StaleConnection) {
        if (request.method !== 'POST') return this.#callOnce(request);
        throw error.error;
      }
      throw error;
    }
  }

  /** An answer whose body is read as it comes. Error answers too come back as a stream: see `readAll`. */
  async open(request: DaemonRequest): Promise<StreamedAnswer> {
    const watch = watchCall(request.signal, this.#clock);
    try {
      const { message } = await this.#send(request, watch, false);
      watch.limit(request.idleMs, 'no data');
      watch.onStop((reason) => message.destroy(reason));
      return {
        status: message.statusCode ?? 0,
        headers: message.headers,
        chunks: () => readChunks(message, watch, request.idleMs),
        async rest() {
          try {
            return await readAll(message, MAX_ERROR_BYTES);
          } catch (error) {
            throw watch.explain(error);
          } finally {
            watch.end();
          }
        },
        close() {
          watch.end();
          message.destroy();
        },
      };
    } catch (error) {
      watch.end();
      throw error instanceof StaleConnection ? error.error : error;
    }
  }

  /** A connection taken over from HTTP by `101 Switching Protocols`: raw bytes from here on. */
  async upgrade(request: DaemonRequest): Promise<{ socket: Socket; head: Buffer } | Answer> {
    const watch = watchCall(request.signal, this.#clock);
    try {
      const result = await this.#send(
        { ...request, headers: { ...request.headers, connection: 'Upgrade', upgrade: 'tcp' } },
        watch,
        false,
      );
      if (result.socket !== undefined) return { socket: result.socket, head: result.head };
      const body = await readAll(result.message, MAX_ERROR_BYTES);
      return { status: result.message.statusCode ?? 0, headers: result.message.headers, body };
    } catch (error) {
      throw error instanceof StaleConnection ? error.error : watch.explain(error);
    } finally {
      watch.end();
    }
  }

  close(): void {
    this.#agent.destroy();
  }

  async #callOnce(request: DaemonRequest & { maxBytes: number }): Promise<Answer> {
    const watch = watchCall(request.signal, this.#clock);
    try {
      const { message } = await this.#send(request, watch, true);
      watch.onStop((reason) => message.destroy(reason));
      const body = await readAll(message, request.maxBytes);
      return { status: message.statusCode ?? 0, headers: message.headers, body };
    } catch (error) {
      throw error instanceof StaleConnection ? error : watch.explain(error);
    } finally {
      watch.end();
    }
  }

  /** Resolves when the headers (or the upgrade) are here. */
  #send(request: DaemonRequest, watch: CallWatch, shared: boolean): Promise<Sent> {
    const what = `${request.method} ${request.path}`;
    const text = request.json === undefined ? undefined : JSON.stringify(request.json);
    const headers: Record<string, string> = { host: this.#address.host, ...request.headers };
    if (text !== undefined) {
      headers['content-type'] = 'application/json';
      headers['content-length'] = String(Buffer.byteLength(text));
    } else if (request.stream) headers['content-type'] = request.stream.contentType;
    else if (request.method === 'POST') headers['content-length'] = '0';

    return new Promise<Sent>((resolve, reject) => {
      let sent: ClientRequest;
      try {
        sent = httpRequest({
          ...this.#address.connect,
          agent: shared ? this.#agent : false,
          method: request.method,
          path: request.path + queryString(request.query),
          headers,
        });
      } catch (error) {
        // A path that cannot be written on a request line.
        reject(new DriverError('Refused', `${what}: ${String(error)}`, { cause: error }));
        return;
      }
      const fail = (error: unknown): void => {
        const mapped = watch.explain(transportError(error, what));
        const stale =
          sent.reusedSocket &&
          mapped instanceof DriverError &&
          mapped.code === 'Unavailable' &&
          !watch.stopped;
        reject(stale ? new StaleConnection(mapped) : mapped);
      };
      sent.on('error', fail);
      sent.on('response', (message) => resolve({ message, socket: undefined }));
      sent.on('upgrade', (message, socket, head) => {
        sent.removeListener('error', fail);
        resolve({ message, socket, head });
      });
      watch.onStop((reason) => sent.destroy(reason));
      watch.limit(request.timeoutMs, `${what} was not answered within ${request.timeoutMs / 1000} s`);
      if (watch.stopped) return;
      if (request.stream) {
        const { body } = request.stream;
        finished(body, { writable: false }, (error) => {
          if (error) sent.destroy(error);
        });
        body.pipe(sent);
        sent.once('close', () => body.unpipe(sent));
      } else sent.end(text);
    });
  }
}

type Sent =
  | { message: IncomingMessage; socket: undefined }
  | { message: IncomingMessage; socket: Socket; head: Buffer };

class StaleConnection extends Error {
  readonly error: DriverError;
  constructor(error: DriverError) {
    super(error.message);
    this.error = error;
  }
}

/** Reads a body to its end. Throws `Unreadable` above `maxBytes`, `Unavailable` where it breaks off. */
async function readAll(message: IncomingMessage, maxBytes: number): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  try {
    for await (const chunk of message as AsyncIterable<Buffer>) {
      bytes += chunk.length;
      if (bytes > maxBytes) {
        message.destroy();
        throw new DriverError('Unreadable', `the answer is longer than ${maxBytes} bytes`);
      }
      chunks.push(chunk);
    }
  } catch (error) {
    throw transportError(error, 'reading the answer');
  }
  if (!message.complete) throw new DriverError('Unavailable', 'the answer broke off');
  return Buffer.concat(chunks);
}

/** The silence is measured only while we wait for data: a slow consumer is not a silent daemon. */
async function* readChunks(
  message: IncomingMessage,
  watch: CallWatch,
  idleMs: number | undefined,
): AsyncGenerator<Buffer, void, void> {
  const iterator = message[Symbol.asyncIterator]() as AsyncIterator<Buffer>;
  try {
    for (;;) {
      if (idleMs !== undefined) watch.limit(idleMs, `no data for ${idleMs / 1000} s`);
      const next = await iterator.next();
      watch.limit(undefined);
      if (next.done) break;
      yield next.value;
    }
    if (!message.complete) throw new DriverError('Unavailable', 'the stream broke off');
  } catch (error) {
    throw watch.explain(transportError(error, 'reading the stream'));
  } finally {
    watch.end();
    message.destroy();
  }
}

function queryString(query: DaemonRequest['query']): string {
  const parameters = new URLSearchParams();
  for (const [key, value] of Object.entries(query ?? {}))
    if (value !== undefined) parameters.set(key, String(value));
  const text = parameters.toString();
  return text === '' ? '' : `?${text}`;
}

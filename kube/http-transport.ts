import http from 'node:http';
import https from 'node:https';
import type { Socket } from 'node:net';
import { systemClock, type Clock } from './clock.ts';
import { TransportError } from './errors.ts';
import type { OpenAnswer, Transport, TransportAnswer, TransportRequest } from './transport.ts';

export interface TransportOptions {
  /** URL of the API server; a path in it is kept as a prefix. */
  server: string;
  /** PEM, or PEM in base64 as kubeconfigs have it. */
  caData?: string;
  certData?: string;
  keyData?: string;
  insecureSkipTLSVerify?: boolean;
  /** The name the server's certificate must have, where it is not the URL's host. */
  tlsServerName?: string;
  /** Headers for each request; asked every time, so that a credential may change. */
  headers: () => Promise<Record<string, string>> | Record<string, string>;
  clock?: Clock;
}

/** Idle connections are closed after this long. */
const IDLE_CONNECTION_MS = 60_000;
/** Calls at once; more wait for a connection. Watches are not counted: each holds one for as long as it lasts. */
const MOST_CALLS = 32;

/**
 * Bytes to and from one API server over a pool of kept connections: so many handshakes as calls are in flight at
 * once, not so many as there are calls.
 */
export class HTTPTransport implements Transport {
  readonly #options: TransportOptions;
  readonly #clock: Clock;
  readonly #server: URL;
  readonly #http: typeof http | typeof https;
  readonly #calls: http.Agent;
  readonly #watches: http.Agent;

  constructor(options: TransportOptions) {
    this.#options = options;
    this.#clock = options.clock ?? systemClock;
    this.#server = new URL(options.server);
    if (this.#server.protocol !== 'https:' && this.#server.protocol !== 'http:') {
      throw new TypeError(`server: not an http or https URL: "${options.server}"`);
    }
    const secure = this.#server.protocol === 'https:';
    this.#http = secure ? https : http;
    const common = { keepAlive: true, timeout: IDLE_CONNECTION_MS, scheduling: 'lifo' } as const;
    const tls = secure ? tlsOptions(options) : {};
    const Pool = secure ? https.Agent : http.Agent;
    this.#calls = new Pool({ ...common, ...tls, maxSockets: MOST_CALLS });
    this.#watches = new Pool({ ...common, ...tls });
  }

  async call(request: TransportRequest & { maxBytes: number }): Promise<TransportAnswer> {
    // A kept connection may have been closed by the server at the very moment it was used. Only a read is repeated
    // here: whether a write took place is unknown, and its caller looks at the state before it writes again.
    const repeat = request.method === 'GET';
    try {
      return await this.#once(request);
    } catch (error) {
      if (!repeat || !(error instanceof StaleConnection)) throw error;
      return await this.#once(request);
    }
  }

  async #once(request: TransportRequest & { maxBytes: number }): Promise<TransportAnswer> {
    const opened = await this.#open(request, this.#calls);
    try {
      const body = await opened.body(request.maxBytes);
      return { code: opened.code, headers: opened.headers, body };
    } finally {
      opened.release();
    }
  }

  async stream(request: TransportRequest): Promise<OpenAnswer> {
    const opened = await this.#open(request, this.#watches);
    opened.stopTimer();
    return opened;
  }

  /** Ends every connection, those in use included. */
  close(): void {
    this.#calls.destroy();
    this.#watches.destroy();
  }

  async #open(request: TransportRequest, agent: http.Agent): Promise<HTTPAnswer> {
    request.signal?.throwIfAborted();
    const auth = await this.#options.headers();
    request.signal?.throwIfAborted();
    const body = request.body === undefined ? undefined : Buffer.from(request.body);
    const outgoing = this.#http.request({
      agent,
      method: request.method,
      hostname: this.#server.hostname.replace(/^\[|\]$/g, ''),
      port: this.#server.port || undefined,
      path: this.#server.pathname.replace(/\/$/, '') + request.path,
      headers: {
        ...auth,
        ...request.headers,
        ...(body && { 'content-length': String(body.length) }),
      },
    });
    return await new Promise<HTTPAnswer>((resolve, reject) => {
      const opened = new HTTPAnswer(outgoing, request, this.#clock);
      outgoing.once('response', (answer) => {
        opened.answer = answer;
        resolve(opened);
      });
      outgoing.on('error', (error) => {
        opened.release();
        reject(opened.explain(error, outgoing.reusedSocket));
      });
      const { beforeSend } = request;
      if (beforeSend === undefined) outgoing.end(body);
      else whenConnected(outgoing, () => sendUnless(beforeSend, opened, () => outgoing.end(body)));
    });
  }
}

/** What is ended before would wait in a buffer for the connection, and go out by itself whenever that is there. */
function whenConnected(outgoing: http.ClientRequest, send: () => void): void {
  outgoing.once('socket', (socket: Socket & { secureConnecting?: boolean }) => {
    if (socket.secureConnecting === true) socket.once('secureConnect', send);
    else if (socket.connecting) socket.once('connect', send);
    else send();
  });
}

function sendUnless(beforeSend: () => void, opened: OpenAnswer, send: () => void): void {
  try {
    beforeSend();
  } catch (error) {
    opened.fail(error);
    return;
  }
  send();
}

/** The server closed a kept connection before it answered anything on it. */
class StaleConnection extends TransportError {}

/** Owns the time limit and the abort listener of its request. */
class HTTPAnswer implements OpenAnswer {
  answer!: http.IncomingMessage;
  readonly #outgoing: http.ClientRequest;
  readonly #request: TransportRequest;
  readonly #abort: () => void;
  #cancelTimer: () => void;
  #cause: unknown;

  constructor(outgoing: http.ClientRequest, request: TransportRequest, clock: Clock) {
    this.#outgoing = outgoing;
    this.#request = request;
    this.#abort = () => this.fail(request.signal?.reason);
    request.signal?.addEventListener('abort', this.#abort, { once: true });
    this.#cancelTimer = clock.setTimer(request.timeoutMs, () =>
      this.fail(
        new TransportError(
          'Timeout',
          `${request.method} ${request.path}: no answer within ${request.timeoutMs} ms`,
        ),
      ),
    );
  }

  get code(): number {
    return this.answer.statusCode ?? 0;
  }

  get headers(): http.IncomingHttpHeaders {
    return this.answer.headers;
  }

  chunks(): AsyncIterator<Buffer> {
    return (this.answer as AsyncIterable<Buffer>)[Symbol.asyncIterator]();
  }

  /** Breaks the connection. */
  fail(cause: unknown): void {
    this.#cause ??= cause;
    this.#outgoing.destroy();
    this.answer?.destroy();
  }

  stopTimer(): void {
    this.#cancelTimer();
  }

  /** Lets go of the timer and the signal; the connection goes back to the pool when the body was read. */
  release(): void {
    this.#cancelTimer();
    this.#request.signal?.removeEventListener('abort', this.#abort);
  }

  close(): void {
    this.release();
    this.#outgoing.destroy();
  }

  async body(maxBytes: number): Promise<Buffer> {
    const parts: Buffer[] = [];
    let bytes = 0;
    try {
      for await (const chunk of this.answer as AsyncIterable<Buffer>) {
        bytes += chunk.length;
        if (bytes > maxBytes) {
          const error = new TransportError(
            'TooLarge',
            `${this.#request.method} ${this.#request.path}: the answer has more than ${maxBytes} bytes`,
          );
          this.fail(error);
          throw error;
        }
        parts.push(chunk);
      }
    } catch (error) {
      throw this.explain(error);
    }
    this.throwIfFailed();
    return Buffer.concat(parts, bytes);
  }

  throwIfFailed(): void {
    if (this.#cause !== undefined) throw this.explain(undefined);
  }

  explain(error: unknown, reusedSocket = false): unknown {
    if (this.#cause !== undefined) return this.#cause;
    if (error instanceof TransportError) return error;
    const code = (error as NodeJS.ErrnoException | undefined)?.code;
    const text = error instanceof Error && error.message !== '' ? error.message : String(code);
    const stale = reusedSocket && (code === 'ECONNRESET' || code === 'EPIPE');
    return new (stale ? StaleConnection : TransportError)(
      'Unreachable',
      `${this.#request.method} ${this.#request.path}: ${text}`,
      { cause: error },
    );
  }
}

function tlsOptions(options: TransportOptions): https.AgentOptions {
  return {
    ...(options.caData !== undefined && { ca: pem(options.caData) }),
    ...(options.certData !== undefined && { cert: pem(options.certData) }),
    ...(options.keyData !== undefined && { key: pem(options.keyData) }),
    ...(options.tlsServerName !== undefined && { servername: options.tlsServerName }),
    ...(options.insecureSkipTLSVerify === true && { rejectUnauthorized: false }),
  };
}

function pem(data: string): string {
  return data.includes('-----BEGIN ') ? data : Buffer.from(data, 'base64').toString('utf8');
}

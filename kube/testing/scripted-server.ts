import { once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import https from 'node:https';
import type { AddressInfo, Socket } from 'node:net';
import { selfSigned } from './self-signed.ts';

/** A request as the server got it. */
export interface Received {
  method: string;
  path: string;
  query: URLSearchParams;
  headers: IncomingMessage['headers'];
  body: string;
  request: IncomingMessage;
  response: ServerResponse;
}

export type Script = (received: Received) => void | Promise<void>;

/**
 * For tests: an HTTPS server that answers as it is told, however badly. Each request is handed to `script`; waits
 * are on events (`received(n)`), never on time.
 */
export class ScriptedServer {
  readonly url: string;
  readonly caData: string;
  readonly requests: Received[] = [];
  /** TLS connections made so far. */
  handshakes = 0;
  script: Script;
  readonly #server: https.Server;
  readonly #sockets = new Set<Socket>();
  readonly #waiters: { count: number; resolve: () => void }[] = [];

  private constructor(server: https.Server, url: string, caData: string, script: Script) {
    this.#server = server;
    this.url = url;
    this.caData = caData;
    this.script = script;
  }

  static async start(script: Script): Promise<ScriptedServer> {
    const { cert, key } = selfSigned();
    const server = https.createServer({ cert, key, keepAliveTimeout: 60_000 });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    const scripted = new ScriptedServer(server, `https://127.0.0.1:${port}`, cert, script);
    server.on('connection', (socket: Socket) => {
      scripted.#sockets.add(socket);
      socket.on('close', () => scripted.#sockets.delete(socket));
    });
    server.on('secureConnection', (socket) => {
      scripted.handshakes += 1;
      socket.on('error', () => socket.destroy());
    });
    server.on('request', (request, response) => {
      scripted.#receive(request, response).catch((error: unknown) => {
        response.destroy(error instanceof Error ? error : new Error(String(error)));
      });
    });
    return scripted;
  }

  /** Resolves once this many requests came in all. */
  async received(count: number): Promise<Received> {
    if (this.requests.length < count) {
      await new Promise<void>((resolve) => this.#waiters.push({ count, resolve }));
    }
    const found = this.requests[count - 1];
    if (!found) throw new Error(`there is no request ${count}`);
    return found;
  }

  /** Breaks the connection of a request with a TCP reset. */
  reset({ request }: Received): void {
    for (const socket of this.#sockets) {
      if (socket.remotePort === request.socket.remotePort) socket.resetAndDestroy();
    }
  }

  /** Breaks every connection. */
  resetAll(): void {
    for (const socket of this.#sockets) socket.resetAndDestroy();
  }

  get openConnections(): number {
    return this.#sockets.size;
  }

  async close(): Promise<void> {
    this.#server.close();
    this.resetAll();
    if (this.#server.listening) await once(this.#server, 'close');
  }

  async #receive(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const parts: Buffer[] = [];
    for await (const chunk of request as AsyncIterable<Buffer>) parts.push(chunk);
    const url = new URL(request.url ?? '', 'https://server');
    const received: Received = {
      method: request.method ?? '',
      path: url.pathname,
      query: url.searchParams,
      headers: request.headers,
      body: Buffer.concat(parts).toString('utf8'),
      request,
      response,
    };
    this.requests.push(received);
    for (const waiter of this.#waiters.splice(0)) {
      if (this.requests.length >= waiter.count) waiter.resolve();
      else this.#waiters.push(waiter);
    }
    await this.script(received);
  }
}

/** Answers JSON. */
export function answer(
  { response }: Received,
  code: number,
  body: unknown,
  headers: Record<string, string> = {},
): void {
  response.writeHead(code, { 'content-type': 'application/json', ...headers });
  response.end(typeof body === 'string' ? body : JSON.stringify(body));
}

export function answerList(
  received: Received,
  items: unknown[],
  resourceVersion: string,
  token?: string,
): void {
  answer(received, 200, {
    kind: 'SandboxList',
    apiVersion: 'holdfast.dev/v1alpha1',
    metadata: { resourceVersion, ...(token !== undefined && { continue: token }) },
    items,
  });
}

export function answerStatus(received: Received, code: number, reason: string, message: string): void {
  answer(received, code, { kind: 'Status', apiVersion: 'v1', status: 'Failure', code, reason, message });
}

/** Begins the answer to a watch. */
export function openWatch({ response }: Received): void {
  response.writeHead(200, { 'content-type': 'application/json' });
  response.flushHeaders();
}

export function sendEvent({ response }: Received, type: string, object: unknown): void {
  response.write(`${JSON.stringify({ type, object })}\n`);
}

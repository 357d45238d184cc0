import type { IncomingMessage } from 'node:http';
import { Agent, request as httpsRequest } from 'node:https';

export interface Request {
  method: string;
  /** With its query. */
  path: string;
  body?: unknown;
  contentType?: string;
  accept?: string;
  token?: string;
  headers?: Record<string, string>;
}

export interface Response {
  code: number;
  headers: Record<string, string | string[] | undefined>;
  body: unknown;
  text: string;
}

/** An API server under test: the embedded one or a real one. */
export class Server {
  readonly url: string;
  readonly #token: string;
  readonly #agent: Agent;

  constructor(options: { url: string; token: string; ca?: string }) {
    this.url = options.url;
    this.#token = options.token;
    this.#agent = new Agent({
      keepAlive: true,
      maxSockets: 16,
      ...(options.ca === undefined ? { rejectUnauthorized: false } : { ca: options.ca }),
    });
  }

  async request(request: Request): Promise<Response> {
    const answer = await this.#open(request);
    const chunks: Buffer[] = [];
    for await (const chunk of answer) chunks.push(chunk as Buffer);
    const text = Buffer.concat(chunks).toString('utf8');
    let body: unknown = text;
    try {
      body = JSON.parse(text);
    } catch {
      // a plain answer stays a text
    }
    return { code: answer.statusCode ?? 0, headers: answer.headers, body, text };
  }

  /** Reads events of a watch until `enough` says so, the server ends it, or the time is up. */
  async watch(
    request: Request,
    enough: (events: unknown[]) => boolean,
    timeoutMs = 40_000,
  ): Promise<Response> {
    const answer = await this.#open(request);
    const events: unknown[] = [];
    let rest = '';
    const timer = setTimeout(() => answer.destroy(), timeoutMs);
    try {
      for await (const chunk of answer) {
        rest += (chunk as Buffer).toString('utf8');
        const lines = rest.split('\n');
        rest = lines.pop() ?? '';
        for (const line of lines) if (line.trim() !== '') events.push(JSON.parse(line));
        if (enough(events)) break;
      }
    } catch {
      // destroyed by the timer: what has come is the answer
    } finally {
      clearTimeout(timer);
      answer.destroy();
    }
    if (rest.trim() !== '' && events.length === 0) events.push(JSON.parse(rest));
    return { code: answer.statusCode ?? 0, headers: answer.headers, body: events, text: '' };
  }

  /** A kept connection may have been closed by the server just now: that request never arrived, so it is sent again. */
  async #open(request: Request): Promise<IncomingMessage> {
    for (;;) {
      const answer = await this.#send(request);
      if (answer !== 'stale') return answer;
    }
  }

  #send(request: Request): Promise<IncomingMessage | 'stale'> {
    const { body } = request;
    const data =
      body === undefined || typeof body === 'string' || body instanceof Uint8Array
        ? body
        : JSON.stringify(body);
    return new Promise((resolve, reject) => {
      const call = httpsRequest(
        `${this.url}${request.path}`,
        {
          method: request.method,
          agent: this.#agent,
          timeout: 60_000,
          headers: {
            ...(request.token === '' ? {} : { authorization: `Bearer ${request.token ?? this.#token}` }),
            accept: request.accept ?? 'application/json',
            'user-agent': 'contract/1.0',
            ...(data === undefined
              ? {}
              : {
                  'content-type': request.contentType ?? 'application/json',
                  'content-length': String(Buffer.byteLength(data)),
                }),
            ...request.headers,
          },
        },
        resolve,
      );
      call.on('timeout', () => call.destroy(new Error('no answer within 60 s')));
      call.on('error', (error: NodeJS.ErrnoException) => {
        if (call.reusedSocket && error.code === 'ECONNRESET') resolve('stale');
        else reject(new Error(`${request.method} ${request.path}: ${error.message}`, { cause: error }));
      });
      call.end(data);
    });
  }

  close(): void {
    this.#agent.destroy();
  }
}

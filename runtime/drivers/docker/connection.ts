import type { Socket } from 'node:net';
import type { Logger } from 'pino';
import type { z } from 'zod';
import type { Clock } from '../../../kube/clock.ts';
import { DriverError } from '../../driver.ts';
import type { DaemonAddress } from './address.ts';
import { negotiate } from './api-version.ts';
import { DaemonHTTP, type Answer, type DaemonRequest, type StreamedAnswer } from './http-client.ts';
import { answerError, errorMessage } from './map-errors.ts';

/** Most bytes of an answer that is read as a whole: a list of some ten thousand containers. */
const MAX_ANSWER_BYTES = 32 * 1024 * 1024;
const PING_TIMEOUT_MS = 15_000;

/** Calls under the API version agreed with the daemon; paths are given without it. */
export class DaemonConnection {
  readonly #http: DaemonHTTP;
  readonly #log: Logger;
  readonly #clock: Clock;
  #version: string | undefined;

  constructor(address: DaemonAddress, clock: Clock, log: Logger) {
    this.#http = new DaemonHTTP(address, clock);
    this.#clock = clock;
    this.#log = log;
  }

  /** `fresh` asks again: the daemon may have been replaced. */
  async version(signal: AbortSignal | undefined, fresh = false): Promise<string> {
    if (this.#version !== undefined && !fresh) return this.#version;
    const request = { method: 'GET' as const, path: '/_ping', timeoutMs: PING_TIMEOUT_MS, signal };
    const answer = await this.#http.call({ ...request, maxBytes: 64 * 1024 });
    if (answer.status !== 200) throw answerError('GET /_ping', answer.status, answer.body);
    const offered = answer.headers['api-version'];
    this.#version = negotiate(Array.isArray(offered) ? offered[0] : offered);
    return this.#version;
  }

  /** Any answer, error or not. */
  answer(request: DaemonRequest): Promise<Answer> {
    return this.#versioned(request, (versioned) =>
      this.#http.call({ ...versioned, maxBytes: MAX_ANSWER_BYTES }),
    );
  }

  /** A 2xx answer, parsed. Throws by status, and `Unreadable` where the body does not fit. */
  async json<S extends z.ZodType>(schema: S, request: DaemonRequest): Promise<z.output<S>> {
    const answer = await this.answer(request);
    if (!isSuccess(answer.status)) throw answerError(what(request), answer.status, answer.body);
    return parseAnswer(schema, answer.body, what(request));
  }

  /** As `json`; undefined for 404. */
  async jsonIfFound<S extends z.ZodType>(
    schema: S,
    request: DaemonRequest,
  ): Promise<z.output<S> | undefined> {
    const answer = await this.answer(request);
    if (answer.status === 404) return undefined;
    if (!isSuccess(answer.status)) throw answerError(what(request), answer.status, answer.body);
    return parseAnswer(schema, answer.body, what(request));
  }

  /** A 2xx answer to be read as it comes. `asError` makes the error of any other. */
  async stream(
    request: DaemonRequest,
    asError: (status: number, body: Buffer) => DriverError = (status, body) =>
      answerError(what(request), status, body),
  ): Promise<StreamedAnswer> {
    const answer = await this.#versioned(request, (versioned) => this.#http.open(versioned));
    if (isSuccess(answer.status)) return answer;
    throw asError(answer.status, await answer.rest());
  }

  async upgrade(request: DaemonRequest): Promise<{ socket: Socket; head: Buffer }> {
    const result = await this.#versioned(request, (versioned) => this.#http.upgrade(versioned));
    if ('socket' in result) return result;
    if (isSuccess(result.status))
      throw new DriverError('Unreadable', `${what(request)}: the daemon did not switch protocols`);
    throw answerError(what(request), result.status, result.body);
  }

  close(): void {
    this.#http.close();
  }

  async #versioned<T extends object>(
    request: DaemonRequest,
    send: (request: DaemonRequest) => Promise<T>,
  ): Promise<T> {
    const startedMs = this.#clock.monotonicMs();
    try {
      const path = `/v${await this.version(request.signal)}${request.path}`;
      const result = await send({ ...request, path });
      this.#log.debug(
        {
          method: request.method,
          path: request.path,
          status: 'status' in result ? result.status : 101,
          ms: Math.round(this.#clock.monotonicMs() - startedMs),
        },
        'daemon call',
      );
      // Replaced by an engine that speaks other versions: the next call asks for its version.
      if ('body' in result && 'status' in result && result.status === 400) this.#checkVersion(result.body);
      return result;
    } catch (error) {
      // Whatever answers next may be another engine.
      if (error instanceof DriverError && error.code === 'Unavailable') this.#version = undefined;
      throw error;
    }
  }

  #checkVersion(body: unknown): void {
    if (Buffer.isBuffer(body) && /client version .* is too (old|new)/i.test(errorMessage(body))) {
      this.#version = undefined;
      throw new DriverError('Unavailable', `the daemon was replaced: ${errorMessage(body)}`);
    }
  }
}

export function isSuccess(status: number): boolean {
  return status >= 200 && status < 300;
}

function what(request: DaemonRequest): string {
  return `${request.method} ${request.path}`;
}

export function parseJSON(body: Buffer, call: string): unknown {
  try {
    return JSON.parse(body.toString('utf8'));
  } catch (error) {
    throw new DriverError('Unreadable', `${call}: the answer is not JSON`, { cause: error });
  }
}

export function parseAnswer<S extends z.ZodType>(schema: S, body: Buffer, call: string): z.output<S> {
  const parsed = schema.safeParse(parseJSON(body, call));
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  const where = issue ? `${issue.path.join('.')}: ${issue.message}` : '';
  throw new DriverError('Unreadable', `${call}: the answer does not fit (${where})`, { cause: parsed.error });
}

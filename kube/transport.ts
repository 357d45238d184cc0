import type { IncomingHttpHeaders } from 'node:http';

/** How a client reaches its API server: over HTTPS, or straight to a server in the same process. */
export interface Transport {
  /** One call, answered whole. Throws TransportError, or the reason of the signal. */
  call(request: TransportRequest & { maxBytes: number }): Promise<TransportAnswer>;
  /** Answers once the headers are here; the body is the caller's to read, and `close` must be called at the end. */
  stream(request: TransportRequest): Promise<OpenAnswer>;
  /** Ends everything that is under way. */
  close(): void;
}

export interface TransportRequest {
  method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** With its query. */
  path: string;
  headers?: Record<string, string>;
  body?: string;
  /** Until the headers of the answer, and for a call until its end. */
  timeoutMs: number;
  signal?: AbortSignal;
  /** As in CallOptions. */
  beforeSend?: () => void;
}

export interface TransportAnswer {
  code: number;
  headers: IncomingHttpHeaders;
  body: Buffer;
}

/** An answer whose body is being read. */
export interface OpenAnswer {
  readonly code: number;
  readonly headers: IncomingHttpHeaders;
  /** The body as it comes; read once, by this or by `body`. */
  chunks(): AsyncIterator<Buffer>;
  body(maxBytes: number): Promise<Buffer>;
  /** Breaks it off; what reads or waits gets `cause`. */
  fail(cause: unknown): void;
  /** A body that was broken off here just ends, without an error of its own. */
  throwIfFailed(): void;
  /** What to tell the caller of a broken answer: why it was broken off here, or what went wrong. */
  explain(error: unknown): unknown;
  /** Ends it, whatever has been read of it. */
  close(): void;
}

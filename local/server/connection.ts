import type { IncomingHttpHeaders, OutgoingHttpHeaders } from 'node:http';

/** What the server needs of a request: one of node:http is such a request, and one that never saw a socket. */
export interface ServerRequest extends AsyncIterable<Buffer> {
  readonly method?: string | undefined;
  readonly url?: string | undefined;
  readonly headers: IncomingHttpHeaders;
  /** Whether it was received whole. */
  readonly complete: boolean;
  readonly destroyed: boolean;
  on(event: 'error', listener: (error: Error) => void): unknown;
}

/** What the server needs of the way back. */
export interface ServerAnswer {
  readonly headersSent: boolean;
  readonly destroyed: boolean;
  readonly closed: boolean;
  readonly writableEnded: boolean;
  /** The other end does not take it as fast as it comes; `drain` says when it has. */
  readonly writableNeedDrain: boolean;
  /** Bytes (or characters) that the other end has yet to take. */
  readonly writableLength: number;
  setHeader(name: string, value: string): unknown;
  writeHead(code: number, headers: OutgoingHttpHeaders): unknown;
  flushHeaders(): void;
  write(chunk: string): boolean;
  end(chunk?: string): unknown;
  destroy(): unknown;
  on(event: 'error', listener: (error: Error) => void): unknown;
  on(event: 'close' | 'drain', listener: () => void): unknown;
  once(event: 'close', listener: () => void): unknown;
  off(event: 'close' | 'drain', listener: () => void): unknown;
}

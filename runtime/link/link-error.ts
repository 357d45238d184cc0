/**
 * - `Closed`: the connection is over (or ended while the answer was awaited);
 * - `Garbage`: what came is not the protocol; the connection has been closed;
 * - `Refused`: the other side answered with an error (`errno` where the kernel gave one);
 * - `Invalid`: an argument that can't be sent;
 * - `Overflow`: more waits to be sent than is kept;
 * - `TimedOut`: no answer in time. What was asked for may still be done: the connection stays, a late answer is ignored.
 */
export type LinkErrorCode = 'Closed' | 'Garbage' | 'Refused' | 'Invalid' | 'Overflow' | 'TimedOut';

export class LinkError extends Error {
  readonly code: LinkErrorCode;
  readonly errno: string | undefined;
  constructor(code: LinkErrorCode, message: string, options?: { cause?: unknown; errno?: string }) {
    super(message, options?.cause === undefined ? undefined : { cause: options.cause });
    this.name = 'LinkError';
    this.code = code;
    this.errno = options?.errno;
  }
}

/**
 * What a reconcile may answer. There are four ends, and no other:
 * - `done()`: nothing to do until something changes.
 * - `lookAgainAfter(ms)`: look at this key again then, even if nothing changes.
 * - it throws TerminalError: trying again cannot help; logged once, looked at again when something changes.
 * - it throws anything else: tried again after a growing wait (the server's Retry-After where it gave one).
 */
export type ReconcileResult = { after: undefined } | { after: number };

/** Assumes nothing about why it was called. At most one runs for a key at a time. */
export type Reconcile = (key: string, signal: AbortSignal) => Promise<ReconcileResult>;

export function done(): ReconcileResult {
  return { after: undefined };
}

/** In milliseconds from now. */
export function lookAgainAfter(ms: number): ReconcileResult {
  return { after: ms };
}

/** An error that the same attempt would meet again. */
export class TerminalError extends Error {
  constructor(message: string, options?: { cause?: unknown }) {
    super(message, options);
    this.name = 'TerminalError';
  }
}

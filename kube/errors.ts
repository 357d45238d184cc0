import { ApiError } from './client.ts';

export type TransportErrorCode =
  | 'Unreachable' // no connection, or it broke
  | 'Timeout' // no whole answer within the time limit
  | 'Silent' // a watch on which nothing came within its idle deadline
  | 'TooLarge' // an answer, or a line of a watch, beyond its limit
  | 'Malformed'; // an answer that is no answer: not JSON, cut off

/** There was no answer to speak of. Whether a write took place is unknown. */
export class TransportError extends Error {
  readonly code: TransportErrorCode;
  constructor(code: TransportErrorCode, message: string, options?: { cause?: unknown }) {
    super(message, options);
    this.name = 'TransportError';
    this.code = code;
  }
}

/** Somebody else wrote the object meanwhile (409 Conflict): read it again and decide anew. */
export class ConflictError extends ApiError {
  constructor(cause: ApiError) {
    super(cause.message, {
      code: cause.code,
      reason: cause.reason,
      ...(cause.status && { status: cause.status }),
    });
    this.name = 'ConflictError';
    this.cause = cause;
  }
}

export function isNotFound(error: unknown): error is ApiError {
  return error instanceof ApiError && error.code === 404;
}

export function isForbidden(error: unknown): error is ApiError {
  return error instanceof ApiError && error.code === 403;
}

/** The very object is not there; not merely the kind, as on an API server that has no definition of it (yet). */
export function isObjectMissing(error: unknown): error is ApiError {
  return isNotFound(error) && error.status?.details?.name !== undefined;
}

/** A lost race on an existing object; never "the name is taken". */
export function isConflict(error: unknown): error is ApiError {
  return error instanceof ApiError && error.code === 409 && error.reason !== 'AlreadyExists';
}

export function isAlreadyExists(error: unknown): error is ApiError {
  return error instanceof ApiError && error.code === 409 && error.reason === 'AlreadyExists';
}

/** 410: the resourceVersion or the continue token is too old. */
export function isGone(error: unknown): error is ApiError {
  return (
    error instanceof ApiError && (error.code === 410 || error.reason === 'Expired' || error.reason === 'Gone')
  );
}

/** The same call can succeed later without anybody changing anything. */
export function isRetriable(error: unknown): boolean {
  if (error instanceof TransportError) return true;
  return error instanceof ApiError && (error.code === 429 || error.code >= 500 || isConflict(error));
}

/** How long the server asked us to stay away, in milliseconds; undefined when it did not. */
export function retryAfterMs(error: unknown): number | undefined {
  if (!(error instanceof ApiError) || error.retryAfterSeconds === undefined) return undefined;
  return error.retryAfterSeconds * 1000;
}

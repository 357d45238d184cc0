import type { IncomingHttpHeaders } from 'node:http';
import { ApiError, type Status } from './client.ts';
import { TransportError } from './errors.ts';

/** The JSON of a 2xx answer. Throws TransportError `Malformed`. */
export function parseAnswer(what: string, body: Buffer): object {
  let parsed: unknown;
  try {
    parsed = JSON.parse(body.toString('utf8'));
  } catch (error) {
    throw new TransportError('Malformed', `${what}: the answer is not JSON: ${excerpt(body)}`, {
      cause: error,
    });
  }
  if (typeof parsed !== 'object' || parsed === null || Array.isArray(parsed)) {
    throw new TransportError('Malformed', `${what}: the answer is not an object: ${excerpt(body)}`);
  }
  return parsed;
}

/** Any other answer as an ApiError; the body may be a Status, plain text or garbage (proxies answer too). */
export function apiError(
  what: string,
  code: number,
  headers: IncomingHttpHeaders,
  body: Buffer,
  now: Date,
): ApiError {
  const status = parseStatus(body);
  const retryAfterSeconds =
    parseRetryAfter(headers['retry-after'], now) ?? status?.details?.retryAfterSeconds;
  return new ApiError(status?.message || `${what}: ${code} ${excerpt(body)}`.trimEnd(), {
    code,
    reason: status?.reason || reasonOf(code),
    ...(status && { status }),
    ...(retryAfterSeconds !== undefined && { retryAfterSeconds }),
  });
}

/** An ERROR event of a watch. */
export function statusError(status: Status): ApiError {
  return new ApiError(status.message || 'the watch ended with an error', {
    code: typeof status.code === 'number' ? status.code : 500,
    reason: status.reason ?? '',
    status,
    ...(status.details?.retryAfterSeconds !== undefined && {
      retryAfterSeconds: status.details.retryAfterSeconds,
    }),
  });
}

function parseStatus(body: Buffer): Status | undefined {
  try {
    const parsed = JSON.parse(body.toString('utf8')) as Status | null;
    return typeof parsed === 'object' && parsed?.kind === 'Status' ? parsed : undefined;
  } catch {
    return undefined;
  }
}

/** Seconds, from either form of the header (RFC 9110, 10.2.3). */
function parseRetryAfter(header: string | undefined, now: Date): number | undefined {
  if (header === undefined) return undefined;
  if (/^\s*\d+\s*$/.test(header)) return Number(header);
  const at = Date.parse(header);
  return Number.isNaN(at) ? undefined : Math.max(0, Math.ceil((at - now.getTime()) / 1000));
}

function reasonOf(code: number): string {
  const reasons: Record<number, string> = {
    400: 'BadRequest',
    401: 'Unauthorized',
    403: 'Forbidden',
    404: 'NotFound',
    405: 'MethodNotAllowed',
    409: 'Conflict',
    410: 'Gone',
    413: 'RequestEntityTooLarge',
    415: 'UnsupportedMediaType',
    422: 'Invalid',
    429: 'TooManyRequests',
    500: 'InternalError',
    503: 'ServiceUnavailable',
    504: 'Timeout',
  };
  return reasons[code] ?? '';
}

function excerpt(body: Buffer): string {
  const text = body.subarray(0, 400).toString('utf8').replaceAll(/\s+/g, ' ').trim();
  return text.length > 200 ? `${text.slice(0, 200)} ...` : text;
}

import type { OutgoingHttpHeaders } from 'node:http';
import type { Logger } from 'pino';
import { failure, refuse, type Status, StatusError } from '../rest/status.ts';
import { StoreError } from '../store/errors.ts';
import type { ServerAnswer, ServerRequest } from './connection.ts';

/** Warnings are `warn-code "agent" "text"` (RFC 7234); control characters would end the header. */
function warningHeader(text: string): string {
  // oxlint-disable-next-line no-control-regex
  const clean = text.replace(/[\u0000-\u001f\u007f]/g, ' ').slice(0, 1024);
  return `299 - "${clean.replace(/[\\"]/g, (c) => `\\${c}`)}"`;
}

const MAX_WARNINGS = 32;

export function send(
  response: ServerAnswer,
  code: number,
  body: string,
  options: { contentType?: string; warnings?: readonly string[]; headers?: OutgoingHttpHeaders } = {},
): void {
  if (response.headersSent || response.destroyed) return;
  const warnings = [...new Set(options.warnings)].slice(0, MAX_WARNINGS).map(warningHeader);
  response.writeHead(code, {
    'Content-Type': options.contentType ?? 'application/json',
    'Cache-Control': 'no-cache, private',
    'X-Content-Type-Options': 'nosniff',
    'Content-Length': Buffer.byteLength(body),
    ...(warnings.length === 0
      ? {}
      : { Warning: warnings.map((text) => Buffer.from(text).toString('latin1')) }),
    ...options.headers,
  });
  response.end(body);
}

export function sendStatus(response: ServerAnswer, status: Status, warnings: readonly string[] = []): void {
  const retryAfter = status.details?.retryAfterSeconds;
  send(response, status.code ?? 200, JSON.stringify(status), {
    warnings,
    headers: retryAfter === undefined ? {} : { 'Retry-After': String(retryAfter) },
  });
}

/** Answers any error. What is not for the client is logged, and the client is told that much only. */
export function sendError(
  request: ServerRequest,
  response: ServerAnswer,
  error: unknown,
  context: { log: Logger; warnings: readonly string[] },
): void {
  const status = toStatus(error);
  if (status.code !== undefined && status.code >= 500 && !(error instanceof StatusError)) {
    context.log.error({ err: error, method: request.method, path: pathOf(request) }, 'request failed');
  }
  if (response.headersSent) {
    response.destroy();
    return;
  }
  // An unread body would be taken for the next request.
  if (!request.complete) response.setHeader('Connection', 'close');
  sendStatus(response, status, context.warnings);
}

function pathOf(request: ServerRequest): string {
  return (request.url ?? '').split('?')[0] ?? '';
}

function toStatus(error: unknown): Status {
  if (error instanceof StatusError) return error.status;
  if (error instanceof StoreError) {
    switch (error.code) {
      case 'Full':
        return refuse.insufficientStorage(error.message).status;
      case 'Busy':
        return refuse.tooManyRequests(error.message).status;
      case 'Closed':
        return refuse.unavailable(error.message).status;
      case 'IO':
      case 'Locked':
      case 'Version':
        return refuse.internal(error.message).status;
    }
  }
  return failure(500, 'InternalError', 'Internal error occurred: the request could not be served', {}).status;
}

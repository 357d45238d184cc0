import type { FieldError } from '../schema/field-error.ts';
import { invalidStatus } from '../schema/invalid-status.ts';

export interface StatusCause {
  reason?: string;
  message?: string;
  field?: string;
}

/** `metav1.Status`. */
export interface Status {
  kind: 'Status';
  apiVersion: 'v1';
  metadata: Record<string, unknown>;
  status: 'Success' | 'Failure';
  message?: string;
  reason?: string;
  details?: {
    name?: string;
    group?: string;
    kind?: string;
    uid?: string;
    causes?: StatusCause[];
    retryAfterSeconds?: number;
  };
  code?: number;
}

/** An answer that is not 2xx, as the client will see it. */
export class StatusError extends Error {
  readonly status: Status;
  readonly code: number;
  constructor(status: Status) {
    super(status.message ?? status.reason ?? 'failure');
    this.name = 'StatusError';
    this.status = status;
    this.code = status.code ?? 500;
  }
}

/** Names a resource in messages: `sandboxes.holdfast.dev`, `configmaps`. */
export interface GroupResource {
  group: string;
  resource: string;
}

function qualified(gr: GroupResource): string {
  return gr.group === '' ? gr.resource : `${gr.resource}.${gr.group}`;
}

export function failure(
  code: number,
  reason: string,
  message: string,
  details?: Status['details'],
  metadata: Record<string, unknown> = {},
): StatusError {
  return new StatusError({
    kind: 'Status',
    apiVersion: 'v1',
    metadata,
    status: 'Failure',
    message,
    ...(reason === '' ? {} : { reason }),
    ...(details === undefined ? {} : { details }),
    code,
  });
}

function detailsOf(gr: GroupResource, name: string): NonNullable<Status['details']> {
  return {
    ...(name === '' ? {} : { name }),
    ...(gr.group === '' ? {} : { group: gr.group }),
    ...(gr.resource === '' ? {} : { kind: gr.resource }),
  };
}

/** The refusals of an API server, worded as apimachinery's `errors` words them. */
export const refuse = {
  badRequest: (message: string) => failure(400, 'BadRequest', message),
  unauthorized: () => failure(401, 'Unauthorized', 'Unauthorized'),
  forbidden: (gr: GroupResource, name: string, why: string, causes?: StatusCause[]) =>
    failure(
      403,
      'Forbidden',
      gr.resource === ''
        ? `forbidden: ${why}`
        : `${qualified(gr)}${name === '' ? '' : ` "${name}"`} is forbidden: ${why}`,
      { ...detailsOf(gr, name), ...(causes === undefined ? {} : { causes }) },
    ),
  notFound: (gr: GroupResource, name: string) =>
    failure(404, 'NotFound', `${qualified(gr)} "${name}" not found`, detailsOf(gr, name)),
  /** A path below /api or /apis that nothing serves. */
  noSuchResource: () => failure(404, 'NotFound', 'the server could not find the requested resource', {}),
  /** A path that is served, but not so. */
  noSuchMethod: () =>
    failure(405, 'MethodNotAllowed', 'the server does not allow this method on the requested resource', {}),
  methodNotAllowed: (gr: GroupResource, action: string) =>
    failure(
      405,
      'MethodNotAllowed',
      `${action} is not supported on resources of kind "${qualified(gr)}"`,
      detailsOf(gr, ''),
    ),
  alreadyExists: (gr: GroupResource, name: string) =>
    failure(409, 'AlreadyExists', `${qualified(gr)} "${name}" already exists`, detailsOf(gr, name)),
  generateNameConflict: (gr: GroupResource, name: string) =>
    failure(
      409,
      'AlreadyExists',
      `${qualified(gr)} "${name}" already exists, the server was not able to generate a unique name for the object`,
      { ...detailsOf(gr, name), retryAfterSeconds: 1 },
    ),
  conflict: (gr: GroupResource, name: string, why: string) =>
    failure(
      409,
      'Conflict',
      `Operation cannot be fulfilled on ${qualified(gr)} "${name}": ${why}`,
      detailsOf(gr, name),
    ),
  modified: (gr: GroupResource, name: string) =>
    refuse.conflict(
      gr,
      name,
      'the object has been modified; please apply your changes to the latest version and try again',
    ),
  expired: (message: string, metadata: Record<string, unknown> = {}) =>
    failure(410, 'Expired', message, undefined, metadata),
  gone: (message: string) => failure(410, 'Expired', message),
  tooLarge: (message: string) => failure(413, 'RequestEntityTooLarge', message),
  unsupportedMediaType: (message: string) => failure(415, 'UnsupportedMediaType', message),
  notAcceptable: (message: string) => failure(406, 'NotAcceptable', message),
  invalid: (group: string, kind: string, name: string, errors: FieldError[]) => {
    const status = invalidStatus(group, kind, name, errors);
    if (kind === '') delete (status.details as { kind?: string }).kind;
    return new StatusError(status);
  },
  /** What a kube-apiserver answers where its store refuses; it has no reason. */
  storage: (message: string) => failure(500, '', message),
  tooManyRequests: (message: string) => failure(429, 'TooManyRequests', message, { retryAfterSeconds: 1 }),
  internal: (message: string) =>
    failure(500, 'InternalError', `Internal error occurred: ${message}`, { causes: [{ message }] }),
  tooLargeResourceVersion: (wanted: number, current: number) =>
    failure(504, 'Timeout', `Timeout: Too large resource version: ${wanted}, current: ${current}`, {
      causes: [{ reason: 'ResourceVersionTooLarge', message: 'Too large resource version' }],
      retryAfterSeconds: 1,
    }),
  unavailable: (message: string) => failure(503, 'ServiceUnavailable', message, { retryAfterSeconds: 1 }),
  insufficientStorage: (message: string) =>
    failure(507, 'InsufficientStorage', message, { retryAfterSeconds: 5 }),
};

import type { ObjectMeta } from '../crds/meta.ts';

/** Any object of the Kubernetes API. */
export interface KubeObject {
  apiVersion: string;
  kind: string;
  metadata: ObjectMeta;
}

/** Names a resource the way its URL does. `group` is '' for the core group. */
export interface Resource {
  group: string;
  version: string;
  plural: string;
  namespaced: boolean;
}

export interface ObjectRef {
  namespace?: string;
  name: string;
}

export interface ListOptions {
  namespace?: string;
  labelSelector?: string;
  fieldSelector?: string;
  limit?: number;
  continueToken?: string;
  resourceVersion?: string;
  resourceVersionMatch?: 'NotOlderThan' | 'Exact';
}

export interface ListResult<T> {
  items: T[];
  resourceVersion: string;
  continueToken?: string;
}

export interface WatchOptions {
  namespace?: string;
  labelSelector?: string;
  fieldSelector?: string;
  resourceVersion: string;
  allowWatchBookmarks?: boolean;
  /** Asked of the server: it ends the watch after this long. */
  timeoutSeconds?: number;
  sendInitialEvents?: boolean;
}

export type WatchEvent<T> =
  | { type: 'ADDED' | 'MODIFIED' | 'DELETED' | 'BOOKMARK'; object: T }
  | { type: 'ERROR'; object: Status };

/** `metav1.Status`, as an API server answers it. */
export interface Status {
  kind: 'Status';
  apiVersion: 'v1';
  status?: string;
  message?: string;
  reason?: string;
  code?: number;
  details?: {
    name?: string;
    group?: string;
    kind?: string;
    uid?: string;
    causes?: { reason?: string; message?: string; field?: string }[];
    retryAfterSeconds?: number;
  };
}

/** An answer other than 2xx. `code` is the HTTP status; switch on it or on `reason`. */
export class ApiError extends Error {
  readonly code: number;
  readonly reason: string;
  readonly status: Status | undefined;
  readonly retryAfterSeconds: number | undefined;
  constructor(
    message: string,
    options: { code: number; reason?: string; status?: Status; retryAfterSeconds?: number },
  ) {
    super(message);
    this.name = 'ApiError';
    this.code = options.code;
    this.reason = options.reason ?? '';
    this.status = options.status;
    this.retryAfterSeconds = options.retryAfterSeconds;
  }
}

export interface CallOptions {
  signal?: AbortSignal;
  /** Called when the connection is there, just before the request goes out; what it throws is thrown, and nothing is sent. */
  beforeSend?: () => void;
  dryRun?: boolean;
}

export type PatchType = 'merge' | 'json';

/**
 * The calls that both halves make. Every call is strict (`fieldValidation=Strict`), has a time limit of its own
 * and throws ApiError for an answer other than 2xx, or the transport's error when there was no answer.
 */
export interface KubeClient {
  get<T extends KubeObject>(resource: Resource, ref: ObjectRef, options?: CallOptions): Promise<T>;
  list<T extends KubeObject>(resource: Resource, options: ListOptions & CallOptions): Promise<ListResult<T>>;
  create<T extends KubeObject>(resource: Resource, object: T, options?: CallOptions): Promise<T>;
  /** PUT: `object.metadata.resourceVersion` guards against lost updates. */
  update<T extends KubeObject>(
    resource: Resource,
    object: T,
    options?: CallOptions & { subresource?: 'status' },
  ): Promise<T>;
  patch<T extends KubeObject>(
    resource: Resource,
    ref: ObjectRef,
    body: unknown,
    options: CallOptions & { type: PatchType; subresource?: 'status' },
  ): Promise<T>;
  delete(
    resource: Resource,
    ref: ObjectRef,
    options?: CallOptions & {
      uid?: string;
      resourceVersion?: string;
      propagationPolicy?: 'Foreground' | 'Background' | 'Orphan';
    },
  ): Promise<void>;
  /** Yields until the server ends the watch or `signal` aborts; throws on a broken connection. */
  watch<T extends KubeObject>(
    resource: Resource,
    options: WatchOptions & { signal: AbortSignal; idleTimeoutMs?: number },
  ): AsyncIterable<WatchEvent<T>>;
}

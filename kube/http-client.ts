import { apiError, parseAnswer } from './answers.ts';
import type {
  CallOptions,
  KubeClient,
  KubeObject,
  ListOptions,
  ListResult,
  ObjectRef,
  PatchType,
  Resource,
  WatchEvent,
  WatchOptions,
} from './client.ts';
import { systemClock, type Clock } from './clock.ts';
import { HTTPTransport } from './http-transport.ts';
import { collectionPath, objectPath } from './resource-path.ts';
import type { Transport, TransportRequest } from './transport.ts';
import { watchStream } from './watch-stream.ts';

/** Of any client, however it reaches its server. */
export interface ClientOptions {
  /** Of one call, until its answer is whole. Default 30 s. */
  timeoutMs?: number;
  /** Of one answer, and of one line of a watch. Default 64 MiB. */
  maxAnswerBytes?: number;
  clock?: Clock;
  /** The server's `Warning` headers, such as a deprecated version. */
  onWarning?: (text: string) => void;
}

export interface KubeClientOptions extends ClientOptions {
  /** URL of the API server; a path in it is kept as a prefix. */
  server: string;
  /** PEM, or PEM in base64 as kubeconfigs have it; the same for certData and keyData. */
  caData?: string;
  /** A bearer token, or where to get the one of the moment (they rotate in a cluster). */
  token?: string | (() => Promise<string> | string);
  certData?: string;
  keyData?: string;
  insecureSkipTLSVerify?: boolean;
  tlsServerName?: string;
  /** What the server's audit log and managed fields show, as `holdfast-agent/0.1.0`. */
  userAgent: string;
}

const PATCH_TYPES: Record<PatchType, string> = {
  merge: 'application/merge-patch+json',
  json: 'application/json-patch+json',
};

/** A client over node:https with kept connections. Throws TypeError for options or names that cannot be meant. */
export function createKubeClient(options: KubeClientOptions): KubeClient & { close(): void } {
  const { token } = options;
  const transport = new HTTPTransport({
    ...options,
    headers: async () =>
      clientHeaders(options.userAgent, typeof token === 'function' ? await token() : token),
  });
  return new HttpKubeClient(transport, options);
}

/** A client over another way to a server than HTTPS. */
export function createClientOver(
  transport: Transport,
  options: ClientOptions = {},
): KubeClient & { close(): void } {
  return new HttpKubeClient(transport, options);
}

/** What every request of a client says. */
export function clientHeaders(userAgent: string, token: string | undefined): Record<string, string> {
  return {
    'user-agent': userAgent,
    accept: 'application/json',
    ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
  };
}

class HttpKubeClient implements KubeClient {
  readonly #options: ClientOptions;
  readonly #clock: Clock;
  readonly #timeoutMs: number;
  readonly #maxBytes: number;
  readonly #transport: Transport;

  constructor(transport: Transport, options: ClientOptions) {
    this.#transport = transport;
    this.#options = options;
    this.#clock = options.clock ?? systemClock;
    this.#timeoutMs = options.timeoutMs ?? 30_000;
    this.#maxBytes = options.maxAnswerBytes ?? 64 * 1024 * 1024;
  }

  async get<T extends KubeObject>(resource: Resource, ref: ObjectRef, options: CallOptions = {}): Promise<T> {
    return await this.#call<T>('GET', objectPath(resource, ref), options);
  }

  async list<T extends KubeObject>(
    resource: Resource,
    options: ListOptions & CallOptions,
  ): Promise<ListResult<T>> {
    const path = withQuery(collectionPath(resource, options.namespace), {
      labelSelector: options.labelSelector,
      fieldSelector: options.fieldSelector,
      limit: options.limit,
      continue: options.continueToken,
      resourceVersion: options.resourceVersion,
      resourceVersionMatch: options.resourceVersionMatch,
    });
    const answer = await this.#call<RawList<T>>('GET', path, options);
    // The items of a list carry neither of the two; a program that keeps them apart from their list needs both.
    const kind = answer.kind?.endsWith('List') ? answer.kind.slice(0, -'List'.length) : undefined;
    const items = (answer.items ?? []).map((item) => ({
      ...item,
      apiVersion: item.apiVersion ?? answer.apiVersion,
      kind: item.kind ?? kind,
    }));
    return {
      items,
      resourceVersion: answer.metadata?.resourceVersion ?? '',
      ...(answer.metadata?.continue && { continueToken: answer.metadata.continue }),
    };
  }

  async create<T extends KubeObject>(resource: Resource, object: T, options: CallOptions = {}): Promise<T> {
    const path = collectionPath(resource, namespaceOf(resource, object));
    return await this.#write<T>('POST', path, object, options);
  }

  async update<T extends KubeObject>(
    resource: Resource,
    object: T,
    options: CallOptions & { subresource?: 'status' } = {},
  ): Promise<T> {
    const path = objectPath(resource, object.metadata, options.subresource);
    return await this.#write<T>('PUT', path, object, options);
  }

  async patch<T extends KubeObject>(
    resource: Resource,
    ref: ObjectRef,
    body: unknown,
    options: CallOptions & { type: PatchType; subresource?: 'status' },
  ): Promise<T> {
    const path = objectPath(resource, ref, options.subresource);
    return await this.#write<T>('PATCH', path, body, options, PATCH_TYPES[options.type]);
  }

  async delete(
    resource: Resource,
    ref: ObjectRef,
    options: CallOptions & {
      uid?: string;
      resourceVersion?: string;
      propagationPolicy?: 'Foreground' | 'Background' | 'Orphan';
    } = {},
  ): Promise<void> {
    const { uid, resourceVersion } = options;
    const body = {
      kind: 'DeleteOptions',
      apiVersion: 'v1',
      ...((uid !== undefined || resourceVersion !== undefined) && {
        preconditions: { ...(uid !== undefined && { uid }), ...(resourceVersion && { resourceVersion }) },
      }),
      ...(options.propagationPolicy && { propagationPolicy: options.propagationPolicy }),
      ...(options.dryRun && { dryRun: ['All'] }),
    };
    await this.#call('DELETE', objectPath(resource, ref), options, {
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
  }

  watch<T extends KubeObject>(
    resource: Resource,
    options: WatchOptions & { signal: AbortSignal; idleTimeoutMs?: number },
  ): AsyncIterable<WatchEvent<T>> {
    const path = withQuery(collectionPath(resource, options.namespace), {
      watch: 'true',
      resourceVersion: options.resourceVersion,
      resourceVersionMatch: options.sendInitialEvents === undefined ? undefined : 'NotOlderThan',
      sendInitialEvents: options.sendInitialEvents,
      allowWatchBookmarks: options.allowWatchBookmarks,
      timeoutSeconds: options.timeoutSeconds,
      labelSelector: options.labelSelector,
      fieldSelector: options.fieldSelector,
    });
    return watchStream<T>({
      transport: this.#transport,
      clock: this.#clock,
      path,
      signal: options.signal,
      headersTimeoutMs: this.#timeoutMs,
      idleTimeoutMs: options.idleTimeoutMs,
      maxLineBytes: this.#maxBytes,
      onHeaders: (headers) => this.#warn(headers['warning']),
    });
  }

  close(): void {
    this.#transport.close();
  }

  async #write<T>(
    method: 'POST' | 'PUT' | 'PATCH',
    path: string,
    object: unknown,
    options: CallOptions,
    contentType = 'application/json',
  ): Promise<T> {
    const query = withQuery(path, {
      fieldValidation: 'Strict',
      dryRun: options.dryRun ? 'All' : undefined,
    });
    return await this.#call<T>(method, query, options, {
      headers: { 'content-type': contentType },
      body: JSON.stringify(object),
    });
  }

  async #call<T>(
    method: TransportRequest['method'],
    path: string,
    options: CallOptions,
    rest: Pick<TransportRequest, 'headers' | 'body'> = {},
  ): Promise<T> {
    const answer = await this.#transport.call({
      method,
      path,
      ...rest,
      timeoutMs: this.#timeoutMs,
      maxBytes: this.#maxBytes,
      ...(options.signal && { signal: options.signal }),
      ...(options.beforeSend && { beforeSend: options.beforeSend }),
    });
    this.#warn(answer.headers['warning']);
    const what = `${method} ${path}`;
    if (answer.code < 200 || answer.code > 299) {
      throw apiError(what, answer.code, answer.headers, answer.body, this.#clock.now());
    }
    return parseAnswer(what, answer.body) as T;
  }

  #warn(header: string | string[] | undefined): void {
    if (header === undefined || !this.#options.onWarning) return;
    // 299 - "text": the only code Kubernetes uses (RFC 7234, 5.5).
    for (const match of [header]
      .flat()
      .join(', ')
      .matchAll(/299 \S+ "((?:[^"\\]|\\.)*)"/g)) {
      this.#options.onWarning((match[1] ?? '').replaceAll(/\\(.)/g, '$1'));
    }
  }
}

interface RawList<T> {
  kind?: string;
  apiVersion?: string;
  metadata?: { resourceVersion?: string; continue?: string };
  items?: T[] | null;
}

function namespaceOf(resource: Resource, object: KubeObject): string | undefined {
  if (!resource.namespaced) return undefined;
  if (object.metadata.namespace === undefined) {
    throw new TypeError(
      `${resource.plural} are namespaced: a namespace is needed for "${object.metadata.name}"`,
    );
  }
  return object.metadata.namespace;
}

function withQuery(path: string, query: Record<string, string | number | boolean | undefined>): string {
  const search = new URLSearchParams();
  for (const [key, value] of Object.entries(query)) {
    if (value !== undefined) search.set(key, String(value));
  }
  const text = search.toString();
  return text === '' ? path : `${path}?${text}`;
}

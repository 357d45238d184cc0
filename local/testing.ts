import { mkdtempSync, rmSync } from 'node:fs';
import { Agent, request } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import type { StoredObject } from './object.ts';
import type { CustomResourceDefinition } from './schema/crd-types.ts';
import { type LocalAPI, type LocalAPIOptions, startLocalAPI } from './server.ts';

/** What the tests of this module share: a server of their own, a plain client for it. */

export interface Answer {
  code: number;
  headers: Record<string, string | string[] | undefined>;
  text: string;
  /** The answer as JSON; undefined where it is not. */
  body: StoredObject;
}

export interface CallOptions {
  body?: unknown;
  contentType?: string;
  accept?: string;
  token?: string | undefined;
  headers?: Record<string, string>;
}

export interface WatchLine {
  type: string;
  object: StoredObject & { code?: number; reason?: string; message?: string };
}

export const WIDGETS = '/apis/example.com/v1/namespaces/default/widgets';

/** A kind with a status subresource, a default, a selectable field and a column. */
export function widgetDefinition(): CustomResourceDefinition {
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: 'widgets.example.com' },
    spec: {
      group: 'example.com',
      scope: 'Namespaced',
      names: {
        plural: 'widgets',
        kind: 'Widget',
        singular: 'widget',
        listKind: 'WidgetList',
        shortNames: ['wg'],
      },
      versions: [
        {
          name: 'v1',
          served: true,
          storage: true,
          subresources: { status: {} },
          selectableFields: [{ jsonPath: '.spec.color' }],
          additionalPrinterColumns: [{ name: 'Color', type: 'string', jsonPath: '.spec.color' }],
          schema: {
            openAPIV3Schema: {
              type: 'object',
              properties: {
                spec: {
                  type: 'object',
                  required: ['size'],
                  properties: {
                    size: { type: 'integer', minimum: 1 },
                    color: { type: 'string', default: 'red' },
                  },
                },
                status: { type: 'object', properties: { phase: { type: 'string' } } },
              },
            },
          },
        },
      ],
    },
  };
}

export function widget(name: string, extra: Record<string, unknown> = {}): Record<string, unknown> {
  return { apiVersion: 'example.com/v1', kind: 'Widget', metadata: { name }, spec: { size: 1 }, ...extra };
}

export function temporaryFolder(): { path: string; remove(): void } {
  const path = mkdtempSync(join(tmpdir(), 'local-api-'));
  return { path, remove: () => rmSync(path, { recursive: true, force: true }) };
}

/** A client that trusts the authority that it is given (without one: any server). */
export class TestClient {
  readonly #url: URL;
  readonly #token: string;
  readonly #agent: Agent;

  constructor(options: { url: string; caData?: string; token: string }) {
    this.#url = new URL(options.url);
    this.#token = options.token;
    const { caData } = options;
    const trust = caData === undefined ? { rejectUnauthorized: false } : { ca: caData };
    this.#agent = new Agent({ ...trust, keepAlive: true, maxSockets: 64 });
  }

  close(): void {
    this.#agent.destroy();
  }

  call(method: string, path: string, options: CallOptions = {}): Promise<Answer> {
    const body = typeof options.body === 'string' ? options.body : JSON.stringify(options.body);
    return new Promise((resolve, reject) => {
      const call = request(
        {
          agent: this.#agent,
          host: this.#url.hostname,
          port: this.#url.port,
          method,
          path,
          headers: this.#headers(options, body),
        },
        (response) => {
          const chunks: Buffer[] = [];
          response.on('data', (chunk: Buffer) => chunks.push(chunk));
          response.on('error', reject);
          response.on('end', () => {
            const text = Buffer.concat(chunks).toString();
            resolve({ code: response.statusCode ?? 0, headers: response.headers, text, body: parse(text) });
          });
        },
      );
      call.on('error', reject);
      call.end(body);
    });
  }

  /** Opens a watch; `next` waits for one more line, undefined at its end. */
  watch(path: string, options: CallOptions = {}): { next(): Promise<WatchLine | undefined>; close(): void } {
    const lines = this.#lines(path, options);
    return {
      async next() {
        const line = await lines.iterator.next();
        return line.done === true ? undefined : (JSON.parse(line.value) as WatchLine);
      },
      close: () => lines.close(),
    };
  }

  #headers(options: CallOptions, body: string | undefined): Record<string, string | number> {
    const token = 'token' in options ? options.token : this.#token;
    return {
      ...(token === undefined ? {} : { Authorization: `Bearer ${token}` }),
      ...options.headers,
      Accept: options.accept ?? 'application/json',
      ...(body === undefined
        ? {}
        : {
            'Content-Type': options.contentType ?? 'application/json',
            'Content-Length': Buffer.byteLength(body),
          }),
    };
  }

  #lines(path: string, options: CallOptions): { iterator: AsyncIterator<string>; close(): void } {
    const call = request({
      agent: this.#agent,
      host: this.#url.hostname,
      port: this.#url.port,
      path,
      headers: this.#headers(options, undefined),
    });
    const iterate = async function* (): AsyncGenerator<string> {
      const response = await new Promise<AsyncIterable<Buffer>>((resolve, reject) => {
        call.on('response', resolve);
        call.on('error', reject);
        call.end();
      });
      let rest = '';
      try {
        for await (const chunk of response) {
          const parts = (rest + chunk.toString()).split('\n');
          rest = parts.pop() ?? '';
          yield* parts;
        }
      } catch (error) {
        if (!call.destroyed) throw error;
      }
      if (rest.trim() !== '') yield rest;
    };
    return { iterator: iterate(), close: () => call.destroy() };
  }
}

function parse(text: string): StoredObject {
  try {
    return JSON.parse(text) as StoredObject;
  } catch {
    return undefined as unknown as StoredObject;
  }
}

export interface TestServer {
  api: LocalAPI;
  client: TestClient;
  folder: string;
  clientFor(user: string, groups?: string[]): TestClient;
  stop(): Promise<void>;
}

export async function startTestServer(options: Partial<LocalAPIOptions> = {}): Promise<TestServer> {
  const folder = temporaryFolder();
  const api = await startLocalAPI({
    dataDir: folder.path,
    crds: [widgetDefinition()],
    log: pino({ level: 'silent' }),
    ...options,
  });
  const clients: TestClient[] = [];
  const connect = (token: string): TestClient => {
    const client = new TestClient({ url: api.url, caData: api.caData, token });
    clients.push(client);
    return client;
  };
  return {
    api,
    client: connect(api.adminToken),
    folder: options.dataDir ?? folder.path,
    clientFor: (user, groups = []) => connect(api.token(user, groups)),
    async stop() {
      for (const client of clients) client.close();
      await api.close();
      folder.remove();
    },
  };
}

/** Polls until `check` answers something; fails after `deadlineMs`. */
export async function eventually<T>(
  check: () => T | undefined | false | Promise<T | undefined | false>,
  deadlineMs = 10_000,
): Promise<T> {
  const end = Date.now() + deadlineMs;
  for (;;) {
    const value = await check();
    if (value !== undefined && value !== false) return value;
    if (Date.now() > end) throw new Error('the condition did not come true in time');
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}

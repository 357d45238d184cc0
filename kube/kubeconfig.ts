import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { parse } from 'yaml';
import { systemClock, type Clock } from './clock.ts';
import type { KubeClientOptions } from './http-client.ts';
import { fileToken } from './file-token.ts';

/** How to reach an API server, ready for `createKubeClient`. */
export type Connection = Pick<
  KubeClientOptions,
  'server' | 'caData' | 'token' | 'certData' | 'keyData' | 'insecureSkipTLSVerify' | 'tlsServerName'
> & {
  /** Of the context; absent: `default`. */
  namespace?: string;
};

/** Says which file, what is wrong with it and what to do. */
export class KubeconfigError extends Error {
  constructor(message: string, options?: { cause?: unknown }) {
    super(message, options);
    this.name = 'KubeconfigError';
  }
}

export interface KubeconfigOptions {
  /** Merged as kubectl does: of two entries of one name the first counts. At least one must exist. */
  files: string[];
  /** Instead of current-context. */
  context?: string;
  clock?: Clock;
}

interface Entry {
  /** The file it came from: relative paths in it start there. */
  file: string;
  value: Record<string, unknown>;
}

/**
 * Reads kubeconfig files. Server, CA, tokens and client certificates, in the file or beside it, are read here;
 * whatever needs a helper program is left to the library that knows them (see decision 0051).
 */
export async function loadKubeconfig(options: KubeconfigOptions): Promise<Connection> {
  const merged = await readAll(options.files);
  const contextName = options.context ?? merged.currentContext;
  if (!contextName) {
    throw new KubeconfigError(
      `${options.files.join(', ')}: no current-context; name one of: ${[...merged.contexts.keys()].join(', ') || '(there is none)'}`,
    );
  }
  const context = find(merged.contexts, 'context', contextName);
  const cluster = find(merged.clusters, 'cluster', text(context, 'cluster') ?? '');
  const userName = text(context, 'user');
  const user = userName ? find(merged.users, 'user', userName) : { file: context.file, value: {} };
  refuse(cluster, ['proxy-url']);
  refuse(user, ['username', 'password', 'as', 'as-groups', 'as-uid', 'as-user-extra']);
  const server = text(cluster, 'server');
  if (!server) throw new KubeconfigError(`${cluster.file}: the cluster has no server`);
  const connection: Connection = {
    server,
    ...defined('caData', await data(cluster, 'certificate-authority')),
    ...defined('tlsServerName', text(cluster, 'tls-server-name')),
    ...(cluster.value['insecure-skip-tls-verify'] === true && { insecureSkipTLSVerify: true }),
    ...defined('namespace', text(context, 'namespace')),
  };
  if (user.value['exec'] !== undefined || user.value['auth-provider'] !== undefined) {
    const { foreignCredentials } = await import('./foreign-credentials.ts');
    return { ...connection, ...(await foreignCredentials(options.files, contextName)) };
  }
  const tokenFile = text(user, 'tokenFile');
  return {
    ...connection,
    ...defined('certData', await data(user, 'client-certificate')),
    ...defined('keyData', await data(user, 'client-key')),
    ...defined(
      'token',
      tokenFile === undefined
        ? text(user, 'token')
        : fileToken(beside(user, tokenFile), options.clock ?? systemClock),
    ),
  };
}

async function readAll(files: string[]) {
  const merged = {
    currentContext: undefined as string | undefined,
    contexts: new Map<string, Entry>(),
    clusters: new Map<string, Entry>(),
    users: new Map<string, Entry>(),
  };
  let read = 0;
  for (const file of files) {
    const content = await readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT' && files.length > 1) return undefined;
      throw new KubeconfigError(`${file}: cannot be read (${error.code ?? error.message})`, { cause: error });
    });
    if (content === undefined) continue;
    read += 1;
    const parsed = parseFile(file, content);
    const current = parsed['current-context'];
    if (typeof current === 'string' && current !== '') merged.currentContext ??= current;
    collect(merged.contexts, file, parsed, 'context');
    collect(merged.clusters, file, parsed, 'cluster');
    collect(merged.users, file, parsed, 'user');
  }
  if (read === 0) throw new KubeconfigError(`no kubeconfig: none of ${files.join(', ')} exists`);
  return merged;
}

function parseFile(file: string, content: string): Record<string, unknown> {
  let parsed: unknown;
  try {
    parsed = parse(content);
  } catch (error) {
    throw new KubeconfigError(`${file}: not YAML: ${error instanceof Error ? error.message : ''}`, {
      cause: error,
    });
  }
  if (!isObject(parsed)) throw new KubeconfigError(`${file}: not a kubeconfig`);
  return parsed;
}

function collect(
  into: Map<string, Entry>,
  file: string,
  parsed: Record<string, unknown>,
  what: 'context' | 'cluster' | 'user',
): void {
  const list = parsed[`${what}s`];
  if (list === undefined || list === null) return;
  if (!Array.isArray(list)) throw new KubeconfigError(`${file}: ${what}s is not a list`);
  for (const item of list as unknown[]) {
    if (!isObject(item) || typeof item['name'] !== 'string') {
      throw new KubeconfigError(`${file}: an entry of ${what}s has no name`);
    }
    const value = item[what] ?? {};
    if (!isObject(value)) throw new KubeconfigError(`${file}: ${what} "${item['name']}" is not a map`);
    if (!into.has(item['name'])) into.set(item['name'], { file, value });
  }
}

function find(entries: Map<string, Entry>, what: string, name: string): Entry {
  const entry = entries.get(name);
  if (entry) return entry;
  const names = [...entries.keys()].join(', ') || '(there is none)';
  throw new KubeconfigError(`there is no ${what} "${name}" in the kubeconfig; there are: ${names}`);
}

function refuse(entry: Entry, fields: string[]): void {
  for (const field of fields) {
    if (entry.value[field] !== undefined) {
      throw new KubeconfigError(`${entry.file}: ${field} is not supported`);
    }
  }
}

function text(entry: Entry, field: string): string | undefined {
  const value = entry.value[field];
  if (value === undefined || value === null || value === '') return undefined;
  if (typeof value !== 'string') throw new KubeconfigError(`${entry.file}: ${field} is not a string`);
  return value;
}

/** `FIELD-data` in the file, or the content of the file that FIELD names. */
async function data(entry: Entry, field: string): Promise<string | undefined> {
  const inline = text(entry, `${field}-data`);
  if (inline !== undefined) return inline;
  const named = text(entry, field);
  if (named === undefined) return undefined;
  const file = beside(entry, named);
  return await readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
    throw new KubeconfigError(`${entry.file}: ${field}: ${file} cannot be read (${error.code})`, {
      cause: error,
    });
  });
}

function beside(entry: Entry, named: string): string {
  return path.resolve(path.dirname(entry.file), named);
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function defined<K extends string, V>(key: K, value: V | undefined): { [P in K]?: V } {
  return value === undefined ? {} : ({ [key]: value } as { [P in K]?: V });
}

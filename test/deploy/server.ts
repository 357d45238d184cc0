import { execFile } from 'node:child_process';
import { Agent, request } from 'node:https';
import { join } from 'node:path';
import { afterAll, beforeAll } from 'vitest';
import { type Cluster, type ClusterOptions, startCluster } from '../cluster/start.ts';
import { NoCluster } from '../cluster/versions.ts';

const ROOT = join(import.meta.dirname, '../..');
export const KUSTOMIZE = join(ROOT, 'deploy/kustomize');
export const CHART = join(ROOT, 'deploy/helm/holdfast');

export interface Answer {
  code: number;
  body: Record<string, unknown> & { message?: string };
}

export interface Call {
  method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  path: string;
  body?: unknown;
  /** merge, json or apply; of a PATCH. */
  patch?: 'merge' | 'json' | 'apply';
}

/** A kube-apiserver of its own, and the programs that people put manifests there with. */
export class Server {
  readonly cluster: Cluster;
  readonly #agent = new Agent({ keepAlive: true, rejectUnauthorized: false });

  constructor(cluster: Cluster) {
    this.cluster = cluster;
  }

  /** Standard output; throws with standard error where the program fails. */
  async kubectl(args: string[], input?: string): Promise<{ stdout: string; stderr: string }> {
    return program('kubectl', ['--kubeconfig', this.cluster.kubeconfig, ...args], input);
  }

  async helm(args: string[]): Promise<{ stdout: string; stderr: string }> {
    return program('helm', ['--kubeconfig', this.cluster.kubeconfig, ...args]);
  }

  /** Whatever the answer is. */
  async call(token: string, { method, path, body, patch = 'merge' }: Call): Promise<Answer> {
    const json = JSON.stringify(body);
    return await new Promise((resolve, reject) => {
      const sent = request(
        `${this.cluster.url}${path}`,
        {
          method,
          agent: this.#agent,
          headers: {
            authorization: `Bearer ${token}`,
            ...(body !== undefined && {
              'content-type': method === 'PATCH' ? PATCHES[patch] : 'application/json',
              'content-length': Buffer.byteLength(json),
            }),
          },
        },
        (answer) => {
          let text = '';
          answer.setEncoding('utf8').on('data', (chunk: string) => (text += chunk));
          answer.on('end', () =>
            resolve({ code: answer.statusCode ?? 0, body: JSON.parse(text) as Answer['body'] }),
          );
        },
      );
      sent.on('error', reject);
      sent.end(json);
    });
  }

  /** As a member of system:masters; throws for anything but 2xx. */
  async admin(call: Call): Promise<Answer['body']> {
    const { code, body } = await this.call(this.cluster.token, call);
    if (code >= 300) throw new Error(`${call.method} ${call.path}: ${code} ${body.message}`);
    return body;
  }

  async close(): Promise<void> {
    this.#agent.destroy();
    await this.cluster.close();
  }
}

const PATCHES = {
  merge: 'application/merge-patch+json',
  json: 'application/json-patch+json',
  apply: 'application/apply-patch+yaml',
} as const;

/** For a describe block. Where no kube-apiserver can be had its tests are skipped, in CI they fail. */
export function useServer(options: ClusterOptions = {}): {
  readonly current: Server;
  readonly missing: string | undefined;
} {
  let server: Server | undefined;
  let missing: string | undefined;
  beforeAll(async () => {
    try {
      server = new Server(await startCluster(options));
    } catch (error) {
      if (!(error instanceof NoCluster) || process.env['CI'] !== undefined) throw error;
      missing = error.message;
    }
  }, 150_000);
  afterAll(async () => server?.close());
  return {
    get current() {
      if (server === undefined) throw new Error('there is no kube-apiserver');
      return server;
    },
    get missing() {
      return missing;
    },
  };
}

/** What `kubectl apply -k` would send. */
export async function kustomize(folder: string): Promise<string> {
  return (await program('kubectl', ['kustomize', join(KUSTOMIZE, folder)])).stdout;
}

/** Those of the repository before those of the machine: .cache/bin is where the setup puts them. */
export async function program(
  name: string,
  args: string[],
  input?: string,
  more: NodeJS.ProcessEnv = {},
): Promise<{ stdout: string; stderr: string }> {
  const env = { ...process.env, ...more, PATH: `${join(ROOT, '.cache/bin')}:${process.env['PATH']}` };
  return await new Promise((resolve, reject) => {
    const child = execFile(
      name,
      args,
      { env, maxBuffer: 64 * 1024 * 1024, timeout: 390_000 },
      (error, stdout, stderr) => {
        if (error === null) resolve({ stdout, stderr });
        else reject(new Error(`${name} ${args.join(' ')}: ${stderr || error.message}`, { cause: error }));
      },
    );
    child.stdin?.end(input);
  });
}

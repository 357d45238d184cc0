import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { eventually, startTestServer, TestClient, widgetDefinition } from '../../local/testing.ts';
import { startCluster } from '../cluster/start.ts';
import { NoCluster } from '../cluster/versions.ts';

/** A server that clients are tried on, with the kind `widgets.example.com`. */
export interface Target {
  name: 'embedded' | 'kube-apiserver';
  /** With spaces in no part of it. */
  folder: string;
  kubeconfig: string;
  stop(): Promise<void>;
}

export const TARGETS = ['embedded', 'kube-apiserver'] as const;

/** A text says why there is none. */
export async function startTarget(name: Target['name']): Promise<Target | string> {
  if (name === 'embedded') {
    const server = await startTestServer();
    const { folder, api } = server;
    return { name, folder, kubeconfig: api.kubeconfigPath, stop: () => server.stop() };
  }
  try {
    return await startReal();
  } catch (error) {
    if (error instanceof NoCluster) return error.message;
    throw error;
  }
}

async function startReal(): Promise<Target> {
  const cluster = await startCluster();
  const folder = mkdtempSync(join(tmpdir(), 'clients-'));
  const kubeconfig = join(folder, 'kubeconfig');
  writeFileSync(
    kubeconfig,
    JSON.stringify({
      apiVersion: 'v1',
      kind: 'Config',
      clusters: [{ name: 'c', cluster: { server: cluster.url, 'insecure-skip-tls-verify': true } }],
      users: [{ name: 'u', user: { token: cluster.token } }],
      contexts: [{ name: 'x', context: { cluster: 'c', user: 'u' } }],
      'current-context': 'x',
    }),
    { mode: 0o600 },
  );
  const client = new TestClient({ url: cluster.url, token: cluster.token });
  await client.call('POST', '/apis/apiextensions.k8s.io/v1/customresourcedefinitions', {
    body: widgetDefinition(),
  });
  await eventually(async () => (await client.call('GET', '/apis/example.com/v1/widgets')).code === 200);
  client.close();
  return {
    name: 'kube-apiserver',
    folder,
    kubeconfig,
    async stop() {
      await cluster.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

export interface Outcome {
  code: number;
  out: string;
  err: string;
}

export function run(
  program: string,
  args: string[],
  options: { cwd?: string; env?: Record<string, string>; timeoutMs?: number } = {},
): Promise<Outcome> {
  return new Promise((resolve) => {
    execFile(
      program,
      args,
      {
        ...(options.cwd === undefined ? {} : { cwd: options.cwd }),
        env: { ...process.env, ...options.env },
        timeout: options.timeoutMs ?? 120_000,
        maxBuffer: 16 * 1024 * 1024,
      },
      (error, out, err) => resolve({ code: error === null ? 0 : Number(error.code ?? 1), out, err }),
    );
  });
}

/** The parts that a client says have worked; what it says beside them is for the message of a failure. */
export function parts({ out }: Outcome): string[] {
  return out.split('\n').flatMap((line) => (line.startsWith('ok: ') ? [line.slice(4)] : []));
}

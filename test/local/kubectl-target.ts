import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { eventually, startTestServer, TestClient, widgetDefinition } from '../../local/testing.ts';
import { startCluster } from '../cluster/start.ts';

/** What kubectl is pointed at: the embedded API, or a kube-apiserver with KUBECTL_SERVER=real. */
export interface Target {
  folder: string;
  kubeconfig: string;
  client: TestClient;
  stop(): Promise<void>;
}

export const real = process.env['KUBECTL_SERVER'] === 'real';

export async function startTarget(): Promise<Target> {
  if (real) return await startReal();
  const server = await startTestServer();
  return {
    folder: server.folder,
    kubeconfig: server.api.kubeconfigPath,
    client: server.client,
    stop: () => server.stop(),
  };
}

async function startReal(): Promise<Target> {
  const cluster = await startCluster();
  const folder = mkdtempSync(join(tmpdir(), 'kubectl-'));
  const kubeconfig = join(folder, 'kubeconfig');
  const config = {
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [{ name: 'c', cluster: { server: cluster.url, 'insecure-skip-tls-verify': true } }],
    users: [{ name: 'u', user: { token: cluster.token } }],
    contexts: [{ name: 'x', context: { cluster: 'c', user: 'u' } }],
    'current-context': 'x',
  };
  writeFileSync(kubeconfig, JSON.stringify(config), { mode: 0o600 });
  const client = new TestClient({ url: cluster.url, token: cluster.token });
  await client.call('POST', '/apis/apiextensions.k8s.io/v1/customresourcedefinitions', {
    body: widgetDefinition(),
  });
  await eventually(async () => (await client.call('GET', '/apis/example.com/v1/widgets')).code === 200);
  return {
    folder,
    kubeconfig,
    client,
    async stop() {
      client.close();
      await cluster.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

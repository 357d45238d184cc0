import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ROOT } from '../setup/cache.ts';
import { startCluster } from '../../test/cluster/start.ts';

export interface KubeAPIServer {
  kubeconfig: string;
  close(): Promise<void>;
}

/** A real kube-apiserver for the suites that also run on one; a string says why there is none. */
export async function startKubeAPIServer(): Promise<KubeAPIServer | string> {
  try {
    execFileSync('sh', [join(ROOT, 'test/cluster/build')], { stdio: ['ignore', 'ignore', 'inherit'] });
  } catch {
    return 'it could not be built: that needs a current Go (make cluster-bin)';
  }
  const folder = mkdtempSync(join(tmpdir(), 'hf-kube-'));
  const cluster = await startCluster();
  const kubeconfig = join(folder, 'kubeconfig');
  const text = {
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [{ name: 'test', cluster: { server: cluster.url, 'insecure-skip-tls-verify': true } }],
    users: [{ name: 'test', user: { token: cluster.token } }],
    contexts: [{ name: 'test', context: { cluster: 'test', user: 'test' } }],
    'current-context': 'test',
  };
  writeFileSync(kubeconfig, JSON.stringify(text), { mode: 0o600 });
  return {
    kubeconfig,
    async close() {
      await cluster.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

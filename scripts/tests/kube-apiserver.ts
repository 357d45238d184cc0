import type { TestResult } from './results.ts';
import { startCluster, type Cluster } from '../../test/cluster/start.ts';
import { type KubeVersion, NEWEST, NoCluster } from '../../test/cluster/versions.ts';

/** A real kube-apiserver for the suites that also run on one; a string says why there is none. */
export async function startKubeAPIServer(version: KubeVersion = NEWEST): Promise<Cluster | string> {
  try {
    return await startCluster({ version });
  } catch (error) {
    if (error instanceof NoCluster) return error.message;
    throw error;
  }
}

/** What was not run for want of one counts as one skipped test; in CI, which has to have it, as a failure. */
export function withoutKubeAPIServer(reason: string, env: NodeJS.ProcessEnv = process.env): TestResult {
  return {
    file: 'test/cluster',
    title: `the suites that run on a kube-apiserver: ${reason}`,
    result: env['CI'] === undefined ? 'skipped' : 'failed',
    reason: 'needs a kube-apiserver',
  };
}

import { createKubeClient } from '../kube/http-client.ts';
import { inClusterConnection } from '../kube/in-cluster.ts';
import { loadKubeconfig, type Connection } from '../kube/kubeconfig.ts';
import type { KubeClient } from '../kube/client.ts';
import type { APISource } from './config.ts';
import { VERSION } from './version.ts';

export interface Connected {
  client: KubeClient & { close(): void };
  /** Of the context. */
  namespace: string;
  server: string;
}

/** A client for the API that the source names. Throws KubeconfigError. */
export async function connect(
  source: APISource,
  options: { component: string; context?: string },
): Promise<Connected> {
  const connection: Connection =
    source.from === 'cluster'
      ? await inClusterConnection(source)
      : await loadKubeconfig({
          files: source.files,
          ...(options.context !== undefined && { context: options.context }),
        });
  return {
    client: createKubeClient({ ...connection, userAgent: userAgent(options.component) }),
    namespace: connection.namespace ?? 'default',
    server: connection.server,
  };
}

/** What audit logs and managed fields show. */
export function userAgent(component: string): string {
  return `${component}/${VERSION}`;
}

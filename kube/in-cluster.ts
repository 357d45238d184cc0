import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { systemClock, type Clock } from './clock.ts';
import { fileToken } from './file-token.ts';
import { type Connection, KubeconfigError } from './kubeconfig.ts';

export interface InClusterOptions {
  /** KUBERNETES_SERVICE_HOST and KUBERNETES_SERVICE_PORT. */
  host: string;
  port: string;
  directory?: string;
  clock?: Clock;
}

/** How a pod reaches the API server of its cluster: by its service account. */
export async function inClusterConnection(options: InClusterOptions): Promise<Connection> {
  const { directory = '/var/run/secrets/kubernetes.io/serviceaccount' } = options;
  const host = options.host.includes(':') ? `[${options.host}]` : options.host;
  const read = async (name: string): Promise<string> =>
    await readFile(path.join(directory, name), 'utf8').catch((error: NodeJS.ErrnoException) => {
      throw new KubeconfigError(`${path.join(directory, name)}: cannot be read (${error.code})`, {
        cause: error,
      });
    });
  const token = fileToken(path.join(directory, 'token'), options.clock ?? systemClock);
  const caData = await read('ca.crt');
  const namespace = await read('namespace').catch(() => undefined);
  return {
    server: `https://${host}:${options.port}`,
    caData,
    token,
    ...(namespace !== undefined && { namespace: namespace.trim() }),
  };
}

import type { RequestOptions } from 'node:https';
import { KubeConfig } from '@kubernetes/client-node';
import { type Connection, KubeconfigError } from './kubeconfig.ts';

/**
 * Credentials that a helper program or a cloud's provider gives out (`exec`, `auth-provider`). A module of its own,
 * imported only then: the library costs 89 MB of resident memory (decision 0051).
 */
export async function foreignCredentials(
  files: string[],
  context: string,
): Promise<Pick<Connection, 'token' | 'certData' | 'keyData'>> {
  const config = new KubeConfig();
  for (const [index, file] of files.entries()) {
    if (index === 0) {
      config.loadFromFile(file);
    } else {
      const next = new KubeConfig();
      next.loadFromFile(file);
      config.mergeConfig(next, true);
    }
  }
  config.setCurrentContext(context);
  const ask = async (): Promise<{ token?: string; cert?: string; key?: string }> => {
    const options: RequestOptions = {};
    try {
      await config.applyToHTTPSOptions(options);
    } catch (error) {
      throw new KubeconfigError(
        `the credentials of context "${context}" could not be had: ${error instanceof Error ? error.message : String(error)}`,
        { cause: error },
      );
    }
    const header = (options.headers as Record<string, string> | undefined)?.['Authorization'];
    return {
      ...(header?.startsWith('Bearer ') && { token: header.slice('Bearer '.length) }),
      ...(options.cert !== undefined && { cert: options.cert as string }),
      ...(options.key !== undefined && { key: options.key as string }),
    };
  };
  const first = await ask();
  if (first.token === undefined && first.cert === undefined) {
    throw new KubeconfigError(`the helper of context "${context}" gave neither a token nor a certificate`);
  }
  return {
    // Asked with each call: the library keeps it until it expires.
    ...(first.token !== undefined && { token: async () => (await ask()).token ?? '' }),
    ...(first.cert !== undefined && { certData: first.cert }),
    ...(first.key !== undefined && { keyData: first.key }),
  };
}

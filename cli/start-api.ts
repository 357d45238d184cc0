import { readFile } from 'node:fs/promises';
import type { Logger } from 'pino';
import { crdManifests } from '../crds/crd-manifests.ts';
import { type LocalAPI, startLocalAPI } from '../local/server.ts';
import { apiDirIn, kubeconfigIn, type ServeConfig } from './config.ts';
import { makePrivateFolder, writePrivateFile } from './private-file.ts';

/**
 * Starts the API of this machine and writes the kubeconfig beside its folder. Without a port of the user's choice it
 * takes the one of the last time where that is free, so that a kubeconfig in use goes on working.
 */
export async function startAPI(
  config: Pick<ServeConfig, 'dataDir' | 'host' | 'port'>,
  log: Logger,
): Promise<LocalAPI & { kubeconfig: string }> {
  await makePrivateFolder(config.dataDir);
  const kubeconfig = kubeconfigIn(config.dataDir);
  const start = async (port: number): Promise<LocalAPI> =>
    await startLocalAPI({
      dataDir: apiDirIn(config.dataDir),
      host: config.host,
      port,
      crds: crdManifests(),
      log,
    });
  if (!isLoopback(config.host)) {
    log.warn({ host: config.host }, 'the API can be reached from other machines; tokens alone protect it');
  }
  const before = config.port ?? (await portOf(kubeconfig));
  const api = await start(before ?? 0).catch(async (error: NodeJS.ErrnoException) => {
    if (config.port !== undefined || before === undefined || error.code !== 'EADDRINUSE') throw error;
    log.info({ port: before }, 'the port of the last time is taken; using another');
    return await start(0);
  });
  await writePrivateFile(kubeconfig, await readFile(api.kubeconfigPath, 'utf8'));
  return { ...api, kubeconfig };
}

export function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || /^127(\.\d{1,3}){3}$/.test(host);
}

async function portOf(kubeconfig: string): Promise<number | undefined> {
  const content = await readFile(kubeconfig, 'utf8').catch(() => '');
  const match = /"server":\s*"https:\/\/[^"/]*:(\d+)"/.exec(content);
  return match ? Number(match[1]) : undefined;
}

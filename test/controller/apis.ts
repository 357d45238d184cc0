import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pino from 'pino';
import { crdManifests } from '../../crds/crd-manifests.ts';
import { eventually } from '../../controller/testing/world.ts';
import type { KubeClient, KubeObject } from '../../kube/client.ts';
import { clientHeaders, createClientOver, createKubeClient } from '../../kube/http-client.ts';
import { type Connection, loadKubeconfig } from '../../kube/kubeconfig.ts';
import { CRDS, SANDBOXES } from '../../kube/resources.ts';
import { startLocalAPI } from '../../local/server.ts';

/** An API server that the same tests run on. */
export interface TestAPI {
  name: string;
  start: () => Promise<RunningAPI>;
}

export interface RunningAPI {
  client: KubeClient;
  connection: Connection;
  stop(): Promise<void>;
}

/**
 * The embedded API always; a real kube-apiserver where HOLDFAST_TEST_KUBECONFIG names the kubeconfig of one that may
 * be written to.
 */
export function testAPIs(): TestAPI[] {
  const kubeconfig = process.env['HOLDFAST_TEST_KUBECONFIG'];
  return [
    { name: 'embedded', start: () => startEmbedded() },
    ...(kubeconfig === undefined
      ? []
      : [{ name: 'kube-apiserver', start: async () => startReal(kubeconfig) }]),
  ];
}

/** The embedded API, reached as `holdfast up` reaches its own. */
export const inProcessAPI: TestAPI = {
  name: 'embedded, in the same process',
  start: () => startEmbedded({ inProcess: true }),
};

async function startEmbedded(how: { inProcess?: boolean } = {}): Promise<RunningAPI> {
  const dataDir = await mkdtemp(join(tmpdir(), 'holdfast-api-'));
  const api = await startLocalAPI({
    dataDir,
    crds: crdManifests(),
    log: pino({ level: 'silent' }),
  });
  const connection = { server: api.url, caData: api.caData, token: api.adminToken };
  const client =
    how.inProcess === true
      ? createClientOver(api.transport(clientHeaders('holdfast-test', api.adminToken)))
      : createKubeClient({ ...connection, userAgent: 'holdfast-test' });
  return {
    client,
    connection,
    async stop() {
      client.close();
      await api.close();
      await rm(dataDir, { recursive: true, force: true });
    },
  };
}

async function startReal(path: string): Promise<RunningAPI> {
  const connection = await loadKubeconfig({ files: [path] });
  const client = createKubeClient({ ...connection, userAgent: 'holdfast-test' });
  for (const crd of crdManifests() as unknown as KubeObject[]) {
    await client.delete(CRDS, { name: crd.metadata.name }).catch(() => undefined);
    await eventually(async () =>
      client.create(CRDS, crd).then(
        () => true,
        () => false,
      ),
    );
  }
  await eventually(async () =>
    client.list(SANDBOXES, {}).then(
      () => true,
      () => false,
    ),
  );
  return { client, connection, stop: async () => client.close() };
}

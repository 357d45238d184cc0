import { crdManifests } from '../../crds/crd-manifests.ts';
import type { KubeClient, KubeObject } from '../../kube/client.ts';
import { CRDS, SANDBOX_NODES, SANDBOXES } from '../../kube/resources.ts';
import { until } from '../until.ts';

/** On a server without them; resolves when they are served. */
export async function installKinds(client: KubeClient): Promise<void> {
  for (const crd of crdManifests() as unknown as KubeObject[]) await client.create(CRDS, crd);
  for (const resource of [SANDBOXES, SANDBOX_NODES])
    await until('the kinds to be served', () =>
      client.list(resource, {}).then(
        () => true,
        () => false,
      ),
    );
}

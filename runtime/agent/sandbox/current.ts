import type { Sandbox } from '../../../crds/sandbox.ts';
import { isObjectMissing } from '../../../kube/errors.ts';
import { SANDBOXES } from '../../../kube/resources.ts';
import type { Run } from '../run.ts';
import type { Services } from '../services.ts';

/**
 * The sandbox as the API has it, as far as is known here: the lister's, unless this agent has written a newer one
 * that the watch has not brought yet. undefined: the API has confirmed that there is none of this UID.
 *
 * What the lister does not have may be unbound, bound elsewhere or deleted: which of them decides about containers
 * and volumes, so it is asked.
 */
export async function currentSandbox(services: Services, run: Run): Promise<Sandbox | undefined> {
  const [listed] = services.lister.byIndex('uid', run.uid);
  if (listed !== undefined) {
    run.gone = false;
    run.namespace = listed.metadata.namespace ?? run.namespace;
    run.name = listed.metadata.name;
    const { newer } = run;
    if (newer === undefined) return listed;
    if (newer.outdated.has(listed.metadata.resourceVersion ?? '')) return newer.object;
    run.newer = undefined;
    return listed;
  }
  run.newer = undefined;
  if (run.gone) return undefined;
  try {
    const found = await services.client.get<Sandbox>(
      SANDBOXES,
      { namespace: run.namespace, name: run.name },
      { signal: services.signal },
    );
    if (found.metadata.uid === run.uid) return found;
  } catch (error) {
    // An API that does not know the kind (its definition was deleted, or is not served yet) knows nothing of it.
    if (!isObjectMissing(error)) throw error;
  }
  run.gone = true;
  return undefined;
}

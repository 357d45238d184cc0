import { ANONYMOUS } from './auth/user.ts';
import type { Clock } from './clock.ts';
import type { StoredObject } from './object.ts';
import { CRDS } from './registry/builtin.ts';
import { crdTraits } from './registry/crd-traits.ts';
import type { Registry } from './registry/registry.ts';
import type { NamedCall } from './rest/call.ts';
import { create } from './rest/create.ts';
import { update } from './rest/update.ts';
import type { CustomResourceDefinition } from './schema/crd-types.ts';
import { deepEqual, type Json } from './schema/json.ts';
import type { Store } from './store/store.ts';

/**
 * Makes the given definitions be there as given, through the same code as a request. Those that are there
 * already, unchanged, are not written. Throws StatusError for one that is not valid.
 */
export async function installDefinitions(
  store: Store,
  registry: Registry,
  options: { crds: CustomResourceDefinition[]; clock: Clock },
): Promise<void> {
  const served = registry.find('apiextensions.k8s.io', 'v1', 'customresourcedefinitions');
  if (served === undefined) return;
  for (const crd of options.crds) {
    const body = structuredClone(crd) as unknown as StoredObject;
    body.metadata = { ...body.metadata };
    const call: NamedCall = {
      ...served,
      namespace: undefined,
      name: body.metadata.name,
      subresource: undefined,
      query: new URLSearchParams(),
      user: ANONYMOUS,
      dryRun: false,
      fieldManager: 'local-api',
      force: false,
      fieldValidation: 'Strict',
      warnings: [],
      admit: () => undefined,
    };
    const stored = store.get(CRDS, body.metadata.name);
    const context = { store, clock: options.clock };
    if (stored === undefined) await create(call, body, context);
    else if (!isAsGiven(stored, body)) {
      const { resourceVersion } = stored.metadata;
      if (resourceVersion !== undefined) body.metadata.resourceVersion = resourceVersion;
      await update(call, body, context);
    }
  }
}

/** Whether an update would change nothing. To find that out costs far less than to validate. */
function isAsGiven(stored: StoredObject, given: StoredObject): boolean {
  const next = structuredClone(given);
  crdTraits.defaults?.(next);
  crdTraits.prepare?.(next, stored);
  const kept = (object: StoredObject): Json =>
    ({
      spec: object['spec'],
      labels: object.metadata.labels ?? {},
      annotations: object.metadata.annotations ?? {},
    }) as Json;
  return deepEqual(kept(stored), kept(next));
}

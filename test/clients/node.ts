import type { KubeConfig, KubernetesObject } from '@kubernetes/client-node';
import { expect } from 'vitest';
import { until } from '../until.ts';
import type { Target } from './target.ts';

const NAMESPACE = 'node-client';
const KIND = { group: 'example.com', version: 'v1', namespace: NAMESPACE, plural: 'widgets' };
const PATH = `/apis/example.com/v1/namespaces/${NAMESPACE}/widgets`;
const widget = (name: string, size = 1): KubernetesObject & { spec: { size: number } } => ({
  apiVersion: 'example.com/v1',
  kind: 'Widget',
  metadata: { name },
  spec: { size },
});

/** What a controller in JavaScript does: an informer over pages and a watch, patches, a lease, refusals. */
export async function nodeClient(target: Target): Promise<string | undefined> {
  const {
    CoordinationV1Api,
    CoreV1Api,
    CustomObjectsApi,
    KubeConfig,
    makeInformer,
    PatchStrategy,
    setHeaderOptions,
    V1MicroTime,
  } = await import('@kubernetes/client-node');
  const config = new KubeConfig();
  config.loadFromFile(target.kubeconfig);
  const core = config.makeApiClient(CoreV1Api);
  const custom = config.makeApiClient(CustomObjectsApi);
  await core.createNamespace({ body: { metadata: { name: NAMESPACE } } });
  await custom.createNamespacedCustomObject({ ...KIND, body: widget('first') });

  const informer = makeInformer(config, PATH, async () => {
    const list: unknown = await custom.listNamespacedCustomObject(KIND);
    return list as never;
  });
  const seen: string[] = [];
  for (const verb of ['add', 'update', 'delete'] as const)
    informer.on(verb, (object: KubernetesObject) => void seen.push(`${verb} ${object.metadata?.name ?? ''}`));
  await informer.start();
  try {
    await custom.createNamespacedCustomObject({ ...KIND, body: widget('second') });
    await custom.patchNamespacedCustomObject(
      { ...KIND, name: 'second', body: { spec: { size: 2 } } },
      setHeaderOptions('Content-Type', PatchStrategy.MergePatch),
    );
    await custom.deleteNamespacedCustomObject({ ...KIND, name: 'second' });
    await until('the informer has heard of all', () => seen.includes('delete second'));
    expect(seen).toEqual(['add first', 'add second', 'update second', 'delete second']);
    expect(informer.list().map((object) => object.metadata?.name)).toEqual(['first']);
  } finally {
    await informer.stop();
  }

  const applied = (await custom.patchNamespacedCustomObject(
    { ...KIND, name: 'applied', body: widget('applied'), fieldManager: 'node', force: true },
    setHeaderOptions('Content-Type', PatchStrategy.ServerSideApply),
  )) as KubernetesObject;
  expect(applied.metadata?.managedFields?.[0]?.manager).toBe('node');
  await expect(
    custom.createNamespacedCustomObject({ ...KIND, body: widget('bad', 0) }),
  ).rejects.toMatchObject({ code: 422 });

  const leases = config.makeApiClient(CoordinationV1Api);
  const lease = await leases.createNamespacedLease({
    namespace: NAMESPACE,
    body: { metadata: { name: 'l' }, spec: { holderIdentity: 'me', renewTime: new V1MicroTime() } },
  });
  const again = { name: 'l', namespace: NAMESPACE, body: lease };
  await leases.replaceNamespacedLease({
    name: 'l',
    namespace: NAMESPACE,
    body: Object.assign(lease, { spec: { holderIdentity: 'you', renewTime: new V1MicroTime() } }),
  });
  // That was the version of before.
  await expect(leases.replaceNamespacedLease(again)).rejects.toMatchObject({ code: 409 });

  await firstEvent(config);
  await core.deleteNamespace({ name: NAMESPACE });
  return undefined;
}

/** A watch from nothing begins with what there is. */
async function firstEvent(config: KubeConfig): Promise<void> {
  const { Watch } = await import('@kubernetes/client-node');
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  const request = await new Watch(config).watch(
    PATH,
    { fieldSelector: 'metadata.name=first' },
    (type) => resolve(type),
    (error) => {
      if (error instanceof Error && error.name !== 'AbortError') reject(error);
    },
  );
  expect(await promise).toBe('ADDED');
  request.abort();
}

import { expect, it } from 'vitest';
import { crdManifests } from '../crds/crd-manifests.ts';
import { ApiError, type KubeObject } from '../kube/client.ts';
import { CRDS } from '../kube/resources.ts';
import { FakeKubeClient } from '../kube/testing/fake-client.ts';
import { definitionsNote } from './definitions.ts';

const { signal } = new AbortController();

/** With the definitions of this program, changed by hand. */
async function cluster(change: (text: string) => string = (text) => text): Promise<FakeKubeClient> {
  const client = new FakeKubeClient();
  for (const crd of crdManifests()) {
    await client.create(CRDS, JSON.parse(change(JSON.stringify(crd))) as KubeObject);
  }
  return client;
}

it('[K2] says nothing of the definitions that it has itself', async () => {
  expect(await definitionsNote(await cluster(), signal)).toBeUndefined();
});

it('[K2] names those that are not there, and how to get them', async () => {
  const note = await definitionsNote(new FakeKubeClient(), signal);
  expect(note).toEqual({
    usable: false,
    text: 'the cluster has no CustomResourceDefinition sandboxes.holdfast.dev, sandboxnodes.holdfast.dev: install them with: holdfast crds | kubectl apply -f -',
  });
});

it('[K2] of older ones it names what they lack, a value of a list too, and works on', async () => {
  const older = await cluster((text) =>
    text.replace('"fenceSeconds"', '"other"').replaceAll('"NodeLost",', ''),
  );
  const note = await definitionsNote(older, signal);
  expect(note?.usable).toBe(true);
  expect(note?.text).toContain('sandboxes.holdfast.dev is older than this program: it lacks');
  expect(note?.text).toContain('status.fenceSeconds');
  expect(note?.text).toContain('status.lastTermination.cause=NodeLost');
});

it('[K2] of newer ones it names what it does not know', async () => {
  const newer = await cluster((text) => text.replace('"image":{', '"later":{"type":"string"},"image":{'));
  expect((await definitionsNote(newer, signal))?.text).toBe(
    'the CustomResourceDefinition sandboxes.holdfast.dev is newer than this program: spec.later will be left as they are and not acted on; install a newer one',
  );
});

it('[K2] where it may not look, it says nothing', async () => {
  const client = await cluster();
  client.before = () => {
    throw new ApiError('no', { code: 403 });
  };
  expect(await definitionsNote(client, signal)).toBeUndefined();
});

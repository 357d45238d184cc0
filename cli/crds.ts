import { stringify } from 'yaml';
import { crdManifests } from '../crds/crd-manifests.ts';
import { type IO, write } from './io.ts';

/** `holdfast crds`: the definitions that a cluster needs, for `kubectl apply -f -`. */
export async function crds(io: IO): Promise<void> {
  // kubectl reads YAML 1.1, where a bare Yes is a boolean.
  const documents = crdManifests().map((crd) =>
    stringify(crd, { version: '1.1', lineWidth: 0, aliasDuplicateObjects: false }),
  );
  await write(io.stdout, documents.join('---\n'));
}

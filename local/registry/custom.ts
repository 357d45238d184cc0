import { isRecord, type StoredObject } from '../object.ts';
import { compileSchemas } from '../schema/compile.ts';
import type { CRDVersion } from '../schema/crd-types.ts';
import { asCRD } from './crd-traits.ts';
import { apiVersionOf, type Kind, kindId, type ServedVersion, type Traits } from './kind.ts';

const CUSTOM_TRAITS: Traits = {
  unconditionalUpdate: false,
  createOnUpdate: false,
  generation: true,
  strategicMerge: false,
};

/** The kind that a stored definition declares. Throws where its schema cannot be compiled. */
export function customKind(object: StoredObject): Kind {
  const crd = asCRD(object);
  const schemas = compileSchemas(crd);
  const { names, group, scope } = crd.spec;
  const versions = new Map<string, ServedVersion>();
  for (const version of crd.spec.versions) {
    if (!version.served) continue;
    versions.set(version.name, {
      name: version.name,
      schema: schemas.get(version.name),
      decode: undefined,
      openAPI: version.schema?.openAPIV3Schema,
      columns: version.additionalPrinterColumns,
      status: version.subresources?.status !== undefined,
      selectable: selectableFields(version),
      deprecation: deprecation(group, names.kind, version),
    });
  }
  return {
    id: kindId(group, names.plural),
    group,
    kind: names.kind,
    listKind: names.listKind ?? `${names.kind}List`,
    plural: names.plural,
    singular: names.singular ?? names.kind.toLowerCase(),
    shortNames: names.shortNames ?? [],
    categories: names.categories ?? [],
    namespaced: scope === 'Namespaced',
    storageVersion:
      crd.spec.versions.find((version) => version.storage)?.name ?? crd.spec.versions[0]?.name ?? '',
    versions,
    traits: CUSTOM_TRAITS,
    crd: object,
    staleUntil: (object.metadata.generation ?? 1) > 1 ? Number(object.metadata.resourceVersion) : 0,
  };
}

function deprecation(group: string, kind: string, version: CRDVersion): string | undefined {
  if (version.deprecated !== true) return undefined;
  return version.deprecationWarning ?? `${apiVersionOf(group, version.name)} ${kind} is deprecated`;
}

function selectableFields(version: CRDVersion): ServedVersion['selectable'] {
  return new Map(
    (version.selectableFields ?? []).map(({ jsonPath }) => {
      const path = jsonPath.replace(/^\./, '');
      const steps = path.split('.');
      return [path, (object: StoredObject) => valueAt(object, steps)];
    }),
  );
}

/** The value as a selector compares it; what is absent is ''. */
function valueAt(object: StoredObject, steps: readonly string[]): string {
  let value: unknown = object;
  for (const step of steps) {
    if (!isRecord(value) || !Object.hasOwn(value, step)) return '';
    value = value[step];
  }
  return typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean'
    ? String(value)
    : '';
}

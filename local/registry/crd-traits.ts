import { isRecord, type StoredObject } from '../object.ts';
import type { CRDSpec, CustomResourceDefinition } from '../schema/crd-types.ts';
import { type FieldError, fieldErrors } from '../schema/field-error.ts';
import { validateCRD, validateCRDUpdate } from '../schema/validate-crd.ts';
import type { Traits } from './kind.ts';

/** Holds a definition until its objects are gone. */
export const CLEANUP_FINALIZER = 'customresourcecleanup.apiextensions.k8s.io';

export function asCRD(object: StoredObject): CustomResourceDefinition {
  return object as unknown as CustomResourceDefinition;
}

/** Absent fields that have a meaning of their own, and defaults. */
function fillDefaults(spec: CRDSpec): void {
  for (const version of spec.versions) {
    version.name ??= '';
    version.served ??= false;
    version.storage ??= false;
    for (const field of version.selectableFields ?? []) field.jsonPath ??= '';
    for (const column of version.additionalPrinterColumns ?? []) {
      column.name ??= '';
      column.type ??= '';
      column.jsonPath ??= '';
    }
  }
  if (spec.names.kind === '') return;
  spec.names.singular ??= spec.names.kind.toLowerCase();
  spec.names.listKind ??= `${spec.names.kind}List`;
  spec.conversion ??= { strategy: 'None' };
}

function condition(
  type: string,
  reason: string,
  message: string,
  lastTransitionTime: string | undefined,
): Record<string, unknown> {
  return { type, status: 'True', lastTransitionTime, reason, message };
}

/**
 * A definition is served from the moment it is stored, so its status says so at once; a kube-apiserver takes two
 * controllers and a moment for the same end.
 */
function fillStatus(object: StoredObject, old: StoredObject | undefined): void {
  const { spec } = asCRD(object);
  const created = object.metadata.creationTimestamp;
  const status = isRecord(old?.['status']) ? { ...old['status'] } : {};
  const stored = new Set(
    Array.isArray(status['storedVersions']) ? (status['storedVersions'] as string[]) : [],
  );
  const storage = spec.versions.find((version) => version.storage)?.name;
  if (storage !== undefined) stored.add(storage);
  object['status'] = {
    ...status,
    acceptedNames: spec.names,
    storedVersions: [...stored],
    conditions: Array.isArray(status['conditions'])
      ? status['conditions']
      : [
          condition('NamesAccepted', 'NoConflicts', 'no conflicts found', created),
          condition('Established', 'InitialNamesAccepted', 'the initial names have been accepted', created),
        ],
  };
}

function isUsable(object: StoredObject): boolean {
  const spec = object['spec'];
  return (
    isRecord(spec) &&
    isRecord(spec['names']) &&
    typeof spec['names']['kind'] === 'string' &&
    Array.isArray(spec['versions'])
  );
}

/** A version in which objects may be stored must stay. */
function validateStoredVersions(object: StoredObject, old: StoredObject): FieldError[] {
  const { versions } = asCRD(object).spec;
  const stored = (old['status'] as { storedVersions?: string[] } | undefined)?.storedVersions ?? [];
  return stored.flatMap((name, i) =>
    versions.some((version) => version.name === name)
      ? []
      : [
          fieldErrors.invalid(
            `status.storedVersions[${i}]`,
            name,
            `missing from spec.versions; ${name} was previously a storage version, and must remain in spec.versions until a storage migration ensures no data remains persisted in ${name} and removes ${name} from status.storedVersions`,
          ),
        ],
  );
}

export const crdTraits: Partial<Traits> = {
  unconditionalUpdate: false,
  generation: true,
  defaults: (object) => {
    if (isUsable(object)) fillDefaults(asCRD(object).spec);
  },
  prepare: (object, old) => {
    if (isUsable(object)) fillStatus(object, old);
  },
  validatesMetadata: true,
  validate: (object, old) => {
    if (!isUsable(object)) {
      return [fieldErrors.required('spec', 'spec.names.kind and spec.versions must be given')];
    }
    if (old === undefined) return validateCRD(asCRD(object));
    return [...validateCRDUpdate(asCRD(object), asCRD(old)), ...validateStoredVersions(object, old)];
  },
  beginDelete: (object) => {
    const finalizers = object.metadata.finalizers ?? [];
    if (!finalizers.includes(CLEANUP_FINALIZER))
      object.metadata.finalizers = [...finalizers, CLEANUP_FINALIZER];
    const status = isRecord(object['status']) ? object['status'] : {};
    const conditions = Array.isArray(status['conditions']) ? status['conditions'] : [];
    object['status'] = {
      ...status,
      conditions: [
        ...conditions,
        condition(
          'Terminating',
          'InstanceDeletionPending',
          'CustomResourceDefinition marked for deletion; CustomResource deletion will begin soon',
          object.metadata.deletionTimestamp,
        ),
      ],
    };
  },
};

import type { StoredObject } from '../object.ts';
import { isDNS1123Label, isPathSegmentName } from '../schema/names.ts';
import { builtinDecoder } from './builtin-decode.ts';
import { crdTraits } from './crd-traits.ts';
import {
  coreFace,
  eventFields,
  eventZero,
  eventsStorage,
  newEventFields,
  newEventZero,
  newFace,
  prepareEvent,
  prepareNewEvent,
} from './events.ts';
import { validateEvent, validateNewEvent } from './validate-events.ts';
import { apiVersionOf, type Kind, kindId, type ServedVersion, type Traits } from './kind.ts';
import { namespaceTraits } from './namespace-traits.ts';
import {
  configMapTraits,
  prepareBinding,
  secretTraits,
  validateBinding,
  validateLease,
  validateRole,
} from './validate.ts';

interface Definition {
  group?: string;
  version?: string;
  kind: string;
  plural: string;
  shortNames?: string[];
  categories?: string[];
  cluster?: boolean;
  status?: boolean;
  selectable?: Record<string, (object: StoredObject) => string>;
  traits?: Partial<Traits>;
  storedAs?: Kind['storedAs'];
  otherFace?: Kind['otherFace'];
}

const DEFAULT_TRAITS: Traits = {
  unconditionalUpdate: true,
  createOnUpdate: false,
  generation: false,
  strategicMerge: true,
};

const text = (value: unknown): string => (typeof value === 'string' ? value : '');

const RBAC = 'rbac.authorization.k8s.io';
const rbacTraits: Partial<Traits> = { createOnUpdate: true, validateName: isPathSegmentName };

const DEFINITIONS: Definition[] = [
  {
    kind: 'Namespace',
    plural: 'namespaces',
    shortNames: ['ns'],
    cluster: true,
    status: true,
    selectable: {
      'status.phase': (object) => text((object['status'] as Record<string, unknown> | undefined)?.['phase']),
    },
    traits: { ...namespaceTraits, validateName: isDNS1123Label },
  },
  { kind: 'ConfigMap', plural: 'configmaps', shortNames: ['cm'], traits: configMapTraits },
  {
    kind: 'Secret',
    plural: 'secrets',
    selectable: { type: (object) => text(object['type']) },
    traits: secretTraits,
  },
  {
    kind: 'ServiceAccount',
    plural: 'serviceaccounts',
    shortNames: ['sa'],
    traits: { unconditionalUpdate: false },
  },
  {
    kind: 'Event',
    plural: 'events',
    shortNames: ['ev'],
    selectable: eventFields,
    traits: { createOnUpdate: true, zero: eventZero, prepare: prepareEvent, validate: validateEvent },
    otherFace: newFace,
  },
  {
    group: 'events.k8s.io',
    kind: 'Event',
    plural: 'events',
    shortNames: ['ev'],
    selectable: newEventFields,
    traits: {
      createOnUpdate: true,
      zero: newEventZero,
      prepare: prepareNewEvent,
      validate: validateNewEvent,
    },
    storedAs: eventsStorage,
    otherFace: coreFace,
  },
  {
    group: 'coordination.k8s.io',
    kind: 'Lease',
    plural: 'leases',
    traits: { createOnUpdate: true, unconditionalUpdate: false, zero: { spec: {} }, validate: validateLease },
  },
  { group: RBAC, kind: 'Role', plural: 'roles', traits: { ...rbacTraits, validate: validateRole } },
  {
    group: RBAC,
    kind: 'RoleBinding',
    plural: 'rolebindings',
    traits: { ...rbacTraits, defaults: prepareBinding, validate: validateBinding },
  },
  {
    group: RBAC,
    kind: 'ClusterRole',
    plural: 'clusterroles',
    cluster: true,
    traits: { ...rbacTraits, validate: validateRole },
  },
  {
    group: RBAC,
    kind: 'ClusterRoleBinding',
    plural: 'clusterrolebindings',
    cluster: true,
    traits: { ...rbacTraits, defaults: prepareBinding, validate: validateBinding },
  },
  {
    group: 'apiextensions.k8s.io',
    kind: 'CustomResourceDefinition',
    plural: 'customresourcedefinitions',
    shortNames: ['crd', 'crds'],
    categories: ['api-extensions'],
    cluster: true,
    status: true,
    traits: crdTraits,
  },
];

/** The kinds that every server has. */
export function builtinKinds(): Kind[] {
  return DEFINITIONS.map((definition) => {
    const group = definition.group ?? '';
    const version: ServedVersion = {
      name: definition.version ?? 'v1',
      schema: undefined,
      decode: builtinDecoder(group, definition.version ?? 'v1', definition.kind),
      openAPI: undefined,
      columns: undefined,
      status: definition.status ?? false,
      selectable: new Map(Object.entries(definition.selectable ?? {})),
      deprecation: undefined,
    };
    return {
      id: kindId(group, definition.plural),
      group,
      kind: definition.kind,
      listKind: `${definition.kind}List`,
      plural: definition.plural,
      singular: definition.kind.toLowerCase(),
      shortNames: definition.shortNames ?? [],
      categories: definition.categories ?? [],
      namespaced: definition.cluster !== true,
      storageVersion: version.name,
      versions: new Map([[version.name, version]]),
      traits: { ...DEFAULT_TRAITS, ...definition.traits },
      crd: undefined,
      staleUntil: 0,
      ...(definition.storedAs === undefined ? {} : { storedAs: definition.storedAs }),
      ...(definition.otherFace === undefined ? {} : { otherFace: definition.otherFace }),
    };
  });
}

export const NAMESPACES = kindId('', 'namespaces');
export const CRDS = kindId('apiextensions.k8s.io', 'customresourcedefinitions');
export const RBAC_IDS: ReadonlySet<string> = new Set(
  ['roles', 'rolebindings', 'clusterroles', 'clusterrolebindings'].map((plural) => kindId(RBAC, plural)),
);
export const RBAC_API_VERSION = apiVersionOf(RBAC, 'v1');

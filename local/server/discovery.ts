import { createHash } from 'node:crypto';
import { REVIEWS } from '../auth/reviews.ts';
import { apiVersionOf, type Kind } from '../registry/kind.ts';
import type { Registry } from '../registry/registry.ts';

/** What kubectl learns the served kinds from: aggregated discovery, and the older documents. */

interface Subresource {
  name: string;
  verbs: readonly string[];
  /** Of another kind than its object. */
  kind?: { group: string; version: string; kind: string };
}

interface ResourceInfo {
  plural: string;
  singular: string;
  kind: string;
  namespaced: boolean;
  verbs: readonly string[];
  shortNames: readonly string[];
  categories: readonly string[];
  subresources: Subresource[];
  storageVersionHash?: string | undefined;
}

const VERBS = ['create', 'delete', 'deletecollection', 'get', 'list', 'patch', 'update', 'watch'];
/** In the order in which a kube-apiserver names them for custom kinds. */
const CUSTOM_VERBS = ['delete', 'deletecollection', 'get', 'list', 'patch', 'create', 'update', 'watch'];
const STATUS_VERBS = ['get', 'patch', 'update'];

type Groups = Map<string, Map<string, ResourceInfo[]>>;

function describe(kind: Kind, version: string): ResourceInfo {
  const subresources: Subresource[] = [];
  if (kind.plural === 'namespaces' && kind.group === '')
    subresources.push({ name: 'finalize', verbs: ['update'] });
  if (kind.plural === 'serviceaccounts' && kind.group === '')
    subresources.push({
      name: 'token',
      verbs: ['create'],
      kind: { group: 'authentication.k8s.io', version: 'v1', kind: 'TokenRequest' },
    });
  if (kind.versions.get(version)?.status === true) subresources.push({ name: 'status', verbs: STATUS_VERBS });
  return {
    plural: kind.plural,
    singular: kind.singular,
    kind: kind.kind,
    namespaced: kind.namespaced,
    verbs: kind.traits.verbs ?? (kind.crd === undefined ? VERBS : CUSTOM_VERBS),
    storageVersionHash: kind.crd === undefined ? undefined : storageVersionHash(kind),
    shortNames: kind.shortNames,
    categories: kind.categories,
    subresources,
  };
}

function storageVersionHash(kind: Kind): string {
  const name = `${kind.group}/${kind.storageVersion}/${kind.kind}`;
  return createHash('sha256').update(name).digest().subarray(0, 8).toString('base64');
}

/** group -> version (newest first) -> resources. */
function groupsOf(registry: Registry): Groups {
  const groups: Groups = new Map();
  const add = (group: string, version: string, info: ResourceInfo): void => {
    const versions = groups.get(group) ?? new Map<string, ResourceInfo[]>();
    groups.set(group, versions);
    versions.set(version, [...(versions.get(version) ?? []), info]);
  };
  for (const review of REVIEWS) {
    add(review.group, 'v1', {
      plural: review.plural,
      singular: review.kind.toLowerCase(),
      kind: review.kind,
      namespaced: review.namespaced,
      verbs: ['create'],
      shortNames: [],
      categories: [],
      subresources: [],
    });
  }
  for (const kind of registry.kinds()) {
    const names = [...kind.versions.keys()].sort(compareVersions);
    for (const version of names) add(kind.group, version, describe(kind, version));
  }
  return groups;
}

/** Kubernetes' order: stable before beta before alpha, newer first. */
function compareVersions(a: string, b: string): number {
  const rank = (name: string): [number, number, number] | undefined => {
    const match = /^v(\d+)(?:(alpha|beta)(\d+))?$/.exec(name);
    if (match === null) return undefined;
    const stage = match[2] === undefined ? 2 : match[2] === 'beta' ? 1 : 0;
    return [stage, Number(match[1]), Number(match[3] ?? 0)];
  };
  const [x, y] = [rank(a), rank(b)];
  if (x === undefined || y === undefined) return x === y ? (a < b ? -1 : 1) : x === undefined ? 1 : -1;
  for (const [i, value] of x.entries()) if (value !== y[i]) return (y[i] ?? 0) - value;
  return 0;
}

function aggregatedResource(group: string, version: string, info: ResourceInfo): unknown {
  const responseKind = { group, version: group === '' ? '' : version, kind: info.kind };
  return {
    resource: info.plural,
    responseKind,
    scope: info.namespaced ? 'Namespaced' : 'Cluster',
    singularResource: info.singular,
    verbs: info.verbs,
    ...(info.shortNames.length === 0 ? {} : { shortNames: info.shortNames }),
    ...(info.categories.length === 0 ? {} : { categories: info.categories }),
    ...(info.subresources.length === 0
      ? {}
      : {
          subresources: info.subresources.map(({ name, verbs, kind }) => ({
            subresource: name,
            responseKind: kind ?? responseKind,
            verbs,
          })),
        }),
  };
}

function plainResources(info: ResourceInfo): unknown[] {
  return [
    {
      name: info.plural,
      singularName: info.singular,
      namespaced: info.namespaced,
      kind: info.kind,
      verbs: info.verbs,
      ...(info.shortNames.length === 0 ? {} : { shortNames: info.shortNames }),
      ...(info.categories.length === 0 ? {} : { categories: info.categories }),
      ...(info.storageVersionHash === undefined ? {} : { storageVersionHash: info.storageVersionHash }),
    },
    ...info.subresources.map(({ name, verbs, kind }) => ({
      name: `${info.plural}/${name}`,
      singularName: '',
      namespaced: info.namespaced,
      ...(kind === undefined ? {} : { group: kind.group, version: kind.version }),
      kind: kind?.kind ?? info.kind,
      verbs,
    })),
  ];
}

function groupDocument(group: string, versions: readonly string[]): Record<string, unknown> {
  const all = versions.map((version) => ({ groupVersion: apiVersionOf(group, version), version }));
  return { name: group, versions: all, preferredVersion: all[0] };
}

/** The discovery documents of the kinds that are served now, kept until those change. */
export class Discovery {
  readonly #registry: Registry;
  #groups: Groups = new Map();
  #revision = -1;

  constructor(registry: Registry) {
    this.#registry = registry;
  }

  /** The answer to a path, or undefined where nothing is. */
  document(path: string, accept: string): { body: string; contentType: string } | undefined {
    const parts = path.split('/').filter((part) => part !== '');
    if (parts.length === 1 && accept.includes('as=APIGroupDiscoveryList') && accept.includes('v=v2')) {
      return {
        body: JSON.stringify(this.#aggregated(parts[0] === 'api')),
        contentType: 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList',
      };
    }
    const value = parts[0] === 'api' ? this.#core(parts) : this.#named(parts);
    return value === undefined ? undefined : { body: JSON.stringify(value), contentType: 'application/json' };
  }

  /** Names of the served groups and versions: `v1`, `example.com/v1`. */
  groupVersions(): string[] {
    return [...this.#current()].flatMap(([group, versions]) =>
      [...versions.keys()].map((version) => apiVersionOf(group, version)),
    );
  }

  #current(): Groups {
    if (this.#revision !== this.#registry.revision) {
      this.#revision = this.#registry.revision;
      this.#groups = groupsOf(this.#registry);
    }
    return this.#groups;
  }

  #aggregated(core: boolean): unknown {
    const groups = [...this.#current()].filter(([group]) => (group === '') === core);
    return {
      kind: 'APIGroupDiscoveryList',
      apiVersion: 'apidiscovery.k8s.io/v2',
      metadata: {},
      items: groups.map(([group, versions]) => ({
        metadata: group === '' ? {} : { name: group },
        versions: [...versions].map(([version, resources]) => ({
          version,
          freshness: 'Current',
          resources: resources
            .toSorted((a, b) => (a.plural < b.plural ? -1 : 1))
            .map((info) => aggregatedResource(group, version, info)),
        })),
      })),
    };
  }

  #core(parts: string[]): unknown {
    if (parts.length === 1) {
      return { kind: 'APIVersions', versions: ['v1'], serverAddressByClientCIDRs: [] };
    }
    return parts.length === 2 ? this.#resources('', parts[1] ?? '') : undefined;
  }

  #named(parts: string[]): unknown {
    const groups = this.#current();
    if (parts.length === 1) {
      const named = [...groups].filter(([group]) => group !== '');
      return {
        kind: 'APIGroupList',
        apiVersion: 'v1',
        groups: named.map(([group, versions]) => groupDocument(group, [...versions.keys()])),
      };
    }
    const group = parts[1] ?? '';
    const versions = groups.get(group);
    if (versions === undefined || group === '') return undefined;
    if (parts.length === 2)
      return { kind: 'APIGroup', apiVersion: 'v1', ...groupDocument(group, [...versions.keys()]) };
    return parts.length === 3 ? this.#resources(group, parts[2] ?? '') : undefined;
  }

  #resources(group: string, version: string): unknown {
    const resources = this.#current().get(group)?.get(version);
    if (resources === undefined) return undefined;
    return {
      kind: 'APIResourceList',
      apiVersion: 'v1',
      groupVersion: apiVersionOf(group, version),
      resources: resources.flatMap(plainResources),
    };
  }
}

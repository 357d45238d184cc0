import { ALL_VERBS, type OpenAPIResource, reviewResources } from '../openapi/resources.ts';
import type { Kind, ServedVersion } from '../registry/kind.ts';
import type { Registry } from '../registry/registry.ts';

const PREFIX = '/openapi/v3';

/**
 * The OpenAPI v3 documents that `kubectl explain` and `kubectl apply` read. They are made when they are asked
 * for, and what they are made with is loaded then: clients keep them, so that is seldom.
 */
export class OpenAPI {
  readonly #registry: Registry;

  constructor(registry: Registry) {
    this.#registry = registry;
  }

  /** The answer to a path below /openapi/v3; undefined where nothing is. */
  async document(path: string): Promise<{ body: string; contentType: string } | undefined> {
    const { openAPIDocument, openAPIRoot } = await import('../openapi/documents.ts');
    const served = this.#registry
      .kinds()
      .flatMap((kind) => [...kind.versions.values()].map((version) => describe(kind, version)));
    const resources = [...served, ...reviewResources];
    const rest = path.slice(PREFIX.length).replace(/^\/|\/$/g, '');
    const value = rest === '' ? openAPIRoot(resources) : openAPIDocument(rest, resources);
    return value === undefined ? undefined : { body: JSON.stringify(value), contentType: 'application/json' };
  }
}

function describe(kind: Kind, version: ServedVersion): OpenAPIResource {
  return {
    group: kind.group,
    version: version.name,
    kind: kind.kind,
    listKind: kind.listKind,
    plural: kind.plural,
    namespaced: kind.namespaced,
    verbs: ALL_VERBS,
    status: version.status,
    ...(version.openAPI === undefined ? {} : { schema: version.openAPI }),
    ...(kind.crd === undefined
      ? {}
      : { selectableFields: [...version.selectable.keys()].map((path) => `.${path}`) }),
  };
}

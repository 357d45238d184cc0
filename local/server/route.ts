import type { Attributes } from '../auth/rbac.ts';

/** A path below /api or /apis that names a resource, taken apart. */
export interface ResourceRoute {
  group: string;
  version: string;
  plural: string;
  namespace: string | undefined;
  name: string | undefined;
  subresource: string | undefined;
  /** By the old paths: /api/v1/watch/... */
  watch: boolean;
}

/** Undefined: the path names no resource (discovery, health, nothing). Throws URIError for a broken escape. */
export function resourceRoute(path: string): ResourceRoute | undefined {
  const parts = decodeURIComponent(path).split('/').slice(1);
  if (parts.at(-1) === '') parts.pop();
  const [root, ...rest] = parts;
  let group = '';
  if (root === 'apis') group = rest.shift() ?? '';
  else if (root !== 'api') return undefined;
  const version = rest.shift();
  if (version === undefined || rest.length === 0 || rest.includes('')) return undefined;
  const watch = rest[0] === 'watch' && rest.length > 1;
  if (watch) rest.shift();
  let namespace: string | undefined;
  // `namespaces/NAME` and its own subresources are the namespace itself.
  const inNamespace =
    rest[0] === 'namespaces' &&
    rest.length > 2 &&
    !(group === '' && NAMESPACE_SUBRESOURCES.has(rest[2] ?? ''));
  if (inNamespace) {
    namespace = rest[1];
    rest.splice(0, 2);
  }
  const [plural, name, subresource, ...more] = rest;
  if (plural === undefined || more.length > 0) return undefined;
  return { group, version, plural, namespace, name, subresource, watch };
}

const NAMESPACE_SUBRESOURCES = new Set(['status', 'finalize']);

export type Verb = 'get' | 'list' | 'watch' | 'create' | 'update' | 'patch' | 'delete' | 'deletecollection';

/** The verb of a request for a resource; undefined for a method that resources do not have. */
export function verbOf(method: string, named: boolean, watch: boolean): Verb | undefined {
  switch (method) {
    case 'GET':
    case 'HEAD':
      if (watch) return 'watch';
      return named ? 'get' : 'list';
    case 'POST':
      return 'create';
    case 'PUT':
      return 'update';
    case 'PATCH':
      return 'patch';
    case 'DELETE':
      return named ? 'delete' : 'deletecollection';
    default:
      return undefined;
  }
}

/** What the request needs the right to. */
export function attributesOf(route: ResourceRoute, verb: Verb, selectedName: string | undefined): Attributes {
  const isNamespace = route.group === '' && route.plural === 'namespaces';
  return {
    verb,
    group: route.group,
    resource: route.plural,
    subresource: route.subresource ?? '',
    namespace: route.namespace ?? (isNamespace ? (route.name ?? '') : ''),
    name: route.name ?? selectedName ?? '',
  };
}

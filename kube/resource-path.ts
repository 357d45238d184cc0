import type { ObjectRef, Resource } from './client.ts';

/** The path of a collection: all namespaces without one. */
export function collectionPath(resource: Resource, namespace?: string): string {
  const base =
    resource.group === ''
      ? `/api/${resource.version}`
      : `/apis/${segment('group', resource.group)}/${resource.version}`;
  const inside =
    resource.namespaced && namespace !== undefined ? `/namespaces/${segment('namespace', namespace)}` : '';
  return `${base}${inside}/${resource.plural}`;
}

/** The path of one object, or of a subresource of it. */
export function objectPath(resource: Resource, ref: ObjectRef, subresource?: string): string {
  if (resource.namespaced && ref.namespace === undefined) {
    throw new TypeError(`${resource.plural} are namespaced: a namespace is needed for "${ref.name}"`);
  }
  const path = `${collectionPath(resource, ref.namespace)}/${segment('name', ref.name)}`;
  return subresource === undefined ? path : `${path}/${subresource}`;
}

/** An empty name would address the collection, `..` another one, a slash a subresource. */
function segment(what: string, value: string): string {
  if (value === '' || value === '.' || value === '..' || /[/%]/.test(value)) {
    throw new TypeError(`not a ${what}: "${value}"`);
  }
  return encodeURIComponent(value);
}

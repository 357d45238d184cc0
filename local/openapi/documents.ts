import { createHash } from 'node:crypto';
import { components } from './components.ts';
import { resourcePaths } from './paths.ts';
import { documentPath, type OpenAPIResource } from './resources.ts';

/** What GET /openapi/v3 answers: a document for each served group version, with a hash that changes with it. */
export function openAPIRoot(resources: readonly OpenAPIResource[]): {
  paths: Record<string, { serverRelativeURL: string }>;
} {
  const paths: Record<string, { serverRelativeURL: string }> = {};
  for (const [path, members] of byDocument(resources)) {
    // Cheaper than the document itself, and it changes whenever the document does.
    const hash = createHash('sha256').update(JSON.stringify(members)).digest('hex').toUpperCase();
    paths[path] = { serverRelativeURL: `/openapi/v3/${path}?hash=${hash}` };
  }
  return { paths };
}

/** The document behind `path` (`api/v1`, `apis/GROUP/VERSION`); undefined where nothing is served. */
export function openAPIDocument(path: string, resources: readonly OpenAPIResource[]): object | undefined {
  const members = byDocument(resources).get(path);
  if (members === undefined) return undefined;
  const paths = Object.assign({}, ...members.map(resourcePaths)) as Record<string, object>;
  return {
    openapi: '3.0.0',
    info: { title: 'Kubernetes', version: 'unversioned' },
    paths: Object.fromEntries(Object.entries(paths).sort(([a], [b]) => (a < b ? -1 : 1))),
    components: { schemas: components(members) },
  };
}

function byDocument(resources: readonly OpenAPIResource[]): Map<string, OpenAPIResource[]> {
  const out = new Map<string, OpenAPIResource[]>();
  for (const resource of resources) {
    const path = documentPath(resource.group, resource.version);
    const list = out.get(path);
    if (list === undefined) out.set(path, [resource]);
    else list.push(resource);
  }
  return new Map([...out].sort(([a], [b]) => (a < b ? -1 : 1)));
}

/**
 * Writes local/openapi/builtin.generated.json: the schemas of the built-in kinds that the embedded API serves, as a
 * real kube-apiserver publishes them. Run by record.ts.
 */
import { writeFileSync } from 'node:fs';
import type { Server } from './client.ts';

const KINDS: Record<string, string[]> = {
  'api/v1': ['Namespace', 'Event', 'Secret', 'ConfigMap', 'ServiceAccount'],
  'apis/events.k8s.io/v1': ['Event'],
  'apis/coordination.k8s.io/v1': ['Lease'],
  'apis/rbac.authorization.k8s.io/v1': ['Role', 'RoleBinding', 'ClusterRole', 'ClusterRoleBinding'],
  'apis/apiextensions.k8s.io/v1': ['CustomResourceDefinition'],
  'apis/authorization.k8s.io/v1': [
    'SelfSubjectAccessReview',
    'SelfSubjectRulesReview',
    'SubjectAccessReview',
    'LocalSubjectAccessReview',
  ],
  'apis/authentication.k8s.io/v1': ['SelfSubjectReview', 'TokenReview'],
};

/** What every document has, beside its kinds. */
const SHARED = ['DeleteOptions', 'ObjectMeta', 'ListMeta', 'Status', 'Patch'].map(
  (name) => `io.k8s.apimachinery.pkg.apis.meta.v1.${name}`,
);

interface Schema {
  'x-kubernetes-group-version-kind'?: { group: string; version: string; kind: string }[];
  [key: string]: unknown;
}

export async function recordOpenAPI(server: Server, file: URL): Promise<void> {
  const schemas: Record<string, Schema> = {};
  const roots: Record<string, string> = {};
  for (const [path, kinds] of Object.entries(KINDS)) {
    const { body } = await server.request({ method: 'GET', path: `/openapi/v3/${path}` });
    const all = (body as { components: { schemas: Record<string, Schema> } }).components.schemas;
    const wanted = kinds.flatMap((kind) => [kind, `${kind}List`]);
    const names = Object.keys(all).filter((name) => {
      const own = (all[name]?.['x-kubernetes-group-version-kind'] ?? []).find((gvk) =>
        wanted.includes(gvk.kind),
      );
      if (own === undefined || name.includes('apimachinery')) return false;
      roots[`${own.group}/${own.version}/${own.kind}`] = name;
      return true;
    });
    collect([...names, ...SHARED], all, schemas);
  }
  const sorted = Object.fromEntries(Object.entries(schemas).sort(([a], [b]) => (a < b ? -1 : 1)));
  writeFileSync(file, `${JSON.stringify({ roots, schemas: sorted })}\n`);
}

function collect(names: string[], all: Record<string, Schema>, into: Record<string, Schema>): void {
  for (const name of names) {
    const schema = all[name];
    if (schema === undefined || Object.hasOwn(into, name)) continue;
    // Only the kinds that are served: the real server lists its options under every group it has.
    const { 'x-kubernetes-group-version-kind': gvks, ...rest } = schema;
    into[name] = name.includes('apimachinery') || gvks === undefined ? rest : schema;
    const refs = [...JSON.stringify(schema).matchAll(/"#\/components\/schemas\/([^"]+)"/g)];
    collect(
      refs.map((match) => match[1] ?? ''),
      all,
      into,
    );
  }
}

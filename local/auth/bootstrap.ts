import { randomUUID } from 'node:crypto';
import { type Clock, timestamp } from '../clock.ts';
import { objectKey, type StoredObject } from '../object.ts';
import { NAMESPACES, RBAC_API_VERSION } from '../registry/builtin.ts';
import { kindId } from '../registry/kind.ts';
import { SYSTEM_NAMESPACES } from '../registry/namespace-traits.ts';
import type { Store } from '../store/store.ts';
import { MASTERS } from './user.ts';

const RBAC = 'rbac.authorization.k8s.io';

interface Seed {
  id: string;
  object: StoredObject;
}

const META = {
  labels: { 'kubernetes.io/bootstrapping': 'rbac-defaults' },
  annotations: { 'rbac.authorization.kubernetes.io/autoupdate': 'true' },
};

function clusterRole(name: string, rules: Record<string, unknown>[]): Seed {
  return {
    id: kindId(RBAC, 'clusterroles'),
    object: { apiVersion: RBAC_API_VERSION, kind: 'ClusterRole', metadata: { name, ...META }, rules },
  };
}

function bind(name: string, groups: string[]): Seed {
  return {
    id: kindId(RBAC, 'clusterrolebindings'),
    object: {
      apiVersion: RBAC_API_VERSION,
      kind: 'ClusterRoleBinding',
      metadata: { name, ...META },
      subjects: groups.map((group) => ({ kind: 'Group', apiGroup: RBAC, name: group })),
      roleRef: { apiGroup: RBAC, kind: 'ClusterRole', name },
    },
  };
}

const DISCOVERY = ['/api', '/api/*', '/apis', '/apis/*', '/openapi', '/openapi/*'];
const PUBLIC = ['/healthz', '/livez', '/readyz', '/version', '/version/'];

function seeds(): Seed[] {
  return [
    ...SYSTEM_NAMESPACES.map((name) => ({
      id: NAMESPACES,
      object: {
        apiVersion: 'v1',
        kind: 'Namespace',
        metadata: { name, labels: { 'kubernetes.io/metadata.name': name } },
        spec: { finalizers: ['kubernetes'] },
        status: { phase: 'Active' },
      },
    })),
    clusterRole('cluster-admin', [
      { verbs: ['*'], apiGroups: ['*'], resources: ['*'] },
      { verbs: ['*'], nonResourceURLs: ['*'] },
    ]),
    bind('cluster-admin', [MASTERS]),
    clusterRole('system:discovery', [{ verbs: ['get'], nonResourceURLs: [...DISCOVERY, ...PUBLIC] }]),
    bind('system:discovery', ['system:authenticated']),
    clusterRole('system:basic-user', [
      {
        verbs: ['create'],
        apiGroups: ['authorization.k8s.io'],
        resources: ['selfsubjectaccessreviews', 'selfsubjectrulesreviews'],
      },
      { verbs: ['create'], apiGroups: ['authentication.k8s.io'], resources: ['selfsubjectreviews'] },
    ]),
    bind('system:basic-user', ['system:authenticated']),
    clusterRole('system:public-info-viewer', [{ verbs: ['get'], nonResourceURLs: PUBLIC }]),
    bind('system:public-info-viewer', ['system:authenticated', 'system:unauthenticated']),
  ];
}

/** The objects that every cluster has. Only what is missing is written, so a restart writes nothing. */
export async function bootstrap(store: Store, clock: Clock): Promise<void> {
  const missing = seeds().filter(
    ({ id, object }) => store.read(id, objectKey(undefined, object.metadata.name)) === undefined,
  );
  if (missing.length === 0) return;
  await store.write((tx) => {
    for (const { id, object } of missing) {
      object.metadata.uid = randomUUID();
      object.metadata.creationTimestamp = timestamp(clock.now());
      tx.put(id, object.metadata.name, object);
    }
  });
}

import { isRecord, type StoredObject } from '../object.ts';
import type { Traits } from './kind.ts';

/** Namespaces that cannot be deleted, and are there from the start. */
export const SYSTEM_NAMESPACES: readonly string[] = [
  'default',
  'kube-system',
  'kube-public',
  'kube-node-lease',
];
const PROTECTED = new Set(['default', 'kube-system', 'kube-public']);
const CONTENT_FINALIZER = 'kubernetes';

export function isTerminating(namespace: StoredObject): boolean {
  return namespace.metadata.deletionTimestamp !== undefined;
}

function contentFinalizers(namespace: StoredObject): string[] {
  const spec = namespace['spec'];
  return isRecord(spec) && Array.isArray(spec['finalizers']) ? (spec['finalizers'] as string[]) : [];
}

/** Its own finalizer is in the spec: it holds the namespace until everything in it is gone. */
export function dropContentFinalizer(namespace: StoredObject): void {
  const rest = contentFinalizers(namespace).filter((name) => name !== CONTENT_FINALIZER);
  namespace['spec'] = rest.length === 0 ? {} : { finalizers: rest };
}

export const namespaceTraits: Partial<Traits> = {
  verbs: ['create', 'delete', 'get', 'list', 'patch', 'update', 'watch'],
  defaults: (namespace) => {
    namespace.metadata.labels = {
      ...namespace.metadata.labels,
      'kubernetes.io/metadata.name': namespace.metadata.name,
    };
  },
  zero: { spec: {}, status: {} },
  prepare: (namespace, old) => {
    // The content finalizer is given once, and is taken by `finalize` or the namespace's own end only.
    if (old === undefined) {
      namespace['spec'] = { finalizers: [CONTENT_FINALIZER] };
      namespace['status'] = { phase: 'Active' };
    } else {
      if (old['spec'] === undefined) delete namespace['spec'];
      else namespace['spec'] = old['spec'];
    }
  },
  forbidDelete: (namespace) =>
    PROTECTED.has(namespace.metadata.name) ? 'this namespace may not be deleted' : undefined,
  beginDelete: (namespace) => {
    namespace['status'] = {
      ...(isRecord(namespace['status']) ? namespace['status'] : {}),
      phase: 'Terminating',
    };
  },
  heldBy: contentFinalizers,
};

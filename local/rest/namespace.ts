import type { StoredObject } from '../object.ts';
import { NAMESPACES } from '../registry/builtin.ts';
import { isTerminating } from '../registry/namespace-traits.ts';
import { type Call, groupResource } from './call.ts';
import { refuse } from './status.ts';

/** Refuses a creation in a namespace that is not there (404) or is being emptied (403). */
export function requireNamespace(
  call: Call,
  name: string,
  read: (resource: string, key: string) => StoredObject | undefined,
): void {
  if (!call.kind.namespaced || call.namespace === undefined) return;
  const namespace = read(NAMESPACES, call.namespace);
  if (namespace === undefined) throw refuse.notFound({ group: '', resource: 'namespaces' }, call.namespace);
  if (!isTerminating(namespace)) return;
  throw refuse.forbidden(
    groupResource(call),
    name,
    `unable to create new content in namespace ${call.namespace} because it is being terminated`,
    [
      {
        reason: 'NamespaceTerminating',
        message: `namespace ${call.namespace} is being terminated`,
        field: 'metadata.namespace',
      },
    ],
  );
}

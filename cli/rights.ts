import type { KubeClient, KubeObject, Resource } from '../kube/client.ts';
import { isForbidden } from '../kube/errors.ts';

const SELF_SUBJECT_ACCESS_REVIEWS: Resource = {
  group: 'authorization.k8s.io',
  version: 'v1',
  plural: 'selfsubjectaccessreviews',
  namespaced: false,
};

/** What one verb is needed on. */
export interface Right {
  verb: string;
  group: string;
  resource: string;
  subresource?: string;
  /** Absent: in all of them, or without one. */
  namespace?: string;
  /** Of this object alone. */
  name?: string;
}

const GROUP = 'holdfast.dev';
const SYSTEM = 'holdfast-system';

function rights(
  verbs: string,
  group: string,
  resource: string,
  more: Pick<Right, 'subresource' | 'namespace' | 'name'> = {},
): Right[] {
  return verbs.split(' ').map((verb) => ({ verb, group, resource, ...more }));
}

const status = { subresource: 'status' };
const ofSystem = { namespace: SYSTEM };

/** Without these it cannot do its work. */
export const CONTROLLER_RIGHTS: readonly Right[] = [
  ...rights('list watch patch delete', GROUP, 'sandboxes'),
  ...rights('update', GROUP, 'sandboxes', status),
  ...rights('list watch', GROUP, 'sandboxnodes'),
  ...rights('get list watch create', 'coordination.k8s.io', 'leases', ofSystem),
  ...rights('update', 'coordination.k8s.io', 'leases', { ...ofSystem, name: 'holdfast-controller' }),
  ...rights('create patch', '', 'events'),
];

export const AGENT_RIGHTS: readonly Right[] = [
  ...rights('get list watch', GROUP, 'sandboxes'),
  ...rights('update', GROUP, 'sandboxes', status),
  ...rights('get list watch create', GROUP, 'sandboxnodes'),
  ...rights('update', GROUP, 'sandboxnodes', status),
  ...rights('get create update', 'coordination.k8s.io', 'leases', ofSystem),
  ...rights('create patch', '', 'events'),
];

interface Review extends KubeObject {
  spec: { resourceAttributes: Record<string, string> };
  status?: { allowed?: boolean };
}

/** Those of the rights that this client does not have; where it may not even ask, none is said to be missing. */
export async function missingRights(
  client: KubeClient,
  wanted: readonly Right[],
  signal: AbortSignal,
): Promise<Right[]> {
  const allowed = await Promise.all(wanted.map((right) => isAllowed(client, right, signal)));
  return wanted.filter((_, index) => allowed[index] === false);
}

async function isAllowed(client: KubeClient, right: Right, signal: AbortSignal): Promise<boolean> {
  const { verb, group, resource, subresource, namespace, name } = right;
  const review: Review = {
    apiVersion: 'authorization.k8s.io/v1',
    kind: 'SelfSubjectAccessReview',
    metadata: {} as KubeObject['metadata'],
    spec: {
      resourceAttributes: {
        verb,
        group,
        resource,
        ...(subresource !== undefined && { subresource }),
        ...(namespace !== undefined && { namespace }),
        ...(name !== undefined && { name }),
      },
    },
  };
  try {
    const answer = await client.create<Review>(SELF_SUBJECT_ACCESS_REVIEWS, review, { signal });
    return answer.status?.allowed !== false;
  } catch (error) {
    if (isForbidden(error)) return true;
    throw error;
  }
}

/** `update sandboxes.holdfast.dev/status; get, create leases.coordination.k8s.io in holdfast-system`. */
export function describeRights(missing: readonly Right[]): string {
  const verbs = new Map<string, string[]>();
  for (const { verb, group, resource, subresource, namespace, name } of missing) {
    const what = `${resource}${group === '' ? '' : `.${group}`}${subresource === undefined ? '' : `/${subresource}`}`;
    const which = name === undefined ? what : `${what} "${name}"`;
    const where = namespace === undefined ? which : `${which} in ${namespace}`;
    verbs.set(where, [...(verbs.get(where) ?? []), verb]);
  }
  return [...verbs].map(([where, all]) => `${all.join(', ')} ${where}`).join('; ');
}

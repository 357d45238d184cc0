import type { Condition } from '../../crds/meta.ts';
import type { LimitCapability, NodeRuntime, SandboxNode, SandboxNodeSpec } from '../../crds/sandbox-node.ts';
import type { Sandbox, SandboxSpec, SandboxStatus } from '../../crds/sandbox.ts';
import type { Lease } from '../../kube/lease.ts';
import type { NodeView } from '../placement/types.ts';

/** For tests: objects with everything that a case does not speak of in order. */

const YES: LimitCapability = { enforced: 'Yes', reason: 'it has the controller' };

export function limitsAll(capability: LimitCapability = YES): NodeRuntime['limits'] {
  return { cpu: capability, memory: capability, swap: capability, pids: capability };
}

export function docker(change: Partial<NodeRuntime> = {}): NodeRuntime {
  return { name: 'docker', ready: true, cpus: 4, memoryBytes: 8 * 1024 ** 3, limits: limitsAll(), ...change };
}

export function condition(
  type: string,
  status: Condition['status'],
  reason: string,
  message = '',
): Condition {
  return { type, status, reason, message, lastTransitionTime: '2026-01-01T00:00:00Z' };
}

export function sandboxNode(
  name: string,
  change: {
    runtimes?: NodeRuntime[];
    spec?: Partial<SandboxNodeSpec>;
    labels?: Record<string, string>;
    conditions?: Condition[];
  } = {},
): SandboxNode {
  return {
    apiVersion: 'holdfast.dev/v1alpha1',
    kind: 'SandboxNode',
    metadata: { name, uid: `uid-${name}`, ...(change.labels && { labels: change.labels }) },
    spec: { maxSandboxes: 100, attestation: 'Enabled', ...change.spec },
    status: {
      runtimes: change.runtimes ?? [docker()],
      conditions: [...(change.conditions ?? []), condition('Ready', 'True', 'AsRequested')],
    },
  };
}

export function view(node: SandboxNode, change: Partial<NodeView> = {}): NodeView {
  return {
    node,
    heartbeat: 'Alive',
    load: { sandboxes: 0, cpuMillis: 0, memoryBytes: 0 },
    decline: undefined,
    ...change,
  };
}

export function sandboxSpec(change: Partial<SandboxSpec> = {}): SandboxSpec {
  return {
    image: 'busybox:1',
    terminationGracePeriodSeconds: 10,
    onNodeLoss: 'Keep',
    onDrift: 'Report',
    ...change,
  };
}

export function sandbox(
  name: string,
  change: {
    spec?: Partial<SandboxSpec>;
    status?: SandboxStatus;
    metadata?: Partial<Sandbox['metadata']>;
  } = {},
): Sandbox {
  return {
    apiVersion: 'holdfast.dev/v1alpha1',
    kind: 'Sandbox',
    metadata: {
      namespace: 'default',
      name,
      uid: `uid-${name}`,
      generation: 1,
      resourceVersion: '1',
      ...change.metadata,
    },
    spec: sandboxSpec(change.spec),
    ...(change.status && { status: change.status }),
  };
}

export function lease(node: string, renewTime: Date, change: Partial<Lease['spec']> = {}): Lease {
  return {
    apiVersion: 'coordination.k8s.io/v1',
    kind: 'Lease',
    metadata: { namespace: 'holdfast-system', name: node, uid: `lease-${node}` },
    spec: {
      holderIdentity: `agent-of-${node}`,
      leaseDurationSeconds: 40,
      renewTime: renewTime.toISOString().replace('Z', '000Z'),
      ...change,
    },
  };
}

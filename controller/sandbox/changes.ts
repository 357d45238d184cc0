import type { SandboxNode } from '../../crds/sandbox-node.ts';
import type { Sandbox } from '../../crds/sandbox.ts';

/**
 * Whether what is in view is older than what we wrote. Kubernetes' resourceVersions are numbers that grow (official
 * since v1.35); where they are something else, what is in view is believed.
 */
export function isBehind(sandbox: Sandbox, written: string): boolean {
  const seen = sandbox.metadata.resourceVersion;
  if (seen === undefined) return false;
  if (!/^[0-9]+$/.test(seen) || !/^[0-9]+$/.test(written)) return false;
  return BigInt(seen) < BigInt(written);
}

/** Whether a placement could come out otherwise, or be told otherwise; that it was asked again does not matter. */
export function mattersToPlacement(old: SandboxNode, node: SandboxNode): boolean {
  return relevant(old) !== relevant(node);
}

function relevant({ metadata, spec, status }: SandboxNode): string {
  return JSON.stringify([
    metadata.uid,
    metadata.labels,
    spec,
    status?.runtimes?.map((runtime) => ({ ...runtime, askedAt: undefined })),
    status?.conditions?.map(({ type, status, message }) => [type, status, message]),
  ]);
}

/**
 * Whether a node that declined may see it otherwise now. Words alone are no reason: a figure in a message that moves
 * would send a sandbox to and fro.
 */
export function mayChangeItsMind(old: SandboxNode, node: SandboxNode): boolean {
  return facts(old) !== facts(node);
}

function facts({ metadata, spec, status }: SandboxNode): string {
  return JSON.stringify([
    metadata.uid,
    spec,
    status?.agent?.instance,
    status?.runtimes?.map(({ name, ready, daemonID, memoryBytes, cpus, limits }) => [
      name,
      ready,
      daemonID,
      memoryBytes,
      cpus,
      ...[limits.cpu, limits.memory, limits.swap, limits.pids].map(({ enforced }) => enforced),
    ]),
    status?.conditions?.map(({ type, status }) => [type, status]),
  ]);
}

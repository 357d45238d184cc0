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

/** Whether a placement could come out otherwise for it; that it was asked again does not matter. */
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

import { FINALIZER } from '../../../crds/group.ts';
import type { Decision, Observation } from '../types.ts';
import { conditionOf } from '../pictures.ts';
import { isLost, lostStatus } from './lost.ts';

/** The finalizer goes when nothing of the sandbox can be anywhere any more (K3). */
export function deleting(seen: Observation): Decision | undefined {
  const { metadata } = seen.sandbox;
  if (metadata.deletionTimestamp === undefined) return undefined;
  if (metadata.finalizers?.includes(FINALIZER) !== true) {
    return { because: 'it is being deleted, and nothing of ours holds it' };
  }
  if (seen.home === undefined) {
    return { because: 'it is being deleted and was given to no node', act: 'RemoveFinalizer' };
  }
  if (conditionOf(seen, 'ContainerGone')?.status === 'True') {
    return { because: 'it is being deleted and its container is gone', act: 'RemoveFinalizer' };
  }
  if (seen.home.node === undefined && isLost(seen.home)) {
    return { because: 'it is being deleted, and its node was deleted and is silent', act: 'RemoveFinalizer' };
  }
  const lost = lostStatus(
    seen,
    `The deletion waits for the node to come back, or for the SandboxNode ${seen.home.name} to be deleted.`,
  );
  return { because: 'it is being deleted and its container may still be there', ...lost };
}

import type { SandboxStatus } from '../../../../crds/sandbox.ts';
import type { Decision, Observation } from '../types.ts';

/** Init has ended the sandbox by itself: written down before anything else is made of it. */
export function fenced(seen: Observation): Decision | undefined {
  if (seen.session?.fenced !== true || seen.record === undefined) return undefined;
  if (seen.record.fence?.fellAt !== undefined) return undefined;
  return { because: 'it has ended itself: no heartbeat had come', act: { do: 'note-fence' } };
}

/**
 * `onNodeLoss: Replace`: init ends the sandbox by itself when the node is lost. It is told so before any user code
 * begins, and the status says so before user code can rely on running: the controller places nothing anew without.
 * The other way round the status is taken back first.
 */
export function fencing(seen: Observation): Decision | undefined {
  const { session, sandbox, record } = seen;
  if (session === undefined || sandbox === undefined || session.fenced) return undefined;
  if (wantsFence(seen)) {
    if (!session.canFence || session.fenceSeconds !== undefined) return undefined;
    return { because: 'init has to end it by itself when the node is lost', act: { do: 'fence' } };
  }
  if (record?.fence === undefined && sandbox.status?.fenceSeconds === undefined) return undefined;
  return {
    because: 'it stays where it is when the node is lost',
    status: { conditions: [], unset: ['fenceSeconds'] },
    writeFirst: true,
    act: { do: 'lift-fence' },
  };
}

export function wantsFence(seen: Observation): boolean {
  return seen.sandbox?.spec.onNodeLoss === 'Replace';
}

export function fenceStatus({ session }: Observation): Pick<SandboxStatus, 'fenceSeconds'> {
  return session?.fenceSeconds === undefined ? {} : { fenceSeconds: session.fenceSeconds };
}

export function cannotFence(seen: Observation): string {
  if (!wantsFence(seen) || seen.session?.canFence !== false) return '';
  return ' Its init is of an earlier version and cannot end it by itself: when the node is lost it is not replaced.';
}

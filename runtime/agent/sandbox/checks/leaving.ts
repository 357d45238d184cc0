import { paint, together } from '../picture.ts';
import type { Decision, Observation } from '../types.ts';
import { context, hasBegun, isDeleting, isLive } from './facts.ts';

/** The sandbox is gone, is being deleted, or is somebody else's: what is here of it goes. */
export function leaving(seen: Observation): Decision | undefined {
  if (seen.sandbox === undefined) {
    if (seen.tornDown)
      return { because: 'the sandbox is gone and nothing of it is left', act: { do: 'forget' } };
    return { because: 'the sandbox is gone', act: { do: 'tear-down' } };
  }
  if (seen.sandbox.status?.nodeName !== seen.nodeName) {
    // Without container and record there may still be a workspace: made before the sandbox was handed back. What
    // becomes of the sandbox from now on is not heard here.
    if (seen.tornDown) {
      return { because: 'the sandbox is not bound to this node', act: { do: 'forget' } };
    }
    return { because: 'the sandbox is bound elsewhere', act: { do: 'tear-down' } };
  }
  if (!isDeleting(seen)) return undefined;
  const message = 'The sandbox is being deleted.';
  const working = paint({ is: 'Working', reason: 'Deleting', message, phase: 'Terminating' }, context(seen));
  if (seen.tornDown) {
    return {
      because: 'the sandbox is being deleted and nothing of it is left',
      status: together(working, {
        conditions: [
          {
            type: 'ContainerGone',
            status: 'True',
            reason: 'ContainerRemoved',
            message: 'The container and its volumes are gone.',
          },
        ],
      }),
    };
  }
  if (seen.runtime.state === 'Unavailable' && seen.container === undefined) {
    return {
      because: 'the runtime cannot be asked whether the container is gone',
      status: together(working, {
        conditions: [
          {
            type: 'ContainerGone',
            status: 'Unknown',
            reason: 'RuntimeUnavailable',
            message: `The runtime does not answer: ${seen.runtime.message}`,
          },
        ],
      }),
      againMs: 5000,
    };
  }
  if (isLive(seen) && hasBegun(seen.record) && seen.record?.stop === undefined) {
    // Not told yet: most end at once, and then the next write says that the container is gone.
    return {
      because: 'the sandbox is being deleted and still runs',
      act: { do: 'stop', reason: 'Deleted' },
    };
  }
  // Nobody's code has begun: there is nothing to be gentle with.
  if (isLive(seen) && hasBegun(seen.record) && seen.record?.stop !== undefined) return undefined;
  return { because: 'the sandbox is being deleted', status: working, act: { do: 'tear-down' } };
}

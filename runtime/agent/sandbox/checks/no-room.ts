import { paint, together } from '../picture.ts';
import type { Decision, Observation, StatusChange } from '../types.ts';
import { context } from './facts.ts';

export function noRoomMessage(seen: Observation, lack: string): string {
  return `Node ${seen.nodeName} has no room for the limits of the spec: ${lack}.`;
}

/** Nothing of it runs: the controller knows every other node, and when one has room. */
export function declined(seen: Observation, lack: string, more?: StatusChange): Decision {
  const message = noRoomMessage(seen, lack);
  return {
    because: 'there is no room for the changed spec',
    status: together(more, paint({ is: 'Stalled', reason: 'NoRoom', message }, context(seen)), {
      conditions: [
        {
          type: 'Scheduled',
          status: 'False',
          reason: 'Declined',
          message: `Node ${seen.nodeName} handed the sandbox back: ${message}`.slice(0, 4096),
        },
      ],
    }),
    act: { do: 'hand-back' },
  };
}

import type { ConditionInput } from '../../../kube/conditions.ts';
import { hasErrors, limitsOf } from '../../../crds/limits.ts';
import { place } from '../../placement/place.ts';
import type { Placement } from '../../placement/types.ts';
import { conditionOf, stalled, statusWith, waiting } from '../pictures.ts';
import type { Decision, Observation } from '../types.ts';

/** Gives it to a node, or says why none can take it (K4, L9). */
export function placing(seen: Observation): Decision {
  const { spec } = seen.sandbox;
  const limits = limitsOf(spec);
  // `refused` has dealt with errors; an empty request would be placed without its limits.
  if (hasErrors(limits)) throw new Error('placing a sandbox whose limits are refused');
  const placement = place({ spec, limits }, seen.nodes);
  return placement.found ? bind(seen, placement) : pass(seen, placement);
}

function bind(seen: Observation, { node, runtime }: Extract<Placement, { found: true }>): Decision {
  const message = `Given to node ${node} (${runtime}).`;
  return {
    because: 'a node can take it',
    act: 'AddFinalizerAndBind',
    node,
    status: statusWith(seen, {
      phase: 'Pending',
      set: { nodeName: node, runtime },
      conditions: [
        { type: 'Scheduled', status: 'True', reason: 'Bound', message },
        {
          type: 'LimitUnenforceable',
          status: 'False',
          reason: 'Enforceable',
          message: `Node ${node} (${runtime}) can enforce every requested limit.`,
        },
        ...takenBack(seen, 'Bound', `${message} Its agent measures again.`),
        ...waiting(seen, 'Bound', `${message} Its agent has not begun yet.`),
      ],
    }),
    event: { type: 'Normal', reason: 'Scheduled', message },
  };
}

function pass(seen: Observation, placement: Extract<Placement, { found: false }>): Decision {
  const { reason, message, unenforceable } = placement;
  return {
    because: unenforceable ? 'no node can enforce its limits' : 'no node can take it now',
    status: statusWith(seen, {
      phase: unenforceable ? 'Stalled' : 'Pending',
      conditions: [
        { type: 'Scheduled', status: 'False', reason, message },
        ...enforceability(seen, placement),
        ...storage(seen, placement),
        ...(unenforceable ? stalled : waiting)(seen, reason, message),
      ],
    }),
    ...(conditionOf(seen, 'Scheduled')?.reason !== reason && {
      event: { type: 'Warning', reason: 'FailedScheduling', message },
    }),
    ...(seen.declinedForMs !== undefined && { afterMs: seen.declinedForMs }),
  };
}

function enforceability(
  seen: Observation,
  { enforceable, reason, message }: Extract<Placement, { found: false }>,
): ConditionInput[] {
  const type = 'LimitUnenforceable';
  if (enforceable === false) return [{ type, status: 'True', reason, message }];
  if (enforceable === true) {
    return [
      { type, status: 'False', reason: 'Enforceable', message: 'A node can enforce every requested limit.' },
    ];
  }
  // Nobody was there to ask, so an earlier answer no longer stands.
  if (conditionOf(seen, type) === undefined) return [];
  return [{ type, status: 'Unknown', reason, message: 'No node could be asked.' }];
}

/** S3: the agent has written it where it declined itself; a node whose verdict is known is not even asked. */
function storage(seen: Observation, { storageLow }: Extract<Placement, { found: false }>): ConditionInput[] {
  if (storageLow === undefined)
    return takenBack(seen, 'AsRequested', 'No node was passed over for its storage.');
  return [{ type: 'StorageReserveLow', status: 'True', reason: 'ReserveLow', message: storageLow }];
}

function takenBack(seen: Observation, reason: 'Bound' | 'AsRequested', message: string): ConditionInput[] {
  if (conditionOf(seen, 'StorageReserveLow')?.status !== 'True') return [];
  return [{ type: 'StorageReserveLow', status: 'False', reason, message }];
}

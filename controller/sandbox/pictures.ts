import type { Reason } from '../../crds/conditions.ts';
import { isRetained } from '../../crds/identity.ts';
import type { Condition } from '../../crds/meta.ts';
import type { SandboxStatus } from '../../crds/sandbox.ts';
import { type ConditionInput, removeCondition, setCondition } from '../../kube/conditions.ts';
import type { Observation } from './types.ts';

type Phase = NonNullable<SandboxStatus['phase']>;

const QUIET = 'Nothing is wrong.';

/** The whole of it stands once, in the condition that it is about. */
function brief(message: string): string {
  return message.length > 1024 ? `${message.slice(0, 1020)} ...` : message;
}

/** Waits for something that comes by itself. */
export function waiting(seen: Observation, reason: Reason, message: string): ConditionInput[] {
  return [
    { type: 'Ready', status: 'False', reason, message: brief(message) },
    { type: 'Reconciling', status: 'True', reason, message: brief(message) },
    { type: 'Stalled', status: 'False', reason: 'AsRequested', message: 'Nothing waits for a person.' },
    ...notFinished(seen),
    ...notSuspended(seen),
  ];
}

/** Waits for a person, or for the cause to go away. */
export function stalled(seen: Observation, reason: Reason, message: string): ConditionInput[] {
  return [
    { type: 'Ready', status: 'False', reason, message: brief(message) },
    { type: 'Reconciling', status: 'False', reason, message: brief(message) },
    { type: 'Stalled', status: 'True', reason, message },
    ...notFinished(seen),
    ...notSuspended(seen),
  ];
}

export function suspended(seen: Observation, message: string): ConditionInput[] {
  return [
    { type: 'Ready', status: 'False', reason: 'SuspendedByUser', message },
    { type: 'Suspended', status: 'True', reason: 'SuspendedByUser', message },
    { type: 'Reconciling', status: 'False', reason: 'AsRequested', message: QUIET },
    { type: 'Stalled', status: 'False', reason: 'AsRequested', message: QUIET },
    ...notFinished(seen),
  ];
}

function notFinished({ sandbox }: Observation): ConditionInput[] {
  if (isRetained(sandbox.spec)) return [];
  return [
    { type: 'Complete', status: 'False', reason: 'NotFinished', message: 'The command has not begun.' },
  ];
}

function notSuspended(seen: Observation): ConditionInput[] {
  if (conditionOf(seen, 'Suspended') === undefined) return [];
  return [{ type: 'Suspended', status: 'False', reason: 'Resumed', message: 'spec.suspend is false.' }];
}

export function conditionOf({ sandbox }: Observation, type: Condition['type']): Condition | undefined {
  return sandbox.status?.conditions?.find((condition) => condition.type === type);
}

/** The status with these conditions, a phase, and what else is given; what was there is left as it is. */
export function statusWith(
  { sandbox, now }: Observation,
  change: {
    conditions: readonly ConditionInput[];
    phase: Phase;
    without?: readonly ConditionInput['type'][];
    set?: Partial<SandboxStatus>;
  },
): SandboxStatus {
  const observedGeneration = sandbox.metadata.generation;
  let conditions = sandbox.status?.conditions ?? [];
  for (const input of change.conditions) {
    conditions = setCondition(conditions, input, { now, observedGeneration });
  }
  for (const type of change.without ?? []) conditions = removeCondition(conditions, type);
  return {
    ...sandbox.status,
    ...(observedGeneration !== undefined && { observedGeneration }),
    phase: change.phase,
    ...change.set,
    conditions,
  };
}

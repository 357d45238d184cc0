import type { Reason } from '../../../crds/conditions.ts';
import type { SandboxStatus } from '../../../crds/sandbox.ts';
import type { ConditionInput } from '../../../kube/conditions.ts';
import type { StatusChange } from './types.ts';

/**
 * The states a user can see, each with every condition that belongs to it, so that no two ever contradict each other.
 */
export type Picture =
  | { is: 'Working'; reason: Reason; message: string; phase?: 'Launching' | 'Pending' | 'Terminating' }
  | { is: 'Running'; message: string }
  | { is: 'Succeeded'; message: string }
  | { is: 'Failed'; message: string }
  | { is: 'Stalled'; reason: Reason; message: string; ended?: boolean }
  | { is: 'Suspended'; message: string; ended?: boolean }
  | { is: 'Impaired'; reason: Reason; message: string };

export interface PictureContext {
  retained: boolean;
  /** Whether the sandbox has been suspended before, so that its condition is to be taken back. */
  current: SandboxStatus | undefined;
}

const QUIET = 'Nothing is wrong.';

export function paint(picture: Picture, context: PictureContext): StatusChange {
  const conditions: ConditionInput[] = [];
  const say = (
    type: ConditionInput['type'],
    status: ConditionInput['status'],
    reason: Reason,
    message: string,
  ): void => {
    conditions.push({ type, status, reason, message });
  };
  const had = (type: ConditionInput['type']): boolean =>
    context.current?.conditions?.some((condition) => condition.type === type) ?? false;
  const calm = (): void => {
    say('Reconciling', 'False', 'AsRequested', QUIET);
    say('Stalled', 'False', 'AsRequested', QUIET);
  };
  const notFinished = (message: string): void => {
    if (!context.retained) say('Complete', 'False', 'NotFinished', message);
  };
  const notSuspended = (): void => {
    if (had('Suspended')) say('Suspended', 'False', 'Resumed', 'spec.suspend is false.');
  };

  switch (picture.is) {
    case 'Working':
      say('Ready', 'False', picture.reason, picture.message);
      say('Reconciling', 'True', picture.reason, picture.message);
      say('Stalled', 'False', 'AsRequested', QUIET);
      notFinished(picture.message);
      if (picture.reason !== 'Suspending' && picture.reason !== 'Deleting') notSuspended();
      return { conditions, set: { phase: picture.phase ?? 'Launching' } };
    case 'Running':
      say('Ready', 'True', 'Running', picture.message);
      calm();
      notFinished('The command runs.');
      notSuspended();
      return { conditions, set: { phase: 'Running' } };
    case 'Impaired':
      say('Ready', 'False', picture.reason, picture.message);
      calm();
      notFinished('The command has not ended.');
      notSuspended();
      return { conditions, set: { phase: 'Running' } };
    case 'Succeeded':
      say('Ready', 'True', 'Succeeded', picture.message);
      calm();
      say('Complete', 'True', 'Succeeded', picture.message);
      notSuspended();
      return { conditions, set: { phase: 'Succeeded' } };
    case 'Failed':
      say('Ready', 'False', 'Failed', picture.message);
      calm();
      say('Complete', 'True', 'Failed', picture.message);
      notSuspended();
      return { conditions, set: { phase: 'Failed' } };
    case 'Stalled':
      say('Ready', 'False', picture.reason, picture.message);
      say('Reconciling', 'False', picture.reason, picture.message);
      say('Stalled', 'True', picture.reason, picture.message);
      if (!context.retained) {
        if (picture.ended === true) say('Complete', 'True', 'Failed', picture.message);
        else say('Complete', 'False', picture.reason, picture.message);
      }
      notSuspended();
      return { conditions, set: { phase: 'Stalled' } };
    case 'Suspended':
      say('Ready', 'False', 'SuspendedByUser', picture.message);
      calm();
      say('Suspended', 'True', 'SuspendedByUser', picture.message);
      if (picture.ended === true) say('Complete', 'True', 'Failed', picture.message);
      else notFinished(picture.message);
      return { conditions, set: { phase: 'Suspended' } };
  }
}

/** One change after the other: of two that say something about a subject, the later counts. */
export function together(...changes: (StatusChange | undefined)[]): StatusChange {
  const conditions = new Map<string, ConditionInput>();
  let set: Partial<SandboxStatus> = {};
  const unset = new Set<keyof SandboxStatus>();
  for (const change of changes) {
    for (const condition of change?.conditions ?? []) conditions.set(condition.type, condition);
    set = { ...set, ...change?.set };
    for (const key of change?.unset ?? []) unset.add(key);
    for (const key of Object.keys(change?.set ?? {}) as (keyof SandboxStatus)[]) unset.delete(key);
  }
  return { conditions: [...conditions.values()], set, unset: [...unset] };
}

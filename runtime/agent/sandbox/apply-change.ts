import type { SandboxStatus } from '../../../crds/sandbox.ts';
import { type ConditionContext, setCondition } from '../../../kube/conditions.ts';
import type { StatusChange } from './types.ts';

/** The status with the change made; the old one stays as it is. */
export function applyChange(
  status: SandboxStatus | undefined,
  change: StatusChange,
  context: ConditionContext,
): SandboxStatus {
  const next: SandboxStatus = { ...status, ...change.set };
  for (const key of change.unset ?? []) Reflect.deleteProperty(next, key);
  let conditions = status?.conditions ?? [];
  for (const input of change.conditions) conditions = setCondition(conditions, input, context);
  next.conditions = conditions;
  if (context.observedGeneration !== undefined) next.observedGeneration = context.observedGeneration;
  return next;
}

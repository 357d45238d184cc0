import type { ConditionType, Reason } from '../crds/conditions.ts';
import type { Condition } from '../crds/meta.ts';

export interface ConditionInput {
  type: ConditionType;
  status: Condition['status'];
  reason: Reason;
  message?: string;
}

export interface ConditionContext {
  now: Date;
  /** `metadata.generation` of the spec that this was decided from. */
  observedGeneration: number | undefined;
}

/** Kubernetes' own bound on a condition's message. */
const LONGEST_MESSAGE = 32768;

/**
 * The one way to write a condition. The rules are those of cluster-api's setter:
 * - `lastTransitionTime` moves only when the status changes, whatever else does (else each pass is a write);
 * - what is equal stays as it is: then the very array that came in is returned;
 * - one entry a type, Ready first and the others by name, so that two writers give the same list;
 * - nothing that came in is changed.
 */
export function setCondition(
  conditions: readonly Condition[] | undefined,
  input: ConditionInput,
  context: ConditionContext,
): Condition[] {
  const before = conditions?.find((condition) => condition.type === input.type);
  const next: Condition = {
    type: input.type,
    status: input.status,
    ...(context.observedGeneration !== undefined && { observedGeneration: context.observedGeneration }),
    lastTransitionTime:
      before && before.status === input.status ? before.lastTransitionTime : timestamp(context.now),
    reason: input.reason,
    message: cut(input.message ?? ''),
  };
  if (conditions && before && same(before, next)) return conditions as Condition[];
  return [...(conditions ?? []).filter((condition) => condition.type !== input.type), next].sort(inOrder);
}

/** Takes a condition away; the same array when it was not there. */
export function removeCondition(
  conditions: readonly Condition[] | undefined,
  type: ConditionType,
): Condition[] {
  if (!conditions) return [];
  if (!conditions.some((condition) => condition.type === type)) return conditions as Condition[];
  return conditions.filter((condition) => condition.type !== type);
}

export function getCondition(
  conditions: readonly Condition[] | undefined,
  type: ConditionType,
): Condition | undefined {
  return conditions?.find((condition) => condition.type === type);
}

export function isTrue(conditions: readonly Condition[] | undefined, type: ConditionType): boolean {
  return getCondition(conditions, type)?.status === 'True';
}

/** RFC 3339 with whole seconds, as `metav1.Time` is kept: fractions would not survive a round trip. */
export function timestamp(time: Date): string {
  return `${time.toISOString().slice(0, 19)}Z`;
}

function same(a: Condition, b: Condition): boolean {
  return (
    a.status === b.status &&
    a.reason === b.reason &&
    a.message === b.message &&
    a.observedGeneration === b.observedGeneration
  );
}

function inOrder(a: Condition, b: Condition): number {
  if (a.type === b.type) return 0;
  if (a.type === 'Ready') return -1;
  if (b.type === 'Ready') return 1;
  return a.type < b.type ? -1 : 1;
}

function cut(message: string): string {
  return message.length <= LONGEST_MESSAGE ? message : `${message.slice(0, LONGEST_MESSAGE - 4)} ...`;
}

import type { Decision, Observation } from '../types.ts';

/** Init enforces the deadline while the agent is away: a changed one is told to it (K11). */
export function timeLimit(seen: Observation, launch: 'setup' | 'main'): Decision | undefined {
  const own = seen.record?.[launch];
  if (own === undefined || seen.session?.[launch]?.state !== 'running') return undefined;
  if (own.deadlineSeconds === seen.sandbox?.spec.activeDeadlineSeconds) return undefined;
  return { because: 'activeDeadlineSeconds changed', act: { do: 'time-limit', launch } };
}

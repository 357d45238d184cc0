import type { LedgerRecord } from '../../ledger/record.ts';
import type { Observation } from '../types.ts';

/** Small questions that several checks ask. */

export function isLive(seen: Observation): boolean {
  const state = seen.container?.state;
  return state === 'running' || state === 'paused' || state === 'restarting';
}

/** Whether user code of this attempt has begun, or may have. */
export function hasBegun(record: LedgerRecord | undefined): boolean {
  return record?.setup !== undefined || record?.main !== undefined;
}

export function setupDone(record: LedgerRecord | undefined): boolean {
  if (record === undefined) return false;
  return !record.hasSetup || record.setup?.exit?.exitCode === 0;
}

/** A retained sandbox is open for processes as soon as its setup is done and its receipt was written. */
export function isDeleting(seen: Observation): boolean {
  return seen.sandbox?.metadata.deletionTimestamp !== undefined;
}

export function graceMs(seen: Observation): number {
  return (seen.sandbox?.spec.terminationGracePeriodSeconds ?? 10) * 1000;
}

export function context(seen: Observation): {
  retained: boolean;
  current: NonNullable<Observation['sandbox']>['status'];
} {
  return {
    retained: seen.record?.retained ?? seen.spec?.retained ?? false,
    current: seen.sandbox?.status,
  };
}

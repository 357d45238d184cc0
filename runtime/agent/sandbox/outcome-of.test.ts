import { describe, expect, it } from 'vitest';
import type { Termination } from '../../../crds/limits-status.ts';
import type { LedgerRecord, Outcome } from '../ledger/record.ts';
import { outcomeOf } from './outcome-of.ts';

type Cause = Termination['cause'];
const ended = (
  what: { retained?: boolean; hasSetup?: boolean; setupDone?: boolean },
  cause: Cause,
  more: Partial<Termination> = {},
): Outcome['ended'] =>
  outcomeOf(
    {
      retained: what.retained ?? false,
      hasSetup: what.hasSetup ?? false,
      ...(what.setupDone === true ? { setup: { intendedAt: '', start: 1, exit: { exitCode: 0 } } } : {}),
    } as LedgerRecord,
    { launch: 'Main', cause, verdict: 'Confirmed', message: '', evidence: [], finishedAt: '', ...more },
  );

describe('what an end means', () => {
  it.each<[Cause, Partial<Termination>, Outcome['ended']]>([
    ['Exited', { exitCode: 0 }, 'Succeeded'],
    ['Exited', { exitCode: 1 }, 'Failed'],
    ['Exited', { exitCode: 137 }, 'Failed'],
    ['OOMKilled', {}, 'Stalled'],
    ['AncestorOOMKilled', {}, 'Failed'],
    ['KilledFromOutside', {}, 'Failed'],
    ['RuntimeRestarted', {}, 'Stalled'],
    ['ContainerLost', {}, 'Stalled'],
    ['CommandNotFound', {}, 'Stalled'],
    ['Deadline', {}, 'Failed'],
    ['Suspended', {}, 'Failed'],
    ['Unknown', {}, 'Failed'],
  ])('[K10] [O4] of a command: %s %o is %s', (cause, more, expected) => {
    expect(ended({}, cause, more)).toBe(expected);
  });

  it.each<[Cause, Outcome['ended']]>([
    ['OOMKilled', 'Stalled'],
    ['KilledFromOutside', 'Restart'],
    ['RuntimeRestarted', 'Restart'],
    ['ContainerLost', 'Anew'],
    ['Suspended', 'Stopped'],
    ['Deadline', 'Stalled'],
    ['Unknown', 'Stalled'],
    ['Exited', 'Stalled'],
  ])('[K10] of a retained sandbox: %s is %s', (cause, expected) => {
    expect(ended({ retained: true }, cause)).toBe(expected);
  });

  it('[K10] of a retained sandbox whose setup may not have ended is a new container', () => {
    const launch = { launch: 'Setup' as const };
    expect(ended({ retained: true, hasSetup: true }, 'RuntimeRestarted', launch)).toBe('Anew');
    expect(ended({ retained: true, hasSetup: true, setupDone: true }, 'RuntimeRestarted')).toBe('Restart');
  });

  it.each<Cause>([
    'Exited',
    'OOMKilled',
    'Timeout',
    'AncestorOOMKilled',
    'KilledFromOutside',
    'RuntimeRestarted',
  ])('[O11] of setup: %s stops the sandbox', (cause) => {
    expect(ended({ hasSetup: true }, cause, { launch: 'Setup', exitCode: 1 })).toBe('Stalled');
  });

  const DONE = { hasSetup: true, setupDone: true };
  const table: Record<
    Exclude<Cause, 'Exited'>,
    [job: string, setup: string, kept: string, keptSetup: string]
  > = {
    OOMKilled: ['Stalled', 'Stalled', 'Stalled', 'Stalled'],
    CommandNotFound: ['Stalled', 'Stalled', 'Stalled', 'Stalled'],
    CommandNotExecutable: ['Stalled', 'Stalled', 'Stalled', 'Stalled'],
    StartFailed: ['Stalled', 'Stalled', 'Stalled', 'Stalled'],
    LimitsUnproven: ['Stalled', 'Stalled', 'Stopped', 'Stopped'],
    RuntimeRestarted: ['Stalled', 'Stalled', 'Restart', 'Anew'],
    KilledFromOutside: ['Failed', 'Stalled', 'Restart', 'Anew'],
    AncestorOOMKilled: ['Failed', 'Stalled', 'Restart', 'Anew'],
    NodeLost: ['Anew', 'Anew', 'Restart', 'Anew'],
    ContainerLost: ['Stalled', 'Stalled', 'Anew', 'Anew'],
    Suspended: ['Failed', 'Failed', 'Stopped', 'Stopped'],
    Stopped: ['Failed', 'Failed', 'Stopped', 'Stopped'],
    Deadline: ['Failed', 'Stalled', 'Stalled', 'Stalled'],
    Timeout: ['Failed', 'Stalled', 'Stalled', 'Stalled'],
    Deleted: ['Stopped', 'Stopped', 'Stopped', 'Stopped'],
    Drained: ['Stopped', 'Stopped', 'Stopped', 'Stopped'],
    Replaced: ['Stopped', 'Stopped', 'Stopped', 'Stopped'],
    Unknown: ['Failed', 'Stalled', 'Stalled', 'Stalled'],
  };
  it.each(Object.entries(table))('[K10] of each kind of launch: %s is %s', (cause, expected) => {
    const setup = { launch: 'Setup' as const };
    expect([
      ended(DONE, cause as Cause),
      ended({ hasSetup: true }, cause as Cause, setup),
      ended({ ...DONE, retained: true }, cause as Cause),
      ended({ hasSetup: true, retained: true }, cause as Cause, setup),
    ]).toEqual(expected);
  });
});

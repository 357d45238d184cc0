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
});

import { describe, expect, it } from 'vitest';
import type { ProcessExit } from '../../../link/types.ts';
import { judge } from '../../../verdict/judge.ts';
import type { LedgerRecord } from '../../ledger/record.ts';
import type { ActContext } from './context.ts';
import { evidenceOf } from './evidence.ts';

const exit: ProcessExit = {
  exitCode: 0,
  signal: undefined,
  coreDumped: false,
  startedAtBootMs: 1,
  endedAtBootMs: 2,
  maxRssBytes: 0,
  userMicros: 0,
  systemMicros: 0,
  endedBy: 'outside',
  outside: { signal: 15, atBootMs: 2 },
};

function context(main: LedgerRecord['main'], stop?: LedgerRecord['stop']): ActContext {
  const record: LedgerRecord = {
    version: 1,
    uid: 'u1',
    namespace: 'default',
    name: 's',
    runtime: 'docker',
    specHash: '',
    limitsHash: '',
    generation: 1,
    retained: false,
    hasSetup: false,
    limits: { memoryBytes: 64 * 1024 * 1024, pidsDefaulted: true, swapHeld: false },
    starts: 1,
    ...(main && { main }),
    ...(stop && { stop }),
  };
  return { run: { record, events: [] }, seen: { container: undefined } } as unknown as ActContext;
}

describe('what the agent has on an end, in the terms of the judge', () => {
  const at = (second: number): string => `2026-01-01T00:00:${String(second).padStart(2, '0')}.000Z`;
  const launch = { intendedAt: at(0), start: 1, startedAt: at(1), exit };

  it('[O9] [O10] [K10] a stop that went through the runtime is ours, though the program ended with 0 and init calls it outside', () => {
    const stop = { reason: 'Suspended' as const, at: at(5), signals: ['SIGTERM'] };
    const evidence = evidenceOf(context({ ...launch, endedAt: at(6) }, stop), 'Main', {
      held: true,
      askedForMs: 0,
    });
    expect(evidence).toMatchObject({
      report: { exitCode: 0, endedBy: 'outside', outside: { signal: 15 } },
      reportedAt: at(6),
      limits: { swap: 'Unbounded' },
      stop,
    });
    expect(judge(evidence).cause).toBe('Suspended');
  });

  it('[O9] a stop that was written down after the end had been reported is not', () => {
    const stop = { reason: 'Suspended' as const, at: at(7), signals: ['SIGTERM'] };
    const evidence = evidenceOf(context({ ...launch, endedAt: at(6) }, stop), 'Main', {
      held: true,
      askedForMs: 0,
    });
    expect(judge(evidence)).toMatchObject({ cause: 'Exited', exitCode: 0 });
  });

  it('without a report the end has no time of ours', () => {
    const { exit: _exit, ...unreported } = launch;
    const evidence = evidenceOf(context({ ...unreported, endedAt: at(6) }), 'Main', {
      held: false,
      askedForMs: 0,
    });
    expect(evidence.report).toBeUndefined();
    expect(evidence.reportedAt).toBeUndefined();
  });
});

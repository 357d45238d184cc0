import { describe, expect, it } from 'vitest';
import type { Evidence, Verdict } from './evidence.ts';
import { fixtureEvidence, readRepeat, readScenario, type RecordedRepeat } from './fixture-evidence.ts';
import { judge } from './judge.ts';

type Expected = [cause: Verdict['cause'], verdict: Verdict['verdict'], oom: 'Confirmed' | undefined];

/** What a launch without our init, judged afterwards from the daemon's own answers, comes to. */
const cases: Record<string, [says: string, expected: Expected]> = {
  'main-oom': [
    '[O4] [O6] a main process killed by the limit is OOMKilled',
    ['OOMKilled', 'Confirmed', 'Confirmed'],
  ],
  'child-oom-exit-0': [
    '[O5] a main process that got past the kill of a child keeps exit 0',
    ['Exited', 'Confirmed', 'Confirmed'],
  ],
  'child-oom-exit-137': [
    '[O4] a main process that fails with its child is OOMKilled',
    ['OOMKilled', 'Confirmed', 'Confirmed'],
  ],
  'exec-oom': [
    '[O9] a container killed through the API was killed from outside, though an exec was OOM-killed before',
    ['KilledFromOutside', 'Confirmed', 'Confirmed'],
  ],
  'kill-api': [
    '[O9] a container killed through the API was killed from outside',
    ['KilledFromOutside', 'Confirmed', undefined],
  ],
  'exit-137-no-limit': [
    '[O9] exit 137 without a limit is no OOM kill',
    ['Unknown', 'Unconfirmed', undefined],
  ],
  'pids-limit': [
    'a process limit that was reached is no death by memory',
    ['Exited', 'Confirmed', undefined],
  ],
  'stop-ignores-term': [
    '[O9] a docker stop of somebody else is a kill from outside',
    ['KilledFromOutside', 'Confirmed', undefined],
  ],
  'all-limits': [
    '[O5] exit 0 after the kill of a child, under every limit, is kept',
    ['Exited', 'Confirmed', 'Confirmed'],
  ],
};

/** Named apart from the daemons: these are recordings, not the daemons themselves. */
const RECORDINGS = [
  ['Docker 20.10 on cgroup v1', 'docker-v1'],
  ['Docker 20.10 on cgroup v2', 'docker-v2'],
  ['Docker 26 on cgroup v2', 'docker26-v2'],
] as const;

describe.each(RECORDINGS)('recorded from %s', (_name, config) => {
  it.each(Object.entries(cases).map(([scenario, [says, expected]]) => ({ scenario, says, expected })))(
    '$says ($scenario)',
    ({ scenario, expected }) => {
      const verdict = judge(fixtureEvidence(readScenario(config, scenario)));
      expect([verdict.cause, verdict.verdict, verdict.oom?.verdict]).toEqual(expected);
    },
  );

  it('[O9] a stop of ours that ended in SIGKILL is that stop', () => {
    const evidence: Evidence = {
      ...fixtureEvidence(readScenario(config, 'stop-ignores-term')),
      stop: { reason: 'Suspended', at: '2026-11-30T15:30:00Z', signals: ['SIGTERM', 'SIGKILL'] },
    };
    expect(judge(evidence)).toMatchObject({ cause: 'Suspended', verdict: 'Confirmed', check: 'our-stop' });
  });

  it('[O9] our kill after the OOM kill of an exec is our stop, and the OOM kill is recorded', () => {
    const evidence: Evidence = {
      ...fixtureEvidence(readScenario(config, 'exec-oom')),
      stop: { reason: 'Deleted', at: '2026-11-30T15:30:00Z', signals: ['SIGKILL'] },
    };
    expect(judge(evidence)).toMatchObject({ cause: 'Deleted', oom: { verdict: 'Confirmed' } });
  });
});

describe('where the parent cgroup outlives the container', () => {
  it.each(RECORDINGS.slice(1))(
    '[O9] %s: SIGKILL from outside is not taken for the limit: the counters did not move',
    (_name, config) => {
      const evidence = fixtureEvidence(readScenario(config, 'kill-pid'));
      expect(judge(evidence)).toMatchObject({ cause: 'Unknown', exitCode: 137 });
      const seenByInit = judge({
        ...evidence,
        report: { exitCode: undefined, signal: 9, endedBy: 'itself' },
      });
      expect(seenByInit).toMatchObject({
        cause: 'KilledFromOutside',
        verdict: 'Confirmed',
        signal: 'SIGKILL',
      });
    },
  );

  it.each(RECORDINGS.slice(1))('[O9] %s: a program that exits 137 itself exited', (_name, config) => {
    const evidence = fixtureEvidence(readScenario(config, 'exit-137-limit'));
    const verdict = judge({ ...evidence, report: { exitCode: 137, signal: undefined, endedBy: 'itself' } });
    expect(verdict).toMatchObject({ cause: 'Exited', verdict: 'Confirmed', exitCode: 137 });
    expect(verdict.oom).toBeUndefined();
  });
});

describe('where no counter outlives the container', () => {
  it.each(['kill-pid', 'exit-137-limit'])('[O8] on cgroup v1 %s is an unconfirmed kill', (scenario) => {
    const evidence = fixtureEvidence(readScenario('docker-v1', scenario));
    const verdict = judge(evidence);
    expect(verdict).toMatchObject({ cause: 'OOMKilled', verdict: 'Unconfirmed', exitCode: 137 });
    expect(verdict.message).toContain('did not confirm');
  });

  it('[O9] the same with what init saw and the cgroup held is decided', () => {
    const recorded = fixtureEvidence(readScenario('docker-v1', 'exit-137-limit'));
    const held: Evidence = {
      ...recorded,
      kernel: { ...recorded.kernel, held: true },
      report: { exitCode: 137, signal: undefined, endedBy: 'itself' },
    };
    expect(judge(held)).toMatchObject({ cause: 'Exited', verdict: 'Confirmed', exitCode: 137 });
  });
});

describe('limits that were dropped or are partly held', () => {
  it('[L4] dockerd in the root cgroup: the message says that swap is unbounded', () => {
    const verdict = judge(fixtureEvidence(readScenario('docker-v2-rootcg', 'main-oom')));
    expect(verdict).toMatchObject({ cause: 'OOMKilled', verdict: 'Confirmed', memoryLimitBytes: 33554432 });
    expect(verdict.message).toBe('The main command was killed by the memory (swap unbounded) limit of 32Mi.');
  });

  it('with swap: held swap is not mentioned', () => {
    const verdict = judge(fixtureEvidence(readScenario('docker-v2-swap', 'main-oom')));
    expect(verdict.message).toBe('The main command was killed by the memory limit of 32Mi.');
    expect(verdict.peakMemoryBytes).toBe(33554432);
    expect(verdict.oomKills).toBe(1);
  });

  it('[O9] no memory controller: exit 137 where the limit was dropped is no OOM kill', () => {
    const verdict = judge(fixtureEvidence(readScenario('docker-v2-nomem', 'exit-137-limit')));
    expect(verdict.cause).toBe('Unknown');
    expect(verdict.oom).toBeUndefined();
  });
});

describe('kills again and again', () => {
  const sets = [
    ['v1, 300', 'docker-v1', 'oom-repeat-300'],
    ['v1, 100 under load', 'docker-v1', 'oom-repeat-100-under-load'],
    ['v1, 100 delayed', 'docker-v1', 'oom-repeat-100-delayed'],
    ['v2, 40', 'docker-v2', 'oom-repeat'],
    ['v2, 30 delayed', 'docker-v2', 'oom-repeat-delayed'],
    ['Docker 26, 20', 'docker26-v2', 'oom-repeat'],
  ] as const;

  it.each(sets)(
    '[O8] every one of the recorded runs (%s, %s) is OOMKilled, unconfirmed only where nothing spoke',
    (_title, config, name) => {
      const { each } = readRepeat(config, name);
      for (const run of each) {
        const verdict = judge(repeatEvidence(run));
        expect(verdict.cause).toBe('OOMKilled');
        expect(verdict.verdict).toBe(run.flag || run.oom_event ? 'Confirmed' : 'Unconfirmed');
      }
    },
  );

  it('[O6] with the counters of the held cgroup not one is unconfirmed', () => {
    const { each } = readRepeat('docker-v2', 'oom-repeat');
    expect(each.filter((run) => !run.flag)).not.toEqual([]);
    for (const run of each) {
      const evidence = repeatEvidence(run);
      const verdict = judge({
        ...evidence,
        report: { exitCode: undefined, signal: 9, endedBy: 'itself' },
        kernel: {
          before: { oomKills: 0, limitHits: 0, readings: [] },
          after: { oomKills: 1, limitHits: 1, readings: [] },
          held: true,
        },
      });
      expect(verdict).toMatchObject({ cause: 'OOMKilled', verdict: 'Confirmed' });
    }
  });
});

function repeatEvidence(run: RecordedRepeat['each'][number]): Evidence {
  return {
    launch: 'Main',
    limits: { memoryBytes: 33554432, swap: 'Held' },
    kernel: { held: false },
    container: { state: 'exited', exitCode: run.exit_code, error: '' },
    flag: { before: false, after: run.flag, askedForMs: 2000 },
    events: run.oom_event ? [{ action: 'oom', timeMs: 0 }] : [],
  };
}

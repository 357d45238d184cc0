import { describe, expect, it } from 'vitest';
import type { Evidence, KernelCounters, Verdict } from './evidence.ts';
import { flagMayStillCome, judge } from './judge.ts';
import {
  at0,
  bySIGKILL,
  code,
  dead,
  given,
  kernel,
  killedByOther,
  killedByUs,
  MIB,
  outside,
  stop,
  unread,
  v1,
} from './testing/given.ts';

interface Row {
  says: string;
  evidence: Partial<Evidence>;
  expected: Partial<Verdict>;
}

const rows: Row[] = [
  {
    says: '[O4] [O6] SIGKILL, a kill counted and the own limit hit: the limit did it, and the kernel confirms it',
    evidence: { report: bySIGKILL, kernel: kernel(killedByUs) },
    expected: {
      cause: 'OOMKilled',
      verdict: 'Confirmed',
      check: 'our-memory-limit',
      exitCode: 137,
      signal: 'SIGKILL',
      message: 'The main command was killed by the memory limit of 64Mi.',
      memoryLimitBytes: 64 * MIB,
      peakMemoryBytes: 64 * MIB,
      oomKills: 1,
    },
  },
  {
    says: '[L4] [O4] where swap is not held the message says so',
    evidence: {
      report: bySIGKILL,
      kernel: kernel(killedByUs),
      limits: { memoryBytes: 64 * MIB, swap: 'Unbounded' },
    },
    expected: { message: 'The main command was killed by the memory (swap unbounded) limit of 64Mi.' },
  },
  {
    says: '[O11] a setup command that the limit killed is OOMKilled, and named as setup',
    evidence: { launch: 'Setup', report: bySIGKILL, kernel: kernel(killedByUs) },
    expected: {
      cause: 'OOMKilled',
      verdict: 'Confirmed',
      message: 'The setup command was killed by the memory limit of 64Mi.',
    },
  },
  {
    says: '[O6] v1 with failcnt 0, but the peak at the limit: it was the limit',
    evidence: { report: bySIGKILL, kernel: kernel(v1(64 * MIB), v1(MIB, 0)) },
    expected: { cause: 'OOMKilled', verdict: 'Confirmed' },
  },
  {
    says: "[O6] v1 with failcnt 0 and a peak below the limit: an ancestor's or the host's",
    evidence: { report: bySIGKILL, kernel: kernel(v1(32 * MIB), v1(MIB, 0)) },
    expected: { cause: 'AncestorOOMKilled', verdict: 'Confirmed' },
  },
  {
    says: '[O6] v1 with failcnt 0 and a peak that setup left at the limit: not told apart, and not confirmed',
    evidence: { report: bySIGKILL, kernel: kernel(v1(64 * MIB), v1(64 * MIB, 0)) },
    expected: { cause: 'OOMKilled', verdict: 'Unconfirmed' },
  },
  {
    says: '[O6] on v2 a peak at the limit is no hit: it may be page cache',
    evidence: {
      report: bySIGKILL,
      kernel: kernel({
        oomKills: 1,
        limitHits: 0,
        peakBytes: 64 * MIB,
        readings: [{ path: '/sys/fs/cgroup/x/memory.events', content: 'oom_kill 1' }],
      }),
    },
    expected: { cause: 'AncestorOOMKilled' },
  },
  {
    says: '[O6] the counters of the parent alone tell a kill that was not at its limit',
    evidence: {
      container: dead(137),
      kernel: {
        before: { parentOOMKills: 2, parentLimitHits: 2, readings: [] },
        after: { parentOOMKills: 3, parentLimitHits: 2, readings: [] },
        held: false,
      },
    },
    expected: { cause: 'AncestorOOMKilled', verdict: 'Confirmed' },
  },
  {
    says: '[O6] a counter that was read after the launch alone is no contradiction, and proves nothing',
    evidence: { container: dead(137), kernel: kernel(killedByUs, { readings: [] }) },
    expected: {
      verdict: 'Unconfirmed',
      contradictions: [],
      evidence: expect.arrayContaining(['No counter of kills for memory could be compared.']) as string[],
    },
  },
  {
    says: '[O6] a counter that went back is said once',
    evidence: {
      container: dead(137),
      kernel: kernel(
        { parentOOMKills: 1, parentLimitHits: 1, readings: [] },
        { parentOOMKills: 0, parentLimitHits: 2, readings: [] },
      ),
    },
    expected: { contradictions: ['parentLimitHits went from 2 back to 1: not the same cgroup.'] },
  },
  {
    says: '[O6] a flag that is left from earlier is no word on a kill that the kernel counted',
    evidence: {
      report: bySIGKILL,
      kernel: kernel(killedByUs),
      flag: { before: true, after: true, askedForMs: 0 },
    },
    expected: { cause: 'OOMKilled', verdict: 'Confirmed', contradictions: [] },
  },
  {
    says: '[O6] v1 without a limit of its own says nothing of a limit that was reached',
    evidence: { limits: {}, report: bySIGKILL, kernel: kernel(v1(64 * MIB), v1(64 * MIB, 0)) },
    expected: {
      cause: 'AncestorOOMKilled',
      evidence: expect.arrayContaining([expect.stringContaining('limit was not hit')]) as string[],
    },
  },
  {
    says: "[O6] a kill with the own limit never hit is an ancestor's or the host's, and said so",
    evidence: {
      report: bySIGKILL,
      kernel: kernel(killedByOther),
      flag: { before: false, after: true, askedForMs: 0 },
    },
    expected: { cause: 'AncestorOOMKilled', verdict: 'Confirmed', check: 'other-memory-limit' },
  },
  {
    says: "[O6] kills counted before the launch (by setup) are not this launch's",
    evidence: {
      report: code(137),
      kernel: kernel(killedByUs, killedByUs),
      flag: { before: false, after: true, askedForMs: 0 },
    },
    expected: { cause: 'Exited', verdict: 'Confirmed', exitCode: 137, oomKills: 0 },
  },
  {
    says: '[O6] a flag left from an earlier launch confirms nothing',
    evidence: { kernel: unread, container: dead(137), flag: { before: true, after: true, askedForMs: 2000 } },
    expected: { cause: 'OOMKilled', verdict: 'Unconfirmed', check: 'unconfirmed-memory-kill' },
  },
  {
    says: '[O6] no counters, but the flag of the runtime: confirmed by its word',
    evidence: { kernel: unread, container: dead(137), flag: { before: false, after: true, askedForMs: 300 } },
    expected: { cause: 'OOMKilled', verdict: 'Confirmed' },
  },
  {
    says: '[O8] no counters, no flag, but the oom event of the runtime: confirmed by its word',
    evidence: { kernel: unread, container: dead(137), events: [{ action: 'oom', timeMs: 1 }] },
    expected: { cause: 'OOMKilled', verdict: 'Confirmed' },
  },
  {
    says: '[O8] exit 137 under a limit, nothing of ours, nothing confirmed: an unconfirmed kill',
    evidence: { kernel: unread, container: dead(137) },
    expected: {
      cause: 'OOMKilled',
      verdict: 'Unconfirmed',
      message:
        'The main command was killed under the memory limit of 64Mi; the runtime did not confirm that it was the limit.',
    },
  },
  {
    says: '[O8] counters that were read before the end and had not moved leave it unconfirmed',
    evidence: { kernel: kernel(at0, at0, false), container: dead(137) },
    expected: { cause: 'OOMKilled', verdict: 'Unconfirmed' },
  },
  {
    says: '[O6] counters of the parent alone, read after the end, confirm it',
    evidence: {
      container: dead(137),
      kernel: {
        before: { parentOOMKills: 2, parentLimitHits: 2, readings: [] },
        after: { parentOOMKills: 3, parentLimitHits: 3, readings: [] },
        held: false,
      },
    },
    expected: { cause: 'OOMKilled', verdict: 'Confirmed', oomKills: 1 },
  },
  {
    says: '[O6] a parent whose counters did not move rules it out: SIGKILL seen by init came from outside',
    evidence: {
      report: bySIGKILL,
      kernel: {
        before: { parentOOMKills: 2, parentLimitHits: 2, readings: [] },
        after: { parentOOMKills: 2, parentLimitHits: 2, readings: [] },
        held: false,
      },
    },
    expected: { cause: 'KilledFromOutside', verdict: 'Confirmed' },
  },
  {
    says: '[O6] a kill that moved the parent after the own counters were read last is not taken for another limit',
    evidence: {
      container: dead(137),
      kernel: {
        before: { oomKills: 0, limitHits: 0, parentOOMKills: 0, readings: [] },
        after: { oomKills: 0, limitHits: 0, parentOOMKills: 1, readings: [] },
        held: false,
      },
    },
    expected: { cause: 'OOMKilled', verdict: 'Unconfirmed' },
  },
  {
    says: '[O6] a counter that went back belongs to another cgroup and proves nothing',
    evidence: { container: dead(137), kernel: kernel(at0, killedByUs) },
    expected: { cause: 'OOMKilled', verdict: 'Unconfirmed' },
  },
  {
    says: '[O6] kills without a baseline prove nothing',
    evidence: { container: dead(137), kernel: { after: killedByUs, held: true } },
    expected: { cause: 'OOMKilled', verdict: 'Unconfirmed' },
  },
  {
    says: '[O5] exit 0 keeps its result though a child was killed by the limit',
    evidence: { report: code(0), kernel: kernel(killedByUs) },
    expected: { cause: 'Exited', verdict: 'Confirmed', exitCode: 0, check: 'own-result' },
  },
  {
    says: '[O4] exit 1 after the limit killed a child is no result of its own',
    evidence: { report: code(1), kernel: kernel(killedByUs) },
    expected: {
      cause: 'OOMKilled',
      verdict: 'Confirmed',
      exitCode: 1,
      message:
        'A process of the sandbox was killed by the memory limit of 64Mi, and the main command ended without a result.',
    },
  },
  {
    says: '[O9] a program that exits 137 itself exited',
    evidence: { report: code(137) },
    expected: { cause: 'Exited', verdict: 'Confirmed', exitCode: 137, check: 'exited-by-itself' },
  },
  {
    says: '[O9] a program that exits 137 itself exited, whatever cannot be read',
    evidence: { report: code(137), kernel: unread },
    expected: { cause: 'Exited', verdict: 'Confirmed' },
  },
  {
    says: '[O9] SIGKILL without a memory limit and without counters is not an OOM kill',
    evidence: { report: bySIGKILL, kernel: unread, limits: {} },
    expected: { cause: 'KilledFromOutside', verdict: 'Unconfirmed' },
  },
  {
    says: "[O9] without a limit of ours a counted kill is the host's or an ancestor's",
    evidence: { report: bySIGKILL, kernel: kernel(killedByUs), limits: {} },
    expected: { cause: 'AncestorOOMKilled', verdict: 'Confirmed' },
  },
  {
    says: '[O9] without a limit of ours the flag means a limit above us',
    evidence: {
      kernel: unread,
      container: dead(137),
      limits: {},
      flag: { before: false, after: true, askedForMs: 0 },
    },
    expected: { cause: 'AncestorOOMKilled', verdict: 'Confirmed' },
  },
  {
    says: '[O9] exit 137 without a limit and without anything else is unknown',
    evidence: { kernel: unread, container: dead(137), limits: {} },
    expected: { cause: 'Unknown', verdict: 'Unconfirmed', exitCode: 137 },
  },
  {
    says: '[O9] an outside docker kill: the event of the runtime, and nothing in our ledger',
    evidence: { kernel: unread, container: dead(137), events: [{ action: 'kill', detail: 9, timeMs: 5 }] },
    expected: { cause: 'KilledFromOutside', verdict: 'Confirmed' },
  },
  {
    says: '[O9] an outside docker stop that init passed on',
    evidence: { report: { exitCode: undefined, signal: 15, endedBy: 'outside' }, container: dead(143) },
    expected: { cause: 'KilledFromOutside', verdict: 'Confirmed', exitCode: 143, signal: 'SIGTERM' },
  },
  {
    says: 'a kill event for a signal that did not end it is not the cause',
    evidence: { kernel: unread, container: dead(3), events: [{ action: 'kill', detail: 10, timeMs: 5 }] },
    expected: { cause: 'Exited', exitCode: 3 },
  },
  {
    says: '[O9] an outside docker kill after init reported a death by the limit does not hide it',
    evidence: {
      report: bySIGKILL,
      kernel: kernel(killedByUs),
      container: dead(137),
      events: [{ action: 'kill', detail: 9, timeMs: 5 }],
    },
    expected: { cause: 'OOMKilled', verdict: 'Confirmed' },
  },
  {
    says: '[O9] a restart of the runtime that took init with it',
    evidence: { kernel: unread, container: dead(137), restarted: 'Runtime' },
    expected: { cause: 'RuntimeRestarted', verdict: 'Confirmed', check: 'runtime-restarted' },
  },
  {
    says: '[O9] a restart of the machine',
    evidence: { kernel: unread, container: dead(255), restarted: 'Machine' },
    expected: {
      cause: 'RuntimeRestarted',
      message: 'The machine of the runtime was restarted while the main command ran.',
    },
  },
  {
    says: 'what init had seen before the runtime was restarted stands',
    evidence: { report: code(4), container: dead(137), restarted: 'Runtime' },
    expected: { cause: 'Exited', exitCode: 4 },
  },
  {
    says: "a SIGTERM that init passed on while the runtime was restarted was the runtime's",
    evidence: { report: { exitCode: 0, signal: undefined, endedBy: 'outside' }, restarted: 'Runtime' },
    expected: { cause: 'Exited', exitCode: 0 },
  },
  {
    says: 'the same, where it ended by it',
    evidence: { report: { exitCode: undefined, signal: 15, endedBy: 'outside' }, restarted: 'Runtime' },
    expected: { cause: 'RuntimeRestarted' },
  },
  {
    says: '[O5] exit 0 upon an outside SIGTERM is a result, and the signal is listed',
    evidence: { report: { exitCode: 0, signal: undefined, endedBy: 'outside' } },
    expected: {
      cause: 'Exited',
      exitCode: 0,
      evidence: expect.arrayContaining([
        'Init had passed a signal from outside on to it; it ended itself upon that.',
      ]) as string[],
    },
  },
  {
    says: 'a container that somebody removed',
    evidence: {
      kernel: unread,
      container: 'Missing',
      events: [
        { action: 'kill', detail: 9, timeMs: 5 },
        { action: 'destroy', timeMs: 6 },
      ],
    },
    expected: { cause: 'ContainerLost', verdict: 'Confirmed' },
  },
  {
    says: '[O12] a container removed after init reported: the report stands',
    evidence: { report: bySIGKILL, kernel: kernel(killedByUs), container: 'Missing' },
    expected: { cause: 'OOMKilled', verdict: 'Confirmed' },
  },
  {
    says: '[O9] [O10] the deadline',
    evidence: { report: { exitCode: undefined, signal: 9, endedBy: 'agent' }, stop: stop('Deadline') },
    expected: { cause: 'Deadline', verdict: 'Confirmed', exitCode: 137 },
  },
  {
    says: '[O9] [O10] our stop where init left no report, with nothing readable',
    evidence: { kernel: unread, container: dead(137), stop: stop('Suspended') },
    expected: { cause: 'Suspended', verdict: 'Confirmed' },
  },
  {
    says: '[O9] a program that exits 0 at our SIGTERM was stopped by us',
    evidence: { report: { exitCode: 0, signal: undefined, endedBy: 'agent' }, stop: stop('Deadline') },
    expected: { cause: 'Deadline', exitCode: 0 },
  },
  {
    says: 'a program that had exited by itself before our signal reached it exited',
    evidence: { report: code(0), stop: stop('Deadline') },
    expected: { cause: 'Exited', exitCode: 0 },
  },
  {
    says: '[O9] [O10] our SIGTERM that went through the runtime, and that init took for an outside one',
    evidence: { report: outside({ signal: 15 }), stop: stop('Deadline') },
    expected: {
      cause: 'Deadline',
      verdict: 'Confirmed',
      check: 'our-stop',
      signal: 'SIGTERM',
      evidence: expect.arrayContaining([
        'Init passed it on as a signal from outside: it was sent through the runtime.',
      ]) as string[],
    },
  },
  {
    says: '[O9] [O10] the same from an init that does not tell which signal',
    evidence: {
      report: { exitCode: undefined, signal: 15, endedBy: 'outside' },
      stop: stop('Suspended'),
    },
    expected: { cause: 'Suspended' },
  },
  {
    says: '[O9] [K10] a program that exits 0 at our SIGTERM through the runtime was stopped by us',
    evidence: {
      report: outside({ exitCode: 0 }),
      stop: stop('Suspended'),
      reportedAt: '2026-11-30T12:00:00.100Z',
    },
    expected: { cause: 'Suspended', check: 'our-stop', exitCode: 0 },
  },
  {
    says: '[O9] [K10] the same from an init that does not tell which signal, with another exit code',
    evidence: { report: { exitCode: 3, signal: undefined, endedBy: 'outside' }, stop: stop('Deadline') },
    expected: { cause: 'Deadline' },
  },
  {
    says: '[O9] an outside signal that our ledger does not have is not our stop',
    evidence: { report: outside({ signal: 2 }), stop: stop('Deadline') },
    expected: {
      cause: 'KilledFromOutside',
      verdict: 'Confirmed',
      message: 'The main command was ended by a signal from outside the sandbox (SIGINT) that was not ours.',
    },
  },
  {
    says: '[O9] an end from outside that was reported before our stop is not our stop',
    evidence: {
      report: outside({ signal: 15 }),
      stop: stop('Suspended'),
      reportedAt: '2026-11-30T11:59:59.999Z',
    },
    expected: { cause: 'KilledFromOutside' },
  },
  {
    says: 'an exit 0 that was reported before our stop is a result, whatever signal came with it',
    evidence: {
      report: outside({ exitCode: 0 }),
      stop: stop('Suspended'),
      reportedAt: '2026-11-30T11:59:59.999Z',
    },
    expected: { cause: 'Exited', exitCode: 0 },
  },
  {
    says: '[O9] SIGKILL that was reported before our stop is not our stop',
    evidence: { report: bySIGKILL, stop: stop('Suspended'), reportedAt: '2026-11-30T11:59:59.999Z' },
    expected: { cause: 'KilledFromOutside', check: 'ended-by-signal' },
  },
  {
    says: '[O10] what init ended at our word is our stop, whatever the clocks say',
    evidence: {
      report: { exitCode: undefined, signal: 15, endedBy: 'agent' },
      stop: stop('Suspended'),
      reportedAt: '2026-11-30T11:00:00Z',
    },
    expected: { cause: 'Suspended' },
  },
  {
    says: '[O10] a time that cannot be read proves nothing against our stop',
    evidence: { report: outside({ signal: 15 }), stop: stop('Suspended'), reportedAt: 'nonsense' },
    expected: { cause: 'Suspended' },
  },
  {
    says: '[O9] [O4] a shell that passes on the 137 of a child that our limit killed, soon after an outside SIGTERM',
    evidence: { report: outside({ exitCode: 137 }), kernel: kernel(killedByUs) },
    expected: { cause: 'OOMKilled', verdict: 'Confirmed', check: 'our-memory-limit' },
  },
  {
    says: '[O9] [O4] a counted kill by our limit is above an outside signal of which nothing shows that it was near the end',
    evidence: {
      report: { exitCode: 1, signal: undefined, endedBy: 'outside' },
      kernel: kernel(killedByUs),
    },
    expected: { cause: 'OOMKilled', verdict: 'Confirmed' },
  },
  {
    says: '[O9] an exit upon an outside SIGTERM after the limit had killed a child is an end from outside',
    evidence: { report: outside({ exitCode: 143 }), kernel: kernel(killedByUs) },
    expected: {
      cause: 'KilledFromOutside',
      oom: { verdict: 'Confirmed', message: expect.stringContaining('was not ended by that') as string },
    },
  },
  {
    says: '[O9] a death by an outside SIGTERM after the limit had killed a child is an end from outside',
    evidence: { report: outside({ signal: 15 }), kernel: kernel(killedByUs) },
    expected: { cause: 'KilledFromOutside' },
  },
  {
    says: '[O9] exit 137 after an outside SIGTERM, with no kill counted, is an end from outside',
    evidence: { report: outside({ exitCode: 137 }) },
    expected: { cause: 'KilledFromOutside' },
  },
  {
    says: '[O9] an outside signal long before the end, of which init no longer speaks, is not the cause',
    evidence: { report: code(137), kernel: kernel(killedByUs) },
    expected: { cause: 'OOMKilled', check: 'our-memory-limit' },
  },
  {
    says: '[O9] a SIGSEGV that came from outside is no fault of its own',
    evidence: {
      report: { exitCode: undefined, signal: 11, endedBy: 'itself', outside: { signal: 11, atBootMs: 5 } },
    },
    expected: { cause: 'KilledFromOutside', check: 'killed-from-outside' },
  },
  {
    says: '[O9] a kill by the limit on the way out of our stop is our stop',
    evidence: { report: bySIGKILL, kernel: kernel(killedByUs), stop: stop('Deleted') },
    expected: { cause: 'Deleted', verdict: 'Confirmed' },
  },
  {
    says: 'setup that init ended at its time limit',
    evidence: { launch: 'Setup', report: { exitCode: undefined, signal: 15, endedBy: 'timeout' } },
    expected: { cause: 'Timeout', verdict: 'Confirmed', check: 'own-time-limit' },
  },
  {
    says: 'setup that we ended at its time limit',
    evidence: {
      launch: 'Setup',
      report: { exitCode: undefined, signal: 15, endedBy: 'timeout' },
      stop: stop('SetupTimeout'),
    },
    expected: { cause: 'Timeout', check: 'our-stop' },
  },
  {
    says: 'main that init ended at its time limit while no agent was there',
    evidence: { report: { exitCode: undefined, signal: 9, endedBy: 'timeout' } },
    expected: { cause: 'Deadline' },
  },
  {
    says: 'ended at the request of the agent, with no reason in the ledger',
    evidence: { report: { exitCode: undefined, signal: 15, endedBy: 'agent' } },
    expected: { cause: 'Stopped' },
  },
  {
    says: '[L11] a launch whose limits could not be shown to be in force',
    evidence: { kernel: unread, container: dead(137), stop: stop('LimitsUnproven') },
    expected: { cause: 'LimitsUnproven' },
  },
  {
    says: 'a command that does not exist',
    evidence: { startFailure: { stage: 'exec', errno: 'ENOENT' } },
    expected: { cause: 'CommandNotFound', verdict: 'Confirmed' },
  },
  {
    says: 'a command below what is no folder',
    evidence: { startFailure: { stage: 'exec', errno: 'ENOTDIR' } },
    expected: { cause: 'CommandNotFound' },
  },
  ...['EACCES', 'ENOEXEC', 'EPERM', 'EISDIR'].map(
    (errno): Row => ({
      says: `a command that cannot be executed (${errno})`,
      evidence: { startFailure: { stage: 'exec', errno } },
      expected: { cause: 'CommandNotExecutable' },
    }),
  ),
  {
    says: 'a working directory that does not exist',
    evidence: { startFailure: { stage: 'chdir', errno: 'ENOENT' } },
    expected: {
      cause: 'StartFailed',
      message: 'The main command could not be started: chdir failed with ENOENT.',
    },
  },
  {
    says: 'a crash of its own',
    evidence: { report: { exitCode: undefined, signal: 11, endedBy: 'itself' } },
    expected: {
      cause: 'Exited',
      exitCode: 139,
      signal: 'SIGSEGV',
      message: 'The main command ended by SIGSEGV.',
    },
  },
  {
    says: 'an abort of its own has its usual name',
    evidence: { report: { exitCode: undefined, signal: 6, endedBy: 'itself' } },
    expected: { cause: 'Exited', signal: 'SIGABRT' },
  },
  {
    says: 'SIGTERM that neither we nor anybody outside sent came from within',
    evidence: { report: { exitCode: undefined, signal: 15, endedBy: 'itself' }, kernel: unread },
    expected: { cause: 'KilledFromOutside', verdict: 'Confirmed', check: 'ended-by-signal' },
  },
  {
    says: 'an exit that only the runtime saw, with its error',
    evidence: { kernel: unread, container: dead(2, 'out of pixie dust') },
    expected: { cause: 'Exited', message: 'The main command ended with exit code 2 (out of pixie dust).' },
  },
  {
    says: 'nothing known at all',
    evidence: { kernel: unread, container: undefined },
    expected: {
      cause: 'Unknown',
      verdict: 'Unconfirmed',
      message: 'The main command ended; nothing shows how.',
    },
  },
  {
    says: '[O9] an exit code 9 in the event of its end is no kill',
    evidence: { kernel: unread, container: dead(9), events: [{ action: 'die', detail: 9, timeMs: 5 }] },
    expected: { cause: 'Exited', exitCode: 9 },
  },
  {
    says: '[O9] SIGKILL through the runtime is a kill, whatever exit code the runtime gives',
    evidence: { kernel: unread, container: dead(255), events: [{ action: 'kill', detail: 9, timeMs: 5 }] },
    expected: { cause: 'KilledFromOutside', exitCode: 255 },
  },
  {
    says: 'a container that is not there, of which nobody said that it was removed',
    evidence: { kernel: unread, container: 'Missing', events: [{ action: 'die', detail: 0, timeMs: 6 }] },
    expected: {
      cause: 'ContainerLost',
      evidence: expect.not.arrayContaining(['The runtime reported that somebody removed it.']) as string[],
    },
  },
  {
    says: '[O10] what init ended at our word is our stop, whatever signal from outside came with it',
    evidence: {
      report: { exitCode: undefined, signal: 15, endedBy: 'agent', outside: { signal: 2, atBootMs: 5 } },
      stop: stop('Deadline'),
    },
    expected: { cause: 'Deadline', check: 'our-stop' },
  },
  {
    says: '[O9] [O10] what exits upon a signal from outside while we stop it is our stop',
    evidence: {
      report: { exitCode: 0, signal: undefined, endedBy: 'outside', outside: { signal: 2, atBootMs: 5 } },
      stop: stop('Deadline'),
    },
    expected: { cause: 'Deadline', check: 'our-stop' },
  },
  {
    says: '[K6] a command that exits with the code that init has for its own end exited',
    evidence: { report: code(94), fence: { seconds: 40 } },
    expected: { cause: 'Exited', exitCode: 94, check: 'exited-by-itself' },
  },
  {
    says: 'a container that is said to run shows no end',
    evidence: { kernel: unread, container: { state: 'running', exitCode: 0, error: '' } },
    expected: { cause: 'Unknown' },
  },
];

describe('judge', () => {
  it.each(rows)('$says', ({ evidence, expected }) => {
    expect(judge(given(evidence))).toMatchObject(expected);
  });

  it('has a row for every check', () => {
    const decided = new Set(rows.map(({ evidence }) => judge(given(evidence)).check));
    expect([...decided].sort()).toEqual(
      [
        'container-lost',
        'ended-by-signal',
        'exited-by-itself',
        'killed-from-outside',
        'never-started',
        'other-memory-limit',
        'our-memory-limit',
        'our-stop',
        'own-result',
        'own-time-limit',
        'runtime-restarted',
        'runtime-says-exited',
        'unconfirmed-memory-kill',
        'unknown',
      ].sort(),
    );
  });

  it.each([
    ['Suspended', 'Suspended', 'because spec.suspend is true'],
    ['Deleted', 'Deleted', 'because the sandbox is being deleted'],
    ['Deadline', 'Deadline', 'at activeDeadlineSeconds'],
    ['Replaced', 'Replaced', 'because the spec changed'],
    ['Stopped', 'Stopped', 'by the agent'],
    ['Drained', 'Drained', 'because its node is being drained'],
    ['SetupTimeout', 'Timeout', "at setup's time limit"],
    ['LimitsUnproven', 'LimitsUnproven', 'because its limits could not be shown to be in force'],
  ] as const)('[O9] our stop %s has the cause %s, says why and names the ledger', (reason, cause, why) => {
    const verdict = judge(given({ kernel: unread, container: dead(137), stop: stop(reason) }));
    expect(verdict.cause).toBe(cause);
    expect(verdict.message).toBe(`The main command was stopped ${why}.`);
    expect(verdict.evidence).toContain(
      `The ledger has our stop (${reason}) of 2026-11-30T12:00:00Z with SIGTERM, then SIGKILL.`,
    );
  });
});

describe('the OOM kill apart from the cause', () => {
  const apart: [says: string, evidence: Partial<Evidence>, oom: 'Confirmed' | 'Unconfirmed' | undefined][] = [
    ['[O5] is recorded with exit 0', { report: code(0), kernel: kernel(killedByUs) }, 'Confirmed'],
    [
      '[O5] is recorded with exit 0 by the word of the runtime alone',
      { report: code(0), kernel: unread, flag: { before: false, after: true, askedForMs: 0 } },
      'Confirmed',
    ],
    [
      '[O9] is recorded with our stop',
      { report: bySIGKILL, kernel: kernel(killedByUs), stop: stop('Deleted') },
      'Confirmed',
    ],
    [
      'is unconfirmed where the kernel cannot tell whose limit it was and the runtime is silent',
      { report: code(0), kernel: kernel({ oomKills: 1, readings: [] }) },
      'Unconfirmed',
    ],
    [
      'is confirmed where the kernel cannot tell whose limit it was and the runtime speaks',
      {
        report: code(0),
        kernel: kernel({ oomKills: 1, readings: [] }),
        flag: { before: false, after: true, askedForMs: 0 },
      },
      'Confirmed',
    ],
    [
      'is none of ours where another limit killed',
      { report: code(0), kernel: kernel(killedByOther) },
      undefined,
    ],
    [
      '[O9] is none where no limit is ours',
      { report: code(0), kernel: kernel(killedByUs), limits: {} },
      undefined,
    ],
    ['is none where nothing was killed', { report: code(0) }, undefined],
    ['is unconfirmed with an unconfirmed cause', { kernel: unread, container: dead(137) }, 'Unconfirmed'],
  ];
  it.each(apart)('%s', (_says, evidence, oom) => {
    expect(judge(given(evidence)).oom?.verdict).toBe(oom);
  });
});

describe('evidence and contradictions', () => {
  it('[O4] lists the files that were read, on one line each', () => {
    const after: KernelCounters = {
      ...killedByUs,
      readings: [{ path: '/sys/fs/cgroup/x/memory.events', content: 'oom 1\noom_kill 1\n' }],
    };
    const { evidence } = judge(given({ report: bySIGKILL, kernel: kernel(after) }));
    expect(evidence).toEqual([
      'Init saw it end by SIGKILL.',
      '/sys/fs/cgroup/x/memory.events: oom 1; oom_kill 1',
      'The kernel counted a kill for memory once during the launch.',
      "The sandbox's own memory limit was hit during the launch.",
      'The runtime did not set its OOMKilled flag within 2.0 s.',
    ]);
  });

  it('[O8] says that the runtime kept silent about a kill the kernel counted', () => {
    const { contradictions } = judge(given({ report: bySIGKILL, kernel: kernel(killedByUs) }));
    expect(contradictions).toEqual([
      'The runtime did not report the kill that the kernel counted (moby#41929).',
    ]);
  });

  it('[O6] says that the runtime speaks of a kill the kernel did not count', () => {
    const verdict = judge(given({ report: code(3), flag: { before: false, after: true, askedForMs: 0 } }));
    expect(verdict.cause).toBe('Exited');
    expect(verdict.oom).toBeUndefined();
    expect(verdict.contradictions).toEqual([
      'The runtime speaks of a kill for memory, but the kernel counted none by the end of the launch.',
    ]);
  });

  it('counts kills', () => {
    const after = { oomKills: 3, limitHits: 3, readings: [] };
    const { evidence } = judge(given({ report: bySIGKILL, kernel: kernel(after) }));
    expect(evidence).toContain('The kernel counted a kill for memory 3 times during the launch.');
  });

  it('stays within the bounds of the status', () => {
    const long = 'x'.repeat(5000);
    const readings = Array.from({ length: 100 }, (_, index) => ({ path: `/f${index}`, content: long }));
    const verdict = judge(
      given({
        kernel: kernel({ ...killedByUs, readings }),
        startFailure: { stage: long, errno: long },
      }),
    );
    expect(verdict.evidence).toHaveLength(32);
    expect(verdict.evidence.every((sentence) => sentence.length <= 512)).toBe(true);
    expect(verdict.message).toHaveLength(4096);
  });
});

describe('[O7] asking for the flag again', () => {
  const cases: [says: string, evidence: Partial<Evidence>, again: boolean][] = [
    [
      'exit 137 under a limit, not confirmed yet: again',
      { kernel: unread, container: dead(137), flag: { after: false, askedForMs: 1900 } },
      true,
    ],
    [
      'no longer than two seconds',
      { kernel: unread, container: dead(137), flag: { after: false, askedForMs: 2000 } },
      false,
    ],
    [
      'not when the flag is there',
      { kernel: unread, container: dead(137), flag: { after: true, askedForMs: 0 } },
      false,
    ],
    [
      'not when the event came',
      {
        kernel: unread,
        container: dead(137),
        flag: { askedForMs: 0 },
        events: [{ action: 'oom', timeMs: 0 }],
      },
      false,
    ],
    ['not when the kernel has spoken', { container: dead(137), flag: { askedForMs: 0 } }, false],
    [
      'not without a limit',
      { kernel: unread, limits: {}, container: dead(137), flag: { askedForMs: 0 } },
      false,
    ],
    ['not for another exit code', { kernel: unread, container: dead(1), flag: { askedForMs: 0 } }, false],
    [
      'not for a program that exits 137 itself',
      { kernel: unread, report: code(137), flag: { askedForMs: 0 } },
      false,
    ],
    [
      'not for a stop of ours',
      { kernel: unread, container: dead(137), flag: { askedForMs: 0 }, stop: stop('Deadline') },
      false,
    ],
    [
      'again where our stop came after the end',
      {
        report: bySIGKILL,
        kernel: unread,
        flag: { askedForMs: 0 },
        stop: stop('Deadline'),
        reportedAt: '2026-11-30T11:59:59Z',
      },
      true,
    ],
    [
      'not where the runtime was restarted under it',
      { kernel: unread, container: dead(137), flag: { askedForMs: 0 }, restarted: 'Runtime' },
      false,
    ],
    [
      'not of a container that is gone',
      { kernel: unread, report: bySIGKILL, container: 'Missing', flag: { askedForMs: 0 } },
      false,
    ],
    [
      'again when the kernel cannot tell whose limit it was',
      { report: bySIGKILL, kernel: kernel({ oomKills: 1, readings: [] }), flag: { askedForMs: 0 } },
      true,
    ],
  ];
  it.each(cases)('%s', (_says, evidence, again) => {
    expect(flagMayStillCome(given(evidence))).toBe(again);
  });
});

describe('a sandbox that ended itself', () => {
  const fence = { seconds: 40, fellAt: '2026-01-01T00:00:00Z' };
  const byFence = { exitCode: undefined, signal: 9, endedBy: 'fence' } as const;

  it('[K6] is a cause of its own, by the word of init, whatever else happened', () => {
    for (const more of [
      {},
      { stop: stop('Deleted') },
      { kernel: kernel(killedByUs) },
      { container: dead(137) },
    ])
      expect(judge(given({ report: byFence, fence, ...more }))).toMatchObject({
        cause: 'NodeLost',
        verdict: 'Confirmed',
        message:
          'The sandbox ended itself: node lost: no heartbeat of its agent, backed by a renewed lease, had come for 40 s.',
      });
  });

  it('[K6] a retained one has no command that could report', () => {
    const { report: _, ...without } = given({ container: dead(94), fence });
    expect(judge(without)).toMatchObject({ check: 'own-fence', cause: 'NodeLost', verdict: 'Confirmed' });
  });

  it('[K6] what ended before it keeps its end', () => {
    expect(judge(given({ report: code(3), fence }))).toMatchObject({ cause: 'Exited', exitCode: 3 });
  });

  it('[K6] without the word of init its exit code is a sign, and no proof', () => {
    const { report: _, ...without } = given({ container: dead(94), fence: { seconds: 40 } });
    expect(judge(without)).toMatchObject({ cause: 'NodeLost', verdict: 'Unconfirmed', exitCode: 94 });
    const { fence: __, ...never } = without;
    expect(judge(never).cause).not.toBe('NodeLost');
    expect(judge({ ...without, container: dead(93) }).cause).not.toBe('NodeLost');
  });
});

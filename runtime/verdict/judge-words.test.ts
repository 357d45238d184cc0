import { describe, expect, it } from 'vitest';
import type { Evidence } from './evidence.ts';
import { judge } from './judge.ts';
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

/** A verdict as its readers get it. A changed word: `vitest --update`, and read what it wrote. */
function shows(changes: Partial<Evidence>): string {
  const { check, cause, verdict, message, exitCode, signal, evidence, contradictions, oom, ...figures } =
    judge(given(changes));
  return [
    `${verdict} ${cause} (${check}), exit code ${exitCode ?? 'unknown'}${signal === undefined ? '' : `, ${signal}`}`,
    message,
    ...evidence.map((line) => `+ ${line}`),
    ...contradictions.map((line) => `- ${line}`),
    ...(oom === undefined ? [] : [`killed by the limit: ${oom.verdict}: ${oom.message}`]),
    JSON.stringify(figures),
  ].join('\n');
}

describe('a verdict on', () => {
  it('a kill by the limit, and nobody else who says so', () => {
    expect(
      shows({
        report: bySIGKILL,
        kernel: kernel({
          ...killedByUs,
          readings: [{ path: '/sys/fs/cgroup/x/memory.events', content: 'oom 1\n oom_kill 1\n' }],
        }),
      }),
    ).toMatchInlineSnapshot(`
      "Confirmed OOMKilled (our-memory-limit), exit code 137, SIGKILL
      The main command was killed by the memory limit of 64Mi.
      + Init saw it end by SIGKILL.
      + /sys/fs/cgroup/x/memory.events: oom 1; oom_kill 1
      + The kernel counted a kill for memory once during the launch.
      + The sandbox's own memory limit was hit during the launch.
      + The runtime did not set its OOMKilled flag within 2.0 s.
      - The runtime did not report the kill that the kernel counted (moby#41929).
      killed by the limit: Confirmed: The main command was killed by the memory limit of 64Mi.
      {"memoryLimitBytes":67108864,"peakMemoryBytes":67108864,"oomKills":1}"
    `);
  });

  it('a kill by the limit, of which the runtime knows', () => {
    expect(
      shows({
        report: bySIGKILL,
        kernel: kernel(killedByUs),
        flag: { before: false, after: true, askedForMs: 0 },
        events: [{ action: 'oom', timeMs: 1 }],
      }),
    ).toMatchInlineSnapshot(`
      "Confirmed OOMKilled (our-memory-limit), exit code 137, SIGKILL
      The main command was killed by the memory limit of 64Mi.
      + Init saw it end by SIGKILL.
      + The kernel counted a kill for memory once during the launch.
      + The sandbox's own memory limit was hit during the launch.
      + The runtime sent an oom event during the launch.
      + The runtime has set its OOMKilled flag: some process was killed for memory.
      killed by the limit: Confirmed: The main command was killed by the memory limit of 64Mi.
      {"memoryLimitBytes":67108864,"peakMemoryBytes":67108864,"oomKills":1}"
    `);
  });

  it('a kill by the limit on cgroup v1', () => {
    expect(shows({ report: bySIGKILL, kernel: kernel(v1(64 * MIB), v1(MIB, 0)) })).toMatchInlineSnapshot(`
      "Confirmed OOMKilled (our-memory-limit), exit code 137, SIGKILL
      The main command was killed by the memory limit of 64Mi.
      + Init saw it end by SIGKILL.
      + /sys/fs/cgroup/memory/x/memory.oom_control: oom_kill 1
      + The kernel counted a kill for memory once during the launch.
      + The sandbox's memory use had reached its own limit during the launch (its failcnt does not say so on every kernel).
      + The runtime did not set its OOMKilled flag within 2.0 s.
      - The runtime did not report the kill that the kernel counted (moby#41929).
      killed by the limit: Confirmed: The main command was killed by the memory limit of 64Mi.
      {"memoryLimitBytes":67108864,"peakMemoryBytes":67108864,"oomKills":1}"
    `);
  });

  it('a peak within a page of the limit on cgroup v1', () => {
    expect(
      shows({ report: bySIGKILL, kernel: kernel(v1(64 * MIB - 64 * 1024), v1(MIB, 0)) }),
    ).toMatchInlineSnapshot(`
      "Confirmed OOMKilled (our-memory-limit), exit code 137, SIGKILL
      The main command was killed by the memory limit of 64Mi.
      + Init saw it end by SIGKILL.
      + /sys/fs/cgroup/memory/x/memory.oom_control: oom_kill 1
      + The kernel counted a kill for memory once during the launch.
      + The sandbox's memory use had reached its own limit during the launch (its failcnt does not say so on every kernel).
      + The runtime did not set its OOMKilled flag within 2.0 s.
      - The runtime did not report the kill that the kernel counted (moby#41929).
      killed by the limit: Confirmed: The main command was killed by the memory limit of 64Mi.
      {"memoryLimitBytes":67108864,"peakMemoryBytes":67043328,"oomKills":1}"
    `);
  });

  it('a peak a byte further away', () => {
    expect(
      shows({ report: bySIGKILL, kernel: kernel(v1(64 * MIB - 64 * 1024 - 1), v1(MIB, 0)) }),
    ).toMatchInlineSnapshot(`
      "Confirmed AncestorOOMKilled (other-memory-limit), exit code 137, SIGKILL
      The main command was killed for memory by a limit above the sandbox or by the host running out of memory; the memory limit of 64Mi was not reached.
      + Init saw it end by SIGKILL.
      + /sys/fs/cgroup/memory/x/memory.oom_control: oom_kill 1
      + The kernel counted a kill for memory once during the launch.
      + The sandbox's own memory limit was not hit: it was the limit of a cgroup above it, or the host ran out of memory.
      + The runtime did not set its OOMKilled flag within 2.0 s.
      - The runtime did not report the kill that the kernel counted (moby#41929).
      {"memoryLimitBytes":67108864,"peakMemoryBytes":67043327,"oomKills":1}"
    `);
  });

  it('a peak that setup had left there', () => {
    expect(
      shows({ report: bySIGKILL, kernel: kernel(v1(64 * MIB), v1(64 * MIB - 64 * 1024, 0)) }),
    ).toMatchInlineSnapshot(`
      "Unconfirmed OOMKilled (unconfirmed-memory-kill), exit code 137, SIGKILL
      The main command was killed under the memory limit of 64Mi; the runtime did not confirm that it was the limit.
      + Init saw it end by SIGKILL.
      + /sys/fs/cgroup/memory/x/memory.oom_control: oom_kill 1
      + The kernel counted a kill for memory once during the launch.
      + The sandbox's memory use had reached its own limit before this launch: whose limit it was this time cannot be told.
      + The runtime did not set its OOMKilled flag within 2.0 s.
      killed by the limit: Unconfirmed: The main command was killed under the memory limit of 64Mi; the runtime did not confirm that it was the limit.
      {"memoryLimitBytes":67108864,"peakMemoryBytes":67108864,"oomKills":1}"
    `);
  });

  it('a peak of which nobody knows how high it was before', () => {
    expect(
      shows({ report: bySIGKILL, kernel: kernel(v1(64 * MIB), { oomKills: 0, limitHits: 0, readings: [] }) }),
    ).toMatchInlineSnapshot(`
      "Unconfirmed OOMKilled (unconfirmed-memory-kill), exit code 137, SIGKILL
      The main command was killed under the memory limit of 64Mi; the runtime did not confirm that it was the limit.
      + Init saw it end by SIGKILL.
      + /sys/fs/cgroup/memory/x/memory.oom_control: oom_kill 1
      + The kernel counted a kill for memory once during the launch.
      + The sandbox's peak memory use could not be read both before and after: whose limit it was cannot be told.
      + The runtime did not set its OOMKilled flag within 2.0 s.
      killed by the limit: Unconfirmed: The main command was killed under the memory limit of 64Mi; the runtime did not confirm that it was the limit.
      {"memoryLimitBytes":67108864,"peakMemoryBytes":67108864,"oomKills":1}"
    `);
  });

  it('a kill on cgroup v1 whose peak could not be read', () => {
    const { peakBytes: _, ...after } = v1(0);
    expect(shows({ report: bySIGKILL, kernel: kernel(after, v1(MIB, 0)) })).toMatchInlineSnapshot(`
      "Unconfirmed OOMKilled (unconfirmed-memory-kill), exit code 137, SIGKILL
      The main command was killed under the memory limit of 64Mi; the runtime did not confirm that it was the limit.
      + Init saw it end by SIGKILL.
      + /sys/fs/cgroup/memory/x/memory.oom_control: oom_kill 1
      + The kernel counted a kill for memory once during the launch.
      + The sandbox's peak memory use could not be read both before and after: whose limit it was cannot be told.
      + The runtime did not set its OOMKilled flag within 2.0 s.
      killed by the limit: Unconfirmed: The main command was killed under the memory limit of 64Mi; the runtime did not confirm that it was the limit.
      {"memoryLimitBytes":67108864,"oomKills":1}"
    `);
  });

  it('a kill in a cgroup v1 whose failcnt says so', () => {
    expect(
      shows({ report: bySIGKILL, kernel: kernel({ ...v1(MIB), limitHits: 2 }, v1(MIB, 0)) }),
    ).toMatchInlineSnapshot(`
      "Confirmed OOMKilled (our-memory-limit), exit code 137, SIGKILL
      The main command was killed by the memory limit of 64Mi.
      + Init saw it end by SIGKILL.
      + /sys/fs/cgroup/memory/x/memory.oom_control: oom_kill 1
      + The kernel counted a kill for memory once during the launch.
      + The sandbox's own memory limit was hit during the launch.
      + The runtime did not set its OOMKilled flag within 2.0 s.
      - The runtime did not report the kill that the kernel counted (moby#41929).
      killed by the limit: Confirmed: The main command was killed by the memory limit of 64Mi.
      {"memoryLimitBytes":67108864,"peakMemoryBytes":1048576,"oomKills":1}"
    `);
  });

  it('a kill while the figures of the own limit could not be read', () => {
    expect(
      shows({ report: bySIGKILL, kernel: kernel({ oomKills: 1, readings: [] }) }),
    ).toMatchInlineSnapshot(`
      "Unconfirmed OOMKilled (unconfirmed-memory-kill), exit code 137, SIGKILL
      The main command was killed under the memory limit of 64Mi; the runtime did not confirm that it was the limit.
      + Init saw it end by SIGKILL.
      + The kernel counted a kill for memory once during the launch.
      + Whether it was the limit of the sandbox could not be read.
      + The runtime did not set its OOMKilled flag within 2.0 s.
      killed by the limit: Unconfirmed: The main command was killed under the memory limit of 64Mi; the runtime did not confirm that it was the limit.
      {"memoryLimitBytes":67108864,"oomKills":1}"
    `);
  });

  it('a kill of which the own figures were read too early', () => {
    expect(
      shows({
        container: dead(137),
        kernel: kernel({ oomKills: 1, limitHits: 0, readings: [] }, at0, false),
      }),
    ).toMatchInlineSnapshot(`
      "Unconfirmed OOMKilled (unconfirmed-memory-kill), exit code 137
      The main command was killed under the memory limit of 64Mi; the runtime did not confirm that it was the limit.
      + Init left no report; the runtime says that the container ended with 137.
      + The kernel counted a kill for memory once during the launch.
      + Whether it was the limit of the sandbox could not be read.
      + The runtime did not set its OOMKilled flag within 2.0 s.
      killed by the limit: Unconfirmed: The main command was killed under the memory limit of 64Mi; the runtime did not confirm that it was the limit.
      {"memoryLimitBytes":67108864,"oomKills":1}"
    `);
  });

  it('a kill that only the parent has counted', () => {
    expect(
      shows({
        container: dead(137),
        kernel: kernel(
          { oomKills: 0, limitHits: 0, parentOOMKills: 1, parentLimitHits: 1, readings: [] },
          { oomKills: 0, limitHits: 0, parentOOMKills: 0, parentLimitHits: 0, readings: [] },
          false,
        ),
      }),
    ).toMatchInlineSnapshot(`
      "Confirmed OOMKilled (our-memory-limit), exit code 137
      The main command was killed by the memory limit of 64Mi.
      + Init left no report; the runtime says that the container ended with 137.
      + The kernel counted a kill for memory once during the launch.
      + The sandbox's own memory limit was hit during the launch.
      + The runtime did not set its OOMKilled flag within 2.0 s.
      - The runtime did not report the kill that the kernel counted (moby#41929).
      killed by the limit: Confirmed: The main command was killed by the memory limit of 64Mi.
      {"memoryLimitBytes":67108864,"oomKills":1}"
    `);
  });

  it('a kill that only the parent has counted, and not at its own limit', () => {
    expect(
      shows({
        container: dead(137),
        kernel: kernel(
          { oomKills: 0, limitHits: 0, parentOOMKills: 1, parentLimitHits: 4, readings: [] },
          { oomKills: 0, limitHits: 0, parentOOMKills: 0, parentLimitHits: 4, readings: [] },
          false,
        ),
      }),
    ).toMatchInlineSnapshot(`
      "Confirmed AncestorOOMKilled (other-memory-limit), exit code 137
      The main command was killed for memory by a limit above the sandbox or by the host running out of memory; the memory limit of 64Mi was not reached.
      + Init left no report; the runtime says that the container ended with 137.
      + The kernel counted a kill for memory once during the launch.
      + The sandbox's own memory limit was not hit: it was the limit of a cgroup above it, or the host ran out of memory.
      + The runtime did not set its OOMKilled flag within 2.0 s.
      - The runtime did not report the kill that the kernel counted (moby#41929).
      {"memoryLimitBytes":67108864,"oomKills":1}"
    `);
  });

  it('kills of the cgroup and of its parent are the same kills', () => {
    expect(
      shows({
        report: bySIGKILL,
        kernel: kernel(
          { oomKills: 2, limitHits: 2, parentOOMKills: 3, parentLimitHits: 3, readings: [] },
          { oomKills: 0, limitHits: 0, parentOOMKills: 0, parentLimitHits: 0, readings: [] },
        ),
      }),
    ).toMatchInlineSnapshot(`
      "Confirmed OOMKilled (our-memory-limit), exit code 137, SIGKILL
      The main command was killed by the memory limit of 64Mi.
      + Init saw it end by SIGKILL.
      + The kernel counted a kill for memory 3 times during the launch.
      + The sandbox's own memory limit was hit during the launch.
      + The runtime did not set its OOMKilled flag within 2.0 s.
      - The runtime did not report the kill that the kernel counted (moby#41929).
      killed by the limit: Confirmed: The main command was killed by the memory limit of 64Mi.
      {"memoryLimitBytes":67108864,"oomKills":3}"
    `);
  });

  it('a kill by another limit', () => {
    expect(shows({ report: bySIGKILL, kernel: kernel(killedByOther) })).toMatchInlineSnapshot(`
      "Confirmed AncestorOOMKilled (other-memory-limit), exit code 137, SIGKILL
      The main command was killed for memory by a limit above the sandbox or by the host running out of memory; the memory limit of 64Mi was not reached.
      + Init saw it end by SIGKILL.
      + The kernel counted a kill for memory once during the launch.
      + The sandbox's own memory limit was not hit: it was the limit of a cgroup above it, or the host ran out of memory.
      + The runtime did not set its OOMKilled flag within 2.0 s.
      - The runtime did not report the kill that the kernel counted (moby#41929).
      {"memoryLimitBytes":67108864,"oomKills":1}"
    `);
  });

  it('a kill by another limit, of a shell that tells it by 137', () => {
    expect(shows({ container: dead(137), kernel: kernel(killedByOther) })).toMatchInlineSnapshot(`
      "Confirmed AncestorOOMKilled (other-memory-limit), exit code 137
      The main command was killed for memory by a limit above the sandbox or by the host running out of memory; the memory limit of 64Mi was not reached.
      + Init left no report; the runtime says that the container ended with 137.
      + The kernel counted a kill for memory once during the launch.
      + The sandbox's own memory limit was not hit: it was the limit of a cgroup above it, or the host ran out of memory.
      + The runtime did not set its OOMKilled flag within 2.0 s.
      - The runtime did not report the kill that the kernel counted (moby#41929).
      {"memoryLimitBytes":67108864,"oomKills":1}"
    `);
  });

  it('a kill by another limit that did not end it', () => {
    expect(shows({ report: code(1), kernel: kernel(killedByOther) })).toMatchInlineSnapshot(`
      "Confirmed Exited (exited-by-itself), exit code 1
      The main command exited with code 1.
      + Init saw it exit by itself with code 1, not by a signal.
      + The kernel counted a kill for memory once during the launch.
      + The sandbox's own memory limit was not hit: it was the limit of a cgroup above it, or the host ran out of memory.
      + The runtime did not set its OOMKilled flag within 2.0 s.
      - The runtime did not report the kill that the kernel counted (moby#41929).
      {"memoryLimitBytes":67108864,"oomKills":1}"
    `);
  });

  it('a kill without a limit of its own', () => {
    expect(shows({ limits: {}, report: bySIGKILL, kernel: kernel(killedByUs) })).toMatchInlineSnapshot(`
      "Confirmed AncestorOOMKilled (other-memory-limit), exit code 137, SIGKILL
      The main command was killed for memory by a limit above the sandbox or by the host running out of memory; the sandbox has no memory limit.
      + Init saw it end by SIGKILL.
      + The kernel counted a kill for memory once during the launch.
      + The sandbox's own memory limit was hit during the launch.
      + The runtime did not set its OOMKilled flag within 2.0 s.
      - The runtime did not report the kill that the kernel counted (moby#41929).
      {"peakMemoryBytes":67108864,"oomKills":1}"
    `);
  });

  it('a kill without a limit of its own, whose limit cannot be told', () => {
    expect(
      shows({ limits: {}, report: bySIGKILL, kernel: kernel({ oomKills: 1, readings: [] }) }),
    ).toMatchInlineSnapshot(`
      "Confirmed AncestorOOMKilled (other-memory-limit), exit code 137, SIGKILL
      The main command was killed for memory by a limit above the sandbox or by the host running out of memory; the sandbox has no memory limit.
      + Init saw it end by SIGKILL.
      + The kernel counted a kill for memory once during the launch.
      + Whether it was the limit of the sandbox could not be read.
      + The runtime did not set its OOMKilled flag within 2.0 s.
      {"oomKills":1}"
    `);
  });

  it('no kill without a limit of its own', () => {
    expect(shows({ limits: {}, report: bySIGKILL })).toMatchInlineSnapshot(`
      "Confirmed KilledFromOutside (ended-by-signal), exit code 137, SIGKILL
      The main command was ended by SIGKILL, which neither the agent nor a memory limit sent: it came from another process in the sandbox or from the host.
      + Init saw it end by SIGKILL.
      + The kernel counted no kill for memory during the launch.
      + The runtime did not set its OOMKilled flag within 2.0 s.
      {"oomKills":0}"
    `);
  });

  it('a flag without a limit of its own, where the kernel counted nothing', () => {
    expect(
      shows({ limits: {}, report: bySIGKILL, flag: { before: false, after: true, askedForMs: 0 } }),
    ).toMatchInlineSnapshot(`
      "Confirmed KilledFromOutside (ended-by-signal), exit code 137, SIGKILL
      The main command was ended by SIGKILL, which neither the agent nor a memory limit sent: it came from another process in the sandbox or from the host.
      + Init saw it end by SIGKILL.
      + The kernel counted no kill for memory during the launch.
      + The runtime has set its OOMKilled flag: some process was killed for memory.
      - The runtime speaks of a kill for memory, but the kernel counted none by the end of the launch.
      {"oomKills":0}"
    `);
  });

  it('137 under a limit, with nothing to show for it', () => {
    expect(shows({ kernel: unread, container: dead(137) })).toMatchInlineSnapshot(`
      "Unconfirmed OOMKilled (unconfirmed-memory-kill), exit code 137
      The main command was killed under the memory limit of 64Mi; the runtime did not confirm that it was the limit.
      + Init left no report; the runtime says that the container ended with 137.
      + The kernel's counters could not be read after the end.
      + The runtime did not set its OOMKilled flag within 2.0 s.
      killed by the limit: Unconfirmed: The main command was killed under the memory limit of 64Mi; the runtime did not confirm that it was the limit.
      {"memoryLimitBytes":67108864}"
    `);
  });

  it('137 under a limit whose swap is not held', () => {
    expect(
      shows({ kernel: unread, container: dead(137), limits: { memoryBytes: 64 * MIB, swap: 'Unbounded' } }),
    ).toMatchInlineSnapshot(`
      "Unconfirmed OOMKilled (unconfirmed-memory-kill), exit code 137
      The main command was killed under the memory (swap unbounded) limit of 64Mi; the runtime did not confirm that it was the limit.
      + Init left no report; the runtime says that the container ended with 137.
      + The kernel's counters could not be read after the end.
      + The runtime did not set its OOMKilled flag within 2.0 s.
      killed by the limit: Unconfirmed: The main command was killed under the memory (swap unbounded) limit of 64Mi; the runtime did not confirm that it was the limit.
      {"memoryLimitBytes":67108864}"
    `);
  });

  it('SIGKILL under a limit that was reported before our stop', () => {
    expect(
      shows({
        report: bySIGKILL,
        kernel: unread,
        stop: stop('Suspended'),
        reportedAt: '2026-11-30T11:59:59.999Z',
      }),
    ).toMatchInlineSnapshot(`
      "Unconfirmed OOMKilled (unconfirmed-memory-kill), exit code 137, SIGKILL
      The main command was killed under the memory limit of 64Mi; the runtime did not confirm that it was the limit.
      + Init saw it end by SIGKILL.
      + The kernel's counters could not be read after the end.
      + The runtime did not set its OOMKilled flag within 2.0 s.
      killed by the limit: Unconfirmed: The main command was killed under the memory limit of 64Mi; the runtime did not confirm that it was the limit.
      {"memoryLimitBytes":67108864}"
    `);
  });

  it('137 of setup under a limit', () => {
    expect(shows({ launch: 'Setup', kernel: unread, container: dead(137) })).toMatchInlineSnapshot(`
      "Unconfirmed OOMKilled (unconfirmed-memory-kill), exit code 137
      The setup command was killed under the memory limit of 64Mi; the runtime did not confirm that it was the limit.
      + Init left no report; the runtime says that the container ended with 137.
      + The kernel's counters could not be read after the end.
      + The runtime did not set its OOMKilled flag within 2.0 s.
      killed by the limit: Unconfirmed: The setup command was killed under the memory limit of 64Mi; the runtime did not confirm that it was the limit.
      {"memoryLimitBytes":67108864}"
    `);
  });

  it('137 under a limit, of a container that is dead', () => {
    expect(
      shows({ kernel: unread, container: { state: 'dead', exitCode: 137, error: '' } }),
    ).toMatchInlineSnapshot(`
      "Unconfirmed OOMKilled (unconfirmed-memory-kill), exit code 137
      The main command was killed under the memory limit of 64Mi; the runtime did not confirm that it was the limit.
      + Init left no report; the runtime says that the container ended with 137.
      + The kernel's counters could not be read after the end.
      + The runtime did not set its OOMKilled flag within 2.0 s.
      killed by the limit: Unconfirmed: The main command was killed under the memory limit of 64Mi; the runtime did not confirm that it was the limit.
      {"memoryLimitBytes":67108864}"
    `);
  });

  it('137 under a limit, confirmed by the flag', () => {
    expect(
      shows({ kernel: unread, container: dead(137), flag: { before: false, after: true, askedForMs: 300 } }),
    ).toMatchInlineSnapshot(`
      "Confirmed OOMKilled (our-memory-limit), exit code 137
      The main command was killed by the memory limit of 64Mi.
      + Init left no report; the runtime says that the container ended with 137.
      + The kernel's counters could not be read after the end.
      + The runtime has set its OOMKilled flag: some process was killed for memory.
      killed by the limit: Confirmed: The main command was killed by the memory limit of 64Mi.
      {"memoryLimitBytes":67108864}"
    `);
  });

  it('137 under a limit, with a flag that nobody knows to be new', () => {
    expect(
      shows({ kernel: unread, container: dead(137), flag: { after: true, askedForMs: 300 } }),
    ).toMatchInlineSnapshot(`
      "Confirmed OOMKilled (our-memory-limit), exit code 137
      The main command was killed by the memory limit of 64Mi.
      + Init left no report; the runtime says that the container ended with 137.
      + The kernel's counters could not be read after the end.
      + The runtime has set its OOMKilled flag: some process was killed for memory.
      killed by the limit: Confirmed: The main command was killed by the memory limit of 64Mi.
      {"memoryLimitBytes":67108864}"
    `);
  });

  it('137 under a limit, with a flag of an earlier launch', () => {
    expect(
      shows({ kernel: unread, container: dead(137), flag: { before: true, after: true, askedForMs: 300 } }),
    ).toMatchInlineSnapshot(`
      "Unconfirmed OOMKilled (unconfirmed-memory-kill), exit code 137
      The main command was killed under the memory limit of 64Mi; the runtime did not confirm that it was the limit.
      + Init left no report; the runtime says that the container ended with 137.
      + The kernel's counters could not be read after the end.
      + The OOMKilled flag of the runtime is left from something earlier in this container and confirms nothing.
      killed by the limit: Unconfirmed: The main command was killed under the memory limit of 64Mi; the runtime did not confirm that it was the limit.
      {"memoryLimitBytes":67108864}"
    `);
  });

  it('137 under a limit, with a flag that a kill before this launch explains', () => {
    expect(
      shows({
        kernel: kernel({ oomKills: 1, readings: [] }, { oomKills: 1, readings: [] }, false),
        container: dead(137),
        flag: { before: false, after: true, askedForMs: 300 },
      }),
    ).toMatchInlineSnapshot(`
      "Unconfirmed OOMKilled (unconfirmed-memory-kill), exit code 137
      The main command was killed under the memory limit of 64Mi; the runtime did not confirm that it was the limit.
      + Init left no report; the runtime says that the container ended with 137.
      + The kernel had counted no kill for memory when it was last asked, which was before the end.
      + The OOMKilled flag of the runtime is left from something earlier in this container and confirms nothing.
      killed by the limit: Unconfirmed: The main command was killed under the memory limit of 64Mi; the runtime did not confirm that it was the limit.
      {"memoryLimitBytes":67108864,"oomKills":0}"
    `);
  });

  it('137 under a limit, with an old flag and a new event', () => {
    expect(
      shows({
        kernel: unread,
        container: dead(137),
        flag: { before: true, after: true, askedForMs: 300 },
        events: [{ action: 'oom', timeMs: 1 }],
      }),
    ).toMatchInlineSnapshot(`
      "Confirmed OOMKilled (our-memory-limit), exit code 137
      The main command was killed by the memory limit of 64Mi.
      + Init left no report; the runtime says that the container ended with 137.
      + The kernel's counters could not be read after the end.
      + The runtime sent an oom event during the launch.
      + The OOMKilled flag of the runtime is left from something earlier in this container and confirms nothing.
      killed by the limit: Confirmed: The main command was killed by the memory limit of 64Mi.
      {"memoryLimitBytes":67108864}"
    `);
  });

  it('137 under a limit, where the flag was never asked for', () => {
    expect(shows({ kernel: unread, container: dead(137), flag: { askedForMs: 0 } })).toMatchInlineSnapshot(`
      "Unconfirmed OOMKilled (unconfirmed-memory-kill), exit code 137
      The main command was killed under the memory limit of 64Mi; the runtime did not confirm that it was the limit.
      + Init left no report; the runtime says that the container ended with 137.
      + The kernel's counters could not be read after the end.
      killed by the limit: Unconfirmed: The main command was killed under the memory limit of 64Mi; the runtime did not confirm that it was the limit.
      {"memoryLimitBytes":67108864}"
    `);
  });

  it('137 without a limit', () => {
    expect(shows({ limits: {}, kernel: unread, container: dead(137) })).toMatchInlineSnapshot(`
      "Unconfirmed Unknown (unknown), exit code 137
      The main command ended with exit code 137: by itself, or by SIGKILL from outside the runtime; no memory limit is behind it, and nothing shows which it was.
      + Init left no report; the runtime says that the container ended with 137.
      + The kernel's counters could not be read after the end.
      + The runtime did not set its OOMKilled flag within 2.0 s.
      {}"
    `);
  });

  it('counters that went back', () => {
    expect(
      shows({ container: dead(137), kernel: kernel(at0, { oomKills: 1, limitHits: 2, readings: [] }) }),
    ).toMatchInlineSnapshot(`
      "Unconfirmed OOMKilled (unconfirmed-memory-kill), exit code 137
      The main command was killed under the memory limit of 64Mi; the runtime did not confirm that it was the limit.
      + Init left no report; the runtime says that the container ended with 137.
      + No counter of kills for memory could be compared.
      + The runtime did not set its OOMKilled flag within 2.0 s.
      - oomKills went from 1 back to 0: not the same cgroup.
      killed by the limit: Unconfirmed: The main command was killed under the memory limit of 64Mi; the runtime did not confirm that it was the limit.
      {"memoryLimitBytes":67108864}"
    `);
  });

  it('counters of the limit that went back at a kill', () => {
    expect(
      shows({
        report: bySIGKILL,
        kernel: kernel(
          { oomKills: 1, limitHits: 1, readings: [] },
          { oomKills: 0, limitHits: 2, readings: [] },
        ),
      }),
    ).toMatchInlineSnapshot(`
      "Unconfirmed OOMKilled (unconfirmed-memory-kill), exit code 137, SIGKILL
      The main command was killed under the memory limit of 64Mi; the runtime did not confirm that it was the limit.
      + Init saw it end by SIGKILL.
      + The kernel counted a kill for memory once during the launch.
      + Whether it was the limit of the sandbox could not be read.
      + The runtime did not set its OOMKilled flag within 2.0 s.
      - limitHits went from 2 back to 1: not the same cgroup.
      killed by the limit: Unconfirmed: The main command was killed under the memory limit of 64Mi; the runtime did not confirm that it was the limit.
      {"memoryLimitBytes":67108864,"oomKills":1}"
    `);
  });

  it('counters without those before the launch', () => {
    expect(shows({ container: dead(137), kernel: { after: killedByUs, held: true } })).toMatchInlineSnapshot(`
      "Unconfirmed OOMKilled (unconfirmed-memory-kill), exit code 137
      The main command was killed under the memory limit of 64Mi; the runtime did not confirm that it was the limit.
      + Init left no report; the runtime says that the container ended with 137.
      + The kernel's counters were not read before the launch: nothing to compare with.
      + The runtime did not set its OOMKilled flag within 2.0 s.
      killed by the limit: Unconfirmed: The main command was killed under the memory limit of 64Mi; the runtime did not confirm that it was the limit.
      {"memoryLimitBytes":67108864,"peakMemoryBytes":67108864}"
    `);
  });

  it('counters that had not moved before the end', () => {
    expect(shows({ container: dead(137), kernel: kernel(at0, at0, false) })).toMatchInlineSnapshot(`
      "Unconfirmed OOMKilled (unconfirmed-memory-kill), exit code 137
      The main command was killed under the memory limit of 64Mi; the runtime did not confirm that it was the limit.
      + Init left no report; the runtime says that the container ended with 137.
      + The kernel had counted no kill for memory when it was last asked, which was before the end.
      + The runtime did not set its OOMKilled flag within 2.0 s.
      killed by the limit: Unconfirmed: The main command was killed under the memory limit of 64Mi; the runtime did not confirm that it was the limit.
      {"memoryLimitBytes":67108864,"oomKills":0}"
    `);
  });

  it('a child that the limit killed, and exit 0', () => {
    expect(shows({ report: code(0), kernel: kernel(killedByUs) })).toMatchInlineSnapshot(`
      "Confirmed Exited (own-result), exit code 0
      The main command exited with code 0.
      + Init saw it exit by itself with code 0, not by a signal.
      + The kernel counted a kill for memory once during the launch.
      + The sandbox's own memory limit was hit during the launch.
      + The runtime did not set its OOMKilled flag within 2.0 s.
      - The runtime did not report the kill that the kernel counted (moby#41929).
      killed by the limit: Confirmed: A process of the sandbox was killed by the memory limit of 64Mi; the launch was not ended by that.
      {"memoryLimitBytes":67108864,"peakMemoryBytes":67108864,"oomKills":1}"
    `);
  });

  it('a child of setup that the limit killed, and exit 1', () => {
    expect(shows({ launch: 'Setup', report: code(1), kernel: kernel(killedByUs) })).toMatchInlineSnapshot(`
      "Confirmed OOMKilled (our-memory-limit), exit code 1
      A process of the sandbox was killed by the memory limit of 64Mi, and the setup command ended without a result.
      + Init saw it exit by itself with code 1, not by a signal.
      + The kernel counted a kill for memory once during the launch.
      + The sandbox's own memory limit was hit during the launch.
      + The runtime did not set its OOMKilled flag within 2.0 s.
      - The runtime did not report the kill that the kernel counted (moby#41929).
      killed by the limit: Confirmed: A process of the sandbox was killed by the memory limit of 64Mi, and the setup command ended without a result.
      {"memoryLimitBytes":67108864,"peakMemoryBytes":67108864,"oomKills":1}"
    `);
  });

  it('exit 0 upon a signal from outside', () => {
    expect(shows({ report: outside({ exitCode: 0 }) })).toMatchInlineSnapshot(`
      "Confirmed Exited (own-result), exit code 0
      The main command exited with code 0.
      + Init saw it exit by itself with code 0, not by a signal.
      + Init had passed a signal from outside on to it; it ended itself upon that.
      + The kernel counted no kill for memory during the launch.
      + The runtime did not set its OOMKilled flag within 2.0 s.
      {"memoryLimitBytes":67108864,"oomKills":0}"
    `);
  });

  it('exit 3', () => {
    expect(shows({ report: code(3) })).toMatchInlineSnapshot(`
      "Confirmed Exited (exited-by-itself), exit code 3
      The main command exited with code 3.
      + Init saw it exit by itself with code 3, not by a signal.
      + The kernel counted no kill for memory during the launch.
      + The runtime did not set its OOMKilled flag within 2.0 s.
      {"memoryLimitBytes":67108864,"oomKills":0}"
    `);
  });

  it('exit 137 of its own', () => {
    expect(shows({ report: code(137) })).toMatchInlineSnapshot(`
      "Confirmed Exited (exited-by-itself), exit code 137
      The main command exited with code 137.
      + Init saw it exit by itself with code 137, not by a signal.
      + The kernel counted no kill for memory during the launch.
      + The runtime did not set its OOMKilled flag within 2.0 s.
      {"memoryLimitBytes":67108864,"oomKills":0}"
    `);
  });

  it('a death by SIGTERM from outside', () => {
    expect(shows({ report: outside({ signal: 15 }) })).toMatchInlineSnapshot(`
      "Confirmed KilledFromOutside (killed-from-outside), exit code 143, SIGTERM
      The main command was ended by a signal from outside the sandbox (SIGTERM) that was not ours.
      + Init saw it end by SIGTERM.
      + Init passed a signal from outside on to it (SIGTERM).
      + The kernel counted no kill for memory during the launch.
      + The runtime did not set its OOMKilled flag within 2.0 s.
      {"memoryLimitBytes":67108864,"oomKills":0}"
    `);
  });

  it('a signal from outside that an older init does not name', () => {
    expect(shows({ report: { exitCode: 3, signal: undefined, endedBy: 'outside' } })).toMatchInlineSnapshot(`
      "Confirmed KilledFromOutside (killed-from-outside), exit code 3
      The main command was ended by a signal from outside the sandbox that was not ours.
      + Init saw it exit by itself with code 3, not by a signal.
      + Init passed a signal from outside on to it.
      + The kernel counted no kill for memory during the launch.
      + The runtime did not set its OOMKilled flag within 2.0 s.
      {"memoryLimitBytes":67108864,"oomKills":0}"
    `);
  });

  it('exit 137 upon SIGKILL from outside after the limit killed a child', () => {
    expect(
      shows({
        report: { exitCode: 137, signal: undefined, endedBy: 'outside', outside: { signal: 9, atBootMs: 1 } },
        kernel: kernel(killedByUs),
      }),
    ).toMatchInlineSnapshot(`
      "Confirmed KilledFromOutside (killed-from-outside), exit code 137
      The main command was ended by a signal from outside the sandbox (SIGKILL) that was not ours.
      + Init saw it exit by itself with code 137, not by a signal.
      + Init passed a signal from outside on to it (SIGKILL).
      + The kernel counted a kill for memory once during the launch.
      + The sandbox's own memory limit was hit during the launch.
      + The runtime did not set its OOMKilled flag within 2.0 s.
      - The runtime did not report the kill that the kernel counted (moby#41929).
      killed by the limit: Confirmed: A process of the sandbox was killed by the memory limit of 64Mi; the launch was not ended by that.
      {"memoryLimitBytes":67108864,"peakMemoryBytes":67108864,"oomKills":1}"
    `);
  });

  it('a kill through the runtime', () => {
    expect(
      shows({
        kernel: unread,
        container: dead(137),
        events: [{ action: 'kill', detail: 9, timeMs: 86_400_000 }],
      }),
    ).toMatchInlineSnapshot(`
      "Confirmed KilledFromOutside (killed-from-outside), exit code 137
      The main command was killed through the API of the runtime (SIGKILL), not by us.
      + Init left no report; the runtime says that the container ended with 137.
      + The runtime reported a kill with SIGKILL at 1970-01-02T00:00:00.000Z; our ledger has none.
      + The kernel's counters could not be read after the end.
      + The runtime did not set its OOMKilled flag within 2.0 s.
      {"memoryLimitBytes":67108864}"
    `);
  });

  it('a stop through the runtime, with SIGTERM that ended it', () => {
    expect(
      shows({
        kernel: unread,
        container: dead(143),
        events: [
          { action: 'kill', timeMs: 1 },
          { action: 'die', detail: 143, timeMs: 2 },
          { action: 'kill', detail: 15, timeMs: 3 },
        ],
      }),
    ).toMatchInlineSnapshot(`
      "Confirmed KilledFromOutside (killed-from-outside), exit code 143
      The main command was killed through the API of the runtime (SIGTERM), not by us.
      + Init left no report; the runtime says that the container ended with 143.
      + The runtime reported a kill with SIGTERM at 1970-01-01T00:00:00.003Z; our ledger has none.
      + The kernel's counters could not be read after the end.
      + The runtime did not set its OOMKilled flag within 2.0 s.
      {"memoryLimitBytes":67108864}"
    `);
  });

  it('a restart of the runtime', () => {
    expect(shows({ kernel: unread, container: dead(137), restarted: 'Runtime' })).toMatchInlineSnapshot(`
      "Confirmed RuntimeRestarted (runtime-restarted), exit code 137
      The runtime was restarted while the main command ran.
      + Init left no report; the runtime says that the container ended with 137.
      + The runtime was started anew during the launch.
      + The kernel's counters could not be read after the end.
      + The runtime did not set its OOMKilled flag within 2.0 s.
      {"memoryLimitBytes":67108864}"
    `);
  });

  it('a restart of the machine, in setup', () => {
    expect(
      shows({ launch: 'Setup', kernel: unread, container: dead(255), restarted: 'Machine' }),
    ).toMatchInlineSnapshot(`
      "Confirmed RuntimeRestarted (runtime-restarted), exit code 255
      The machine of the runtime was restarted while the setup command ran.
      + Init left no report; the runtime says that the container ended with 255.
      + The machine of the runtime was started anew during the launch.
      + The kernel's counters could not be read after the end.
      + The runtime did not set its OOMKilled flag within 2.0 s.
      {"memoryLimitBytes":67108864}"
    `);
  });

  it('a container that somebody removed', () => {
    expect(
      shows({ kernel: unread, container: 'Missing', events: [{ action: 'destroy', timeMs: 6 }] }),
    ).toMatchInlineSnapshot(`
      "Confirmed ContainerLost (container-lost), exit code unknown
      The container was removed from outside while the main command ran.
      + The runtime has no container of this ID any more.
      + The runtime reported that somebody removed it.
      + The kernel's counters could not be read after the end.
      + The runtime did not set its OOMKilled flag within 2.0 s.
      {"memoryLimitBytes":67108864}"
    `);
  });

  it('a container that is not there', () => {
    expect(shows({ kernel: unread, container: 'Missing' })).toMatchInlineSnapshot(`
      "Confirmed ContainerLost (container-lost), exit code unknown
      The container was removed from outside while the main command ran.
      + The runtime has no container of this ID any more.
      + The kernel's counters could not be read after the end.
      + The runtime did not set its OOMKilled flag within 2.0 s.
      {"memoryLimitBytes":67108864}"
    `);
  });

  it('a command that does not exist', () => {
    expect(shows({ startFailure: { stage: 'exec', errno: 'ENOENT' } })).toMatchInlineSnapshot(`
      "Confirmed CommandNotFound (never-started), exit code 0
      The main command does not exist in the image (ENOENT).
      + Init left no report; the runtime says that the container ended with 0.
      + The kernel counted no kill for memory during the launch.
      + The runtime did not set its OOMKilled flag within 2.0 s.
      {"memoryLimitBytes":67108864,"oomKills":0}"
    `);
  });

  it('a command of setup that cannot be executed', () => {
    expect(
      shows({ launch: 'Setup', startFailure: { stage: 'exec', errno: 'EACCES' } }),
    ).toMatchInlineSnapshot(`
      "Confirmed CommandNotExecutable (never-started), exit code 0
      The setup command exists but cannot be executed (EACCES).
      + Init left no report; the runtime says that the container ended with 0.
      + The kernel counted no kill for memory during the launch.
      + The runtime did not set its OOMKilled flag within 2.0 s.
      {"memoryLimitBytes":67108864,"oomKills":0}"
    `);
  });

  it('a fork that failed', () => {
    expect(shows({ startFailure: { stage: 'fork', errno: 'EAGAIN' } })).toMatchInlineSnapshot(`
      "Confirmed StartFailed (never-started), exit code 0
      The main command could not be started: fork failed with EAGAIN.
      + Init left no report; the runtime says that the container ended with 0.
      + The kernel counted no kill for memory during the launch.
      + The runtime did not set its OOMKilled flag within 2.0 s.
      {"memoryLimitBytes":67108864,"oomKills":0}"
    `);
  });

  it('a directory that is none', () => {
    expect(shows({ startFailure: { stage: 'chdir', errno: 'EACCES' } })).toMatchInlineSnapshot(`
      "Confirmed StartFailed (never-started), exit code 0
      The main command could not be started: chdir failed with EACCES.
      + Init left no report; the runtime says that the container ended with 0.
      + The kernel counted no kill for memory during the launch.
      + The runtime did not set its OOMKilled flag within 2.0 s.
      {"memoryLimitBytes":67108864,"oomKills":0}"
    `);
  });

  it('our stop', () => {
    expect(
      shows({ report: { exitCode: undefined, signal: 15, endedBy: 'agent' }, stop: stop('Deadline') }),
    ).toMatchInlineSnapshot(`
      "Confirmed Deadline (our-stop), exit code 143, SIGTERM
      The main command was stopped at activeDeadlineSeconds.
      + Init saw it end by SIGTERM.
      + The ledger has our stop (Deadline) of 2026-11-30T12:00:00Z with SIGTERM, then SIGKILL.
      + The kernel counted no kill for memory during the launch.
      + The runtime did not set its OOMKilled flag within 2.0 s.
      {"memoryLimitBytes":67108864,"oomKills":0}"
    `);
  });

  it('our stop, with no signal sent yet', () => {
    expect(
      shows({
        kernel: unread,
        container: dead(137),
        stop: { reason: 'Deleted', at: '2026-11-30T12:00:00Z', signals: [] },
      }),
    ).toMatchInlineSnapshot(`
      "Confirmed Deleted (our-stop), exit code 137
      The main command was stopped because the sandbox is being deleted.
      + Init left no report; the runtime says that the container ended with 137.
      + The ledger has our stop (Deleted) of 2026-11-30T12:00:00Z.
      + The kernel's counters could not be read after the end.
      + The runtime did not set its OOMKilled flag within 2.0 s.
      {"memoryLimitBytes":67108864}"
    `);
  });

  it('our stop, through the runtime', () => {
    expect(shows({ report: outside({ signal: 15 }), stop: stop('Suspended') })).toMatchInlineSnapshot(`
      "Confirmed Suspended (our-stop), exit code 143, SIGTERM
      The main command was stopped because spec.suspend is true.
      + Init saw it end by SIGTERM.
      + The ledger has our stop (Suspended) of 2026-11-30T12:00:00Z with SIGTERM, then SIGKILL.
      + Init passed it on as a signal from outside: it was sent through the runtime.
      + The kernel counted no kill for memory during the launch.
      + The runtime did not set its OOMKilled flag within 2.0 s.
      {"memoryLimitBytes":67108864,"oomKills":0}"
    `);
  });

  it('our stop of what had ended by itself at the very time of the stop', () => {
    expect(
      shows({
        report: outside({ signal: 15 }),
        stop: stop('Suspended'),
        reportedAt: '2026-11-30T12:00:00.000Z',
      }),
    ).toMatchInlineSnapshot(`
      "Confirmed Suspended (our-stop), exit code 143, SIGTERM
      The main command was stopped because spec.suspend is true.
      + Init saw it end by SIGTERM.
      + The ledger has our stop (Suspended) of 2026-11-30T12:00:00Z with SIGTERM, then SIGKILL.
      + Init passed it on as a signal from outside: it was sent through the runtime.
      + The kernel counted no kill for memory during the launch.
      + The runtime did not set its OOMKilled flag within 2.0 s.
      {"memoryLimitBytes":67108864,"oomKills":0}"
    `);
  });

  it('what exited while we stopped it, as an older init has it', () => {
    expect(
      shows({
        report: { exitCode: 0, signal: undefined, endedBy: 'itself' },
        stop: stop('Suspended'),
        reportedAt: '2026-11-30T12:00:01Z',
      }),
    ).toMatchInlineSnapshot(`
      "Confirmed Exited (own-result), exit code 0
      The main command exited with code 0.
      + Init saw it exit by itself with code 0, not by a signal.
      + The kernel counted no kill for memory during the launch.
      + The runtime did not set its OOMKilled flag within 2.0 s.
      {"memoryLimitBytes":67108864,"oomKills":0}"
    `);
  });

  it('what init ended at its time limit, before our stop', () => {
    expect(
      shows({
        report: { exitCode: undefined, signal: 15, endedBy: 'timeout' },
        stop: stop('Deadline'),
        reportedAt: '2026-11-30T11:59:00Z',
      }),
    ).toMatchInlineSnapshot(`
      "Confirmed Deadline (our-stop), exit code 143, SIGTERM
      The main command was stopped at activeDeadlineSeconds.
      + Init saw it end by SIGTERM.
      + The ledger has our stop (Deadline) of 2026-11-30T12:00:00Z with SIGTERM, then SIGKILL.
      + The kernel counted no kill for memory during the launch.
      + The runtime did not set its OOMKilled flag within 2.0 s.
      {"memoryLimitBytes":67108864,"oomKills":0}"
    `);
  });

  it('setup at its time limit', () => {
    expect(
      shows({ launch: 'Setup', report: { exitCode: undefined, signal: 15, endedBy: 'timeout' } }),
    ).toMatchInlineSnapshot(`
      "Confirmed Timeout (own-time-limit), exit code 143, SIGTERM
      The setup command ran into its time limit and was ended by init.
      + Init saw it end by SIGTERM.
      + Init ended it at its time limit.
      + The kernel counted no kill for memory during the launch.
      + The runtime did not set its OOMKilled flag within 2.0 s.
      {"memoryLimitBytes":67108864,"oomKills":0}"
    `);
  });

  it('main at its time limit', () => {
    expect(shows({ report: { exitCode: undefined, signal: 9, endedBy: 'timeout' } })).toMatchInlineSnapshot(`
      "Confirmed Deadline (own-time-limit), exit code 137, SIGKILL
      The main command ran into its time limit and was ended by init.
      + Init saw it end by SIGKILL.
      + Init ended it at its time limit.
      + The kernel counted no kill for memory during the launch.
      + The runtime did not set its OOMKilled flag within 2.0 s.
      {"memoryLimitBytes":67108864,"oomKills":0}"
    `);
  });

  it('what the agent had ended, with nothing in the ledger', () => {
    expect(shows({ report: { exitCode: 0, signal: undefined, endedBy: 'agent' } })).toMatchInlineSnapshot(`
      "Confirmed Stopped (own-time-limit), exit code 0
      The main command was stopped by the agent.
      + Init saw it exit by itself with code 0, not by a signal.
      + Init ended it at the request of the agent.
      + The kernel counted no kill for memory during the launch.
      + The runtime did not set its OOMKilled flag within 2.0 s.
      {"memoryLimitBytes":67108864,"oomKills":0}"
    `);
  });

  it('a crash', () => {
    expect(shows({ report: { exitCode: undefined, signal: 11, endedBy: 'itself' } })).toMatchInlineSnapshot(`
      "Confirmed Exited (ended-by-signal), exit code 139, SIGSEGV
      The main command ended by SIGSEGV.
      + Init saw it end by SIGSEGV.
      + The kernel counted no kill for memory during the launch.
      + The runtime did not set its OOMKilled flag within 2.0 s.
      {"memoryLimitBytes":67108864,"oomKills":0}"
    `);
  });

  it('SIGKILL from within, with counters', () => {
    expect(shows({ report: bySIGKILL })).toMatchInlineSnapshot(`
      "Confirmed KilledFromOutside (ended-by-signal), exit code 137, SIGKILL
      The main command was ended by SIGKILL, which neither the agent nor a memory limit sent: it came from another process in the sandbox or from the host.
      + Init saw it end by SIGKILL.
      + The kernel counted no kill for memory during the launch.
      + The runtime did not set its OOMKilled flag within 2.0 s.
      {"memoryLimitBytes":67108864,"oomKills":0}"
    `);
  });

  it('SIGKILL from somewhere, without counters', () => {
    expect(shows({ limits: {}, report: bySIGKILL, kernel: unread })).toMatchInlineSnapshot(`
      "Unconfirmed KilledFromOutside (ended-by-signal), exit code 137, SIGKILL
      The main command was ended by SIGKILL, which neither the agent nor a memory limit sent: it came from another process in the sandbox or from the host.
      + Init saw it end by SIGKILL.
      + The kernel's counters could not be read after the end.
      + The runtime did not set its OOMKilled flag within 2.0 s.
      {}"
    `);
  });

  it('SIGTERM from somewhere', () => {
    expect(shows({ report: { exitCode: undefined, signal: 15, endedBy: 'itself' } })).toMatchInlineSnapshot(`
      "Confirmed KilledFromOutside (ended-by-signal), exit code 143, SIGTERM
      The main command was ended by SIGTERM, which neither the agent nor a memory limit sent: it came from another process in the sandbox or from the host.
      + Init saw it end by SIGTERM.
      + The kernel counted no kill for memory during the launch.
      + The runtime did not set its OOMKilled flag within 2.0 s.
      {"memoryLimitBytes":67108864,"oomKills":0}"
    `);
  });

  it('an exit that only the runtime saw', () => {
    expect(shows({ kernel: unread, container: dead(2) })).toMatchInlineSnapshot(`
      "Confirmed Exited (runtime-says-exited), exit code 2
      The main command ended with exit code 2.
      + Init left no report; the runtime says that the container ended with 2.
      + The kernel's counters could not be read after the end.
      + The runtime did not set its OOMKilled flag within 2.0 s.
      {"memoryLimitBytes":67108864}"
    `);
  });

  it('an exit that only the runtime saw, with its error', () => {
    expect(shows({ kernel: unread, container: dead(2, 'out of pixie dust') })).toMatchInlineSnapshot(`
      "Confirmed Exited (runtime-says-exited), exit code 2
      The main command ended with exit code 2 (out of pixie dust).
      + Init left no report; the runtime says that the container ended with 2.
      + The kernel's counters could not be read after the end.
      + The runtime did not set its OOMKilled flag within 2.0 s.
      {"memoryLimitBytes":67108864}"
    `);
  });

  it('exit 0 that only the runtime saw', () => {
    expect(shows({ kernel: unread, container: dead(0) })).toMatchInlineSnapshot(`
      "Confirmed Exited (own-result), exit code 0
      The main command exited with code 0.
      + Init left no report; the runtime says that the container ended with 0.
      + The kernel's counters could not be read after the end.
      + The runtime did not set its OOMKilled flag within 2.0 s.
      {"memoryLimitBytes":67108864}"
    `);
  });

  it('nothing at all', () => {
    expect(shows({ kernel: unread, container: undefined })).toMatchInlineSnapshot(`
      "Unconfirmed Unknown (unknown), exit code unknown
      The main command ended; nothing shows how.
      + The kernel's counters could not be read after the end.
      + The runtime did not set its OOMKilled flag within 2.0 s.
      {"memoryLimitBytes":67108864}"
    `);
  });

  it('a container that is said to run', () => {
    expect(
      shows({ kernel: unread, container: { state: 'running', exitCode: 137, error: '' } }),
    ).toMatchInlineSnapshot(`
      "Unconfirmed Unknown (unknown), exit code unknown
      The main command ended; nothing shows how.
      + The kernel's counters could not be read after the end.
      + The runtime did not set its OOMKilled flag within 2.0 s.
      {"memoryLimitBytes":67108864}"
    `);
  });

  it('the own end on a lost node', () => {
    expect(
      shows({
        report: { exitCode: undefined, signal: 9, endedBy: 'fence' },
        fence: { seconds: 40, fellAt: '2026-01-01T00:00:00Z' },
      }),
    ).toMatchInlineSnapshot(`
      "Confirmed NodeLost (own-fence), exit code 137, SIGKILL
      The sandbox ended itself: node lost: no heartbeat of its agent, backed by a renewed lease, had come for 40 s.
      + Init saw it end by SIGKILL.
      + Init says that it killed everything in the sandbox because no heartbeat had come for its time.
      + The agent heard of it at 2026-01-01T00:00:00Z.
      + The kernel counted no kill for memory during the launch.
      + The runtime did not set its OOMKilled flag within 2.0 s.
      {"memoryLimitBytes":67108864,"oomKills":0}"
    `);
  });

  it('the own end on a lost node, of a ledger that is lost', () => {
    expect(shows({ report: { exitCode: undefined, signal: 9, endedBy: 'fence' } })).toMatchInlineSnapshot(`
      "Confirmed NodeLost (own-fence), exit code 137, SIGKILL
      The sandbox ended itself: node lost: no heartbeat of its agent, backed by a renewed lease, had come for its time.
      + Init saw it end by SIGKILL.
      + Init says that it killed everything in the sandbox because no heartbeat had come for its time.
      + The kernel counted no kill for memory during the launch.
      + The runtime did not set its OOMKilled flag within 2.0 s.
      {"memoryLimitBytes":67108864,"oomKills":0}"
    `);
  });

  it('the exit code of init on a lost node', () => {
    expect(shows({ kernel: unread, container: dead(94), fence: { seconds: 40 } })).toMatchInlineSnapshot(`
      "Unconfirmed NodeLost (exit-code-of-the-fence), exit code 94
      The sandbox ended itself: node lost: no heartbeat of its agent, backed by a renewed lease, had come for 40 s.
      + Init left no report; the runtime says that the container ended with 94.
      + The ledger has that it ends itself 40 s after the last heartbeat; init exits with 94 then.
      + The kernel's counters could not be read after the end.
      + The runtime did not set its OOMKilled flag within 2.0 s.
      {"memoryLimitBytes":67108864}"
    `);
  });
});

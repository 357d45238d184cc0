import { describe, expect, it } from 'vitest';
import type { SandboxSpec } from '../../../crds/sandbox.ts';
import type { LedgerRecord } from '../ledger/record.ts';
import { specFacts } from './spec-facts.ts';
import {
  AT,
  BASE,
  container,
  launch,
  outcome,
  record,
  RETAINED,
  sandbox,
  session,
} from './testing/observations.ts';
import { shows } from './testing/shows.ts';
import type { Observation } from './types.ts';

/** A spec that changes at an awkward moment. A changed word: `vitest -u`, and read what it wrote. */

const more: Partial<SandboxSpec> = { ...RETAINED, resources: { memory: '128Mi' } };
const changed = sandbox(more);
const refusedOf = (
  spec: Partial<SandboxSpec>,
  restored = true,
): NonNullable<LedgerRecord['refusedLimits']> => ({
  hash: specFacts({ ...BASE, ...spec }).limitsHash,
  reason: 'LimitUnenforceable',
  message: 'The new limits are not in force.',
  restored,
});
const open: Partial<Observation> = {
  sandbox: sandbox(RETAINED),
  container: container(),
  record: record(RETAINED, { main: launch({ startedAt: AT }) }),
  session: session(),
};

describe('limits of a retained sandbox that change', () => {
  it('[K11] are tried again when they are others than those that were refused', () => {
    const refusedLimits = refusedOf({ ...RETAINED, resources: { memory: '1Gi' } });
    const before = record(RETAINED, { main: launch({ startedAt: AT }), refusedLimits });
    expect(shows({ ...open, sandbox: changed, record: before })).toMatchInlineSnapshot(`
      "because the limits of a live sandbox changed
      do update-limits"
    `);
  });

  it('[K11] are said no more to be refused when the spec is as it was', () => {
    const before = record(RETAINED, { main: launch({ startedAt: AT }), refusedLimits: refusedOf(more) });
    expect(shows({ ...open, record: before })).toMatchInlineSnapshot(`
      "because it runs
      Ready True Running: The sandbox is open for processes.
      Reconciling False AsRequested: Nothing is wrong.
      Stalled False AsRequested: Nothing is wrong.
      LimitsEnforced True ReadBack: Read back from the kernel: 64Mi memory.
      LimitUnenforceable False Enforceable: Every requested limit can be enforced on the node.
      phase = Running
      limits = {"memoryBytes":67108864,"summary":"64Mi memory"}
      specHash = b862936f0bbecf5b9a3862d8891a3db2
      containerID = c1
      containerName = holdfast-u1
      imageID = sha256:1
      startedAt = 2026-01-01T00:00:00.000Z"
    `);
  });

  it('[L12] do not hide what somebody else changed since', () => {
    const refusedLimits = refusedOf(more, false);
    const before = record(RETAINED, { main: launch({ startedAt: AT }), refusedLimits });
    const drifted = session({ drift: ['memory: 64Mi, now max'] });
    expect(shows({ ...open, record: before, session: drifted })).toMatchInlineSnapshot(`
      "because it runs
      Ready True Running: The sandbox is open for processes.
      Reconciling False AsRequested: Nothing is wrong.
      Stalled False AsRequested: Nothing is wrong.
      LimitsEnforced False Drifted: Changed from outside: memory: 64Mi, now max.
      LimitUnenforceable False Enforceable: Every requested limit can be enforced on the node.
      phase = Running
      limits = {"memoryBytes":67108864,"summary":"64Mi memory"}
      specHash = b862936f0bbecf5b9a3862d8891a3db2
      containerID = c1
      containerName = holdfast-u1
      imageID = sha256:1
      startedAt = 2026-01-01T00:00:00.000Z"
    `);
  });

  it('[K11] at its first gate wait until it is open', () => {
    const gated = { ...open, sandbox: changed, record: record(RETAINED) };
    expect(shows({ ...gated, session: session({ receipt: undefined }) })).toMatchInlineSnapshot(`
      "because no receipt yet
      do receipt"
    `);
  });

  it('[K11] before its setup make it anew: nothing is lost', () => {
    const setup = { setup: { command: ['make'] } };
    expect(
      shows({
        ...open,
        sandbox: sandbox({ ...more, ...setup }),
        record: record({ ...RETAINED, ...setup }),
      }),
    ).toMatchInlineSnapshot(`
      "because the spec changed; the old container is in the way
      Ready False Recreating: The spec changed: the container is being replaced.
      Reconciling True Recreating: The spec changed: the container is being replaced.
      Stalled False AsRequested: Nothing is wrong.
      phase = Launching
      without finishedAt, startedAt, setup, limits
      write, then do discard"
    `);
  });

  it('[K11] make anew what was never started', () => {
    const made = { container: container('created'), record: record(RETAINED), session: undefined };
    expect(shows({ ...open, ...made, sandbox: changed })).toMatchInlineSnapshot(`
      "because the spec changed; the old container is in the way
      Ready False Recreating: The spec changed: the container is being replaced.
      Reconciling True Recreating: The spec changed: the container is being replaced.
      Stalled False AsRequested: Nothing is wrong.
      phase = Launching
      without finishedAt, startedAt, setup, limits
      write, then do discard"
    `);
  });

  it('[K11] make anew what has no container left', () => {
    expect(
      shows({ ...open, sandbox: changed, container: undefined, session: undefined }),
    ).toMatchInlineSnapshot(`
      "because the spec changed
      Ready False Recreating: The spec changed: the container is being replaced.
      Reconciling True Recreating: The spec changed: the container is being replaced.
      Stalled False AsRequested: Nothing is wrong.
      phase = Launching
      without finishedAt, startedAt, setup, limits
      write, then do discard"
    `);
  });

  it('[K11] [L11] make anew what was refused for the old ones', () => {
    const refusal = { reason: 'ReadBackMismatch' as const, message: 'memory: no' };
    expect(
      shows({
        ...open,
        sandbox: changed,
        container: container('exited'),
        record: record(RETAINED, { main: launch(), refusal }),
        session: undefined,
      }),
    ).toMatchInlineSnapshot(`
      "because the spec changed; the old container is in the way
      Ready False Recreating: The spec changed: the container is being replaced.
      Reconciling True Recreating: The spec changed: the container is being replaced.
      Stalled False AsRequested: Nothing is wrong.
      phase = Launching
      without finishedAt, startedAt, setup, limits
      write, then do discard"
    `);
  });

  it('[K4] [K10] leave it suspended, with what it keeps, where there is no room', () => {
    expect(
      shows({
        sandbox: sandbox({ ...more, suspend: true }),
        container: container('exited'),
        record: record(RETAINED, { main: launch(), outcome: outcome('Stopped', 'Suspended') }),
        noRoom: 'memory: 128Mi asked for, 1Mi left',
      }),
    ).toMatchInlineSnapshot(`
      "because it is suspended
      Ready False SuspendedByUser: The sandbox is suspended; its filesystem is kept.
      Reconciling False AsRequested: Nothing is wrong.
      Stalled False AsRequested: Nothing is wrong.
      Suspended True SuspendedByUser: The sandbox is suspended; its filesystem is kept.
      phase = Suspended
      lastTermination = {"launch":"Main","cause":"Suspended","verdict":"Confirmed","message":"It was Suspended.","evidence":[],"finishedAt":"2026-01-01T00:00:00.000Z"}"
    `);
  });
});

describe('a container that is replaced', () => {
  it('[O4] takes back no condition that the status does not have', () => {
    const before = sandbox({ image: 'other:1' });
    const conditions = [
      {
        type: 'Ready' as const,
        status: 'False' as const,
        reason: 'Launching' as const,
        message: 'm',
        lastTransitionTime: AT,
      },
    ];
    expect(
      shows({
        sandbox: { ...before, status: { ...before.status, conditions } },
        container: container('exited'),
        record: record({}, { main: launch() }),
      }),
    ).toMatchInlineSnapshot(`
      "because the spec changed; the old container is in the way
      Ready False Recreating: The spec changed: the container is being replaced.
      Reconciling True Recreating: The spec changed: the container is being replaced.
      Stalled False AsRequested: Nothing is wrong.
      Complete False NotFinished: The spec changed: the container is being replaced.
      phase = Launching
      without finishedAt, startedAt, setup, limits
      write, then do discard"
    `);
  });
});

describe('words that would be longer than a status takes', () => {
  const long = 'x'.repeat(5000);
  const scheduled = (more: Partial<Observation>): string =>
    /^Scheduled False Declined: (.*)$/m.exec(shows(more))?.[1] ?? '';

  it('[L9] are cut where a node hands a sandbox back for its limits', () => {
    const words = scheduled({ unenforceable: `memory.max: ${long}` });
    expect(words).toMatch(/^Node n1 handed the sandbox back: Node n1: the runtime refused the limits: mem/);
    expect(words).toHaveLength(4096);
  });

  it('[K4] are cut where it has no room', () => {
    const words = scheduled({ noRoom: long });
    expect(words).toMatch(/^Node n1 handed the sandbox back: Node n1 has no room/);
    expect(words).toHaveLength(4096);
  });
});

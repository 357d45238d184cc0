import { describe, expect, it } from 'vitest';
import type { Sandbox, SandboxSpec } from '../../../crds/sandbox.ts';
import {
  AT,
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

/** Stops, fences and agents that take over. A changed word: `vitest -u`, and read what it wrote. */

const running = { state: 'running' as const, exit: undefined };
const live: Partial<Observation> = {
  container: container(),
  record: record({}, { main: launch({ startedAt: AT }) }),
  session: session({ main: running }),
};
const stop = { reason: 'Suspended' as const, at: AT, signals: ['SIGTERM'] };
const told = record({}, { main: launch({ startedAt: AT }), stop });
const notReady = { ready: false as const, why: 'it is being made' };

describe('a stop of ours', () => {
  it('[K4] because the node is drained', () => {
    const drained = record({}, { main: launch(), stop: { ...stop, reason: 'Drained' } });
    expect(shows({ ...live, record: drained, stoppingMs: 4000 })).toMatchInlineSnapshot(`
      "because a stop of ours is within its grace period
      Ready False Draining: The node is being drained: the sandbox is being stopped, and will be placed anew.
      Reconciling True Draining: The node is being drained: the sandbox is being stopped, and will be placed anew.
      Stalled False AsRequested: Nothing is wrong.
      Complete False NotFinished: The node is being drained: the sandbox is being stopped, and will be placed anew.
      phase = Launching
      again in 6000 ms"
    `);
  });

  it('[K3] has the grace period of the spec', () => {
    const patient = sandbox({ terminationGracePeriodSeconds: 30 });
    expect(shows({ ...live, sandbox: patient, record: told, stoppingMs: 11_000 })).toContain(
      'again in 19000 ms',
    );
  });

  it.each([
    [1, 'again in 900 ms'],
    [2, 'a stop of ours is within its grace period'],
    [3, 'a deletion has just begun, and may soon be over'],
  ])('[K3] of a deletion is not waited for longer than its grace period: %i s', (seconds, words) => {
    const deleting = sandbox({ terminationGracePeriodSeconds: seconds }, { deletionTimestamp: AT });
    const before = record({}, { main: launch(), stop: { ...stop, reason: 'Deleted' } });
    expect(shows({ ...live, sandbox: deleting, record: before, stoppingMs: 100 })).toContain(words);
  });

  it('[K3] of a deletion ends with the container, whatever is left of its grace period', () => {
    const deleting = sandbox({}, { deletionTimestamp: AT });
    const before = record({}, { main: launch(), stop: { ...stop, reason: 'Deleted' } });
    expect(
      shows({ sandbox: deleting, container: container('exited'), record: before, stoppingMs: 100 }),
    ).toContain('do tear-down');
  });

  it('[O9] that was perhaps not sent waits a moment for its init too', () => {
    const again = { ...live, record: told, session: undefined, stopSent: false, silentMs: 100 };
    expect(shows(again)).toMatchInlineSnapshot(`
      "because a stop was written down, and perhaps not sent; its init may still come
      again in 2900 ms"
    `);
  });

  it('of a paused container does not wait for an init that cannot come', () => {
    const suspended = sandbox({ suspend: true });
    expect(
      shows({ ...live, sandbox: suspended, container: container('paused'), session: undefined }),
    ).toMatchInlineSnapshot(`
      "because it is to be suspended
      Ready False Suspending: The sandbox is being suspended.
      Reconciling True Suspending: The sandbox is being suspended.
      Stalled False AsRequested: Nothing is wrong.
      Complete False NotFinished: The sandbox is being suspended.
      phase = Launching
      do stop, Suspended"
    `);
  });

  it('is not listened for where there is no probe', () => {
    const alone = { ...live, record: told, session: undefined, listening: false, stoppingMs: 4000 };
    expect(shows({ ...alone, probe: notReady })).toContain('again in 6000 ms');
  });

  it('is not listened for where init is there', () => {
    expect(shows({ ...live, record: told, listening: false, stoppingMs: 4000 })).toContain(
      'again in 6000 ms',
    );
  });
});

describe('an agent that ends its sandboxes with itself', () => {
  it('[K10] does not start again what it has stopped', () => {
    expect(
      shows({
        ending: true,
        sandbox: sandbox(RETAINED),
        container: container('exited'),
        record: record(RETAINED, { main: launch(), outcome: outcome('Stopped', 'Stopped') }),
      }),
    ).toMatchInlineSnapshot(`"because the agent ends, and its sandboxes with it"`);
  });
});

describe('a spec that asks for what is not supported', () => {
  const spec: Partial<SandboxSpec> = { ...RETAINED, network: { runtime: { allow: ['a.example'] } } };

  it('[K9] does not have a retained sandbox started again', () => {
    expect(
      shows({
        sandbox: sandbox(spec),
        container: container('exited'),
        record: record(spec, { main: launch(), outcome: outcome('Stopped', 'Stopped') }),
      }),
    ).toMatchInlineSnapshot(`
      "because the spec asks for what is not supported
      Ready False NetworkUnsupported: spec.network.runtime.allow: ["a.example"] cannot be granted by this version; leave the list empty (no network)
      Reconciling False NetworkUnsupported: spec.network.runtime.allow: ["a.example"] cannot be granted by this version; leave the list empty (no network)
      Stalled True NetworkUnsupported: spec.network.runtime.allow: ["a.example"] cannot be granted by this version; leave the list empty (no network)
      phase = Stalled
      lastTermination = {"launch":"Main","cause":"Stopped","verdict":"Confirmed","message":"It was Stopped.","evidence":[],"finishedAt":"2026-01-01T00:00:00.000Z"}"
    `);
  });

  it('[K9] is told where the container was written down and not made', () => {
    expect(shows({ sandbox: sandbox(spec), record: record(spec, { starts: 0 }) })).toMatchInlineSnapshot(`
      "because the spec asks for what is not supported
      Ready False NetworkUnsupported: spec.network.runtime.allow: ["a.example"] cannot be granted by this version; leave the list empty (no network)
      Reconciling False NetworkUnsupported: spec.network.runtime.allow: ["a.example"] cannot be granted by this version; leave the list empty (no network)
      Stalled True NetworkUnsupported: spec.network.runtime.allow: ["a.example"] cannot be granted by this version; leave the list empty (no network)
      phase = Stalled"
    `);
  });
});

describe('init', () => {
  it('is not listened for where there is no probe', () => {
    const alone = { ...live, session: undefined, listening: false };
    expect(shows({ ...alone, probe: notReady })).toMatchInlineSnapshot(`
      "because init is not connected
      again in 5000 ms"
    `);
  });

  it('is not listened for where it has come', () => {
    expect(shows({ ...live, listening: false })).toContain('because it runs');
  });

  it('[K11] of an open sandbox has no command to which a deadline is told', () => {
    const kept = { sandbox: sandbox({ ...RETAINED, activeDeadlineSeconds: 60 }), session: session() };
    const opened = record(RETAINED, { main: launch({ startedAt: AT }) });
    const words = shows({ ...live, ...kept, record: opened, ranMs: 20_000 });
    expect(words).toContain('because it runs');
    expect(words).toContain('again in 40000 ms');
  });
});

describe('an agent that adopts what runs', () => {
  const ready = { type: 'Ready' as const, status: 'True' as const, reason: 'Running' as const };
  const enforced = { type: 'LimitsEnforced' as const, status: 'True' as const, reason: 'ReadBack' as const };
  const drifted = { ...enforced, status: 'False' as const, reason: 'Drifted' as const };
  const at = { message: 'm', lastTransitionTime: AT };
  const adopted = (
    conditions: NonNullable<NonNullable<Sandbox['status']>['conditions']>,
    observedGeneration = 1,
  ): string => {
    const object = sandbox({ onNodeLoss: 'Replace' });
    return shows({
      ...live,
      sandbox: { ...object, status: { ...object.status, observedGeneration, conditions } },
      session: session({ main: running, receipt: undefined, fenceSeconds: 40 }),
    });
  };

  it('[L11] [K6] leaves its limits as they were said, and says when it ends itself', () => {
    expect(
      adopted([
        { ...ready, ...at },
        { ...enforced, ...at },
      ]),
    ).toMatchInlineSnapshot(`
      "because it runs
      Ready True Running: The command runs.
      Reconciling False AsRequested: Nothing is wrong.
      Stalled False AsRequested: Nothing is wrong.
      Complete False NotFinished: The command runs.
      phase = Running
      startedAt = 2026-01-01T00:00:00.000Z
      fenceSeconds = 40"
    `);
  });

  const old = 'because what was said of the limits may be old\ndo receipt';

  it('[L11] reads them again where what was said of them is of an older spec', () => {
    expect(adopted([{ ...enforced, ...at }], 0)).toBe(old);
  });

  it('[L12] reads them again where they had been changed', () => {
    expect(
      adopted([
        { ...ready, ...at },
        { ...drifted, ...at },
      ]),
    ).toBe(old);
  });

  it('[L11] reads them again where nothing was said of them', () => {
    expect(adopted([{ ...ready, ...at }])).toBe(old);
  });
});

describe('a fence', () => {
  it('[K6] that stands needs no words', () => {
    const fenced = session({ main: running, fenceSeconds: 40 });
    expect(
      shows({ ...live, sandbox: sandbox({ onNodeLoss: 'Replace' }), session: fenced }),
    ).toMatchInlineSnapshot(`
      "because it runs
      Ready True Running: The command runs.
      Reconciling False AsRequested: Nothing is wrong.
      Stalled False AsRequested: Nothing is wrong.
      Complete False NotFinished: The command runs.
      LimitsEnforced True ReadBack: Read back from the kernel: 64Mi memory.
      LimitUnenforceable False Enforceable: Every requested limit can be enforced on the node.
      phase = Running
      limits = {"memoryBytes":67108864,"summary":"64Mi memory"}
      fenceSeconds = 40
      specHash = 7b919bd1374524f27eadb4a092075972
      containerID = c1
      containerName = holdfast-u1
      imageID = sha256:1
      startedAt = 2026-01-01T00:00:00.000Z"
    `);
  });

  it('[K6] is taken back where only the status still has it: the controller believes the status', () => {
    const object = sandbox();
    expect(
      shows({ ...live, sandbox: { ...object, status: { ...object.status, fenceSeconds: 40 } } }),
    ).toMatchInlineSnapshot(`
      "because it stays where it is when the node is lost
      without fenceSeconds
      write, then do lift-fence"
    `);
  });

  it('[K6] that has fallen is not lifted', () => {
    const fallen = record({}, { main: launch({ startedAt: AT }), fence: { seconds: 40, fellAt: AT } });
    const own = session({ main: running, fenced: true, fenceSeconds: 40 });
    expect(shows({ ...live, record: fallen, session: own })).toContain('because it runs');
  });
});

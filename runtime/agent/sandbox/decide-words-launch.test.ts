import { describe, expect, it } from 'vitest';
import type { SandboxSpec } from '../../../crds/sandbox.ts';
import {
  AT,
  can,
  container,
  exit,
  info,
  launch,
  outcome,
  receipt,
  record,
  RETAINED,
  sandbox,
  session,
  termination,
} from './testing/observations.ts';
import { shows } from './testing/shows.ts';
import type { Observation } from './types.ts';

/** What its readers get in each state. A changed word: `vitest -u`, and read what it wrote. */

const running = { state: 'running' as const, exit: undefined };

describe('a sandbox that is not to be here', () => {
  it('is gone', () => {
    expect(shows({ sandbox: undefined, container: container(), record: record() })).toMatchInlineSnapshot(`
      "because the sandbox is gone
      do tear-down"
    `);
  });

  it('is gone, and nothing of it is left', () => {
    expect(shows({ sandbox: undefined, tornDown: true })).toMatchInlineSnapshot(`
      "because the sandbox is gone and nothing of it is left
      do forget"
    `);
  });

  it('is bound elsewhere', () => {
    expect(shows({ nodeName: 'n2' })).toMatchInlineSnapshot(`
      "because the sandbox is bound elsewhere
      do tear-down"
    `);
  });

  it('is bound elsewhere, and nothing of it is left', () => {
    expect(shows({ nodeName: 'n2', tornDown: true })).toMatchInlineSnapshot(`
      "because the sandbox is not bound to this node
      do forget"
    `);
  });
});

describe('a sandbox that is being deleted', () => {
  const deleting = sandbox({}, { deletionTimestamp: AT });

  it('and runs', () => {
    expect(
      shows({
        sandbox: deleting,
        container: container(),
        record: record({}, { main: launch() }),
        session: session({ main: running }),
      }),
    ).toMatchInlineSnapshot(`
      "because the sandbox is being deleted and still runs
      do stop, Deleted"
    `);
  });

  it('and whose user code has not begun', () => {
    expect(
      shows({ sandbox: deleting, container: container(), record: record(), session: session() }),
    ).toMatchInlineSnapshot(`
      "because the sandbox is being deleted
      Ready False Deleting: The sandbox is being deleted.
      Reconciling True Deleting: The sandbox is being deleted.
      Stalled False AsRequested: Nothing is wrong.
      Complete False NotFinished: The sandbox is being deleted.
      phase = Terminating
      do tear-down"
    `);
  });

  it('and was told to stop', () => {
    expect(
      shows({
        sandbox: deleting,
        container: container(),
        record: record({}, { main: launch(), stop: { reason: 'Deleted', at: AT, signals: ['SIGTERM'] } }),
        session: session({ main: running }),
        stoppingMs: 100,
      }),
    ).toMatchInlineSnapshot(`
      "because a deletion has just begun, and may soon be over
      again in 1900 ms"
    `);
  });

  it('and does not end at once after it was told to stop', () => {
    expect(
      shows({
        sandbox: deleting,
        container: container(),
        record: record({}, { main: launch(), stop: { reason: 'Deleted', at: AT, signals: ['SIGTERM'] } }),
        session: session({ main: running }),
        stoppingMs: 2100,
      }),
    ).toMatchInlineSnapshot(`
      "because a stop of ours is within its grace period
      Ready False Deleting: The sandbox is being deleted.
      Reconciling True Deleting: The sandbox is being deleted.
      Stalled False AsRequested: Nothing is wrong.
      Complete False NotFinished: The sandbox is being deleted.
      phase = Terminating
      again in 7900 ms"
    `);
  });

  it('and whose runtime does not answer', () => {
    expect(
      shows({ sandbox: deleting, runtime: { state: 'Unavailable', message: 'connection refused' } }),
    ).toMatchInlineSnapshot(`
      "because the runtime cannot be asked whether the container is gone
      Ready False Deleting: The sandbox is being deleted.
      Reconciling True Deleting: The sandbox is being deleted.
      Stalled False AsRequested: Nothing is wrong.
      Complete False NotFinished: The sandbox is being deleted.
      ContainerGone Unknown RuntimeUnavailable: The runtime does not answer: connection refused
      phase = Terminating
      again in 5000 ms"
    `);
  });

  it('and whose container is known, though the runtime does not answer', () => {
    expect(
      shows({
        sandbox: deleting,
        container: container('exited'),
        runtime: { state: 'Unavailable', message: 'connection refused' },
      }),
    ).toMatchInlineSnapshot(`
      "because the sandbox is being deleted
      Ready False Deleting: The sandbox is being deleted.
      Reconciling True Deleting: The sandbox is being deleted.
      Stalled False AsRequested: Nothing is wrong.
      Complete False NotFinished: The sandbox is being deleted.
      phase = Terminating
      do tear-down"
    `);
  });

  it('and of which nothing is left', () => {
    expect(shows({ sandbox: deleting, tornDown: true })).toMatchInlineSnapshot(`
      "because the sandbox is being deleted and nothing of it is left
      Ready False Deleting: The sandbox is being deleted.
      Reconciling True Deleting: The sandbox is being deleted.
      Stalled False AsRequested: Nothing is wrong.
      Complete False NotFinished: The sandbox is being deleted.
      ContainerGone True ContainerRemoved: The container and its volumes are gone.
      phase = Terminating"
    `);
  });

  it('is taken away by an agent that does not hold the node name too', () => {
    expect(shows({ sandbox: deleting, nameHeld: false })).toMatchInlineSnapshot(`
      "because the sandbox is being deleted
      Ready False Deleting: The sandbox is being deleted.
      Reconciling True Deleting: The sandbox is being deleted.
      Stalled False AsRequested: Nothing is wrong.
      Complete False NotFinished: The sandbox is being deleted.
      phase = Terminating
      do tear-down"
    `);
  });
});

describe('an agent that does not hold its node name', () => {
  it('launches nothing', () => {
    expect(shows({ nameHeld: false })).toMatchInlineSnapshot(`
      "because another agent holds the node name
      Ready False NodeNameTaken: Another agent holds the node name "n1"; this one launches nothing.
      Reconciling True NodeNameTaken: Another agent holds the node name "n1"; this one launches nothing.
      Stalled False AsRequested: Nothing is wrong.
      Complete False NotFinished: Another agent holds the node name "n1"; this one launches nothing.
      phase = Pending
      again in 5000 ms"
    `);
  });

  it('does not go on with a container that is made', () => {
    expect(
      shows({ nameHeld: false, container: container('created'), record: record() }),
    ).toMatchInlineSnapshot(`
      "because the container was never started; the node name is not held
      again in 2000 ms"
    `);
  });

  it('[K6] leaves a container that it has no record of: the holder of the name may just have made it', () => {
    expect(shows({ nameHeld: false, container: container('created') })).toMatchInlineSnapshot(`
      "because what the container was made for is not known; the node name is not held
      again in 2000 ms"
    `);
  });

  it('[K6] takes away what it has a record of', () => {
    expect(
      shows({
        nameHeld: false,
        sandbox: sandbox({ suspend: true }),
        container: container('created'),
        record: record(),
      }),
    ).toMatchInlineSnapshot(`
      "because it is suspended before user code began
      Ready False SuspendedByUser: The sandbox is held back by spec.suspend; its command has not begun.
      Reconciling False AsRequested: Nothing is wrong.
      Stalled False AsRequested: Nothing is wrong.
      Suspended True SuspendedByUser: The sandbox is held back by spec.suspend; its command has not begun.
      Complete False NotFinished: The sandbox is held back by spec.suspend; its command has not begun.
      phase = Suspended
      do discard"
    `);
  });

  it('publishes the end of what has run', () => {
    expect(
      shows({ nameHeld: false, record: record({}, { main: launch(), outcome: outcome('Succeeded') }) }),
    ).toMatchInlineSnapshot(`
      "because it has ended
      Ready True Succeeded: It was Exited.
      Reconciling False AsRequested: Nothing is wrong.
      Stalled False AsRequested: Nothing is wrong.
      Complete True Succeeded: It was Exited.
      phase = Succeeded
      lastTermination = {"launch":"Main","cause":"Exited","verdict":"Confirmed","message":"It was Exited.","evidence":[],"finishedAt":"2026-01-01T00:00:00.000Z"}
      finishedAt = 2026-01-01T00:00:00.000Z"
    `);
  });

  it('starts nothing again', () => {
    expect(
      shows({
        nameHeld: false,
        sandbox: sandbox(RETAINED),
        container: container('exited'),
        record: record(RETAINED, { main: launch(), outcome: outcome('Restart', 'KilledFromOutside') }),
      }),
    ).toMatchInlineSnapshot(`
      "because it is to be started again; the node name is not held
      again in 2000 ms"
    `);
  });

  it('still sees what runs', () => {
    expect(
      shows({
        nameHeld: false,
        container: container(),
        record: record({}, { main: launch({ startedAt: AT }) }),
        session: session({ main: running }),
      }),
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
      specHash = 7b919bd1374524f27eadb4a092075972
      containerID = c1
      containerName = holdfast-u1
      imageID = sha256:1
      startedAt = 2026-01-01T00:00:00.000Z"
    `);
  });
});

describe('what the spec asks for and is not supported', () => {
  const asked = sandbox({ network: { runtime: { allow: ['a.example'] } } });

  it('[K9] before anything was made', () => {
    expect(shows({ sandbox: asked })).toMatchInlineSnapshot(`
      "because the spec asks for what is not supported
      Ready False NetworkUnsupported: spec.network.runtime.allow: ["a.example"] cannot be granted by this version; leave the list empty (no network)
      Reconciling False NetworkUnsupported: spec.network.runtime.allow: ["a.example"] cannot be granted by this version; leave the list empty (no network)
      Stalled True NetworkUnsupported: spec.network.runtime.allow: ["a.example"] cannot be granted by this version; leave the list empty (no network)
      Complete False NetworkUnsupported: spec.network.runtime.allow: ["a.example"] cannot be granted by this version; leave the list empty (no network)
      phase = Stalled"
    `);
  });

  it('[K9] takes away what was made before user code began', () => {
    expect(
      shows({ sandbox: asked, container: container('created'), record: record() }),
    ).toMatchInlineSnapshot(`
      "because the spec asks for what is not supported
      Ready False NetworkUnsupported: spec.network.runtime.allow: ["a.example"] cannot be granted by this version; leave the list empty (no network)
      Reconciling False NetworkUnsupported: spec.network.runtime.allow: ["a.example"] cannot be granted by this version; leave the list empty (no network)
      Stalled True NetworkUnsupported: spec.network.runtime.allow: ["a.example"] cannot be granted by this version; leave the list empty (no network)
      Complete False NetworkUnsupported: spec.network.runtime.allow: ["a.example"] cannot be granted by this version; leave the list empty (no network)
      phase = Stalled
      do discard"
    `);
  });

  it('[K9] stops what runs', () => {
    expect(
      shows({
        sandbox: asked,
        container: container(),
        record: record({}, { main: launch() }),
        session: session({ main: running }),
      }),
    ).toMatchInlineSnapshot(`
      "because the spec asks for what is not supported
      Ready False NetworkUnsupported: spec.network.runtime.allow: ["a.example"] cannot be granted by this version; leave the list empty (no network)
      Reconciling False NetworkUnsupported: spec.network.runtime.allow: ["a.example"] cannot be granted by this version; leave the list empty (no network)
      Stalled True NetworkUnsupported: spec.network.runtime.allow: ["a.example"] cannot be granted by this version; leave the list empty (no network)
      Complete False NetworkUnsupported: spec.network.runtime.allow: ["a.example"] cannot be granted by this version; leave the list empty (no network)
      phase = Stalled
      do stop, Stopped"
    `);
  });

  it('[K9] has the end of what ran judged first', () => {
    expect(
      shows({ sandbox: asked, container: container('exited'), record: record({}, { main: launch() }) }),
    ).toMatchInlineSnapshot(`
      "because the launch has no verdict yet
      do conclude"
    `);
  });

  it('[K9] leaves the end of what ran in the status', () => {
    expect(
      shows({
        sandbox: asked,
        container: container('exited'),
        record: record({}, { main: launch(), outcome: outcome('Failed') }),
      }),
    ).toMatchInlineSnapshot(`
      "because it has ended
      Ready False Failed: It was Exited.
      Reconciling False AsRequested: Nothing is wrong.
      Stalled False AsRequested: Nothing is wrong.
      Complete True Failed: It was Exited.
      phase = Failed
      lastTermination = {"launch":"Main","cause":"Exited","verdict":"Confirmed","message":"It was Exited.","evidence":[],"finishedAt":"2026-01-01T00:00:00.000Z"}
      finishedAt = 2026-01-01T00:00:00.000Z
      write, then do remove-container"
    `);
  });
});

describe('an agent that ends its sandboxes with itself', () => {
  it('makes nothing anymore', () => {
    expect(shows({ ending: true })).toMatchInlineSnapshot(
      `"because the agent ends, and its sandboxes with it"`,
    );
  });

  it('stops what runs', () => {
    expect(
      shows({
        ending: true,
        container: container(),
        record: record({}, { main: launch() }),
        session: session({ main: running }),
      }),
    ).toMatchInlineSnapshot(`
      "because the agent ends, and its sandboxes with it
      Ready False Launching: The sandbox is being stopped.
      Reconciling True Launching: The sandbox is being stopped.
      Stalled False AsRequested: Nothing is wrong.
      Complete False NotFinished: The sandbox is being stopped.
      phase = Launching
      do stop, Stopped"
    `);
  });

  it('judges what has ended', () => {
    expect(
      shows({ ending: true, container: container('exited'), record: record({}, { main: launch() }) }),
    ).toMatchInlineSnapshot(`
      "because the launch has no verdict yet
      do conclude"
    `);
  });

  it('has done all when it is judged', () => {
    expect(
      shows({
        ending: true,
        container: container('exited'),
        record: record({}, { main: launch(), outcome: outcome('Failed', 'Stopped') }),
      }),
    ).toMatchInlineSnapshot(`
      "because it has ended
      Ready False Failed: It was Stopped.
      Reconciling False AsRequested: Nothing is wrong.
      Stalled False AsRequested: Nothing is wrong.
      Complete True Failed: It was Stopped.
      phase = Failed
      lastTermination = {"launch":"Main","cause":"Stopped","verdict":"Confirmed","message":"It was Stopped.","evidence":[],"finishedAt":"2026-01-01T00:00:00.000Z"}
      finishedAt = 2026-01-01T00:00:00.000Z
      write, then do remove-container"
    `);
  });
});

describe('making a container', () => {
  const limits = { cpu: can(), memory: can(), swap: can(), pids: can() };
  const node = (more: Partial<typeof limits>): Observation['runtime'] => ({
    state: 'Ok',
    info: info({ limits: { ...limits, ...more } }),
  });
  const all = sandbox({ resources: { memory: '64Mi', cpu: 1, pids: 10 } });

  it('begins', () => {
    expect(shows({})).toMatchInlineSnapshot(`
      "because there is no container
      do create"
    `);
  });

  it('goes on with one that was never started', () => {
    expect(shows({ container: container('created'), record: record() })).toMatchInlineSnapshot(`
      "because the container was never started
      do start"
    `);
  });

  it('takes away one of which nobody knows what it was made for', () => {
    expect(shows({ container: container('created') })).toMatchInlineSnapshot(`
      "because what the container was made for is not known
      do discard"
    `);
  });

  it('waits for a runtime that does not answer', () => {
    expect(
      shows({ runtime: { state: 'Unavailable', message: 'connection refused' } }),
    ).toMatchInlineSnapshot(`
      "because the runtime does not answer
      Ready False RuntimeUnavailable: The runtime does not answer: connection refused
      Reconciling True RuntimeUnavailable: The runtime does not answer: connection refused
      Stalled False AsRequested: Nothing is wrong.
      Complete False NotFinished: The runtime does not answer: connection refused
      phase = Launching
      again in 5000 ms"
    `);
  });

  it('[L7] needs a readable answer about limits', () => {
    expect(shows({ runtime: { state: 'Unreadable', message: 'garbage' } })).toMatchInlineSnapshot(`
      "because a limit cannot be enforced
      Ready False RuntimeUnreadable: Node n1: the runtime gave no readable answer about what it can enforce (garbage).
      Reconciling False RuntimeUnreadable: Node n1: the runtime gave no readable answer about what it can enforce (garbage).
      Stalled True RuntimeUnreadable: Node n1: the runtime gave no readable answer about what it can enforce (garbage).
      Complete False RuntimeUnreadable: Node n1: the runtime gave no readable answer about what it can enforce (garbage).
      LimitUnenforceable True RuntimeUnreadable: Node n1: the runtime gave no readable answer about what it can enforce (garbage).
      Scheduled False Declined: Node n1 handed the sandbox back: Node n1: the runtime gave no readable answer about what it can enforce (garbage).
      phase = Stalled
      do hand-back"
    `);
  });

  it('[L7] needs none without limits', () => {
    expect(
      shows({ sandbox: sandbox({ resources: {} }), runtime: { state: 'Unreadable', message: 'garbage' } }),
    ).toMatchInlineSnapshot(`
      "because there is no container
      do create"
    `);
  });

  it('[L5] names the limit of memory', () => {
    expect(shows({ sandbox: all, runtime: node({ memory: can('No') }) })).toMatchInlineSnapshot(`
      "because a limit cannot be enforced
      Ready False MemoryUnenforceable: Node n1 (docker) cannot enforce memory: because Fix: do this
      Reconciling False MemoryUnenforceable: Node n1 (docker) cannot enforce memory: because Fix: do this
      Stalled True MemoryUnenforceable: Node n1 (docker) cannot enforce memory: because Fix: do this
      Complete False MemoryUnenforceable: Node n1 (docker) cannot enforce memory: because Fix: do this
      LimitUnenforceable True MemoryUnenforceable: Node n1 (docker) cannot enforce memory: because Fix: do this
      Scheduled False Declined: Node n1 handed the sandbox back: Node n1 (docker) cannot enforce memory: because Fix: do this
      phase = Stalled
      do hand-back"
    `);
  });

  it('[L5] names the limit of CPU', () => {
    expect(shows({ sandbox: all, runtime: node({ cpu: can('No') }) })).toMatchInlineSnapshot(`
      "because a limit cannot be enforced
      Ready False CPUUnenforceable: Node n1 (docker) cannot enforce cpu: because Fix: do this
      Reconciling False CPUUnenforceable: Node n1 (docker) cannot enforce cpu: because Fix: do this
      Stalled True CPUUnenforceable: Node n1 (docker) cannot enforce cpu: because Fix: do this
      Complete False CPUUnenforceable: Node n1 (docker) cannot enforce cpu: because Fix: do this
      LimitUnenforceable True CPUUnenforceable: Node n1 (docker) cannot enforce cpu: because Fix: do this
      Scheduled False Declined: Node n1 handed the sandbox back: Node n1 (docker) cannot enforce cpu: because Fix: do this
      phase = Stalled
      do hand-back"
    `);
  });

  it('[L5] names the limit of processes', () => {
    expect(shows({ sandbox: all, runtime: node({ pids: can('No') }) })).toMatchInlineSnapshot(`
      "because a limit cannot be enforced
      Ready False PIDsUnenforceable: Node n1 (docker) cannot enforce pids: because Fix: do this
      Reconciling False PIDsUnenforceable: Node n1 (docker) cannot enforce pids: because Fix: do this
      Stalled True PIDsUnenforceable: Node n1 (docker) cannot enforce pids: because Fix: do this
      Complete False PIDsUnenforceable: Node n1 (docker) cannot enforce pids: because Fix: do this
      LimitUnenforceable True PIDsUnenforceable: Node n1 (docker) cannot enforce pids: because Fix: do this
      Scheduled False Declined: Node n1 handed the sandbox back: Node n1 (docker) cannot enforce pids: because Fix: do this
      phase = Stalled
      do hand-back"
    `);
  });

  it('[L5] names all that cannot be enforced', () => {
    expect(
      shows({ sandbox: all, runtime: node({ pids: can('No'), memory: can('No') }) }),
    ).toMatchInlineSnapshot(`
      "because a limit cannot be enforced
      Ready False LimitsUnenforceable: Node n1 (docker) cannot enforce memory: because Fix: do this Node n1 (docker) cannot enforce pids: because Fix: do this
      Reconciling False LimitsUnenforceable: Node n1 (docker) cannot enforce memory: because Fix: do this Node n1 (docker) cannot enforce pids: because Fix: do this
      Stalled True LimitsUnenforceable: Node n1 (docker) cannot enforce memory: because Fix: do this Node n1 (docker) cannot enforce pids: because Fix: do this
      Complete False LimitsUnenforceable: Node n1 (docker) cannot enforce memory: because Fix: do this Node n1 (docker) cannot enforce pids: because Fix: do this
      LimitUnenforceable True LimitsUnenforceable: Node n1 (docker) cannot enforce memory: because Fix: do this Node n1 (docker) cannot enforce pids: because Fix: do this
      Scheduled False Declined: Node n1 handed the sandbox back: Node n1 (docker) cannot enforce memory: because Fix: do this Node n1 (docker) cannot enforce pids: because Fix: do this
      phase = Stalled
      do hand-back"
    `);
  });

  it('[L5] says what cannot be known', () => {
    expect(
      shows({
        sandbox: all,
        runtime: node({ memory: { enforced: 'Unknown', reason: 'the daemon does not say' } }),
      }),
    ).toMatchInlineSnapshot(`
      "because a limit cannot be enforced
      Ready False RuntimeUnreadable: Node n1 (docker) cannot enforce memory: the daemon does not say
      Reconciling False RuntimeUnreadable: Node n1 (docker) cannot enforce memory: the daemon does not say
      Stalled True RuntimeUnreadable: Node n1 (docker) cannot enforce memory: the daemon does not say
      Complete False RuntimeUnreadable: Node n1 (docker) cannot enforce memory: the daemon does not say
      LimitUnenforceable True RuntimeUnreadable: Node n1 (docker) cannot enforce memory: the daemon does not say
      Scheduled False Declined: Node n1 handed the sandbox back: Node n1 (docker) cannot enforce memory: the daemon does not say
      phase = Stalled
      do hand-back"
    `);
  });

  it('[L5] asks for nothing that the spec does not', () => {
    expect(
      shows({ runtime: node({ cpu: can('No'), pids: can('No'), swap: can('No') }) }),
    ).toMatchInlineSnapshot(`
      "because there is no container
      do create"
    `);
  });

  it('[L9] names the limit of memory that the runtime refused', () => {
    expect(shows({ unenforceable: 'open memory.swap.max: no such file' })).toMatchInlineSnapshot(`
      "because a limit cannot be enforced
      Ready False MemoryUnenforceable: Node n1: the runtime refused the limits: open memory.swap.max: no such file.
      Reconciling False MemoryUnenforceable: Node n1: the runtime refused the limits: open memory.swap.max: no such file.
      Stalled True MemoryUnenforceable: Node n1: the runtime refused the limits: open memory.swap.max: no such file.
      Complete False MemoryUnenforceable: Node n1: the runtime refused the limits: open memory.swap.max: no such file.
      LimitUnenforceable True MemoryUnenforceable: Node n1: the runtime refused the limits: open memory.swap.max: no such file.
      Scheduled False Declined: Node n1 handed the sandbox back: Node n1: the runtime refused the limits: open memory.swap.max: no such file.
      phase = Stalled
      do hand-back"
    `);
  });

  it('[L9] names the limit of CPU that the runtime refused', () => {
    expect(shows({ unenforceable: 'open cpu.max: no such file' })).toMatchInlineSnapshot(`
      "because a limit cannot be enforced
      Ready False CPUUnenforceable: Node n1: the runtime refused the limits: open cpu.max: no such file.
      Reconciling False CPUUnenforceable: Node n1: the runtime refused the limits: open cpu.max: no such file.
      Stalled True CPUUnenforceable: Node n1: the runtime refused the limits: open cpu.max: no such file.
      Complete False CPUUnenforceable: Node n1: the runtime refused the limits: open cpu.max: no such file.
      LimitUnenforceable True CPUUnenforceable: Node n1: the runtime refused the limits: open cpu.max: no such file.
      Scheduled False Declined: Node n1 handed the sandbox back: Node n1: the runtime refused the limits: open cpu.max: no such file.
      phase = Stalled
      do hand-back"
    `);
  });

  it('[L9] names the limit of processes that the runtime refused', () => {
    expect(shows({ unenforceable: 'open pids.max: no such file' })).toMatchInlineSnapshot(`
      "because a limit cannot be enforced
      Ready False PIDsUnenforceable: Node n1: the runtime refused the limits: open pids.max: no such file.
      Reconciling False PIDsUnenforceable: Node n1: the runtime refused the limits: open pids.max: no such file.
      Stalled True PIDsUnenforceable: Node n1: the runtime refused the limits: open pids.max: no such file.
      Complete False PIDsUnenforceable: Node n1: the runtime refused the limits: open pids.max: no such file.
      LimitUnenforceable True PIDsUnenforceable: Node n1: the runtime refused the limits: open pids.max: no such file.
      Scheduled False Declined: Node n1 handed the sandbox back: Node n1: the runtime refused the limits: open pids.max: no such file.
      phase = Stalled
      do hand-back"
    `);
  });

  it('[L9] says what the runtime refused where it names no limit', () => {
    expect(shows({ unenforceable: 'no such file' })).toMatchInlineSnapshot(`
      "because a limit cannot be enforced
      Ready False LimitsUnenforceable: Node n1: the runtime refused the limits: no such file.
      Reconciling False LimitsUnenforceable: Node n1: the runtime refused the limits: no such file.
      Stalled True LimitsUnenforceable: Node n1: the runtime refused the limits: no such file.
      Complete False LimitsUnenforceable: Node n1: the runtime refused the limits: no such file.
      LimitUnenforceable True LimitsUnenforceable: Node n1: the runtime refused the limits: no such file.
      Scheduled False Declined: Node n1 handed the sandbox back: Node n1: the runtime refused the limits: no such file.
      phase = Stalled
      do hand-back"
    `);
  });

  it('[L9] takes away what was made before it is handed back', () => {
    expect(
      shows({ container: container('created'), record: record(), unenforceable: 'no such file' }),
    ).toMatchInlineSnapshot(`
      "because a limit cannot be enforced
      do discard"
    `);
  });

  it('[K4] needs room', () => {
    expect(shows({ noRoom: 'memory: 2Gi asked for, 1Gi left' })).toMatchInlineSnapshot(`
      "because there is no room for the changed spec
      Ready False NoRoom: Node n1 has no room for the limits of the spec: memory: 2Gi asked for, 1Gi left.
      Reconciling False NoRoom: Node n1 has no room for the limits of the spec: memory: 2Gi asked for, 1Gi left.
      Stalled True NoRoom: Node n1 has no room for the limits of the spec: memory: 2Gi asked for, 1Gi left.
      Complete False NoRoom: Node n1 has no room for the limits of the spec: memory: 2Gi asked for, 1Gi left.
      Scheduled False Declined: Node n1 handed the sandbox back: Node n1 has no room for the limits of the spec: memory: 2Gi asked for, 1Gi left.
      phase = Stalled
      do hand-back"
    `);
  });

  it('needs the probe', () => {
    expect(shows({ probe: { ready: false, why: 'its image is being made' } })).toMatchInlineSnapshot(`
      "because the probe is not there
      Ready False RuntimeUnavailable: The probe of the runtime is not ready: its image is being made
      Reconciling True RuntimeUnavailable: The probe of the runtime is not ready: its image is being made
      Stalled False AsRequested: Nothing is wrong.
      Complete False NotFinished: The probe of the runtime is not ready: its image is being made
      phase = Launching
      again in 5000 ms"
    `);
  });

  it('waits for the image', () => {
    expect(
      shows({ pull: { state: 'running', image: 'busybox:lab', progress: 'Pulling: 3 of 5 layers' } }),
    ).toMatchInlineSnapshot(`
      "because the image is being pulled
      Ready False PullingImage: Pulling: 3 of 5 layers
      Reconciling True PullingImage: Pulling: 3 of 5 layers
      Stalled False AsRequested: Nothing is wrong.
      Complete False NotFinished: Pulling: 3 of 5 layers
      phase = Launching"
    `);
  });

  it('says why an image did not come', () => {
    expect(
      shows({ pull: { state: 'failed', image: 'busybox:lab', message: 'no route to host', retryInMs: 700 } }),
    ).toMatchInlineSnapshot(`
      "because the image could not be pulled
      Ready False ImagePullFailed: no route to host
      Reconciling True ImagePullFailed: no route to host
      Stalled False AsRequested: Nothing is wrong.
      Complete False NotFinished: no route to host
      phase = Launching
      again in 700 ms"
    `);
  });

  it('says that an image is not there and must not be pulled', () => {
    expect(
      shows({
        pull: {
          state: 'absent',
          image: 'busybox:lab',
          message: 'There is no such image here.',
          retryInMs: 900,
        },
      }),
    ).toMatchInlineSnapshot(`
      "because the image is not there and must not be pulled
      Ready False ImageNotPresent: There is no such image here.
      Reconciling False ImageNotPresent: There is no such image here.
      Stalled True ImageNotPresent: There is no such image here.
      Complete False ImageNotPresent: There is no such image here.
      phase = Stalled
      again in 900 ms"
    `);
  });
});

describe('the gate', () => {
  const at = { container: container(), record: record() };

  it('has the new probe await the init', () => {
    expect(shows({ ...at, listening: false })).toMatchInlineSnapshot(`
      "because the probe is new
      do listen"
    `);
  });

  it('says nothing for a second', () => {
    expect(shows({ ...at, silentMs: 999 })).toMatchInlineSnapshot(`
      "because init has not come yet
      again in 1000 ms"
    `);
  });

  it('then says what it waits for', () => {
    expect(shows({ ...at, silentMs: 1000 })).toMatchInlineSnapshot(`
      "because init has not come yet
      Ready False Launching: The container has started; its init has not come yet.
      Reconciling True Launching: The container has started; its init has not come yet.
      Stalled False AsRequested: Nothing is wrong.
      Complete False NotFinished: The container has started; its init has not come yet.
      phase = Launching
      again in 5000 ms"
    `);
  });

  it('says that it waits for the probe', () => {
    expect(
      shows({ ...at, silentMs: 70_000, probe: { ready: false, why: 'it was killed' } }),
    ).toMatchInlineSnapshot(`
      "because init has not come yet
      Ready False Launching: The container has started; the probe is not ready: it was killed
      Reconciling True Launching: The container has started; the probe is not ready: it was killed
      Stalled False AsRequested: Nothing is wrong.
      Complete False NotFinished: The container has started; the probe is not ready: it was killed
      phase = Launching
      again in 5000 ms"
    `);
  });

  it('waits a minute at most', () => {
    expect(shows({ ...at, silentMs: 60_000 })).toMatchInlineSnapshot(`
      "because init has not come yet
      Ready False Launching: The container has started; its init has not come yet.
      Reconciling True Launching: The container has started; its init has not come yet.
      Stalled False AsRequested: Nothing is wrong.
      Complete False NotFinished: The container has started; its init has not come yet.
      phase = Launching
      again in 5000 ms"
    `);
  });

  it('gives up after a minute', () => {
    expect(shows({ ...at, silentMs: 60_001 })).toMatchInlineSnapshot(`
      "because init did not come
      do give-up, StartFailed, The init of the sandbox did not come within 60 s."
    `);
  });

  it('[L11] reads the limits', () => {
    expect(shows({ ...at, session: session({ receipt: undefined }) })).toMatchInlineSnapshot(`
      "because no receipt yet
      do receipt"
    `);
  });

  it('[L11] shuts on a limit that could not be read', () => {
    expect(
      shows({
        ...at,
        session: session({
          receipt: receipt({ unread: ['memory: EACCES', 'pids: ENOENT'], mismatches: ['cpu: none'] }),
        }),
      }),
    ).toMatchInlineSnapshot(`
      "because a limit could not be read back
      do refuse, ReadBackFailed, User code was not run: memory: EACCES; pids: ENOENT."
    `);
  });

  it('[L11] shuts on another limit than asked for', () => {
    expect(
      shows({ ...at, session: session({ receipt: receipt({ mismatches: ['memory: max', 'cpu: none'] }) }) }),
    ).toMatchInlineSnapshot(`
      "because the kernel has another limit
      do refuse, ReadBackMismatch, User code was not run: memory: max; cpu: none."
    `);
  });

  it('[L11] opens', () => {
    expect(shows({ ...at, session: session() })).toMatchInlineSnapshot(`
      "because the limits are in force
      Ready False Launching: The limits are in force; user code is about to begin.
      Reconciling True Launching: The limits are in force; user code is about to begin.
      Stalled False AsRequested: Nothing is wrong.
      Complete False NotFinished: The limits are in force; user code is about to begin.
      LimitsEnforced True ReadBack: Read back from the kernel: 64Mi memory.
      LimitUnenforceable False Enforceable: Every requested limit can be enforced on the node.
      phase = Launching
      limits = {"memoryBytes":67108864,"summary":"64Mi memory"}
      specHash = 7b919bd1374524f27eadb4a092075972
      containerID = c1
      containerName = holdfast-u1
      imageID = sha256:1
      write, then do start-main"
    `);
  });

  it('[L11] opens where there is no limit, and says so', () => {
    expect(
      shows({
        ...at,
        session: session({
          receipt: {
            entries: [{ ...receipt().entries[0]!, requested: undefined }],
            mismatches: [],
            unread: [],
            limits: {},
          },
        }),
      }),
    ).toMatchInlineSnapshot(`
      "because the limits are in force
      Ready False Launching: The limits are in force; user code is about to begin.
      Reconciling True Launching: The limits are in force; user code is about to begin.
      Stalled False AsRequested: Nothing is wrong.
      Complete False NotFinished: The limits are in force; user code is about to begin.
      LimitsEnforced True NoLimits: The sandbox sets no limit; what is in force was read from the kernel.
      LimitUnenforceable False Enforceable: Every requested limit can be enforced on the node.
      phase = Launching
      limits = {}
      specHash = 7b919bd1374524f27eadb4a092075972
      containerID = c1
      containerName = holdfast-u1
      imageID = sha256:1
      write, then do start-main"
    `);
  });

  it('[O10] reads the limits again before START goes out again', () => {
    expect(
      shows({ ...at, record: record({}, { main: launch() }), session: session({ receipt: undefined }) }),
    ).toMatchInlineSnapshot(`
      "because START was intended and not sent
      do receipt"
    `);
  });

  it('[O10] shuts on a mismatch then too', () => {
    expect(
      shows({
        ...at,
        record: record({}, { main: launch() }),
        session: session({ receipt: receipt({ mismatches: ['memory: max'] }) }),
      }),
    ).toMatchInlineSnapshot(`
      "because the kernel has another limit
      do refuse, ReadBackMismatch, User code was not run: memory: max."
    `);
  });

  it('[O10] is passed where main is known to have exited', () => {
    expect(
      shows({ ...at, record: record({}, { main: launch({ exit: exit(0) }) }), session: session() }),
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
      specHash = 7b919bd1374524f27eadb4a092075972
      containerID = c1
      containerName = holdfast-u1
      imageID = sha256:1
      startedAt = 2026-01-01T00:00:00.000Z"
    `);
  });
});

describe('setup', () => {
  const spec: Partial<SandboxSpec> = { setup: { command: ['make'] } };
  const at = { sandbox: sandbox(spec), container: container() };
  const failed = session({ setup: { state: 'exited', exit: exit(2) } });

  it('[L3] is started behind the gate', () => {
    expect(shows({ ...at, record: record(spec), session: session() })).toMatchInlineSnapshot(`
      "because setup has not begun
      Ready False SettingUp: The setup command runs.
      Reconciling True SettingUp: The setup command runs.
      Stalled False AsRequested: Nothing is wrong.
      Complete False NotFinished: The setup command runs.
      LimitsEnforced True ReadBack: Read back from the kernel: 64Mi memory.
      LimitUnenforceable False Enforceable: Every requested limit can be enforced on the node.
      SetupComplete False SettingUp: The setup command runs.
      phase = Launching
      limits = {"memoryBytes":67108864,"summary":"64Mi memory"}
      specHash = b67a745aeb676d6c6ebb9e59b985e420
      containerID = c1
      containerName = holdfast-u1
      imageID = sha256:1
      write, then do start-setup"
    `);
  });

  it('runs', () => {
    expect(
      shows({ ...at, record: record(spec, { setup: launch() }), session: session({ setup: running }) }),
    ).toMatchInlineSnapshot(`
      "because setup runs
      Ready False SettingUp: The setup command runs.
      Reconciling True SettingUp: The setup command runs.
      Stalled False AsRequested: Nothing is wrong.
      Complete False NotFinished: The setup command runs.
      LimitsEnforced True ReadBack: Read back from the kernel: 64Mi memory.
      LimitUnenforceable False Enforceable: Every requested limit can be enforced on the node.
      SetupComplete False SettingUp: The setup command runs.
      phase = Launching
      limits = {"memoryBytes":67108864,"summary":"64Mi memory"}
      specHash = b67a745aeb676d6c6ebb9e59b985e420
      containerID = c1
      containerName = holdfast-u1
      imageID = sha256:1"
    `);
  });

  it('has its deadline', () => {
    expect(
      shows({
        ...at,
        sandbox: sandbox({ ...spec, activeDeadlineSeconds: 60 }),
        ranMs: 20_000,
        record: record(spec, { setup: launch({ deadlineSeconds: 60 }) }),
        session: session({ setup: running }),
      }),
    ).toMatchInlineSnapshot(`
      "because setup runs
      Ready False SettingUp: The setup command runs.
      Reconciling True SettingUp: The setup command runs.
      Stalled False AsRequested: Nothing is wrong.
      Complete False NotFinished: The setup command runs.
      LimitsEnforced True ReadBack: Read back from the kernel: 64Mi memory.
      LimitUnenforceable False Enforceable: Every requested limit can be enforced on the node.
      SetupComplete False SettingUp: The setup command runs.
      phase = Launching
      limits = {"memoryBytes":67108864,"summary":"64Mi memory"}
      specHash = b67a745aeb676d6c6ebb9e59b985e420
      containerID = c1
      containerName = holdfast-u1
      imageID = sha256:1
      again in 40000 ms"
    `);
  });

  it('is told a deadline that changed', () => {
    expect(
      shows({
        ...at,
        sandbox: sandbox({ ...spec, activeDeadlineSeconds: 90 }),
        ranMs: 20_000,
        record: record(spec, { setup: launch({ deadlineSeconds: 60 }) }),
        session: session({ setup: running }),
      }),
    ).toMatchInlineSnapshot(`
      "because activeDeadlineSeconds changed
      do time-limit, setup"
    `);
  });

  it('says what was changed from outside while it runs', () => {
    expect(
      shows({
        ...at,
        record: record(spec, { setup: launch() }),
        session: session({ setup: running, drift: ['memory: 64Mi, now max'] }),
      }),
    ).toMatchInlineSnapshot(`
      "because setup runs
      Ready False SettingUp: The setup command runs.
      Reconciling True SettingUp: The setup command runs.
      Stalled False AsRequested: Nothing is wrong.
      Complete False NotFinished: The setup command runs.
      LimitsEnforced False Drifted: Changed from outside: memory: 64Mi, now max.
      LimitUnenforceable False Enforceable: Every requested limit can be enforced on the node.
      SetupComplete False SettingUp: The setup command runs.
      phase = Launching
      limits = {"memoryBytes":67108864,"summary":"64Mi memory"}
      specHash = b67a745aeb676d6c6ebb9e59b985e420
      containerID = c1
      containerName = holdfast-u1
      imageID = sha256:1"
    `);
  });

  it('has ended well', () => {
    expect(
      shows({
        ...at,
        record: record(spec, { setup: launch() }),
        session: session({ setup: { state: 'exited', exit: exit(0) } }),
      }),
    ).toMatchInlineSnapshot(`
      "because setup has ended with 0
      do setup-done"
    `);
  });

  it('has failed, and its end is collected', () => {
    expect(
      shows({ ...at, record: record(spec, { setup: launch() }), session: failed }),
    ).toMatchInlineSnapshot(`
      "because setup has failed
      do collect, setup"
    `);
  });

  it('has failed and was collected; init is told to go', () => {
    expect(
      shows({
        ...at,
        record: record(spec, { setup: launch({ closing: { readings: [] } }) }),
        session: failed,
      }),
    ).toMatchInlineSnapshot(`
      "because setup has failed and init was not told to go
      do release, setup"
    `);
  });

  it('has failed, and the container ends', () => {
    expect(
      shows({
        ...at,
        record: record(spec, { setup: launch({ closing: { readings: [] } }) }),
        session: { ...failed, released: true },
      }),
    ).toMatchInlineSnapshot(`
      "because setup has failed; the container is on its way out
      again in 5000 ms"
    `);
  });

  it('of which nobody knows whether it ended', () => {
    expect(
      shows({ ...at, record: record(spec, { setup: launch(), starts: 2 }), session: session({ start: 2 }) }),
    ).toMatchInlineSnapshot(`
      "because whether setup ended is unknown
      do discard"
    `);
  });

  it('is followed by main', () => {
    expect(
      shows({
        ...at,
        record: record(spec, {
          setup: launch({ exit: exit(0), termination: termination('Exited', { launch: 'Setup' }) }),
        }),
        session: session(),
      }),
    ).toMatchInlineSnapshot(`
      "because the limits are in force
      Ready False Launching: The limits are in force; user code is about to begin.
      Reconciling True Launching: The limits are in force; user code is about to begin.
      Stalled False AsRequested: Nothing is wrong.
      Complete False NotFinished: The limits are in force; user code is about to begin.
      LimitsEnforced True ReadBack: Read back from the kernel: 64Mi memory.
      LimitUnenforceable False Enforceable: Every requested limit can be enforced on the node.
      SetupComplete True SetupSucceeded: The setup command ended with exit code 0.
      phase = Launching
      limits = {"memoryBytes":67108864,"summary":"64Mi memory"}
      specHash = b67a745aeb676d6c6ebb9e59b985e420
      containerID = c1
      containerName = holdfast-u1
      imageID = sha256:1
      setup = {"launch":"Setup","cause":"Exited","verdict":"Confirmed","message":"It was Exited.","evidence":[],"finishedAt":"2026-01-01T00:00:00.000Z"}
      write, then do start-main"
    `);
  });

  it('[O5] is followed by main though the limit killed in it', () => {
    expect(
      shows({
        ...at,
        record: record(spec, {
          setup: launch({ exit: exit(0), oom: { verdict: 'Confirmed', message: 'A process was killed.' } }),
        }),
        session: session(),
      }),
    ).toMatchInlineSnapshot(`
      "because the limits are in force
      Ready False Launching: The limits are in force; user code is about to begin.
      Reconciling True Launching: The limits are in force; user code is about to begin.
      Stalled False AsRequested: Nothing is wrong.
      Complete False NotFinished: The limits are in force; user code is about to begin.
      LimitsEnforced True ReadBack: Read back from the kernel: 64Mi memory.
      LimitUnenforceable False Enforceable: Every requested limit can be enforced on the node.
      SetupComplete True SetupSucceeded: The setup command ended with exit code 0.
      OOMKilled True Confirmed: Setup: A process was killed.
      phase = Launching
      limits = {"memoryBytes":67108864,"summary":"64Mi memory"}
      specHash = b67a745aeb676d6c6ebb9e59b985e420
      containerID = c1
      containerName = holdfast-u1
      imageID = sha256:1
      write, then do start-main"
    `);
  });

  it('[L11] is not followed by main where the limits are not in force any more', () => {
    expect(
      shows({
        ...at,
        record: record(spec, { setup: launch({ exit: exit(0) }) }),
        session: session({ receipt: receipt({ mismatches: ['memory: max'] }) }),
      }),
    ).toMatchInlineSnapshot(`
      "because the kernel has another limit
      do refuse, ReadBackMismatch, The command was not run, after setup was: memory: max."
    `);
  });
});

import { describe, expect, it } from 'vitest';
import type { Termination } from '../../../crds/limits-status.ts';
import type { LedgerRecord, Outcome } from '../ledger/record.ts';
import { specFacts } from './spec-facts.ts';
import {
  AT,
  BASE,
  container,
  exit,
  launch,
  outcome,
  record,
  RETAINED,
  sandbox,
  session,
  termination,
} from './testing/observations.ts';
import { shows } from './testing/shows.ts';

/** What its readers get in each state. A changed word: `vitest -u`, and read what it wrote. */

const running = { state: 'running' as const, exit: undefined };

describe('a sandbox that runs', () => {
  const at = {
    container: container(),
    record: record({}, { main: launch({ startedAt: AT }) }),
    session: session({ main: running }),
  };
  const over = session({ main: { state: 'exited', exit: exit(0) } });

  it('is Ready', () => {
    expect(shows(at)).toMatchInlineSnapshot(`
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

  it('is Ready, and its status is kept while init is away', () => {
    expect(shows({ ...at, session: undefined })).toMatchInlineSnapshot(`
      "because init is not connected
      again in 5000 ms"
    `);
  });

  it('is listened for by a new probe', () => {
    expect(shows({ ...at, session: undefined, listening: false })).toMatchInlineSnapshot(`
      "because the probe is new
      do listen"
    `);
  });

  it('has a deadline', () => {
    expect(
      shows({
        ...at,
        sandbox: sandbox({ activeDeadlineSeconds: 60 }),
        ranMs: 20_000,
        record: record({}, { main: launch({ startedAt: AT, deadlineSeconds: 60 }) }),
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
      startedAt = 2026-01-01T00:00:00.000Z
      again in 40000 ms"
    `);
  });

  it('is at its deadline, to the millisecond', () => {
    expect(
      shows({
        ...at,
        sandbox: sandbox({ activeDeadlineSeconds: 60 }),
        ranMs: 60_000,
        record: record({}, { main: launch({ startedAt: AT, deadlineSeconds: 60 }) }),
      }),
    ).toMatchInlineSnapshot(`
      "because activeDeadlineSeconds is over
      Ready False DeadlineExceeded: The sandbox reached activeDeadlineSeconds and is being stopped.
      Reconciling True DeadlineExceeded: The sandbox reached activeDeadlineSeconds and is being stopped.
      Stalled False AsRequested: Nothing is wrong.
      Complete False NotFinished: The sandbox reached activeDeadlineSeconds and is being stopped.
      phase = Launching
      do stop, Deadline"
    `);
  });

  it('has another deadline than init knows', () => {
    expect(
      shows({
        ...at,
        sandbox: sandbox({ activeDeadlineSeconds: 90 }),
        ranMs: 20_000,
        record: record({}, { main: launch({ startedAt: AT, deadlineSeconds: 60 }) }),
      }),
    ).toMatchInlineSnapshot(`
      "because activeDeadlineSeconds changed
      do time-limit, main"
    `);
  });

  it('was started by an agent that died before it wrote down when', () => {
    expect(shows({ ...at, record: record({}, { main: launch() }) })).toMatchInlineSnapshot(`
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

  it('is adopted, and its limits are read again', () => {
    expect(shows({ ...at, session: session({ main: running, receipt: undefined }) })).toMatchInlineSnapshot(`
      "because what was said of the limits may be old
      do receipt"
    `);
  });

  it('was paused from outside', () => {
    expect(shows({ ...at, container: container('paused') })).toMatchInlineSnapshot(`
      "because it was paused from outside
      Ready False Paused: The container was paused from outside; docker unpause lets it run on.
      Reconciling False AsRequested: Nothing is wrong.
      Stalled False AsRequested: Nothing is wrong.
      Complete False NotFinished: The command has not ended.
      phase = Running
      startedAt = 2026-01-01T00:00:00.000Z"
    `);
  });

  it('is being restarted by somebody', () => {
    expect(shows({ ...at, container: container('restarting') })).toMatchInlineSnapshot(`
      "because the container is restarting
      again in 2000 ms"
    `);
  });

  it('has ended, and its end is collected', () => {
    expect(shows({ ...at, session: over })).toMatchInlineSnapshot(`
      "because main has ended
      do collect, main"
    `);
  });

  it('has ended and was collected; init is told to go', () => {
    expect(
      shows({ ...at, session: over, record: record({}, { main: launch({ closing: { readings: [] } }) }) }),
    ).toMatchInlineSnapshot(`
      "because main has ended and init was not told to go
      do release, main"
    `);
  });

  it('has ended, and the container ends', () => {
    expect(
      shows({
        ...at,
        session: { ...over, released: true },
        record: record({}, { main: launch({ closing: { readings: [] } }) }),
      }),
    ).toMatchInlineSnapshot(`
      "because main has ended; the container is on its way out
      again in 2000 ms"
    `);
  });

  it('[L12] has another limit than it was given', () => {
    expect(
      shows({
        ...at,
        session: session({ main: running, drift: ['memory: 64Mi, now max', 'pids: 10, now 20'] }),
      }),
    ).toMatchInlineSnapshot(`
      "because it runs
      Ready True Running: The command runs.
      Reconciling False AsRequested: Nothing is wrong.
      Stalled False AsRequested: Nothing is wrong.
      Complete False NotFinished: The command runs.
      LimitsEnforced False Drifted: Changed from outside: memory: 64Mi, now max; pids: 10, now 20.
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

  it('[L12] has drifted in nothing', () => {
    expect(shows({ ...at, session: session({ main: running, drift: [] }) })).toMatchInlineSnapshot(`
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

  it('[K11] has another spec', () => {
    expect(shows({ ...at, sandbox: sandbox({ image: 'other:1' }) })).toMatchInlineSnapshot(`
      "because the spec changed under a running container
      Ready False Recreating: The spec changed: the container is being replaced.
      Reconciling True Recreating: The spec changed: the container is being replaced.
      Stalled False AsRequested: Nothing is wrong.
      Complete False NotFinished: The spec changed: the container is being replaced.
      phase = Launching
      do stop, Replaced"
    `);
  });

  it('[K4] has a spec for which there is no room', () => {
    expect(
      shows({
        ...at,
        sandbox: sandbox({ resources: { memory: '2Gi' } }),
        noRoom: 'memory: 2Gi asked for, 1Gi left',
      }),
    ).toMatchInlineSnapshot(`
      "because it runs
      Ready True Running: The command runs.
      Reconciling False AsRequested: Nothing is wrong.
      Stalled True NoRoom: Node n1 has no room for the limits of the spec: memory: 2Gi asked for, 1Gi left. The old limits stay in force.
      Complete False NotFinished: The command runs.
      LimitsEnforced True ReadBack: Read back from the kernel: 64Mi memory.
      LimitUnenforceable True NoRoom: Node n1 has no room for the limits of the spec: memory: 2Gi asked for, 1Gi left. The old limits stay in force.
      phase = Running
      limits = {"memoryBytes":67108864,"summary":"64Mi memory"}
      specHash = 7b919bd1374524f27eadb4a092075972
      containerID = c1
      containerName = holdfast-u1
      imageID = sha256:1
      startedAt = 2026-01-01T00:00:00.000Z"
    `);
  });

  it('[K6] has ended itself', () => {
    expect(shows({ ...at, session: session({ main: running, fenced: true }) })).toMatchInlineSnapshot(`
      "because it has ended itself: no heartbeat had come
      do note-fence"
    `);
  });

  it('[K6] is to end itself on a lost node', () => {
    expect(shows({ ...at, sandbox: sandbox({ onNodeLoss: 'Replace' }) })).toMatchInlineSnapshot(`
      "because init has to end it by itself when the node is lost
      do fence"
    `);
  });

  it('[K6] is to end itself no more', () => {
    expect(
      shows({
        ...at,
        record: record({}, { main: launch(), fence: { seconds: 40 } }),
        session: session({ main: running, fenceSeconds: 40 }),
      }),
    ).toMatchInlineSnapshot(`
      "because it stays where it is when the node is lost
      without fenceSeconds
      write, then do lift-fence"
    `);
  });

  it('[K6] cannot end itself', () => {
    expect(
      shows({
        ...at,
        sandbox: sandbox({ onNodeLoss: 'Replace' }),
        session: session({ main: running, canFence: false }),
      }),
    ).toMatchInlineSnapshot(`
      "because it runs
      Ready True Running: The command runs. Its init is of an earlier version and cannot end it by itself: when the node is lost it is not replaced.
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

describe('a retained sandbox', () => {
  const kept = sandbox(RETAINED);
  const suspended = sandbox({ ...RETAINED, suspend: true });
  const spec = { ...RETAINED, resources: { memory: '128Mi' } };
  const at = {
    sandbox: kept,
    container: container(),
    record: record(RETAINED, { main: launch({ startedAt: AT }) }),
    session: session(),
  };
  const stopped = record(RETAINED, { main: launch(), outcome: outcome('Stopped', 'Suspended') });
  const refused = (reason: 'LimitUnenforceable' | 'ReadBackMismatch') =>
    record(RETAINED, {
      main: launch({ startedAt: AT }),
      refusedLimits: {
        hash: specFacts({ ...BASE, ...spec }).limitsHash,
        reason,
        message: 'The new limits are not in force.',
      },
    });

  it('is open', () => {
    expect(shows(at)).toMatchInlineSnapshot(`
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

  it('[K11] has its limits changed in place', () => {
    expect(shows({ ...at, sandbox: sandbox(spec) })).toMatchInlineSnapshot(`
      "because the limits of a live sandbox changed
      do update-limits"
    `);
  });

  it('[K11] [K10] has them changed when it is suspended too', () => {
    expect(
      shows({
        ...at,
        sandbox: sandbox(spec),
        record: stopped,
        container: container('exited'),
        session: undefined,
      }),
    ).toMatchInlineSnapshot(`
      "because the limits of a live sandbox changed
      do update-limits"
    `);
  });

  it('[K11] passes its gate first', () => {
    expect(
      shows({
        ...at,
        sandbox: sandbox(spec),
        record: record(RETAINED, { main: launch(), starts: 2 }),
        session: session({ start: 2, receipt: undefined }),
      }),
    ).toMatchInlineSnapshot(`
      "because no receipt yet
      do receipt"
    `);
  });

  it('[K11] keeps its old limits where the new ones cannot be enforced', () => {
    expect(
      shows({ ...at, sandbox: sandbox(spec), record: refused('LimitUnenforceable') }),
    ).toMatchInlineSnapshot(`
      "because it runs
      Ready True Running: The sandbox is open for processes.
      Reconciling False AsRequested: Nothing is wrong.
      Stalled True LimitsUnenforceable: The new limits are not in force.
      LimitsEnforced True ReadBack: Read back from the kernel: 64Mi memory.
      LimitUnenforceable True LimitsUnenforceable: The new limits are not in force.
      phase = Running
      limits = {"memoryBytes":67108864,"summary":"64Mi memory"}
      specHash = b862936f0bbecf5b9a3862d8891a3db2
      containerID = c1
      containerName = holdfast-u1
      imageID = sha256:1
      startedAt = 2026-01-01T00:00:00.000Z"
    `);
  });

  it('[K11] says that the new limits are not in force', () => {
    expect(
      shows({ ...at, sandbox: sandbox(spec), record: refused('ReadBackMismatch') }),
    ).toMatchInlineSnapshot(`
      "because it runs
      Ready True Running: The sandbox is open for processes.
      Reconciling False AsRequested: Nothing is wrong.
      Stalled False AsRequested: Nothing is wrong.
      LimitsEnforced False ReadBackMismatch: The new limits are not in force.
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

  it('[K11] is made anew for another image', () => {
    expect(
      shows({
        ...at,
        sandbox: sandbox({ ...RETAINED, image: 'other:1' }),
        container: container('exited'),
        record: stopped,
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

  it('[K4] keeps its workspace where there is no room', () => {
    expect(
      shows({
        ...at,
        sandbox: sandbox(spec),
        container: undefined,
        record: stopped,
        noRoom: 'memory: 128Mi asked for, 1Mi left',
      }),
    ).toMatchInlineSnapshot(`
      "because there is no room for the changed spec; the workspace is kept
      Ready False NoRoom: Node n1 has no room for the limits of the spec: memory: 128Mi asked for, 1Mi left.
      Reconciling False NoRoom: Node n1 has no room for the limits of the spec: memory: 128Mi asked for, 1Mi left.
      Stalled True NoRoom: Node n1 has no room for the limits of the spec: memory: 128Mi asked for, 1Mi left.
      phase = Stalled"
    `);
  });

  it('[K10] has not begun, and is suspended', () => {
    expect(shows({ sandbox: suspended })).toMatchInlineSnapshot(`
      "because it is suspended and has not begun
      Ready False SuspendedByUser: The sandbox is suspended; it has not begun.
      Reconciling False AsRequested: Nothing is wrong.
      Stalled False AsRequested: Nothing is wrong.
      Suspended True SuspendedByUser: The sandbox is suspended; it has not begun.
      phase = Suspended"
    `);
  });

  it('[K10] is at its gate, and is suspended', () => {
    expect(shows({ ...at, sandbox: suspended, record: record(RETAINED) })).toMatchInlineSnapshot(`
      "because it is suspended before user code began
      Ready False SuspendedByUser: The sandbox is suspended; it has not begun.
      Reconciling False AsRequested: Nothing is wrong.
      Stalled False AsRequested: Nothing is wrong.
      Suspended True SuspendedByUser: The sandbox is suspended; it has not begun.
      phase = Suspended
      do discard"
    `);
  });

  it('[K10] is being suspended', () => {
    expect(shows({ ...at, sandbox: suspended })).toMatchInlineSnapshot(`
      "because it is to be suspended
      Ready False Suspending: The sandbox is being suspended.
      Reconciling True Suspending: The sandbox is being suspended.
      Stalled False AsRequested: Nothing is wrong.
      phase = Launching
      do stop, Suspended"
    `);
  });

  it('[K10] is suspended', () => {
    expect(
      shows({
        ...at,
        sandbox: suspended,
        container: container('exited'),
        record: stopped,
        session: undefined,
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

  it('[K10] is suspended before its setup had ended', () => {
    expect(
      shows({
        ...at,
        sandbox: sandbox({ ...RETAINED, suspend: true, setup: { command: ['make'] } }),
        container: container('exited'),
        session: undefined,
        record: record(
          { ...RETAINED, setup: { command: ['make'] } },
          { setup: launch(), outcome: outcome('Stopped', 'Suspended') },
        ),
      }),
    ).toMatchInlineSnapshot(`
      "because it is suspended
      Ready False SuspendedByUser: The sandbox is suspended; its setup had not ended and will be run again in a new container.
      Reconciling False AsRequested: Nothing is wrong.
      Stalled False AsRequested: Nothing is wrong.
      Suspended True SuspendedByUser: The sandbox is suspended; its setup had not ended and will be run again in a new container.
      phase = Suspended
      lastTermination = {"launch":"Main","cause":"Suspended","verdict":"Confirmed","message":"It was Suspended.","evidence":[],"finishedAt":"2026-01-01T00:00:00.000Z"}"
    `);
  });

  it('[K10] is resumed', () => {
    expect(
      shows({ ...at, container: container('exited'), record: stopped, session: undefined }),
    ).toMatchInlineSnapshot(`
      "because it is not suspended any more
      do restart"
    `);
  });

  it('[K10] is resumed where setup had not ended', () => {
    expect(
      shows({
        ...at,
        sandbox: sandbox({ ...RETAINED, setup: { command: ['make'] } }),
        container: container('exited'),
        session: undefined,
        record: record(
          { ...RETAINED, setup: { command: ['make'] } },
          { setup: launch(), outcome: outcome('Stopped', 'Suspended') },
        ),
      }),
    ).toMatchInlineSnapshot(`
      "because whether setup ended is unknown
      do discard"
    `);
  });

  it('[K10] has lost the container that was kept', () => {
    expect(
      shows({ ...at, container: undefined, record: stopped, session: undefined }),
    ).toMatchInlineSnapshot(`
      "because the kept container was removed
      do conclude"
    `);
  });

  it('[K10] was to be started again', () => {
    expect(
      shows({
        ...at,
        container: container('exited'),
        record: record(RETAINED, { main: launch(), starts: 2 }),
        session: undefined,
      }),
    ).toMatchInlineSnapshot(`
      "because it was to be started again, and has not come to its gate
      do restart"
    `);
  });

  it('[K10] was killed, and is started again', () => {
    expect(
      shows({
        ...at,
        container: container('exited'),
        record: record(RETAINED, { main: launch(), outcome: outcome('Restart', 'KilledFromOutside') }),
        session: undefined,
      }),
    ).toMatchInlineSnapshot(`
      "because it is to be started again
      Ready False KilledFromOutside: It was KilledFromOutside. It is being started again.
      Reconciling True KilledFromOutside: It was KilledFromOutside. It is being started again.
      Stalled False AsRequested: Nothing is wrong.
      phase = Launching
      lastTermination = {"launch":"Main","cause":"KilledFromOutside","verdict":"Confirmed","message":"It was KilledFromOutside.","evidence":[],"finishedAt":"2026-01-01T00:00:00.000Z"}
      write, then do restart"
    `);
  });

  it('[K10] is killed again and again', () => {
    expect(
      shows({
        ...at,
        container: container('exited'),
        record: record(RETAINED, {
          main: launch(),
          quickRestarts: 2,
          outcome: outcome('Restart', 'KilledFromOutside'),
        }),
        session: undefined,
        nowMs: Date.parse(AT) + 500,
      }),
    ).toMatchInlineSnapshot(`
      "because it ends again and again; its restart waits
      Ready False KilledFromOutside: It was KilledFromOutside. It is being started again.
      Reconciling True KilledFromOutside: It was KilledFromOutside. It is being started again.
      Stalled False AsRequested: Nothing is wrong.
      phase = Launching
      lastTermination = {"launch":"Main","cause":"KilledFromOutside","verdict":"Confirmed","message":"It was KilledFromOutside.","evidence":[],"finishedAt":"2026-01-01T00:00:00.000Z"}
      again in 1500 ms"
    `);
  });

  it('[K10] was lost, and is made anew', () => {
    expect(
      shows({
        ...at,
        container: undefined,
        record: record(RETAINED, { main: launch(), outcome: outcome('Anew', 'ContainerLost') }),
        session: undefined,
      }),
    ).toMatchInlineSnapshot(`
      "because it is to be made anew
      Ready False ContainerLost: It was ContainerLost. A new container is being made.
      Reconciling True ContainerLost: It was ContainerLost. A new container is being made.
      Stalled False AsRequested: Nothing is wrong.
      phase = Launching
      lastTermination = {"launch":"Main","cause":"ContainerLost","verdict":"Confirmed","message":"It was ContainerLost.","evidence":[],"finishedAt":"2026-01-01T00:00:00.000Z"}
      without startedAt, limits, setup
      write, then do discard"
    `);
  });

  it('whose restart was refused is stopped', () => {
    expect(
      shows({
        ...at,
        record: record(RETAINED, {
          main: launch(),
          starts: 2,
          refusal: { reason: 'ReadBackMismatch', message: 'memory: max' },
        }),
      }),
    ).toMatchInlineSnapshot(`
      "because the launch was refused
      Ready False ReadBackMismatch: memory: max
      Reconciling False ReadBackMismatch: memory: max
      Stalled True ReadBackMismatch: memory: max
      LimitsEnforced False ReadBackMismatch: memory: max
      phase = Stalled
      do stop, LimitsUnproven"
    `);
  });

  it('whose restart was refused keeps its filesystem', () => {
    expect(
      shows({
        ...at,
        container: container('exited'),
        session: undefined,
        record: record(RETAINED, {
          main: launch(),
          starts: 2,
          refusal: { reason: 'ReadBackMismatch', message: 'memory: max' },
        }),
      }),
    ).toMatchInlineSnapshot(`
      "because the launch was refused; its filesystem is kept
      Ready False ReadBackMismatch: memory: max
      Reconciling False ReadBackMismatch: memory: max
      Stalled True ReadBackMismatch: memory: max
      LimitsEnforced False ReadBackMismatch: memory: max
      phase = Stalled"
    `);
  });
});

describe('a stop of ours', () => {
  const stop = { reason: 'Suspended' as const, at: AT, signals: ['SIGTERM'] };
  const at = {
    container: container(),
    record: record({}, { main: launch(), stop }),
    session: session({ main: running }),
    stoppingMs: 4000,
  };
  const killed = {
    ...at,
    record: record({}, { main: launch(), stop: { ...stop, signals: ['SIGTERM', 'SIGKILL'] } }),
  };
  const over = session({ main: { state: 'exited', exit: exit(143) } });

  it('is within its grace period', () => {
    expect(shows(at)).toMatchInlineSnapshot(`
      "because a stop of ours is within its grace period
      Ready False Suspending: The sandbox is being suspended.
      Reconciling True Suspending: The sandbox is being suspended.
      Stalled False AsRequested: Nothing is wrong.
      Complete False NotFinished: The sandbox is being suspended.
      phase = Launching
      again in 6000 ms"
    `);
  });

  it('was perhaps not sent', () => {
    expect(shows({ ...at, stopSent: false })).toMatchInlineSnapshot(`
      "because a stop was written down, and perhaps not sent
      do stop-again"
    `);
  });

  it('is over', () => {
    expect(shows({ ...at, stoppingMs: 10_000 })).toMatchInlineSnapshot(`
      "because the grace period is over
      Ready False Suspending: The sandbox is being suspended.
      Reconciling True Suspending: The sandbox is being suspended.
      Stalled False AsRequested: Nothing is wrong.
      Complete False NotFinished: The sandbox is being suspended.
      phase = Launching
      do kill"
    `);
  });

  it('has killed', () => {
    expect(shows({ ...killed, stoppingMs: 10_500 })).toMatchInlineSnapshot(`
      "because SIGKILL was sent
      Ready False Suspending: The sandbox is being suspended.
      Reconciling True Suspending: The sandbox is being suspended.
      Stalled False AsRequested: Nothing is wrong.
      Complete False NotFinished: The sandbox is being suspended.
      phase = Launching
      again in 2501 ms"
    `);
  });

  it('has killed the command, which did not end the container, to the millisecond', () => {
    expect(shows({ ...killed, stoppingMs: 13_000 })).toMatchInlineSnapshot(`
      "because SIGKILL was sent
      Ready False Suspending: The sandbox is being suspended.
      Reconciling True Suspending: The sandbox is being suspended.
      Stalled False AsRequested: Nothing is wrong.
      Complete False NotFinished: The sandbox is being suspended.
      phase = Launching
      again in 1 ms"
    `);
  });

  it('kills the container', () => {
    expect(shows({ ...killed, stoppingMs: 13_001 })).toMatchInlineSnapshot(`
      "because the grace period is over
      Ready False Suspending: The sandbox is being suspended.
      Reconciling True Suspending: The sandbox is being suspended.
      Stalled False AsRequested: Nothing is wrong.
      Complete False NotFinished: The sandbox is being suspended.
      phase = Launching
      do kill"
    `);
  });

  it('thaws first', () => {
    expect(shows({ ...at, container: container('paused') })).toMatchInlineSnapshot(`
      "because a paused container is to be stopped
      do unpause"
    `);
  });

  it('is listened for by a new probe', () => {
    expect(shows({ ...at, session: undefined, listening: false })).toMatchInlineSnapshot(`
      "because the probe is new
      do listen"
    `);
  });

  it('has ended main, and its end is collected', () => {
    expect(shows({ ...at, session: over })).toMatchInlineSnapshot(`
      "because main has ended after a stop of ours
      Ready False Suspending: The sandbox is being suspended.
      Reconciling True Suspending: The sandbox is being suspended.
      Stalled False AsRequested: Nothing is wrong.
      Complete False NotFinished: The sandbox is being suspended.
      phase = Launching
      do collect, main"
    `);
  });

  it('has ended main, which was collected; init is told to go', () => {
    expect(
      shows({
        ...at,
        session: over,
        record: record({}, { main: launch({ closing: { readings: [] } }), stop }),
      }),
    ).toMatchInlineSnapshot(`
      "because main has ended and init was not told to go
      do release, main"
    `);
  });

  it('has ended main, and the container ends', () => {
    expect(
      shows({
        ...at,
        session: { ...over, released: true },
        record: record({}, { main: launch({ closing: { readings: [] } }), stop }),
      }),
    ).toMatchInlineSnapshot(`
      "because a stop of ours is within its grace period
      Ready False Suspending: The sandbox is being suspended.
      Reconciling True Suspending: The sandbox is being suspended.
      Stalled False AsRequested: Nothing is wrong.
      Complete False NotFinished: The sandbox is being suspended.
      phase = Launching
      again in 6000 ms"
    `);
  });

  it('because it is Deadline', () => {
    expect(
      shows({ ...at, record: record({}, { main: launch(), stop: { ...stop, reason: 'Deadline' } }) }),
    ).toMatchInlineSnapshot(`
      "because a stop of ours is within its grace period
      Ready False DeadlineExceeded: The sandbox reached activeDeadlineSeconds and is being stopped.
      Reconciling True DeadlineExceeded: The sandbox reached activeDeadlineSeconds and is being stopped.
      Stalled False AsRequested: Nothing is wrong.
      Complete False NotFinished: The sandbox reached activeDeadlineSeconds and is being stopped.
      phase = Launching
      again in 6000 ms"
    `);
  });

  it('because it is Replaced', () => {
    expect(
      shows({ ...at, record: record({}, { main: launch(), stop: { ...stop, reason: 'Replaced' } }) }),
    ).toMatchInlineSnapshot(`
      "because a stop of ours is within its grace period
      Ready False Recreating: The spec changed: the container is being replaced.
      Reconciling True Recreating: The spec changed: the container is being replaced.
      Stalled False AsRequested: Nothing is wrong.
      Complete False NotFinished: The spec changed: the container is being replaced.
      phase = Launching
      again in 6000 ms"
    `);
  });

  it('because it is Stopped', () => {
    expect(
      shows({ ...at, record: record({}, { main: launch(), stop: { ...stop, reason: 'Stopped' } }) }),
    ).toMatchInlineSnapshot(`
      "because a stop of ours is within its grace period
      Ready False Launching: The sandbox is being stopped.
      Reconciling True Launching: The sandbox is being stopped.
      Stalled False AsRequested: Nothing is wrong.
      Complete False NotFinished: The sandbox is being stopped.
      phase = Launching
      again in 6000 ms"
    `);
  });

  it('because it is SetupTimeout', () => {
    expect(
      shows({ ...at, record: record({}, { main: launch(), stop: { ...stop, reason: 'SetupTimeout' } }) }),
    ).toMatchInlineSnapshot(`
      "because a stop of ours is within its grace period
      Ready False Launching: Setup ran into its time limit and is being stopped.
      Reconciling True Launching: Setup ran into its time limit and is being stopped.
      Stalled False AsRequested: Nothing is wrong.
      Complete False NotFinished: Setup ran into its time limit and is being stopped.
      phase = Launching
      again in 6000 ms"
    `);
  });

  it('because it is LimitsUnproven', () => {
    expect(
      shows({ ...at, record: record({}, { main: launch(), stop: { ...stop, reason: 'LimitsUnproven' } }) }),
    ).toMatchInlineSnapshot(`
      "because a stop of ours is within its grace period
      Ready False Launching: The limits in force are not the ones asked for: the sandbox is being stopped.
      Reconciling True Launching: The limits in force are not the ones asked for: the sandbox is being stopped.
      Stalled False AsRequested: Nothing is wrong.
      Complete False NotFinished: The limits in force are not the ones asked for: the sandbox is being stopped.
      phase = Launching
      again in 6000 ms"
    `);
  });
});

describe('a stop while init is away', () => {
  const at = {
    sandbox: sandbox({ suspend: true }),
    container: container(),
    record: record({}, { main: launch() }),
  };

  it('has the new probe await it', () => {
    expect(shows({ ...at, listening: false })).toMatchInlineSnapshot(`
      "because it is to be suspended; the probe is new
      do listen"
    `);
  });

  it('waits a moment', () => {
    expect(shows({ ...at, silentMs: 2999 })).toMatchInlineSnapshot(`
      "because it is to be suspended; its init may still come
      again in 1 ms"
    `);
  });

  it('waits from the start where nobody knows how long', () => {
    expect(shows(at)).toMatchInlineSnapshot(`
      "because it is to be suspended; its init may still come
      again in 3000 ms"
    `);
  });

  it('goes past it', () => {
    expect(shows({ ...at, silentMs: 3000 })).toMatchInlineSnapshot(`
      "because it is to be suspended
      Ready False Suspending: The sandbox is being suspended.
      Reconciling True Suspending: The sandbox is being suspended.
      Stalled False AsRequested: Nothing is wrong.
      Complete False NotFinished: The sandbox is being suspended.
      phase = Launching
      do stop, Suspended"
    `);
  });

  it('goes past it where there is no probe for it to come to', () => {
    expect(
      shows({ ...at, silentMs: 3000, listening: false, probe: { ready: false, why: 'gone' } }),
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
});

describe('suspend of a run-to-completion sandbox', () => {
  const held = sandbox({ suspend: true });

  it('[K10] holds it back', () => {
    expect(shows({ sandbox: held })).toMatchInlineSnapshot(`
      "because it is suspended and has not begun
      Ready False SuspendedByUser: The sandbox is held back by spec.suspend; its command has not begun.
      Reconciling False AsRequested: Nothing is wrong.
      Stalled False AsRequested: Nothing is wrong.
      Suspended True SuspendedByUser: The sandbox is held back by spec.suspend; its command has not begun.
      Complete False NotFinished: The sandbox is held back by spec.suspend; its command has not begun.
      phase = Suspended"
    `);
  });

  it('[K10] takes it away at the gate', () => {
    expect(
      shows({ sandbox: held, container: container(), record: record(), session: session() }),
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

  it('[K10] ends it', () => {
    expect(
      shows({
        sandbox: held,
        container: container(),
        record: record({}, { main: launch() }),
        session: session({ main: running }),
      }),
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

  it('[K10] has ended it', () => {
    expect(
      shows({
        sandbox: held,
        record: record({}, { main: launch(), outcome: outcome('Failed', 'Suspended') }),
      }),
    ).toMatchInlineSnapshot(`
      "because it has ended
      Ready False SuspendedByUser: It was Suspended.
      Reconciling False AsRequested: Nothing is wrong.
      Stalled False AsRequested: Nothing is wrong.
      Suspended True SuspendedByUser: It was Suspended.
      Complete True Failed: It was Suspended.
      phase = Suspended
      lastTermination = {"launch":"Main","cause":"Suspended","verdict":"Confirmed","message":"It was Suspended.","evidence":[],"finishedAt":"2026-01-01T00:00:00.000Z"}
      finishedAt = 2026-01-01T00:00:00.000Z"
    `);
  });
});

describe('an end', () => {
  const begun = record({}, { main: launch({ startedAt: AT }) });
  const over = (
    ended: Outcome['ended'],
    cause: Termination['cause'],
    more: Partial<Termination> = {},
  ): LedgerRecord => ({ ...begun, outcome: { ended, termination: termination(cause, more) } });
  const setupOver = (cause: Termination['cause']): LedgerRecord => ({
    ...record({ setup: { command: ['make'] } }, { setup: launch() }),
    outcome: { ended: 'Stalled', termination: termination(cause, { launch: 'Setup' }) },
  });
  const withSetup = sandbox({ setup: { command: ['make'] } });

  it('is judged', () => {
    expect(shows({ container: container('exited'), record: begun })).toMatchInlineSnapshot(`
      "because the launch has no verdict yet
      do conclude"
    `);
  });

  it('waits for a runtime that does not answer', () => {
    expect(
      shows({
        container: container('exited'),
        record: begun,
        runtime: { state: 'Unavailable', message: 'refused' },
      }),
    ).toMatchInlineSnapshot(`
      "because the runtime does not answer; the verdict waits for it
      again in 2000 ms"
    `);
  });

  it('of a container that the runtime cannot be asked about', () => {
    expect(
      shows({ record: begun, runtime: { state: 'Unavailable', message: 'refused' } }),
    ).toMatchInlineSnapshot(`
      "because the runtime cannot be asked about the container
      again in 5000 ms"
    `);
  });

  it('before user code began, with no container left', () => {
    expect(shows({ record: record() })).toMatchInlineSnapshot(`
      "because the container went before user code began
      do discard"
    `);
  });

  it('before user code began', () => {
    expect(
      shows({ container: container('exited', { exitCode: 3 }), record: record() }),
    ).toMatchInlineSnapshot(`
      "because the container ended before user code began
      do give-up, StartFailed, The container ended before user code began (exit code 3)."
    `);
  });

  it('before user code began, with an error of the runtime', () => {
    expect(
      shows({ container: container('exited', { exitCode: 127, error: 'no such file' }), record: record() }),
    ).toMatchInlineSnapshot(`
      "because the container ended before user code began
      do give-up, StartFailed, The container ended before user code began (exit code 127: no such file)."
    `);
  });

  it('[L1] of init by its limit', () => {
    expect(
      shows({ container: container('exited', { oomKilled: true }), record: record() }),
    ).toMatchInlineSnapshot(`
      "because the limit killed init
      do refuse, StartFailed, The memory limit of 67108864 bytes is too low to start the sandbox at all; raise spec.resources.memory."
    `);
  });

  it('[L1] of init by a limit that nobody wrote down', () => {
    expect(
      shows({
        container: container('exited', { oomKilled: true }),
        record: record({}, { limits: { pidsDefaulted: true, swapHeld: true } }),
      }),
    ).toMatchInlineSnapshot(`
      "because the limit killed init
      do refuse, StartFailed, The memory limit is too low to start the sandbox at all; raise spec.resources.memory."
    `);
  });

  it('[O1] with success, published before the container goes', () => {
    expect(
      shows({ container: container('exited'), record: over('Succeeded', 'Exited') }),
    ).toMatchInlineSnapshot(`
      "because it has ended
      Ready True Succeeded: It was Exited.
      Reconciling False AsRequested: Nothing is wrong.
      Stalled False AsRequested: Nothing is wrong.
      Complete True Succeeded: It was Exited.
      phase = Succeeded
      lastTermination = {"launch":"Main","cause":"Exited","verdict":"Confirmed","message":"It was Exited.","evidence":[],"finishedAt":"2026-01-01T00:00:00.000Z"}
      startedAt = 2026-01-01T00:00:00.000Z
      finishedAt = 2026-01-01T00:00:00.000Z
      write, then do remove-container"
    `);
  });

  it('[O1] with success', () => {
    expect(shows({ record: over('Succeeded', 'Exited') })).toMatchInlineSnapshot(`
      "because it has ended
      Ready True Succeeded: It was Exited.
      Reconciling False AsRequested: Nothing is wrong.
      Stalled False AsRequested: Nothing is wrong.
      Complete True Succeeded: It was Exited.
      phase = Succeeded
      lastTermination = {"launch":"Main","cause":"Exited","verdict":"Confirmed","message":"It was Exited.","evidence":[],"finishedAt":"2026-01-01T00:00:00.000Z"}
      startedAt = 2026-01-01T00:00:00.000Z
      finishedAt = 2026-01-01T00:00:00.000Z"
    `);
  });

  it('[O1] with failure', () => {
    expect(shows({ record: over('Failed', 'Exited', { exitCode: 1 }) })).toMatchInlineSnapshot(`
      "because it has ended
      Ready False Failed: It was Exited.
      Reconciling False AsRequested: Nothing is wrong.
      Stalled False AsRequested: Nothing is wrong.
      Complete True Failed: It was Exited.
      phase = Failed
      lastTermination = {"launch":"Main","cause":"Exited","verdict":"Confirmed","message":"It was Exited.","evidence":[],"finishedAt":"2026-01-01T00:00:00.000Z","exitCode":1}
      startedAt = 2026-01-01T00:00:00.000Z
      finishedAt = 2026-01-01T00:00:00.000Z"
    `);
  });

  it('[O4] by the memory limit', () => {
    expect(shows({ record: over('Stalled', 'OOMKilled') })).toMatchInlineSnapshot(`
      "because it has ended
      Ready False OOMKilled: It was OOMKilled.
      Reconciling False OOMKilled: It was OOMKilled.
      Stalled True OOMKilled: It was OOMKilled.
      Complete True Failed: It was OOMKilled.
      OOMKilled True Confirmed: It was OOMKilled.
      phase = Stalled
      lastTermination = {"launch":"Main","cause":"OOMKilled","verdict":"Confirmed","message":"It was OOMKilled.","evidence":[],"finishedAt":"2026-01-01T00:00:00.000Z"}
      startedAt = 2026-01-01T00:00:00.000Z
      finishedAt = 2026-01-01T00:00:00.000Z"
    `);
  });

  it('[O5] with success though something was killed', () => {
    expect(
      shows({
        record: {
          ...begun,
          outcome: {
            ...outcome('Succeeded'),
            oom: { verdict: 'Confirmed', message: 'A process was killed.' },
          },
        },
      }),
    ).toMatchInlineSnapshot(`
      "because it has ended
      Ready True Succeeded: It was Exited.
      Reconciling False AsRequested: Nothing is wrong.
      Stalled False AsRequested: Nothing is wrong.
      Complete True Succeeded: It was Exited.
      OOMKilled True Confirmed: A process was killed.
      phase = Succeeded
      lastTermination = {"launch":"Main","cause":"Exited","verdict":"Confirmed","message":"It was Exited.","evidence":[],"finishedAt":"2026-01-01T00:00:00.000Z"}
      startedAt = 2026-01-01T00:00:00.000Z
      finishedAt = 2026-01-01T00:00:00.000Z"
    `);
  });

  it('[O10] at its deadline', () => {
    expect(shows({ record: over('Failed', 'Deadline') })).toMatchInlineSnapshot(`
      "because it has ended
      Ready False Failed: It was Deadline.
      Reconciling False AsRequested: Nothing is wrong.
      Stalled False AsRequested: Nothing is wrong.
      Complete True Failed: It was Deadline.
      phase = Failed
      lastTermination = {"launch":"Main","cause":"Deadline","verdict":"Confirmed","message":"It was Deadline.","evidence":[],"finishedAt":"2026-01-01T00:00:00.000Z"}
      startedAt = 2026-01-01T00:00:00.000Z
      finishedAt = 2026-01-01T00:00:00.000Z"
    `);
  });

  it('[K10] by a restart of the runtime', () => {
    expect(shows({ record: over('Stalled', 'RuntimeRestarted') })).toMatchInlineSnapshot(`
      "because it has ended
      Ready False RuntimeRestarted: It was RuntimeRestarted.
      Reconciling False RuntimeRestarted: It was RuntimeRestarted.
      Stalled True RuntimeRestarted: It was RuntimeRestarted.
      Complete False RuntimeRestarted: It was RuntimeRestarted.
      phase = Stalled
      lastTermination = {"launch":"Main","cause":"RuntimeRestarted","verdict":"Confirmed","message":"It was RuntimeRestarted.","evidence":[],"finishedAt":"2026-01-01T00:00:00.000Z"}
      startedAt = 2026-01-01T00:00:00.000Z
      finishedAt = 2026-01-01T00:00:00.000Z"
    `);
  });

  it('[K10] of a container that was removed', () => {
    expect(shows({ record: over('Stalled', 'ContainerLost') })).toMatchInlineSnapshot(`
      "because it has ended
      Ready False ContainerLost: It was ContainerLost.
      Reconciling False ContainerLost: It was ContainerLost.
      Stalled True ContainerLost: It was ContainerLost.
      Complete False ContainerLost: It was ContainerLost.
      phase = Stalled
      lastTermination = {"launch":"Main","cause":"ContainerLost","verdict":"Confirmed","message":"It was ContainerLost.","evidence":[],"finishedAt":"2026-01-01T00:00:00.000Z"}
      startedAt = 2026-01-01T00:00:00.000Z
      finishedAt = 2026-01-01T00:00:00.000Z"
    `);
  });

  it('[K11] under a spec that has changed since', () => {
    expect(
      shows({
        sandbox: {
          ...sandbox({ image: 'other:1' }),
          status: {
            nodeName: 'n1',
            conditions: (['OOMKilled', 'LimitsEnforced', 'SetupComplete'] as const).map((type) => ({
              type,
              status: 'True' as const,
              reason: 'ReadBack',
              message: '',
              lastTransitionTime: AT,
            })),
          },
        },
        container: container('exited'),
        record: over('Stalled', 'OOMKilled'),
      }),
    ).toMatchInlineSnapshot(`
      "because the spec changed; the old container is in the way
      Ready False Recreating: The spec changed: the container is being replaced.
      Reconciling True Recreating: The spec changed: the container is being replaced.
      Stalled False AsRequested: Nothing is wrong.
      Complete False NotFinished: The spec changed: the container is being replaced.
      OOMKilled False NotLaunched: The spec has changed since; nothing of the new one was launched yet.
      LimitsEnforced False NotLaunched: The spec has changed since; nothing of the new one was launched yet.
      SetupComplete False NotLaunched: The spec has changed since; nothing of the new one was launched yet.
      phase = Launching
      without finishedAt, startedAt, setup, limits
      write, then do discard"
    `);
  });

  it('[K4] under a spec that has no room', () => {
    expect(
      shows({
        sandbox: sandbox({ resources: { memory: '2Gi' } }),
        noRoom: 'memory: 2Gi asked for, 1Gi left',
        record: over('Stalled', 'OOMKilled'),
      }),
    ).toMatchInlineSnapshot(`
      "because there is no room for the changed spec
      Ready False NoRoom: Node n1 has no room for the limits of the spec: memory: 2Gi asked for, 1Gi left.
      Reconciling False NoRoom: Node n1 has no room for the limits of the spec: memory: 2Gi asked for, 1Gi left.
      Stalled True NoRoom: Node n1 has no room for the limits of the spec: memory: 2Gi asked for, 1Gi left.
      Complete False NoRoom: Node n1 has no room for the limits of the spec: memory: 2Gi asked for, 1Gi left.
      Scheduled False Declined: Node n1 handed the sandbox back: Node n1 has no room for the limits of the spec: memory: 2Gi asked for, 1Gi left.
      lastTermination = {"launch":"Main","cause":"OOMKilled","verdict":"Confirmed","message":"It was OOMKilled.","evidence":[],"finishedAt":"2026-01-01T00:00:00.000Z"}
      phase = Stalled
      without finishedAt, startedAt, setup, limits
      do hand-back"
    `);
  });

  it('of a launch that was refused', () => {
    expect(
      shows({
        container: container(),
        record: record({}, { refusal: { reason: 'ReadBackFailed', message: 'memory: EACCES' } }),
      }),
    ).toMatchInlineSnapshot(`
      "because the launch was refused
      Ready False ReadBackFailed: memory: EACCES
      Reconciling False ReadBackFailed: memory: EACCES
      Stalled True ReadBackFailed: memory: EACCES
      Complete False ReadBackFailed: memory: EACCES
      LimitsEnforced False ReadBackFailed: memory: EACCES
      phase = Stalled
      write, then do remove-container"
    `);
  });

  it('of a launch that was refused for another reason', () => {
    expect(
      shows({
        container: container(),
        record: record({}, { refusal: { reason: 'StartFailed', message: 'too small' } }),
      }),
    ).toMatchInlineSnapshot(`
      "because the launch was refused
      Ready False StartFailed: too small
      Reconciling False StartFailed: too small
      Stalled True StartFailed: too small
      Complete False StartFailed: too small
      phase = Stalled
      write, then do remove-container"
    `);
  });

  it('of a launch that was refused, with no container left', () => {
    expect(
      shows({ record: record({}, { refusal: { reason: 'StartFailed', message: 'too small' } }) }),
    ).toMatchInlineSnapshot(`
      "because the launch was refused
      Ready False StartFailed: too small
      Reconciling False StartFailed: too small
      Stalled True StartFailed: too small
      Complete False StartFailed: too small
      phase = Stalled"
    `);
  });

  it('of a setup that the agent stopped', () => {
    const stopped = setupOver('Stopped').outcome?.termination ?? termination('Stopped');
    expect(
      shows({
        sandbox: withSetup,
        record: { ...setupOver('Stopped'), outcome: { ended: 'Failed', termination: stopped } },
      }),
    ).toMatchInlineSnapshot(`
      "because it has ended
      Ready False Failed: It was Stopped.
      Reconciling False AsRequested: Nothing is wrong.
      Stalled False AsRequested: Nothing is wrong.
      Complete True Failed: It was Stopped.
      SetupComplete False SetupFailed: It was Stopped.
      phase = Failed
      lastTermination = {"launch":"Setup","cause":"Stopped","verdict":"Confirmed","message":"It was Stopped.","evidence":[],"finishedAt":"2026-01-01T00:00:00.000Z"}
      setup = {"launch":"Setup","cause":"Stopped","verdict":"Confirmed","message":"It was Stopped.","evidence":[],"finishedAt":"2026-01-01T00:00:00.000Z"}"
    `);
  });

  it('of a setup: OOMKilled', () => {
    expect(shows({ sandbox: withSetup, record: setupOver('OOMKilled') })).toMatchInlineSnapshot(`
      "because it has ended
      Ready False SetupOOMKilled: It was OOMKilled.
      Reconciling False SetupOOMKilled: It was OOMKilled.
      Stalled True SetupOOMKilled: It was OOMKilled.
      Complete False SetupOOMKilled: It was OOMKilled.
      OOMKilled True Confirmed: It was OOMKilled.
      SetupComplete False SetupOOMKilled: It was OOMKilled.
      phase = Stalled
      lastTermination = {"launch":"Setup","cause":"OOMKilled","verdict":"Confirmed","message":"It was OOMKilled.","evidence":[],"finishedAt":"2026-01-01T00:00:00.000Z"}
      setup = {"launch":"Setup","cause":"OOMKilled","verdict":"Confirmed","message":"It was OOMKilled.","evidence":[],"finishedAt":"2026-01-01T00:00:00.000Z"}"
    `);
  });

  it('of a setup: Timeout', () => {
    expect(shows({ sandbox: withSetup, record: setupOver('Timeout') })).toMatchInlineSnapshot(`
      "because it has ended
      Ready False SetupTimedOut: It was Timeout.
      Reconciling False SetupTimedOut: It was Timeout.
      Stalled True SetupTimedOut: It was Timeout.
      Complete False SetupTimedOut: It was Timeout.
      SetupComplete False SetupTimedOut: It was Timeout.
      phase = Stalled
      lastTermination = {"launch":"Setup","cause":"Timeout","verdict":"Confirmed","message":"It was Timeout.","evidence":[],"finishedAt":"2026-01-01T00:00:00.000Z"}
      setup = {"launch":"Setup","cause":"Timeout","verdict":"Confirmed","message":"It was Timeout.","evidence":[],"finishedAt":"2026-01-01T00:00:00.000Z"}"
    `);
  });

  it('of a setup: Deadline', () => {
    expect(shows({ sandbox: withSetup, record: setupOver('Deadline') })).toMatchInlineSnapshot(`
      "because it has ended
      Ready False SetupTimedOut: It was Deadline.
      Reconciling False SetupTimedOut: It was Deadline.
      Stalled True SetupTimedOut: It was Deadline.
      Complete False SetupTimedOut: It was Deadline.
      SetupComplete False SetupTimedOut: It was Deadline.
      phase = Stalled
      lastTermination = {"launch":"Setup","cause":"Deadline","verdict":"Confirmed","message":"It was Deadline.","evidence":[],"finishedAt":"2026-01-01T00:00:00.000Z"}
      setup = {"launch":"Setup","cause":"Deadline","verdict":"Confirmed","message":"It was Deadline.","evidence":[],"finishedAt":"2026-01-01T00:00:00.000Z"}"
    `);
  });

  it('of a setup: Exited', () => {
    expect(shows({ sandbox: withSetup, record: setupOver('Exited') })).toMatchInlineSnapshot(`
      "because it has ended
      Ready False SetupFailed: It was Exited.
      Reconciling False SetupFailed: It was Exited.
      Stalled True SetupFailed: It was Exited.
      Complete False SetupFailed: It was Exited.
      SetupComplete False SetupFailed: It was Exited.
      phase = Stalled
      lastTermination = {"launch":"Setup","cause":"Exited","verdict":"Confirmed","message":"It was Exited.","evidence":[],"finishedAt":"2026-01-01T00:00:00.000Z"}
      setup = {"launch":"Setup","cause":"Exited","verdict":"Confirmed","message":"It was Exited.","evidence":[],"finishedAt":"2026-01-01T00:00:00.000Z"}"
    `);
  });

  it('of a setup: CommandNotFound', () => {
    expect(shows({ sandbox: withSetup, record: setupOver('CommandNotFound') })).toMatchInlineSnapshot(`
      "because it has ended
      Ready False CommandNotFound: It was CommandNotFound.
      Reconciling False CommandNotFound: It was CommandNotFound.
      Stalled True CommandNotFound: It was CommandNotFound.
      Complete False CommandNotFound: It was CommandNotFound.
      SetupComplete False CommandNotFound: It was CommandNotFound.
      phase = Stalled
      lastTermination = {"launch":"Setup","cause":"CommandNotFound","verdict":"Confirmed","message":"It was CommandNotFound.","evidence":[],"finishedAt":"2026-01-01T00:00:00.000Z"}
      setup = {"launch":"Setup","cause":"CommandNotFound","verdict":"Confirmed","message":"It was CommandNotFound.","evidence":[],"finishedAt":"2026-01-01T00:00:00.000Z"}"
    `);
  });

  it('of a setup: Unknown', () => {
    expect(shows({ sandbox: withSetup, record: setupOver('Unknown') })).toMatchInlineSnapshot(`
      "because it has ended
      Ready False UnknownCause: It was Unknown.
      Reconciling False UnknownCause: It was Unknown.
      Stalled True UnknownCause: It was Unknown.
      Complete False UnknownCause: It was Unknown.
      SetupComplete False UnknownCause: It was Unknown.
      phase = Stalled
      lastTermination = {"launch":"Setup","cause":"Unknown","verdict":"Confirmed","message":"It was Unknown.","evidence":[],"finishedAt":"2026-01-01T00:00:00.000Z"}
      setup = {"launch":"Setup","cause":"Unknown","verdict":"Confirmed","message":"It was Unknown.","evidence":[],"finishedAt":"2026-01-01T00:00:00.000Z"}"
    `);
  });

  it('of a setup: RuntimeRestarted', () => {
    expect(shows({ sandbox: withSetup, record: setupOver('RuntimeRestarted') })).toMatchInlineSnapshot(`
      "because it has ended
      Ready False RuntimeRestarted: It was RuntimeRestarted.
      Reconciling False RuntimeRestarted: It was RuntimeRestarted.
      Stalled True RuntimeRestarted: It was RuntimeRestarted.
      Complete False RuntimeRestarted: It was RuntimeRestarted.
      SetupComplete False RuntimeRestarted: It was RuntimeRestarted.
      phase = Stalled
      lastTermination = {"launch":"Setup","cause":"RuntimeRestarted","verdict":"Confirmed","message":"It was RuntimeRestarted.","evidence":[],"finishedAt":"2026-01-01T00:00:00.000Z"}
      setup = {"launch":"Setup","cause":"RuntimeRestarted","verdict":"Confirmed","message":"It was RuntimeRestarted.","evidence":[],"finishedAt":"2026-01-01T00:00:00.000Z"}"
    `);
  });

  it('of a setup: LimitsUnproven', () => {
    expect(shows({ sandbox: withSetup, record: setupOver('LimitsUnproven') })).toMatchInlineSnapshot(`
      "because it has ended
      Ready False ReadBackFailed: It was LimitsUnproven.
      Reconciling False ReadBackFailed: It was LimitsUnproven.
      Stalled True ReadBackFailed: It was LimitsUnproven.
      Complete False ReadBackFailed: It was LimitsUnproven.
      SetupComplete False ReadBackFailed: It was LimitsUnproven.
      phase = Stalled
      lastTermination = {"launch":"Setup","cause":"LimitsUnproven","verdict":"Confirmed","message":"It was LimitsUnproven.","evidence":[],"finishedAt":"2026-01-01T00:00:00.000Z"}
      setup = {"launch":"Setup","cause":"LimitsUnproven","verdict":"Confirmed","message":"It was LimitsUnproven.","evidence":[],"finishedAt":"2026-01-01T00:00:00.000Z"}"
    `);
  });

  it('of a sandbox that stays where it is: Exited', () => {
    expect(shows({ record: over('Stalled', 'Exited') })).toMatchInlineSnapshot(`
      "because it has ended
      Ready False Failed: It was Exited.
      Reconciling False Failed: It was Exited.
      Stalled True Failed: It was Exited.
      Complete True Failed: It was Exited.
      phase = Stalled
      lastTermination = {"launch":"Main","cause":"Exited","verdict":"Confirmed","message":"It was Exited.","evidence":[],"finishedAt":"2026-01-01T00:00:00.000Z"}
      startedAt = 2026-01-01T00:00:00.000Z
      finishedAt = 2026-01-01T00:00:00.000Z"
    `);
  });

  it('of a sandbox that stays where it is: Deadline', () => {
    expect(shows({ record: over('Stalled', 'Deadline') })).toMatchInlineSnapshot(`
      "because it has ended
      Ready False DeadlineExceeded: It was Deadline.
      Reconciling False DeadlineExceeded: It was Deadline.
      Stalled True DeadlineExceeded: It was Deadline.
      Complete True Failed: It was Deadline.
      phase = Stalled
      lastTermination = {"launch":"Main","cause":"Deadline","verdict":"Confirmed","message":"It was Deadline.","evidence":[],"finishedAt":"2026-01-01T00:00:00.000Z"}
      startedAt = 2026-01-01T00:00:00.000Z
      finishedAt = 2026-01-01T00:00:00.000Z"
    `);
  });

  it('of a sandbox that stays where it is: Suspended', () => {
    expect(shows({ record: over('Stalled', 'Suspended') })).toMatchInlineSnapshot(`
      "because it has ended
      Ready False SuspendedByUser: It was Suspended.
      Reconciling False SuspendedByUser: It was Suspended.
      Stalled True SuspendedByUser: It was Suspended.
      Complete True Failed: It was Suspended.
      phase = Stalled
      lastTermination = {"launch":"Main","cause":"Suspended","verdict":"Confirmed","message":"It was Suspended.","evidence":[],"finishedAt":"2026-01-01T00:00:00.000Z"}
      startedAt = 2026-01-01T00:00:00.000Z
      finishedAt = 2026-01-01T00:00:00.000Z"
    `);
  });

  it('of a sandbox that stays where it is: Deleted', () => {
    expect(shows({ record: over('Stalled', 'Deleted') })).toMatchInlineSnapshot(`
      "because it has ended
      Ready False Deleting: It was Deleted.
      Reconciling False Deleting: It was Deleted.
      Stalled True Deleting: It was Deleted.
      Complete True Failed: It was Deleted.
      phase = Stalled
      lastTermination = {"launch":"Main","cause":"Deleted","verdict":"Confirmed","message":"It was Deleted.","evidence":[],"finishedAt":"2026-01-01T00:00:00.000Z"}
      startedAt = 2026-01-01T00:00:00.000Z
      finishedAt = 2026-01-01T00:00:00.000Z"
    `);
  });

  it('of a sandbox that stays where it is: Replaced', () => {
    expect(shows({ record: over('Stalled', 'Replaced') })).toMatchInlineSnapshot(`
      "because it has ended
      Ready False Recreating: It was Replaced.
      Reconciling False Recreating: It was Replaced.
      Stalled True Recreating: It was Replaced.
      Complete True Failed: It was Replaced.
      phase = Stalled
      lastTermination = {"launch":"Main","cause":"Replaced","verdict":"Confirmed","message":"It was Replaced.","evidence":[],"finishedAt":"2026-01-01T00:00:00.000Z"}
      startedAt = 2026-01-01T00:00:00.000Z
      finishedAt = 2026-01-01T00:00:00.000Z"
    `);
  });

  it('of a sandbox that stays where it is: Stopped', () => {
    expect(shows({ record: over('Stalled', 'Stopped') })).toMatchInlineSnapshot(`
      "because it has ended
      Ready False Failed: It was Stopped.
      Reconciling False Failed: It was Stopped.
      Stalled True Failed: It was Stopped.
      Complete True Failed: It was Stopped.
      phase = Stalled
      lastTermination = {"launch":"Main","cause":"Stopped","verdict":"Confirmed","message":"It was Stopped.","evidence":[],"finishedAt":"2026-01-01T00:00:00.000Z"}
      startedAt = 2026-01-01T00:00:00.000Z
      finishedAt = 2026-01-01T00:00:00.000Z"
    `);
  });

  it('of a sandbox that stays where it is: LimitsUnproven', () => {
    expect(shows({ record: over('Stalled', 'LimitsUnproven') })).toMatchInlineSnapshot(`
      "because it has ended
      Ready False ReadBackFailed: It was LimitsUnproven.
      Reconciling False ReadBackFailed: It was LimitsUnproven.
      Stalled True ReadBackFailed: It was LimitsUnproven.
      Complete True Failed: It was LimitsUnproven.
      phase = Stalled
      lastTermination = {"launch":"Main","cause":"LimitsUnproven","verdict":"Confirmed","message":"It was LimitsUnproven.","evidence":[],"finishedAt":"2026-01-01T00:00:00.000Z"}
      startedAt = 2026-01-01T00:00:00.000Z
      finishedAt = 2026-01-01T00:00:00.000Z"
    `);
  });

  it('of a sandbox that stays where it is: Unknown', () => {
    expect(shows({ record: over('Stalled', 'Unknown') })).toMatchInlineSnapshot(`
      "because it has ended
      Ready False UnknownCause: It was Unknown.
      Reconciling False UnknownCause: It was Unknown.
      Stalled True UnknownCause: It was Unknown.
      Complete True Failed: It was Unknown.
      phase = Stalled
      lastTermination = {"launch":"Main","cause":"Unknown","verdict":"Confirmed","message":"It was Unknown.","evidence":[],"finishedAt":"2026-01-01T00:00:00.000Z"}
      startedAt = 2026-01-01T00:00:00.000Z
      finishedAt = 2026-01-01T00:00:00.000Z"
    `);
  });

  it('of a sandbox that stays where it is: KilledFromOutside', () => {
    expect(shows({ record: over('Stalled', 'KilledFromOutside') })).toMatchInlineSnapshot(`
      "because it has ended
      Ready False KilledFromOutside: It was KilledFromOutside.
      Reconciling False KilledFromOutside: It was KilledFromOutside.
      Stalled True KilledFromOutside: It was KilledFromOutside.
      Complete True Failed: It was KilledFromOutside.
      phase = Stalled
      lastTermination = {"launch":"Main","cause":"KilledFromOutside","verdict":"Confirmed","message":"It was KilledFromOutside.","evidence":[],"finishedAt":"2026-01-01T00:00:00.000Z"}
      startedAt = 2026-01-01T00:00:00.000Z
      finishedAt = 2026-01-01T00:00:00.000Z"
    `);
  });

  it('of a sandbox that stays where it is: NodeLost', () => {
    expect(shows({ record: over('Stalled', 'NodeLost') })).toMatchInlineSnapshot(`
      "because it has ended
      Ready False NodeLost: It was NodeLost.
      Reconciling False NodeLost: It was NodeLost.
      Stalled True NodeLost: It was NodeLost.
      Complete True Failed: It was NodeLost.
      phase = Stalled
      lastTermination = {"launch":"Main","cause":"NodeLost","verdict":"Confirmed","message":"It was NodeLost.","evidence":[],"finishedAt":"2026-01-01T00:00:00.000Z"}
      startedAt = 2026-01-01T00:00:00.000Z
      finishedAt = 2026-01-01T00:00:00.000Z"
    `);
  });
});

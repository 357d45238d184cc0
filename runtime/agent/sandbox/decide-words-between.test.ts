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

/** Between two starts, and between making and running. A changed word: `vitest -u`, and read what it wrote. */

const setup: Partial<SandboxSpec> = { setup: { command: ['make'] } };

describe('what has no verdict', () => {
  const suspended = sandbox({ ...RETAINED, suspend: true });

  it('[K10] is judged before it is said to be suspended', () => {
    expect(
      shows({
        sandbox: suspended,
        container: container('exited'),
        record: record(RETAINED, { main: launch() }),
      }),
    ).toMatchInlineSnapshot(`
      "because the launch has no verdict yet
      do conclude"
    `);
  });

  it('[K10] is judged anew when what was kept of a suspended sandbox is gone', () => {
    const before = record(RETAINED, { main: launch(), outcome: outcome('Stopped', 'Suspended') });
    expect(shows({ sandbox: suspended, container: undefined, record: before })).toMatchInlineSnapshot(`
      "because the kept container was removed
      do conclude"
    `);
  });

  it('[K10] is judged in a retained sandbox that ended by itself', () => {
    const ended = { container: container('exited'), record: record(RETAINED, { main: launch() }) };
    expect(shows({ sandbox: sandbox(RETAINED), ...ended })).toMatchInlineSnapshot(`
      "because the launch has no verdict yet
      do conclude"
    `);
  });

  it('[K10] is judged in a command that somebody started again: it never runs a second time', () => {
    const again = { container: container('exited'), record: record({}, { main: launch(), starts: 2 }) };
    expect(shows(again)).toMatchInlineSnapshot(`
      "because the launch has no verdict yet
      do conclude"
    `);
  });

  it('[K10] is judged where the container went between two starts', () => {
    expect(
      shows({ sandbox: sandbox(RETAINED), record: record(RETAINED, { main: launch(), starts: 2 }) }),
    ).toMatchInlineSnapshot(`
      "because the launch has no verdict yet
      do conclude"
    `);
  });

  it('[O10] is judged where it ended after setup and before it was open', () => {
    const spec = { ...RETAINED, ...setup };
    const done = record(spec, { setup: launch({ exit: exit(0) }) });
    expect(
      shows({ sandbox: sandbox(spec), container: container('exited'), record: done }),
    ).toMatchInlineSnapshot(`
      "because the launch has no verdict yet
      do conclude"
    `);
  });
});

describe('what was written down before the container was made', () => {
  const planned = record({}, { starts: 0 });

  it('[O10] is made', () => {
    expect(shows({ record: planned })).toMatchInlineSnapshot(`
      "because there is no container
      do create"
    `);
  });

  it('[K6] is not made by an agent that does not hold the node name', () => {
    expect(shows({ record: planned, nameHeld: false })).toMatchInlineSnapshot(`
      "because there is no container; the node name is not held
      again in 2000 ms"
    `);
  });
});

describe('the gate', () => {
  it('stays shut in a container that was paused from outside', () => {
    expect(
      shows({ container: container('paused'), record: record(), session: session() }),
    ).toMatchInlineSnapshot(`"because nothing to do"`);
  });

  it('stays shut in a container that nobody has a record of', () => {
    expect(shows({ container: container(), session: session() })).toMatchInlineSnapshot(
      `"because nothing to do"`,
    );
  });

  it('[K6] is not opened to setup by an agent that does not hold the node name', () => {
    expect(
      shows({
        sandbox: sandbox(setup),
        container: container(),
        record: record(setup),
        session: session(),
        nameHeld: false,
      }),
    ).toMatchInlineSnapshot(`
      "because setup has not begun; the node name is not held
      again in 2000 ms"
    `);
  });

  it('[K10] is not shut by a deadline that does not run yet', () => {
    expect(
      shows({
        sandbox: sandbox({ activeDeadlineSeconds: 60 }),
        container: container(),
        record: record(),
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
      phase = Launching
      limits = {"memoryBytes":67108864,"summary":"64Mi memory"}
      specHash = 7b919bd1374524f27eadb4a092075972
      containerID = c1
      containerName = holdfast-u1
      imageID = sha256:1
      write, then do start-main"
    `);
  });

  it('[O10] is opened again to a retained sandbox of which nobody wrote down that it is open', () => {
    expect(
      shows({
        sandbox: sandbox(RETAINED),
        container: container(),
        record: record(RETAINED, { main: launch() }),
        session: session(),
      }),
    ).toMatchInlineSnapshot(`
      "because the limits are in force
      Ready False Launching: The limits are in force; user code is about to begin.
      Reconciling True Launching: The limits are in force; user code is about to begin.
      Stalled False AsRequested: Nothing is wrong.
      LimitsEnforced True ReadBack: Read back from the kernel: 64Mi memory.
      LimitUnenforceable False Enforceable: Every requested limit can be enforced on the node.
      phase = Launching
      limits = {"memoryBytes":67108864,"summary":"64Mi memory"}
      specHash = b862936f0bbecf5b9a3862d8891a3db2
      containerID = c1
      containerName = holdfast-u1
      imageID = sha256:1
      write, then do start-main"
    `);
  });

  it('[L11] says that limits were read back where only one of them was asked for', () => {
    const [memory] = receipt().entries;
    if (memory === undefined) throw new Error('the receipt has no entry');
    const pids = { ...memory, limit: 'pids' as const, requested: undefined };
    expect(
      shows({
        container: container(),
        record: record(),
        session: session({ receipt: receipt({ entries: [memory, pids] }) }),
      }),
    ).toMatchInlineSnapshot(`
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

  it('[L7] is not reached where one limit cannot be enforced and another is not known', () => {
    const limits = { ...info().limits, cpu: can('Unknown'), memory: can('No') };
    expect(
      shows({
        sandbox: sandbox({ resources: { memory: '64Mi', cpu: '1' } }),
        runtime: { state: 'Ok', info: info({ limits }) },
      }),
    ).toMatchInlineSnapshot(`
      "because a limit cannot be enforced
      Ready False RuntimeUnreadable: Node n1 (docker) cannot enforce cpu: because Fix: do this Node n1 (docker) cannot enforce memory: because Fix: do this
      Reconciling False RuntimeUnreadable: Node n1 (docker) cannot enforce cpu: because Fix: do this Node n1 (docker) cannot enforce memory: because Fix: do this
      Stalled True RuntimeUnreadable: Node n1 (docker) cannot enforce cpu: because Fix: do this Node n1 (docker) cannot enforce memory: because Fix: do this
      Complete False RuntimeUnreadable: Node n1 (docker) cannot enforce cpu: because Fix: do this Node n1 (docker) cannot enforce memory: because Fix: do this
      LimitUnenforceable True RuntimeUnreadable: Node n1 (docker) cannot enforce cpu: because Fix: do this Node n1 (docker) cannot enforce memory: because Fix: do this
      Scheduled False Declined: Node n1 handed the sandbox back: Node n1 (docker) cannot enforce cpu: because Fix: do this Node n1 (docker) cannot enforce memory: because Fix: do this
      phase = Stalled
      do hand-back"
    `);
  });
});

describe('an end', () => {
  it('[K10] of setup has its place in the status when main has ended', () => {
    const first = termination('Exited', { launch: 'Setup', message: 'Setup ended.' });
    expect(
      shows({
        sandbox: sandbox(setup),
        record: record(setup, {
          setup: launch({ exit: exit(0), termination: first }),
          main: launch({ startedAt: AT }),
          outcome: outcome('Succeeded'),
        }),
      }),
    ).toMatchInlineSnapshot(`
      "because it has ended
      Ready True Succeeded: It was Exited.
      Reconciling False AsRequested: Nothing is wrong.
      Stalled False AsRequested: Nothing is wrong.
      Complete True Succeeded: It was Exited.
      phase = Succeeded
      lastTermination = {"launch":"Main","cause":"Exited","verdict":"Confirmed","message":"It was Exited.","evidence":[],"finishedAt":"2026-01-01T00:00:00.000Z"}
      startedAt = 2026-01-01T00:00:00.000Z
      setup = {"launch":"Setup","cause":"Exited","verdict":"Confirmed","message":"Setup ended.","evidence":[],"finishedAt":"2026-01-01T00:00:00.000Z"}
      finishedAt = 2026-01-01T00:00:00.000Z"
    `);
  });

  it('[K10] of setup with the runtime is not its failure where it is run anew', () => {
    const spec = { ...RETAINED, ...setup };
    const lost = {
      termination: termination('RuntimeRestarted', { launch: 'Setup' }),
      ended: 'Anew' as const,
    };
    expect(
      shows({ sandbox: sandbox(spec), record: record(spec, { setup: launch(), outcome: lost }) }),
    ).toMatchInlineSnapshot(`
      "because it is to be made anew
      Ready False RuntimeRestarted: It was RuntimeRestarted. A new container is being made.
      Reconciling True RuntimeRestarted: It was RuntimeRestarted. A new container is being made.
      Stalled False AsRequested: Nothing is wrong.
      phase = Launching
      lastTermination = {"launch":"Setup","cause":"RuntimeRestarted","verdict":"Confirmed","message":"It was RuntimeRestarted.","evidence":[],"finishedAt":"2026-01-01T00:00:00.000Z"}
      setup = {"launch":"Setup","cause":"RuntimeRestarted","verdict":"Confirmed","message":"It was RuntimeRestarted.","evidence":[],"finishedAt":"2026-01-01T00:00:00.000Z"}
      without startedAt, limits, setup
      write, then do discard"
    `);
  });

  it('[K10] with failure is not hidden by a suspend that came after it', () => {
    expect(
      shows({
        sandbox: sandbox({ suspend: true }),
        record: record({}, { main: launch({ startedAt: AT }), outcome: outcome('Failed', 'Exited') }),
      }),
    ).toMatchInlineSnapshot(`
      "because it has ended
      Ready False Failed: It was Exited.
      Reconciling False AsRequested: Nothing is wrong.
      Stalled False AsRequested: Nothing is wrong.
      Complete True Failed: It was Exited.
      phase = Failed
      lastTermination = {"launch":"Main","cause":"Exited","verdict":"Confirmed","message":"It was Exited.","evidence":[],"finishedAt":"2026-01-01T00:00:00.000Z"}
      startedAt = 2026-01-01T00:00:00.000Z
      finishedAt = 2026-01-01T00:00:00.000Z"
    `);
  });

  it('[L11] of what was stopped because its limits are not proven is told with its cause', () => {
    const refusal = { reason: 'ReadBackFailed' as const, message: 'memory: not read' };
    expect(
      shows({
        container: container('exited'),
        record: record({}, { main: launch(), refusal, outcome: outcome('Stalled', 'LimitsUnproven') }),
      }),
    ).toMatchInlineSnapshot(`
      "because it has ended
      Ready False ReadBackFailed: It was LimitsUnproven.
      Reconciling False ReadBackFailed: It was LimitsUnproven.
      Stalled True ReadBackFailed: It was LimitsUnproven.
      Complete True Failed: It was LimitsUnproven.
      phase = Stalled
      lastTermination = {"launch":"Main","cause":"LimitsUnproven","verdict":"Confirmed","message":"It was LimitsUnproven.","evidence":[],"finishedAt":"2026-01-01T00:00:00.000Z"}
      finishedAt = 2026-01-01T00:00:00.000Z
      write, then do remove-container"
    `);
  });

  it('[L11] of a launch that was refused after setup leaves no container', () => {
    const refusal = { reason: 'ReadBackMismatch' as const, message: 'memory: no' };
    expect(
      shows({
        sandbox: sandbox(setup),
        container: container(),
        record: record(setup, { setup: launch({ exit: exit(0) }), refusal }),
        session: session({ setup: { state: 'exited', exit: exit(0) } }),
      }),
    ).toMatchInlineSnapshot(`
      "because the launch was refused
      Ready False ReadBackMismatch: memory: no
      Reconciling False ReadBackMismatch: memory: no
      Stalled True ReadBackMismatch: memory: no
      Complete False ReadBackMismatch: memory: no
      LimitsEnforced False ReadBackMismatch: memory: no
      phase = Stalled
      write, then do remove-container"
    `);
  });

  it('[L11] of the first launch of a retained sandbox that was refused leaves none either', () => {
    const refusal = { reason: 'ReadBackMismatch' as const, message: 'memory: no' };
    expect(
      shows({
        sandbox: sandbox(RETAINED),
        container: container(),
        record: record(RETAINED, { refusal }),
        session: session(),
      }),
    ).toMatchInlineSnapshot(`
      "because the launch was refused
      Ready False ReadBackMismatch: memory: no
      Reconciling False ReadBackMismatch: memory: no
      Stalled True ReadBackMismatch: memory: no
      LimitsEnforced False ReadBackMismatch: memory: no
      phase = Stalled
      write, then do remove-container"
    `);
  });
});

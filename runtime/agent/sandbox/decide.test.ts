import { describe, expect, it } from 'vitest';
import type { Sandbox, SandboxSpec, SandboxStatus } from '../../../crds/sandbox.ts';
import type { LedgerRecord, Outcome } from '../ledger/record.ts';
import { decide } from './decide.ts';
import { specFacts } from './spec-facts.ts';
import {
  AT,
  BASE,
  can,
  container,
  exit,
  info,
  launch,
  MIB,
  outcome,
  receipt,
  record,
  RETAINED,
  sandbox,
  seen,
  session,
  termination,
} from './testing/observations.ts';
import type { Decision, Observation } from './types.ts';

const says = (decision: Decision, type: string): string | undefined => {
  const found = decision.status?.conditions.find((one) => one.type === type);
  return found === undefined ? undefined : `${found.status} ${found.reason}`;
};
const does = (more: Partial<Observation>): string | undefined => decide(seen(more)).act?.do;

describe('a sandbox that is not to be here', () => {
  it('goes whole when the API has it no more', () => {
    expect(does({ sandbox: undefined, container: container(), record: record() })).toBe('tear-down');
  });

  it('is forgotten when nothing of it is left', () => {
    expect(does({ sandbox: undefined, tornDown: true })).toBe('forget');
  });

  it('[K6] goes when it is bound elsewhere, and nothing is written about it', () => {
    const elsewhere = sandbox();
    elsewhere.status = { nodeName: 'n2' };
    const decision = decide(seen({ sandbox: elsewhere, container: container(), record: record() }));
    expect(decision.act?.do).toBe('tear-down');
    expect(decision.status).toBeUndefined();
  });

  it('[K11] leaves no workspace behind when it was handed back, and is forgotten then', () => {
    for (const status of [{ nodeName: 'n2' }, {}]) {
      const elsewhere = sandbox();
      elsewhere.status = status;
      const at = { sandbox: elsewhere, record: undefined, container: undefined };
      expect(decide(seen(at))).toMatchObject({ act: { do: 'tear-down' } });
      expect(decide(seen(at)).status).toBeUndefined();
      expect(decide(seen({ ...at, tornDown: true }))).toMatchObject({ act: { do: 'forget' } });
      expect(decide(seen({ ...at, tornDown: true })).status).toBeUndefined();
    }
  });

  const deleting = sandbox({}, { deletionTimestamp: AT });

  it('[K3] is stopped first when it is being deleted and runs', () => {
    const begun = record({}, { main: launch() });
    const decision = decide(
      seen({ sandbox: deleting, container: container(), record: begun, session: session() }),
    );
    expect(decision.act).toEqual({ do: 'stop', reason: 'Deleted' });
  });

  it('[K3] goes at once when user code has not begun', () => {
    expect(does({ sandbox: deleting, container: container(), record: record() })).toBe('tear-down');
  });

  it('[K3] goes when its grace period is over', () => {
    const stop = { reason: 'Deleted' as const, at: AT, signals: ['SIGTERM', 'SIGKILL'] };
    const decision = decide(
      seen({
        sandbox: deleting,
        container: container('exited'),
        record: record({}, { stop }),
        stoppingMs: 11_000,
      }),
    );
    expect(decision.act?.do).toBe('tear-down');
  });

  it('[K3] is reported gone when it is', () => {
    const decision = decide(seen({ sandbox: deleting, tornDown: true }));
    expect(says(decision, 'ContainerGone')).toBe('True ContainerRemoved');
  });

  it('[K3] is not reported gone while the runtime does not answer', () => {
    const decision = decide(
      seen({ sandbox: deleting, runtime: { state: 'Unavailable', message: 'refused' } }),
    );
    expect(says(decision, 'ContainerGone')).toBe('Unknown RuntimeUnavailable');
    expect(decision.act).toBeUndefined();
  });
});

describe('making a container', () => {
  it('begins with its creation', () => {
    expect(does({})).toBe('create');
  });

  it('launches nothing while another agent holds the node name', () => {
    const decision = decide(seen({ nameHeld: false }));
    expect(decision.act).toBeUndefined();
    expect(says(decision, 'Ready')).toBe('False NodeNameTaken');
  });

  it('[L5] does not begin when a limit cannot be enforced, and gives the sandbox back', () => {
    const limits = { ...info().limits, memory: can('No') };
    const decision = decide(seen({ runtime: { state: 'Ok', info: info({ limits }) } }));
    expect(decision.act?.do).toBe('hand-back');
    expect(says(decision, 'LimitUnenforceable')).toBe('True MemoryUnenforceable');
    expect(decision.status?.conditions[0]?.message).toContain('do this');
  });

  it('[L7] does not begin when the answer about limits cannot be read', () => {
    const decision = decide(seen({ runtime: { state: 'Unreadable', message: 'garbage' } }));
    expect(says(decision, 'LimitUnenforceable')).toBe('True RuntimeUnreadable');
  });

  it('waits for a runtime that does not answer', () => {
    const decision = decide(seen({ runtime: { state: 'Unavailable', message: 'refused' } }));
    expect(decision.act).toBeUndefined();
    expect(says(decision, 'Ready')).toBe('False RuntimeUnavailable');
    expect(decision.againMs).toBeGreaterThan(0);
  });

  it('waits for the probe', () => {
    const decision = decide(seen({ probe: { ready: false, why: 'it is being made' } }));
    expect(decision.act).toBeUndefined();
    expect(says(decision, 'Ready')).toBe('False RuntimeUnavailable');
  });

  it('shows the progress of a pull', () => {
    const decision = decide(
      seen({ pull: { state: 'running', image: 'busybox:lab', progress: 'Pulling: 3 of 5' } }),
    );
    expect(says(decision, 'Ready')).toBe('False PullingImage');
    expect(decision.act).toBeUndefined();
  });

  it('does not wait for the image of an older spec', () => {
    expect(does({ pull: { state: 'running', image: 'old:1', progress: 'Pulling' } })).toBe('create');
  });

  it('says why a pull failed, and tries again', () => {
    const decision = decide(
      seen({ pull: { state: 'failed', image: 'busybox:lab', message: 'no route', retryInMs: 500 } }),
    );
    expect(says(decision, 'Ready')).toBe('False ImagePullFailed');
    expect(decision.againMs).toBe(500);
  });

  it('stops where the image is absent and must not be pulled', () => {
    const decision = decide(
      seen({ pull: { state: 'absent', image: 'busybox:lab', message: 'not there', retryInMs: 500 } }),
    );
    expect(says(decision, 'Stalled')).toBe('True ImageNotPresent');
  });

  it('goes on with a container that was made and never started', () => {
    expect(does({ container: container('created'), record: record() })).toBe('start');
  });

  it('[K9] never begins with a network list', () => {
    const decision = decide(seen({ sandbox: sandbox({ network: { runtime: { allow: ['a.example'] } } }) }));
    expect(decision.act).toBeUndefined();
    expect(says(decision, 'Stalled')).toBe('True NetworkUnsupported');
  });
});

describe('the gate', () => {
  const at = { container: container(), record: record() };

  it('says nothing in the usual time that an init needs', () => {
    const decision = decide(seen({ ...at, silentMs: 100 }));
    expect(decision).toMatchObject({ againMs: 1000 });
    expect(decision.status).toBeUndefined();
  });

  it('has a new probe await the init', () => {
    expect(does({ ...at, listening: false })).toBe('listen');
    expect(does({ ...at, record: record({}, { main: launch() }), listening: false })).toBe('listen');
  });

  it('gives up on an init that does not come', () => {
    expect(does({ ...at, silentMs: 61_000 })).toBe('give-up');
  });

  it('does not give up while there is no probe for it to come to', () => {
    const decision = decide(seen({ ...at, silentMs: 61_000, probe: { ready: false, why: 'gone' } }));
    expect(decision.act).toBeUndefined();
  });

  it('[L11] takes a receipt first', () => {
    expect(does({ ...at, session: session({ receipt: undefined }) })).toBe('receipt');
  });

  it('[L11] writes LimitsEnforced before it lets user code begin', () => {
    const decision = decide(seen({ ...at, session: session() }));
    expect(decision).toMatchObject({ writeFirst: true, act: { do: 'start-main' } });
    expect(says(decision, 'LimitsEnforced')).toBe('True ReadBack');
    expect(says(decision, 'Ready')).toBe('False Launching');
  });

  it('[L5] [L11] never opens on a mismatch', () => {
    const decision = decide(
      seen({ ...at, session: session({ receipt: receipt({ mismatches: ['memory: no'] }) }) }),
    );
    expect(decision.act).toMatchObject({ do: 'refuse', reason: 'ReadBackMismatch' });
  });

  it('[L5] [L11] never opens on a file that could not be read', () => {
    const decision = decide(
      seen({ ...at, session: session({ receipt: receipt({ unread: ['memory: no'] }) }) }),
    );
    expect(decision.act).toMatchObject({ do: 'refuse', reason: 'ReadBackFailed' });
  });

  it('[O10] sends START again when it was intended and init knows nothing of it, with the status first again', () => {
    const decision = decide(seen({ ...at, record: record({}, { main: launch() }), session: session() }));
    expect(decision).toMatchObject({ writeFirst: true, act: { do: 'start-main' } });
  });

  it('[O10] does not send START again when init knows of it', () => {
    const decision = decide(
      seen({
        ...at,
        record: record({}, { main: launch() }),
        session: session({ main: { state: 'running', exit: undefined } }),
      }),
    );
    expect(decision.act).toBeUndefined();
    expect(says(decision, 'Ready')).toBe('True Running');
  });
});

describe('setup', () => {
  const spec: Partial<SandboxSpec> = { setup: { command: ['make'] } };
  const at = { sandbox: sandbox(spec), container: container() };

  it('[L3] runs before main, behind the same gate', () => {
    const decision = decide(seen({ ...at, record: record(spec), session: session() }));
    expect(decision).toMatchObject({ writeFirst: true, act: { do: 'start-setup' } });
    expect(says(decision, 'LimitsEnforced')).toBe('True ReadBack');
  });

  it('is waited for', () => {
    const decision = decide(
      seen({
        ...at,
        record: record(spec, { setup: launch() }),
        session: session({ setup: { state: 'running', exit: undefined } }),
      }),
    );
    expect(decision.act).toBeUndefined();
    expect(says(decision, 'SetupComplete')).toBe('False SettingUp');
  });

  it('is written down when it has ended with 0', () => {
    expect(
      does({
        ...at,
        record: record(spec, { setup: launch() }),
        session: session({ setup: { state: 'exited', exit: exit(0) } }),
      }),
    ).toBe('setup-done');
  });

  it('[K10] is not followed by main when it failed', () => {
    expect(
      does({
        ...at,
        record: record(spec, { setup: launch() }),
        session: session({ setup: { state: 'exited', exit: exit(1) } }),
      }),
    ).toBe('collect');
  });

  it('[K10] makes a new container when it is unknown whether it ended', () => {
    expect(
      does({ ...at, record: record(spec, { setup: launch(), starts: 2 }), session: session({ start: 2 }) }),
    ).toBe('discard');
  });

  it('is followed by main', () => {
    const done = record(spec, { setup: launch({ exit: exit(0), termination: termination('Exited') }) });
    const decision = decide(
      seen({ ...at, record: done, session: session({ setup: { state: 'exited', exit: exit(0) } }) }),
    );
    expect(decision.act?.do).toBe('start-main');
    expect(says(decision, 'SetupComplete')).toBe('True SetupSucceeded');
  });
});

describe('a sandbox that runs', () => {
  const at = {
    container: container(),
    record: record({}, { main: launch({ startedAt: AT }) }),
    session: session({ main: { state: 'running' as const, exit: undefined } }),
  };

  it('is Ready', () => {
    const decision = decide(seen(at));
    expect(says(decision, 'Ready')).toBe('True Running');
    expect(says(decision, 'Complete')).toBe('False NotFinished');
    expect(decision.status?.set?.startedAt).toBe(AT);
  });

  it('[L12] says which limit was changed from outside', () => {
    const decision = decide(seen({ ...at, session: { ...at.session, drift: ['memory: 64Mi, now max'] } }));
    expect(says(decision, 'LimitsEnforced')).toBe('False Drifted');
    expect(says(decision, 'Ready')).toBe('True Running');
  });

  it('[O9] says that it was paused from outside', () => {
    const decision = decide(seen({ ...at, container: container('paused') }));
    expect(says(decision, 'Ready')).toBe('False Paused');
  });

  it('keeps what was said while the probe is being made again', () => {
    const decision = decide(seen({ ...at, session: undefined }));
    expect(decision.status).toBeUndefined();
    expect(decision.act).toBeUndefined();
  });

  it('[O6] has its counters read while init holds, when main has ended', () => {
    expect(does({ ...at, session: session({ main: { state: 'exited', exit: exit(0) } }) })).toBe('collect');
  });

  it('[K10] is stopped at its deadline', () => {
    const decision = decide(seen({ ...at, sandbox: sandbox({ activeDeadlineSeconds: 5 }), ranMs: 5001 }));
    expect(decision.act).toEqual({ do: 'stop', reason: 'Deadline' });
  });

  it('looks again when its deadline comes', () => {
    const known = record({}, { main: launch({ startedAt: AT, deadlineSeconds: 5 }) });
    const decision = decide(
      seen({ ...at, record: known, sandbox: sandbox({ activeDeadlineSeconds: 5 }), ranMs: 1000 }),
    );
    expect(decision.againMs).toBe(4000);
  });

  it('[K11] has init told of a deadline that changed, or went', () => {
    expect(does({ ...at, sandbox: sandbox({ activeDeadlineSeconds: 50 }), ranMs: 1000 })).toBe('time-limit');
    const known = record({}, { main: launch({ startedAt: AT, deadlineSeconds: 5 }) });
    expect(does({ ...at, record: known, ranMs: 1000 })).toBe('time-limit');
  });

  it('[K11] is replaced when its spec changes', () => {
    const decision = decide(seen({ ...at, sandbox: sandbox({ image: 'other:1' }) }));
    expect(decision.act).toEqual({ do: 'stop', reason: 'Replaced' });
  });

  it('[K11] is replaced when the limits of a run-to-completion sandbox change', () => {
    const decision = decide(seen({ ...at, sandbox: sandbox({ resources: { memory: '128Mi' } }) }));
    expect(decision.act).toEqual({ do: 'stop', reason: 'Replaced' });
  });

  it.each<[string, Partial<SandboxSpec>]>([
    ['ttlSecondsAfterFinished', { ttlSecondsAfterFinished: 5 }],
    ['nodeSelector', { nodeSelector: { a: 'b' } }],
    ['terminationGracePeriodSeconds', { terminationGracePeriodSeconds: 1 }],
    ['another way to write its limits', { resources: { memory: 64 * MIB } }],
  ])('[K11] [L2] is not touched by a change of %s', (_name, spec) => {
    expect(does({ ...at, sandbox: sandbox(spec) })).toBeUndefined();
  });

  it('ends with the agent when the agent was told so', () => {
    expect(decide(seen({ ...at, ending: true })).act).toEqual({ do: 'stop', reason: 'Stopped' });
  });
});

describe('a retained sandbox', () => {
  const at = {
    sandbox: sandbox(RETAINED),
    container: container(),
    record: record(RETAINED, { main: launch({ startedAt: AT }) }),
    session: session(),
  };

  it('is Ready without a command, and has no Complete', () => {
    const decision = decide(seen(at));
    expect(says(decision, 'Ready')).toBe('True Running');
    expect(says(decision, 'Complete')).toBeUndefined();
  });

  it('[K11] has its limits changed in place', () => {
    const decision = decide(
      seen({ ...at, sandbox: sandbox({ ...RETAINED, resources: { memory: '128Mi' } }) }),
    );
    expect(decision.act?.do).toBe('update-limits');
  });

  it('[K11] has its limits read again where an agent may have died before it could say that they changed', () => {
    expect(does({ ...at, session: session({ receipt: undefined }) })).toBe('receipt');
    const adopted = sandbox(RETAINED);
    adopted.status = {
      ...adopted.status,
      observedGeneration: 1,
      conditions: [
        { type: 'LimitsEnforced', status: 'True', reason: 'ReadBack', message: '', lastTransitionTime: AT },
      ],
    };
    expect(does({ ...at, sandbox: adopted, session: session({ receipt: undefined }) })).toBeUndefined();
  });

  it('[K11] has its limits changed in place by an agent that adopted it', () => {
    const changed = sandbox({ ...RETAINED, resources: { memory: '128Mi' } });
    expect(does({ ...at, sandbox: changed, session: session({ receipt: undefined }) })).toBe('update-limits');
  });

  it('[K11] does not try a change again that was refused, and says so', () => {
    const changed = sandbox({ ...RETAINED, resources: { memory: '8Mi' } });
    const refusedLimits = {
      hash: specFacts(changed.spec).limitsHash,
      reason: 'LimitUnenforceable' as const,
      message: 'busy',
    };
    const decision = decide(seen({ ...at, sandbox: changed, record: { ...at.record, refusedLimits } }));
    expect(decision.act).toBeUndefined();
    expect(says(decision, 'Stalled')).toBe('True LimitsUnenforceable');
    expect(says(decision, 'LimitsEnforced')).toBe('True ReadBack');
  });

  it('[K10] is stopped by suspend', () => {
    const decision = decide(seen({ ...at, sandbox: sandbox({ ...RETAINED, suspend: true }) }));
    expect(decision.act).toEqual({ do: 'stop', reason: 'Suspended' });
  });

  const suspended = record(RETAINED, { main: launch(), outcome: outcome('Stopped', 'Suspended') });

  it('[K10] is Suspended when it has stopped, and its container stays', () => {
    const decision = decide(
      seen({
        ...at,
        sandbox: sandbox({ ...RETAINED, suspend: true }),
        container: container('exited'),
        record: suspended,
        session: undefined,
      }),
    );
    expect(decision.act).toBeUndefined();
    expect(says(decision, 'Suspended')).toBe('True SuspendedByUser');
  });

  it('[K10] is started again as the same container when it is resumed', () => {
    expect(does({ ...at, container: container('exited'), record: suspended, session: undefined })).toBe(
      'restart',
    );
  });

  it('[K10] [L11] has a new receipt before it is open again', () => {
    const again = record(RETAINED, { main: launch(), starts: 2 });
    expect(does({ ...at, record: again, session: session({ start: 2, receipt: undefined }) })).toBe(
      'receipt',
    );
    const decision = decide(seen({ ...at, record: again, session: session({ start: 2 }) }));
    expect(decision).toMatchObject({ writeFirst: true, act: { do: 'start-main' } });
  });

  it('[K10] is started when a crash came between the word of its restart and the start', () => {
    const again = record(RETAINED, { main: launch(), starts: 2 });
    expect(does({ ...at, container: container('exited'), record: again, session: undefined })).toBe(
      'restart',
    );
  });

  it('[K10] is made anew when its kept container was removed', () => {
    expect(does({ ...at, container: undefined, record: suspended, session: undefined })).toBe('conclude');
  });
});

describe('suspend of a run-to-completion sandbox', () => {
  const held = sandbox({ suspend: true });

  it('[K10] holds it back before it has begun', () => {
    const decision = decide(seen({ sandbox: held }));
    expect(decision.act).toBeUndefined();
    expect(says(decision, 'Suspended')).toBe('True SuspendedByUser');
    expect(says(decision, 'Complete')).toBe('False NotFinished');
  });

  it('[K10] takes it away at the gate', () => {
    expect(does({ sandbox: held, container: container(), record: record() })).toBe('discard');
  });

  it('[K10] ends it when it has begun', () => {
    const decision = decide(
      seen({
        sandbox: held,
        container: container(),
        record: record({}, { main: launch() }),
        session: session(),
      }),
    );
    expect(decision.act).toEqual({ do: 'stop', reason: 'Suspended' });
  });
});

describe('a stop of ours', () => {
  const stop = { reason: 'Suspended' as const, at: AT, signals: ['SIGTERM'] };
  const at = {
    container: container(),
    record: record({}, { main: launch(), stop }),
    session: session({ main: { state: 'running' as const, exit: undefined } }),
  };

  it('waits for the grace period', () => {
    expect(decide(seen({ ...at, stoppingMs: 1000 }))).toMatchObject({ againMs: 9000 });
  });

  it('kills when it is over', () => {
    expect(does({ ...at, stoppingMs: 10_001 })).toBe('kill');
  });

  it('waits a little for that, and then kills the container', () => {
    const killed = {
      ...at,
      record: record({}, { main: launch(), stop: { ...stop, signals: ['SIGTERM', 'SIGKILL'] } }),
    };
    expect(decide(seen({ ...killed, stoppingMs: 10_500 })).act).toBeUndefined();
    expect(does({ ...killed, stoppingMs: 13_500 })).toBe('kill');
  });

  it('thaws a container that somebody froze', () => {
    expect(does({ ...at, container: container('paused'), stoppingMs: 0 })).toBe('unpause');
  });

  it('is seen through when the spec changes back meanwhile', () => {
    expect(does({ ...at, stoppingMs: 20_000 })).toBe('kill');
  });

  it('has counters and exit collected when main has ended', () => {
    expect(
      does({ ...at, session: session({ main: { state: 'exited', exit: exit(143) } }), stoppingMs: 5 }),
    ).toBe('collect');
  });
});

describe('a stop while its init is away', () => {
  const stop = { reason: 'Suspended' as const, at: AT, signals: ['SIGTERM'] };
  const held = sandbox({ suspend: true });
  const at = { sandbox: held, container: container(), record: record({}, { main: launch() }) };

  it('[O9] has the new probe await init first: a signal through the runtime would look like somebody else', () => {
    expect(does({ ...at, listening: false })).toBe('listen');
  });

  it('[O9] waits a moment for init', () => {
    expect(decide(seen({ ...at, silentMs: 1000 }))).toMatchObject({ againMs: 2000 });
  });

  it('goes past init when it does not come', () => {
    expect(decide(seen({ ...at, silentMs: 3001 })).act).toEqual({ do: 'stop', reason: 'Suspended' });
  });

  it('[O10] sends the signal that an agent wrote down and perhaps did not send', () => {
    const written = record({}, { main: launch(), stop });
    const running = session({ main: { state: 'running', exit: undefined } });
    expect(does({ ...at, record: written, session: running, stopSent: false, stoppingMs: 100 })).toBe(
      'stop-again',
    );
    expect(does({ ...at, record: written, session: running, stoppingMs: 100 })).toBeUndefined();
  });
});

describe('an agent that lost its node name', () => {
  it.each<[string, Partial<Observation>]>([
    ['create', { sandbox: sandbox(), record: undefined, container: undefined, nameHeld: true }],
    ['start', { container: container('created'), record: record() }],
    ['start-main', { container: container(), record: record(), session: session() }],
  ])('[K6] does not go on to %s', (what, more) => {
    expect(does(more)).toBe(what);
    expect(does({ ...more, nameHeld: false })).toBeUndefined();
  });

  it('[K6] sees a stop through', () => {
    const stop = { reason: 'Deleted' as const, at: AT, signals: ['SIGTERM'] };
    const begun = record({}, { main: launch(), stop });
    expect(
      does({
        container: container(),
        record: begun,
        session: session(),
        nameHeld: false,
        stoppingMs: 11_000,
      }),
    ).toBe('kill');
  });
});

describe('a limit that the runtime refuses at creation or start', () => {
  const unenforceable = 'open /sys/fs/cgroup/x/memory.max: no such file or directory';

  it('[L5] [L9] has the container removed', () => {
    expect(does({ unenforceable, container: container('created'), record: record() })).toBe('discard');
  });

  it('[L5] [L9] is named, and the sandbox handed back', () => {
    const decision = decide(seen({ unenforceable }));
    expect(decision.act?.do).toBe('hand-back');
    expect(says(decision, 'LimitUnenforceable')).toBe('True MemoryUnenforceable');
  });
});

describe('an end', () => {
  it('has init told to go where an agent died before it did', () => {
    const closed = record({}, { main: launch({ exit: exit(0), closing: { readings: [] } }) });
    const over = session({ main: { state: 'exited', exit: exit(0) } });
    expect(does({ container: container(), record: closed, session: over })).toBe('release');
    expect(
      does({ container: container(), record: closed, session: { ...over, released: true } }),
    ).toBeUndefined();
  });

  it('[K10] of a suspended job is Suspended only as long as the spec says so', () => {
    const object = sandbox();
    object.status = {
      ...object.status,
      conditions: [
        { type: 'Suspended', status: 'True', reason: 'SuspendedByUser', message: '', lastTransitionTime: AT },
      ],
    };
    const over = record({}, { main: launch(), outcome: outcome('Failed', 'Suspended') });
    expect(says(decide(seen({ sandbox: object, record: over })), 'Suspended')).toBe('False Resumed');
  });

  const ended = record({}, { main: launch() });

  it('is judged', () => {
    expect(does({ container: container('exited'), record: ended })).toBe('conclude');
  });

  it('is judged when the container was removed from outside', () => {
    expect(does({ record: ended })).toBe('conclude');
  });

  it('[O9] is not judged while the runtime does not answer: its restart is part of the verdict', () => {
    const decision = decide(
      seen({
        container: container('exited'),
        record: ended,
        runtime: { state: 'Unavailable', message: 'refused' },
      }),
    );
    expect(decision.act).toBeUndefined();
    expect(decision.againMs).toBeGreaterThan(0);
  });

  it('before user code began is tried again, after a growing wait', () => {
    expect(does({ container: container('exited'), record: record() })).toBe('give-up');
  });

  it('[L1] of init at a limit that is too small is said, and not tried again', () => {
    const decision = decide(seen({ container: container('exited', { oomKilled: true }), record: record() }));
    expect(decision.act).toMatchObject({ do: 'refuse', reason: 'StartFailed' });
  });

  it('[O1] is published before the container is removed', () => {
    const decision = decide(
      seen({ container: container('exited'), record: { ...ended, outcome: outcome('Succeeded') } }),
    );
    expect(decision).toMatchObject({ writeFirst: true, act: { do: 'remove-container' } });
    expect(says(decision, 'Complete')).toBe('True Succeeded');
    expect(decision.status?.set?.finishedAt).toBe(AT);
  });

  it('[K10] is not followed by another run', () => {
    const decision = decide(seen({ record: { ...ended, outcome: outcome('Succeeded') } }));
    expect(decision.act).toBeUndefined();
  });

  it('[O4] by the memory limit stops the sandbox until the spec changes', () => {
    const decision = decide(seen({ record: { ...ended, outcome: outcome('Stalled', 'OOMKilled') } }));
    expect(says(decision, 'Stalled')).toBe('True OOMKilled');
    expect(says(decision, 'OOMKilled')).toBe('True Confirmed');
    expect(says(decision, 'Complete')).toBe('True Failed');
    expect(decision.act).toBeUndefined();
  });

  it('[O4] by the memory limit is followed by a new launch when the limit is raised', () => {
    const raised = sandbox({ resources: { memory: '128Mi' } });
    const decision = decide(
      seen({ sandbox: raised, record: { ...ended, outcome: outcome('Stalled', 'OOMKilled') } }),
    );
    expect(decision.act?.do).toBe('discard');
  });

  it('[O5] keeps its result when something in it was killed', () => {
    const survived: Outcome = {
      ...outcome('Succeeded'),
      oom: { verdict: 'Confirmed', message: 'One was killed.' },
    };
    const decision = decide(seen({ record: { ...ended, outcome: survived } }));
    expect(says(decision, 'OOMKilled')).toBe('True Confirmed');
    expect(says(decision, 'Complete')).toBe('True Succeeded');
    expect(says(decision, 'Stalled')).toBe('False AsRequested');
  });

  it('[K10] by a restart of the runtime has not completed, and is never run again by itself', () => {
    const decision = decide(seen({ record: { ...ended, outcome: outcome('Stalled', 'RuntimeRestarted') } }));
    expect(says(decision, 'Complete')).toBe('False RuntimeRestarted');
    expect(says(decision, 'Stalled')).toBe('True RuntimeRestarted');
    expect(decision.act).toBeUndefined();
  });

  it('[K10] by a restart of the runtime starts a retained sandbox again', () => {
    const kept = record(RETAINED, { main: launch(), outcome: outcome('Restart', 'RuntimeRestarted') });
    expect(does({ sandbox: sandbox(RETAINED), container: container('exited'), record: kept })).toBe(
      'restart',
    );
  });

  it('[K10] again and again makes the restart of a retained sandbox wait longer each time', () => {
    const kept = (quickRestarts: number): LedgerRecord =>
      record(RETAINED, { main: launch(), quickRestarts, outcome: outcome('Restart', 'KilledFromOutside') });
    const at = { sandbox: sandbox(RETAINED), container: container('exited') };
    expect(does({ ...at, record: kept(0) })).toBe('restart');
    expect(decide(seen({ ...at, record: kept(3) }))).toMatchObject({ againMs: 4000 });
    expect(decide(seen({ ...at, record: kept(30) }))).toMatchObject({ againMs: 60_000 });
    expect(does({ ...at, record: kept(3), nowMs: Date.parse(AT) + 4000 })).toBe('restart');
    expect(does({ ...at, record: kept(3), nowMs: Date.parse(AT) - 1 })).toBe('restart');
  });

  it('of a refused restart is said, and what a retained sandbox has is kept', () => {
    const refusal = { reason: 'ReadBackMismatch' as const, message: 'memory: no' };
    const kept = record(RETAINED, { main: launch(), starts: 2, refusal });
    const at = { sandbox: sandbox(RETAINED), record: kept };
    expect(decide(seen({ ...at, container: container(), session: session() })).act).toEqual({
      do: 'stop',
      reason: 'LimitsUnproven',
    });
    const stopped = decide(seen({ ...at, container: container('exited') }));
    expect(stopped.act).toBeUndefined();
    expect(says(stopped, 'Stalled')).toBe('True ReadBackMismatch');
  });

  it('of a refused launch is said, and the container goes', () => {
    const refusal = { reason: 'ReadBackMismatch' as const, message: 'memory: no' };
    const decision = decide(seen({ container: container(), record: record({}, { refusal }) }));
    expect(decision.act?.do).toBe('remove-container');
    expect(says(decision, 'LimitsEnforced')).toBe('False ReadBackMismatch');
    expect(says(decision, 'Stalled')).toBe('True ReadBackMismatch');
  });
});

describe('what a setup leaves behind', () => {
  const spec = { setup: { command: ['true'], timeoutSeconds: 60 } } as Partial<SandboxSpec>;
  const oom = { verdict: 'Confirmed', message: 'The limit killed a process.' } as const;
  const after = (starts: number): Decision =>
    decide(
      seen({
        sandbox: sandbox(spec),
        container: container(),
        session: session({ start: starts, setup: { state: 'exited', exit: exit(0) } }),
        record: record(spec, {
          starts,
          setup: launch({ exit: exit(0), oom }),
        }),
      }),
    );

  it('[O5] is the condition OOMKilled where the limit killed a process of a setup that ended well', () => {
    const decision = after(1);
    expect(decision.act?.do).toBe('start-main');
    expect(says(decision, 'OOMKilled')).toBe('True Confirmed');
    expect(says(decision, 'SetupComplete')).toBe('True SetupSucceeded');
  });

  it('[O5] is not said again over what a later start of the container did', () => {
    expect(says(after(2), 'OOMKilled')).toBeUndefined();
  });

  it('[O4] is taken back before a container is made anew: nothing of the next has run', () => {
    const at = { setup: launch({ exit: exit(0) }), main: launch({ startedAt: AT }) };
    const outcome: Outcome = { termination: termination('ContainerLost'), ended: 'Anew' };
    const decision = decide(
      seen({
        sandbox: sandbox({ ...RETAINED, ...spec }),
        record: record({ ...RETAINED, ...spec }, { ...at, outcome }),
      }),
    );
    expect(decision).toMatchObject({ act: { do: 'discard' }, writeFirst: true });
    expect(decision.status?.unset).toEqual(expect.arrayContaining(['startedAt', 'setup']));
  });
});

describe('a changed spec that the node has no room for', () => {
  const noRoom = 'memory: 64Gi asked for, 1Gi left of 8Gi (other sandboxes 7Gi, reserved 0)';
  const more = { resources: { memory: '64Gi' } };

  it('[K4] leaves a command that runs as it is, with its old limits, and says why', () => {
    const decision = decide(
      seen({
        noRoom,
        sandbox: sandbox(more),
        container: container(),
        session: session({ main: { state: 'running', exit: undefined } }),
        record: record({}, { main: launch({ startedAt: AT }) }),
      }),
    );
    expect(decision.act).toBeUndefined();
    expect(says(decision, 'Ready')).toBe('True Running');
    expect(says(decision, 'LimitsEnforced')).toBe('True ReadBack');
    expect(says(decision, 'LimitUnenforceable')).toBe('True NoRoom');
    expect(says(decision, 'Stalled')).toBe('True NoRoom');
    expect(decision.status?.conditions.find(({ type }) => type === 'Stalled')?.message).toContain(noRoom);
  });

  it('[K4] changes nothing of a retained sandbox in place', () => {
    const spec = { ...RETAINED, ...more };
    const at = {
      sandbox: sandbox(spec),
      container: container(),
      session: session(),
      record: record(RETAINED, { main: launch({ startedAt: AT }) }),
    };
    expect(does(at)).toBe('update-limits');
    const decision = decide(seen({ ...at, noRoom }));
    expect(decision.act).toBeUndefined();
    expect(says(decision, 'Stalled')).toBe('True NoRoom');
  });

  it('[K4] is handed back where nothing runs and nothing is kept', () => {
    const outcome: Outcome = { termination: termination('Exited', { exitCode: 0 }), ended: 'Succeeded' };
    for (const at of [
      { record: undefined },
      { record: record(), container: container() },
      { record: record({}, { main: launch({ startedAt: AT }), outcome }) },
    ]) {
      const decision = decide(seen({ noRoom, sandbox: sandbox(more), ...at }));
      expect(decision.act?.do).toBe('hand-back');
      expect(says(decision, 'Scheduled')).toBe('False Declined');
      expect(says(decision, 'Stalled')).toBe('True NoRoom');
    }
  });

  it('[K4] is not handed back before the end of what ran was judged', () => {
    const at = { record: record({}, { main: launch({ startedAt: AT }) }), container: container('exited') };
    expect(does({ noRoom, sandbox: sandbox(more), ...at })).toBe('conclude');
  });

  it('[K11] does not cost a retained sandbox its workspace', () => {
    const spec = { ...RETAINED, ...more };
    const outcome: Outcome = { termination: termination('ContainerLost'), ended: 'Anew' };
    const at = { record: record(RETAINED, { main: launch({ startedAt: AT }), outcome }) };
    const decision = decide(seen({ noRoom, sandbox: sandbox(spec), ...at }));
    expect(decision.act).toBeUndefined();
    expect(says(decision, 'Ready')).toBe('False NoRoom');
  });

  it('[K11] blames nobody else for a change of our own that could not be undone', () => {
    const spec = { ...RETAINED, resources: { memory: '128Mi' } };
    const refusedLimits = {
      hash: specFacts({ ...BASE, ...spec }).limitsHash,
      reason: 'ReadBackMismatch' as const,
      message: 'The new limits are not in force.',
    };
    const words = (restored: boolean): string | undefined =>
      says(
        decide(
          seen({
            sandbox: sandbox(spec),
            container: container(),
            session: session({ drift: ['memory: 7'] }),
            record: record(RETAINED, {
              main: launch({ startedAt: AT }),
              refusedLimits: { ...refusedLimits, restored },
            }),
          }),
        ),
        'LimitsEnforced',
      );
    expect(words(false)).toBe('False ReadBackMismatch');
    expect(words(true)).toBe('False Drifted');
  });
});

describe('onNodeLoss: Replace', () => {
  const replace = (more: Partial<SandboxSpec> = {}, status: SandboxStatus = {}): Sandbox => {
    const object = sandbox({ onNodeLoss: 'Replace', ...more });
    return { ...object, status: { ...object.status, ...status } };
  };
  const gated = (more: Partial<Observation>): Observation =>
    seen({ record: record(), container: container(), session: session(), ...more });

  it('[K6] tells init to end it by itself before any user code begins, and says so in the status that comes before', () => {
    expect(decide(gated({ sandbox: replace() })).act).toEqual({ do: 'fence' });
    const next = decide(gated({ sandbox: replace(), session: session({ fenceSeconds: 40 }) }));
    expect(next.act).toEqual({ do: 'start-main' });
    expect(next.writeFirst).toBe(true);
    expect(next.status?.set).toMatchObject({ fenceSeconds: 40 });
  });

  it('[K6] before setup too', () => {
    const spec = { setup: { command: ['true'] } };
    const own = { sandbox: replace(spec), record: record(spec), session: session() };
    expect(decide(gated(own)).act).toEqual({ do: 'fence' });
    const fenced = decide(gated({ ...own, session: session({ fenceSeconds: 40 }) }));
    expect(fenced.act).toEqual({ do: 'start-setup' });
    expect(fenced.status?.set).toMatchObject({ fenceSeconds: 40 });
  });

  it('[K6] Keep needs no heartbeat', () => {
    expect(decide(gated({})).act).toEqual({ do: 'start-main' });
  });

  it('[K6] one that runs is fenced when the policy changes, and with each new connection', () => {
    const own = {
      record: record({}, { main: launch() }),
      session: session({ main: { state: 'running', exit: undefined } }),
    };
    expect(decide(gated({ ...own, sandbox: replace() })).act).toEqual({ do: 'fence' });
  });

  it('[K6] an older init runs on, and the message says that it is not replaced', () => {
    const main = { state: 'running' as const, exit: undefined };
    const decision = decide(
      gated({
        sandbox: replace(),
        record: record({}, { main: launch() }),
        session: session({ main, canFence: false }),
      }),
    );
    expect(decision.act).toBeUndefined();
    const ready = decision.status?.conditions.find(({ type }) => type === 'Ready');
    expect(ready).toMatchObject({ status: 'True' });
    expect(ready?.message).toContain('when the node is lost it is not replaced');
    expect(decision.status?.set).not.toHaveProperty('fenceSeconds');
  });

  it('[K6] back to Keep: the status is taken back first, then the fence is lifted', () => {
    const main = { state: 'running' as const, exit: undefined };
    const object = sandbox();
    const decision = decide(
      gated({
        sandbox: { ...object, status: { ...object.status, fenceSeconds: 40 } },
        record: record({}, { main: launch(), fence: { seconds: 40 } }),
        session: session({ main, fenceSeconds: 40 }),
      }),
    );
    expect(decision).toMatchObject({ act: { do: 'lift-fence' }, writeFirst: true });
    expect(decision.status?.unset).toEqual(['fenceSeconds']);
  });

  it('[K6] that it has ended itself is written down before anything else, once', () => {
    const own = { sandbox: replace(), session: session({ fenced: true, fenceSeconds: 40 }) };
    const before = record({}, { main: launch(), fence: { seconds: 40 } });
    expect(decide(gated({ ...own, record: before })).act).toEqual({ do: 'note-fence' });
    const after = record({}, { main: launch(), fence: { seconds: 40, fellAt: AT } });
    expect(decide(gated({ ...own, record: after })).act).not.toEqual({ do: 'note-fence' });
  });
});

describe('a node that is being drained', () => {
  const replace = (): Sandbox => sandbox({ onNodeLoss: 'Replace' });
  const running = { state: 'running' as const, exit: undefined };
  const live = (more: Partial<Observation>): Observation =>
    seen({
      draining: true,
      record: record({}, { main: launch() }),
      container: container(),
      session: session({ main: running, fenceSeconds: 40 }),
      ...more,
    });

  it('[K4] gives back what has not begun, with a reason', () => {
    const decision = decide(seen({ draining: true }));
    expect(decision.act).toEqual({ do: 'hand-back' });
    const scheduled = decision.status?.conditions.find(({ type }) => type === 'Scheduled');
    expect(scheduled).toMatchObject({ status: 'False', reason: 'Draining' });
    const atTheGate = decide(
      seen({ draining: true, record: record(), container: container(), session: session() }),
    );
    expect(atTheGate.act).toEqual({ do: 'discard' });
  });

  it('[K4] [K6] ends what may run elsewhere within its grace period, then gives it back with how it ended', () => {
    expect(decide(live({ sandbox: replace() })).act).toEqual({ do: 'stop', reason: 'Drained' });
    const termination = {
      launch: 'Main' as const,
      cause: 'Drained' as const,
      verdict: 'Confirmed' as const,
      message: 'm',
      evidence: [],
      finishedAt: AT,
    };
    const stopped = live({
      sandbox: replace(),
      container: container('exited'),
      session: undefined,
      record: record({}, { main: launch(), outcome: { termination, ended: 'Stopped' } }),
    });
    const decision = decide(stopped);
    expect(decision).toMatchObject({ act: { do: 'discard' }, writeFirst: true });
    expect(decision.status?.set?.lastTermination).toEqual(termination);
    expect(
      decide(live({ sandbox: replace(), container: undefined, session: undefined, record: undefined })).act,
    ).toEqual({
      do: 'hand-back',
    });
  });

  it('[K4] leaves what runs and may not, and what has ended', () => {
    expect(decide(live({ sandbox: sandbox() })).act).not.toMatchObject({ do: 'stop' });
    const termination = {
      launch: 'Main' as const,
      cause: 'Exited' as const,
      verdict: 'Confirmed' as const,
      message: 'm',
      evidence: [],
      finishedAt: AT,
    };
    const done = live({
      sandbox: replace(),
      container: undefined,
      session: undefined,
      record: record({}, { main: launch(), outcome: { termination, ended: 'Succeeded' } }),
    });
    expect(decide(done).act).toBeUndefined();
  });
});

import { describe, expect, it } from 'vitest';
import { FINALIZER } from '../../crds/group.ts';
import type { SandboxSpec, SandboxStatus } from '../../crds/sandbox.ts';
import { condition, docker, limitsAll, sandbox, sandboxNode, view } from '../testing/objects.ts';
import { nodeA, seen } from '../testing/observation.ts';
import { decide } from './decide.ts';
import type { Observation } from './types.ts';

/** A decision as its readers get it. A changed word: `vitest --update`, and read what it wrote. */
function shows(observation: Observation): string {
  const { because, act, node, silentMs, status, event, afterMs } = decide(observation);
  const { conditions = [], ...fields } = status ?? {};
  return [
    `because ${because}`,
    ...conditions.map(({ type, status: is, reason, message, lastTransitionTime, observedGeneration }) =>
      [
        `${type} ${is} ${reason}: ${message}`,
        lastTransitionTime === '2026-01-01T00:00:00Z' ? 'as before' : '',
        `of ${observedGeneration}`,
      ].join(' '),
    ),
    ...(status === undefined ? [] : [JSON.stringify(fields)]),
    ...(act === undefined
      ? []
      : [['do', act, node, silentMs].filter((part) => part !== undefined).join(' ')]),
    ...(event === undefined ? [] : [`event ${event.type} ${event.reason}: ${event.message}`]),
    ...(afterMs === undefined ? [] : [`again in ${afterMs} ms`]),
  ].join('\n');
}

describe('a sandbox that no node has', () => {
  it('is bound', () => {
    expect(shows(seen(sandbox('s', { spec: { command: ['true'] } })))).toMatchInlineSnapshot(`
      "because a node can take it
      Ready False Bound: Given to node a (docker). Its agent has not begun yet.  of 1
      Complete False NotFinished: The command has not begun.  of 1
      LimitUnenforceable False Enforceable: Node a (docker) can enforce every requested limit.  of 1
      Reconciling True Bound: Given to node a (docker). Its agent has not begun yet.  of 1
      Scheduled True Bound: Given to node a (docker).  of 1
      Stalled False AsRequested: Nothing waits for a person.  of 1
      {"observedGeneration":1,"phase":"Pending","nodeName":"a","runtime":"docker"}
      do AddFinalizerAndBind a
      event Normal Scheduled: Given to node a (docker)."
    `);
  });

  it('is bound again after a node declined for its storage', () => {
    expect(
      shows(
        seen(
          sandbox('s', {
            status: { conditions: [condition('StorageReserveLow', 'True', 'ReserveLow', 'a: 900 MiB')] },
          }),
        ),
      ),
    ).toMatchInlineSnapshot(`
      "because a node can take it
      Ready False Bound: Given to node a (docker). Its agent has not begun yet.  of 1
      LimitUnenforceable False Enforceable: Node a (docker) can enforce every requested limit.  of 1
      Reconciling True Bound: Given to node a (docker). Its agent has not begun yet.  of 1
      Scheduled True Bound: Given to node a (docker).  of 1
      Stalled False AsRequested: Nothing waits for a person.  of 1
      StorageReserveLow False Bound: Given to node a (docker). Its agent measures again.  of 1
      {"observedGeneration":1,"phase":"Pending","nodeName":"a","runtime":"docker"}
      do AddFinalizerAndBind a
      event Normal Scheduled: Given to node a (docker)."
    `);
  });

  it('finds no room', () => {
    expect(shows(seen(sandbox('s', { spec: { resources: { memory: '64Gi' } } })))).toMatchInlineSnapshot(`
      "because no node can take it now
      Ready False Unschedulable: The node cannot take it. a (docker): memory 64Gi asked, 8Gi of 8Gi free.  of 1
      LimitUnenforceable False Enforceable: A node can enforce every requested limit.  of 1
      Reconciling True Unschedulable: The node cannot take it. a (docker): memory 64Gi asked, 8Gi of 8Gi free.  of 1
      Scheduled False Unschedulable: The node cannot take it. a (docker): memory 64Gi asked, 8Gi of 8Gi free.  of 1
      Stalled False AsRequested: Nothing waits for a person.  of 1
      {"observedGeneration":1,"phase":"Pending"}
      event Warning FailedScheduling: The node cannot take it. a (docker): memory 64Gi asked, 8Gi of 8Gi free."
    `);
  });

  it('finds no room, as before', () => {
    expect(
      shows(
        seen(
          sandbox('s', {
            spec: { resources: { memory: '64Gi' } },
            status: { conditions: [condition('Scheduled', 'False', 'Unschedulable')] },
          }),
        ),
      ),
    ).toMatchInlineSnapshot(`
      "because no node can take it now
      Ready False Unschedulable: The node cannot take it. a (docker): memory 64Gi asked, 8Gi of 8Gi free.  of 1
      LimitUnenforceable False Enforceable: A node can enforce every requested limit.  of 1
      Reconciling True Unschedulable: The node cannot take it. a (docker): memory 64Gi asked, 8Gi of 8Gi free.  of 1
      Scheduled False Unschedulable: The node cannot take it. a (docker): memory 64Gi asked, 8Gi of 8Gi free. as before of 1
      Stalled False AsRequested: Nothing waits for a person.  of 1
      {"observedGeneration":1,"phase":"Pending"}"
    `);
  });

  it('finds nobody who can enforce its limit', () => {
    expect(
      shows(
        seen(sandbox('s', { spec: { resources: { memory: '1g' } } }), {
          nodes: [
            view(
              sandboxNode('a', {
                runtimes: [
                  docker({
                    limits: limitsAll({ enforced: 'No', reason: 'no controller', fix: 'delegate it' }),
                  }),
                ],
              }),
            ),
          ],
        }),
      ),
    ).toMatchInlineSnapshot(`
      "because no node can enforce its limits
      Ready False MemoryUnenforceable: No node can be relied on to enforce memory. a (docker): memory: no controller. Fix: delegate it.  of 1
      LimitUnenforceable True MemoryUnenforceable: No node can be relied on to enforce memory. a (docker): memory: no controller. Fix: delegate it.  of 1
      Reconciling False MemoryUnenforceable: No node can be relied on to enforce memory. a (docker): memory: no controller. Fix: delegate it.  of 1
      Scheduled False MemoryUnenforceable: No node can be relied on to enforce memory. a (docker): memory: no controller. Fix: delegate it.  of 1
      Stalled True MemoryUnenforceable: No node can be relied on to enforce memory. a (docker): memory: no controller. Fix: delegate it.  of 1
      {"observedGeneration":1,"phase":"Stalled"}
      event Warning FailedScheduling: No node can be relied on to enforce memory. a (docker): memory: no controller. Fix: delegate it."
    `);
  });

  it('finds nobody who can be asked, after an answer', () => {
    expect(
      shows(
        seen(
          sandbox('s', {
            spec: { resources: { memory: '1g' } },
            status: { conditions: [condition('LimitUnenforceable', 'True', 'MemoryUnenforceable')] },
          }),
          { nodes: [view(nodeA, { heartbeat: 'Expired' })] },
        ),
      ),
    ).toMatchInlineSnapshot(`
      "because no node can take it now
      Ready False Unschedulable: The node cannot take it. a: its agent sends no heartbeat.  of 1
      LimitUnenforceable Unknown Unschedulable: No node could be asked.  of 1
      Reconciling True Unschedulable: The node cannot take it. a: its agent sends no heartbeat.  of 1
      Scheduled False Unschedulable: The node cannot take it. a: its agent sends no heartbeat.  of 1
      Stalled False AsRequested: Nothing waits for a person.  of 1
      {"observedGeneration":1,"phase":"Pending"}
      event Warning FailedScheduling: The node cannot take it. a: its agent sends no heartbeat."
    `);
  });

  it('finds no node at all', () => {
    expect(shows(seen(sandbox('s'), { nodes: [] }))).toMatchInlineSnapshot(`
      "because no node can take it now
      Ready False NoNodes: No node agent has registered a SandboxNode.  of 1
      Reconciling True NoNodes: No node agent has registered a SandboxNode.  of 1
      Scheduled False NoNodes: No node agent has registered a SandboxNode.  of 1
      Stalled False AsRequested: Nothing waits for a person.  of 1
      {"observedGeneration":1,"phase":"Pending"}
      event Warning FailedScheduling: No node agent has registered a SandboxNode."
    `);
  });

  it('was declined for its storage', () => {
    expect(
      shows(
        seen(sandbox('s', { status: {} }), {
          nodes: [view(nodeA, { decline: { about: 'Storage', message: '900 MiB of 1024 MiB free' } })],
          declinedForMs: 10_000,
        }),
      ),
    ).toMatchInlineSnapshot(`
      "because no node can take it now
      Ready False Unschedulable: The node cannot take it. a (docker): it declined: 900 MiB of 1024 MiB free.  of 1
      LimitUnenforceable False Enforceable: A node can enforce every requested limit.  of 1
      Reconciling True Unschedulable: The node cannot take it. a (docker): it declined: 900 MiB of 1024 MiB free.  of 1
      Scheduled False Unschedulable: The node cannot take it. a (docker): it declined: 900 MiB of 1024 MiB free.  of 1
      Stalled False AsRequested: Nothing waits for a person.  of 1
      StorageReserveLow True ReserveLow: Free storage on a node, or lower its storage reserve. a: it declined: 900 MiB of 1024 MiB free.  of 1
      {"observedGeneration":1,"phase":"Pending"}
      event Warning FailedScheduling: The node cannot take it. a (docker): it declined: 900 MiB of 1024 MiB free.
      again in 10000 ms"
    `);
  });

  it('was declined for its storage by a node that is away now', () => {
    expect(
      shows(
        seen(
          sandbox('s', {
            status: { conditions: [condition('StorageReserveLow', 'True', 'ReserveLow', 'a: 900 MiB')] },
          }),
          { nodes: [view(nodeA, { heartbeat: 'Missing' })] },
        ),
      ),
    ).toMatchInlineSnapshot(`
      "because no node can take it now
      Ready False Unschedulable: The node cannot take it. a: its agent has sent no heartbeat.  of 1
      Reconciling True Unschedulable: The node cannot take it. a: its agent has sent no heartbeat.  of 1
      Scheduled False Unschedulable: The node cannot take it. a: its agent has sent no heartbeat.  of 1
      Stalled False AsRequested: Nothing waits for a person.  of 1
      StorageReserveLow False AsRequested: No node was passed over for its storage.  of 1
      {"observedGeneration":1,"phase":"Pending"}
      event Warning FailedScheduling: The node cannot take it. a: its agent has sent no heartbeat."
    `);
  });

  it('asks for what is not supported', () => {
    expect(
      shows(
        seen(
          sandbox('s', {
            spec: { init: false },
            status: {
              conditions: [
                condition('LimitUnenforceable', 'True', 'MemoryUnenforceable'),
                condition('StorageReserveLow', 'True', 'ReserveLow'),
              ],
            },
          }),
        ),
      ),
    ).toMatchInlineSnapshot(`
      "because its spec is refused: spec.init
      Ready False NotSupported: spec.init: false is not supported by this version; accepted: true, or leave it out  of 1
      Reconciling False NotSupported: spec.init: false is not supported by this version; accepted: true, or leave it out  of 1
      Scheduled False NotSupported: spec.init: false is not supported by this version; accepted: true, or leave it out  of 1
      Stalled True NotSupported: spec.init: false is not supported by this version; accepted: true, or leave it out  of 1
      {"observedGeneration":1,"phase":"Stalled"}
      event Warning FailedScheduling: spec.init: false is not supported by this version; accepted: true, or leave it out"
    `);
  });

  it('is held back', () => {
    expect(
      shows(
        seen(
          sandbox('s', {
            spec: { suspend: true, command: ['true'] },
            status: {
              conditions: [
                condition('LimitUnenforceable', 'True', 'MemoryUnenforceable'),
                condition('StorageReserveLow', 'True', 'ReserveLow'),
              ],
            },
          }),
        ),
      ),
    ).toMatchInlineSnapshot(`
      "because it is suspended and has not begun
      Ready False SuspendedByUser: spec.suspend is true: the sandbox is held back before it begins.  of 1
      Complete False NotFinished: The command has not begun.  of 1
      Reconciling False AsRequested: Nothing is wrong.  of 1
      Scheduled False SuspendedByUser: spec.suspend is true: the sandbox is held back before it begins.  of 1
      Stalled False AsRequested: Nothing is wrong.  of 1
      Suspended True SuspendedByUser: spec.suspend is true: the sandbox is held back before it begins.  of 1
      {"observedGeneration":1,"phase":"Suspended"}"
    `);
  });

  it('is held back, and has no command', () => {
    expect(shows(seen(sandbox('s', { spec: { suspend: true } })))).toMatchInlineSnapshot(`
      "because it is suspended and has not begun
      Ready False SuspendedByUser: spec.suspend is true: the sandbox is held back before it begins.  of 1
      Reconciling False AsRequested: Nothing is wrong.  of 1
      Scheduled False SuspendedByUser: spec.suspend is true: the sandbox is held back before it begins.  of 1
      Stalled False AsRequested: Nothing is wrong.  of 1
      Suspended True SuspendedByUser: spec.suspend is true: the sandbox is held back before it begins.  of 1
      {"observedGeneration":1,"phase":"Suspended"}"
    `);
  });

  it('was held back', () => {
    expect(
      shows(
        seen(sandbox('s', { status: { conditions: [condition('Suspended', 'True', 'SuspendedByUser')] } })),
      ),
    ).toMatchInlineSnapshot(`
      "because a node can take it
      Ready False Bound: Given to node a (docker). Its agent has not begun yet.  of 1
      LimitUnenforceable False Enforceable: Node a (docker) can enforce every requested limit.  of 1
      Reconciling True Bound: Given to node a (docker). Its agent has not begun yet.  of 1
      Scheduled True Bound: Given to node a (docker).  of 1
      Stalled False AsRequested: Nothing waits for a person.  of 1
      Suspended False Resumed: spec.suspend is false.  of 1
      {"observedGeneration":1,"phase":"Pending","nodeName":"a","runtime":"docker"}
      do AddFinalizerAndBind a
      event Normal Scheduled: Given to node a (docker)."
    `);
  });
});

describe('a sandbox that a node has', () => {
  const status = { nodeName: 'a', conditions: [condition('Ready', 'True', 'Running')] };

  it('is left to it', () => {
    expect(shows(seen(sandbox('s', { status })))).toMatchInlineSnapshot(`"because its node has it"`);
  });

  it('shows that its node is silent', () => {
    expect(shows(seen(sandbox('s', { status }), { heartbeat: 'Expired' }))).toMatchInlineSnapshot(`
      "because its node is lost
      Ready Unknown NodeLost: The agent of node a sends no heartbeat: its lease has expired. What the sandbox does is unknown.  of 1
      {"nodeName":"a","observedGeneration":1,"phase":"Unknown"}
      event Warning NodeLost: The agent of node a sends no heartbeat: its lease has expired."
    `);
  });

  it('shows it once in the events', () => {
    expect(
      shows(
        seen(
          sandbox('s', {
            status: { nodeName: 'a', conditions: [condition('Ready', 'Unknown', 'NodeLost')] },
          }),
          { heartbeat: 'Missing' },
        ),
      ),
    ).toMatchInlineSnapshot(`
      "because its node is lost
      Ready Unknown NodeLost: The agent of node a sends no heartbeat: its lease has expired. What the sandbox does is unknown. as before of 1
      {"nodeName":"a","observedGeneration":1,"phase":"Unknown"}"
    `);
  });

  it('shows that its node was deleted', () => {
    expect(
      shows(seen(sandbox('s', { status }), { node: undefined, heartbeat: 'Released' })),
    ).toMatchInlineSnapshot(`
      "because its node is lost
      Ready Unknown NodeLost: The SandboxNode a was deleted. What the sandbox does is unknown.  of 1
      {"nodeName":"a","observedGeneration":1,"phase":"Unknown"}
      event Warning NodeLost: The SandboxNode a was deleted."
    `);
  });
});

describe('a sandbox that has ended', () => {
  const spec = { ttlSecondsAfterFinished: 600, command: ['true'] };
  const ended = (finishedAt: string): SandboxStatus => ({
    nodeName: 'a',
    finishedAt,
    conditions: [condition('Complete', 'True', 'Succeeded')],
  });

  it('is kept a while', () => {
    expect(shows(seen(sandbox('s', { spec, status: ended('2026-01-01T00:50:01Z') })))).toMatchInlineSnapshot(`
      "because it has ended and is kept
      again in 1000 ms"
    `);
  });

  it('is kept to the millisecond', () => {
    expect(
      shows(seen(sandbox('s', { spec, status: ended('2026-01-01T00:50:00.001Z') }))),
    ).toMatchInlineSnapshot(`
      "because it has ended and is kept
      again in 1 ms"
    `);
  });

  it('is deleted', () => {
    expect(shows(seen(sandbox('s', { spec, status: ended('2026-01-01T00:50:00Z') })))).toMatchInlineSnapshot(`
      "because its time to live after its end is over
      do Delete"
    `);
  });

  it('is looked at within the hour, whatever the clocks say', () => {
    expect(shows(seen(sandbox('s', { spec, status: ended('2036-01-01T00:00:00Z') })))).toMatchInlineSnapshot(`
      "because it has ended and is kept
      again in 3600000 ms"
    `);
  });

  it('is kept where nobody knows when', () => {
    expect(shows(seen(sandbox('s', { spec, status: ended('nonsense') })))).toMatchInlineSnapshot(
      `"because its node has it"`,
    );
  });
});

describe('a sandbox that is being deleted', () => {
  const metadata = { deletionTimestamp: '2026-01-01T00:59:00Z', finalizers: [FINALIZER] };
  const bound = (status: 'True' | 'False'): SandboxStatus => ({
    nodeName: 'a',
    conditions: [condition('ContainerGone', status, 'ContainerPresent')],
  });

  it('and that no node has', () => {
    expect(shows(seen(sandbox('s', { metadata })))).toMatchInlineSnapshot(`
      "because it is being deleted and was given to no node
      do RemoveFinalizer"
    `);
  });

  it('and that others hold', () => {
    expect(
      shows(seen(sandbox('s', { metadata: { ...metadata, finalizers: ['other/one'] } }))),
    ).toMatchInlineSnapshot(`"because it is being deleted, and nothing of ours holds it"`);
  });

  it('and that nobody holds', () => {
    expect(
      shows(seen(sandbox('s', { metadata: { deletionTimestamp: '2026-01-01T00:59:00Z' } }))),
    ).toMatchInlineSnapshot(`"because it is being deleted, and nothing of ours holds it"`);
  });

  it('and whose container may be there', () => {
    expect(shows(seen(sandbox('s', { metadata, status: bound('False') })))).toMatchInlineSnapshot(
      `"because it is being deleted and its container may still be there"`,
    );
  });

  it('and whose container is gone', () => {
    expect(shows(seen(sandbox('s', { metadata, status: bound('True') })))).toMatchInlineSnapshot(`
      "because it is being deleted and its container is gone
      do RemoveFinalizer"
    `);
  });

  it('and whose node is silent', () => {
    expect(
      shows(seen(sandbox('s', { metadata, status: bound('False') }), { heartbeat: 'Expired' })),
    ).toMatchInlineSnapshot(`
      "because it is being deleted and its container may still be there
      Ready Unknown NodeLost: The agent of node a sends no heartbeat: its lease has expired. What the sandbox does is unknown. The deletion waits for the node to come back, or for the SandboxNode a to be deleted.  of 1
      ContainerGone False ContainerPresent:  as before of undefined
      {"nodeName":"a","observedGeneration":1,"phase":"Unknown"}
      event Warning NodeLost: The agent of node a sends no heartbeat: its lease has expired."
    `);
  });

  it('and whose node was deleted and is silent', () => {
    expect(
      shows(
        seen(sandbox('s', { metadata, status: bound('False') }), { node: undefined, heartbeat: 'Expired' }),
      ),
    ).toMatchInlineSnapshot(`
      "because it is being deleted, and its node was deleted and is silent
      do RemoveFinalizer"
    `);
  });

  it('and whose node was deleted and is heard', () => {
    expect(
      shows(
        seen(sandbox('s', { metadata, status: bound('False') }), { node: undefined, heartbeat: 'Alive' }),
      ),
    ).toMatchInlineSnapshot(`"because it is being deleted and its container may still be there"`);
  });
});

describe('onNodeLoss: Replace', () => {
  const running: SandboxStatus = {
    nodeName: 'a',
    runtime: 'docker',
    containerID: 'c1',
    fenceSeconds: 40,
    startedAt: '2026-01-01T00:00:00Z',
    limits: { summary: '64Mi' },
    conditions: [
      condition('Ready', 'True', 'Running'),
      condition('LimitsEnforced', 'True', 'ReadBack'),
      condition('SetupComplete', 'True', 'SetupSucceeded'),
      condition('OOMKilled', 'True', 'Confirmed'),
      condition('ContainerGone', 'False', 'ContainerPresent'),
    ],
  };
  const begun = { nodeName: 'a', conditions: [] };
  const lost = (status: SandboxStatus, silentMs: number, more: Partial<SandboxSpec> = {}) =>
    seen(sandbox('s', { spec: { onNodeLoss: 'Replace', ...more }, status }), {
      heartbeat: 'Expired',
      silentMs,
    });

  it('[K6] is taken back', () => {
    expect(shows(lost(running, 80_000))).toMatchInlineSnapshot(`
      "because it has ended itself on its lost node
      Ready False NodeLost: Node a is lost: no renewal of its lease was seen for 80 s. The sandbox is placed anew.  of 1
      LimitsEnforced False NotLaunched: Nothing has been launched anew yet.  of 1
      OOMKilled False NotLaunched: Nothing has been launched anew yet.  of 1
      Reconciling True NodeLost: Node a is lost: no renewal of its lease was seen for 80 s. The sandbox is placed anew.  of 1
      Scheduled False NodeLost: Node a is lost: no renewal of its lease was seen for 80 s. The sandbox is placed anew.  of 1
      SetupComplete False NotLaunched: Nothing has been launched anew yet.  of 1
      Stalled False AsRequested: Nothing waits for a person.  of 1
      {"observedGeneration":1,"phase":"Pending","lastTermination":{"launch":"Main","cause":"NodeLost","verdict":"Confirmed","message":"The sandbox ended itself: node lost: no heartbeat of its agent, backed by a renewed lease, had come for 40 s.","evidence":["Node a is lost: no renewal of its lease was seen for 80 s. A fresh look at the lease showed the same.","The agent had told init to end the sandbox 40 s after the last heartbeat (status.fenceSeconds)."],"containerID":"c1","startedAt":"2026-01-01T00:00:00Z","finishedAt":"2026-01-01T01:00:00.000Z","observedGeneration":1}}
      do TakeBack 80000
      event Warning Replaced: Node a is lost: no renewal of its lease was seen for 80 s. The sandbox is placed anew."
    `);
  });

  it('[K6] is taken back from its setup', () => {
    expect(
      shows(lost({ ...running, conditions: [condition('SetupComplete', 'False', 'SettingUp')] }, 80_000)),
    ).toMatchInlineSnapshot(`
      "because it has ended itself on its lost node
      Ready False NodeLost: Node a is lost: no renewal of its lease was seen for 80 s. The sandbox is placed anew.  of 1
      Reconciling True NodeLost: Node a is lost: no renewal of its lease was seen for 80 s. The sandbox is placed anew.  of 1
      Scheduled False NodeLost: Node a is lost: no renewal of its lease was seen for 80 s. The sandbox is placed anew.  of 1
      SetupComplete False NotLaunched: Nothing has been launched anew yet. as before of 1
      Stalled False AsRequested: Nothing waits for a person.  of 1
      {"observedGeneration":1,"phase":"Pending","lastTermination":{"launch":"Setup","cause":"NodeLost","verdict":"Confirmed","message":"The sandbox ended itself: node lost: no heartbeat of its agent, backed by a renewed lease, had come for 40 s.","evidence":["Node a is lost: no renewal of its lease was seen for 80 s. A fresh look at the lease showed the same.","The agent had told init to end the sandbox 40 s after the last heartbeat (status.fenceSeconds)."],"containerID":"c1","startedAt":"2026-01-01T00:00:00Z","finishedAt":"2026-01-01T01:00:00.000Z","observedGeneration":1}}
      do TakeBack 80000
      event Warning Replaced: Node a is lost: no renewal of its lease was seen for 80 s. The sandbox is placed anew."
    `);
  });

  it('[K6] is not taken back a millisecond before', () => {
    expect(shows(lost(running, 79_999))).toMatchInlineSnapshot(`
      "because its node is lost, and it has perhaps not ended itself yet
      Ready Unknown NodeLost: The agent of node a sends no heartbeat: its lease has expired. What the sandbox does is unknown. It ends itself 40 s after the last heartbeat, and is placed anew 80 s after it.  of 1
      ContainerGone False ContainerPresent:  as before of undefined
      LimitsEnforced True ReadBack:  as before of undefined
      OOMKilled True Confirmed:  as before of undefined
      SetupComplete True SetupSucceeded:  as before of undefined
      {"nodeName":"a","runtime":"docker","containerID":"c1","fenceSeconds":40,"startedAt":"2026-01-01T00:00:00Z","limits":{"summary":"64Mi"},"observedGeneration":1,"phase":"Unknown"}
      event Warning NodeLost: The agent of node a sends no heartbeat: its lease has expired.
      again in 1 ms"
    `);
  });

  it('[K6] is taken back before it began', () => {
    expect(shows(lost(begun, 80_000))).toMatchInlineSnapshot(`
      "because it has ended itself on its lost node
      Ready False NodeLost: Node a is lost: no renewal of its lease was seen for 80 s. The sandbox is placed anew.  of 1
      Reconciling True NodeLost: Node a is lost: no renewal of its lease was seen for 80 s. The sandbox is placed anew.  of 1
      Scheduled False NodeLost: Node a is lost: no renewal of its lease was seen for 80 s. The sandbox is placed anew.  of 1
      Stalled False AsRequested: Nothing waits for a person.  of 1
      {"observedGeneration":1,"phase":"Pending"}
      do TakeBack 80000
      event Warning Replaced: Node a is lost: no renewal of its lease was seen for 80 s. The sandbox is placed anew."
    `);
  });

  it('[K6] is not taken back yet, and has not begun', () => {
    expect(shows(lost(begun, 1000))).toMatchInlineSnapshot(`
      "because its node is lost, and it has perhaps not ended itself yet
      Ready Unknown NodeLost: The agent of node a sends no heartbeat: its lease has expired. What the sandbox does is unknown. It has not begun, and is placed anew 80 s after the last heartbeat.  of 1
      {"nodeName":"a","observedGeneration":1,"phase":"Unknown"}
      event Warning NodeLost: The agent of node a sends no heartbeat: its lease has expired.
      again in 79000 ms"
    `);
  });

  it('[K6] may have begun: it was said that its limits hold', () => {
    expect(
      shows(lost({ ...begun, conditions: [condition('LimitsEnforced', 'True', 'ReadBack')] }, 1e9)),
    ).toMatchInlineSnapshot(`
      "because its node is lost, and it may still run there
      Ready Unknown NodeLost: The agent of node a sends no heartbeat: its lease has expired. What the sandbox does is unknown. It is not placed anew: its init was not told to end it by itself, or is of a version that cannot.  of 1
      LimitsEnforced True ReadBack:  as before of undefined
      {"nodeName":"a","observedGeneration":1,"phase":"Unknown"}
      event Warning NodeLost: The agent of node a sends no heartbeat: its lease has expired."
    `);
  });

  it('[K6] may have begun: its limits are known', () => {
    expect(shows(lost({ ...begun, limits: {} }, 1e9))).toMatchInlineSnapshot(`
      "because its node is lost, and it may still run there
      Ready Unknown NodeLost: The agent of node a sends no heartbeat: its lease has expired. What the sandbox does is unknown. It is not placed anew: its init was not told to end it by itself, or is of a version that cannot.  of 1
      {"nodeName":"a","limits":{},"observedGeneration":1,"phase":"Unknown"}
      event Warning NodeLost: The agent of node a sends no heartbeat: its lease has expired."
    `);
  });

  it('[K6] may have begun: it was started', () => {
    expect(shows(lost({ ...begun, startedAt: '2026-01-01T00:00:00Z' }, 1e9))).toMatchInlineSnapshot(`
      "because its node is lost, and it may still run there
      Ready Unknown NodeLost: The agent of node a sends no heartbeat: its lease has expired. What the sandbox does is unknown. It is not placed anew: its init was not told to end it by itself, or is of a version that cannot.  of 1
      {"nodeName":"a","startedAt":"2026-01-01T00:00:00Z","observedGeneration":1,"phase":"Unknown"}
      event Warning NodeLost: The agent of node a sends no heartbeat: its lease has expired."
    `);
  });

  it('[K6] keeps its end', () => {
    expect(
      shows(lost({ ...running, conditions: [condition('Complete', 'True', 'Failed')] }, 1e9)),
    ).toMatchInlineSnapshot(`"because its node has it"`);
  });

  it('[K6] waits for a person', () => {
    expect(
      shows(lost({ ...running, conditions: [condition('Stalled', 'True', 'OOMKilled')] }, 1e9)),
    ).toMatchInlineSnapshot(`
      "because its node is lost
      Ready Unknown NodeLost: The agent of node a sends no heartbeat: its lease has expired. What the sandbox does is unknown.  of 1
      Stalled True OOMKilled:  as before of undefined
      {"nodeName":"a","runtime":"docker","containerID":"c1","fenceSeconds":40,"startedAt":"2026-01-01T00:00:00Z","limits":{"summary":"64Mi"},"observedGeneration":1,"phase":"Unknown"}
      event Warning NodeLost: The agent of node a sends no heartbeat: its lease has expired."
    `);
  });

  it('[K6] is suspended', () => {
    expect(shows(lost(running, 1e9, { suspend: true }))).toMatchInlineSnapshot(`
      "because its node is lost
      Ready Unknown NodeLost: The agent of node a sends no heartbeat: its lease has expired. What the sandbox does is unknown.  of 1
      ContainerGone False ContainerPresent:  as before of undefined
      LimitsEnforced True ReadBack:  as before of undefined
      OOMKilled True Confirmed:  as before of undefined
      SetupComplete True SetupSucceeded:  as before of undefined
      {"nodeName":"a","runtime":"docker","containerID":"c1","fenceSeconds":40,"startedAt":"2026-01-01T00:00:00Z","limits":{"summary":"64Mi"},"observedGeneration":1,"phase":"Unknown"}
      event Warning NodeLost: The agent of node a sends no heartbeat: its lease has expired."
    `);
  });

  it('[K6] stays with Keep', () => {
    expect(shows(lost(running, 1e9, { onNodeLoss: 'Keep' }))).toMatchInlineSnapshot(`
      "because its node is lost
      Ready Unknown NodeLost: The agent of node a sends no heartbeat: its lease has expired. What the sandbox does is unknown.  of 1
      ContainerGone False ContainerPresent:  as before of undefined
      LimitsEnforced True ReadBack:  as before of undefined
      OOMKilled True Confirmed:  as before of undefined
      SetupComplete True SetupSucceeded:  as before of undefined
      {"nodeName":"a","runtime":"docker","containerID":"c1","fenceSeconds":40,"startedAt":"2026-01-01T00:00:00Z","limits":{"summary":"64Mi"},"observedGeneration":1,"phase":"Unknown"}
      event Warning NodeLost: The agent of node a sends no heartbeat: its lease has expired."
    `);
  });
});

import { describe, expect, it } from 'vitest';
import { FINALIZER } from '../../crds/group.ts';
import type { Condition } from '../../crds/meta.ts';
import type { Sandbox, SandboxSpec, SandboxStatus } from '../../crds/sandbox.ts';
import type { Heartbeat } from '../placement/types.ts';
import { condition, docker, limitsAll, sandbox, sandboxNode, view } from '../testing/objects.ts';
import { NOW, nodeA, seen } from '../testing/observation.ts';
import { decide } from './decide.ts';
import type { Decision } from './types.ts';

function said(
  decision: Decision,
  type: string,
): Pick<Condition, 'status' | 'reason' | 'message'> | undefined {
  return decision.status?.conditions?.find((one) => one.type === type);
}

describe('a sandbox that no node has', () => {
  it('[K3] [K4] is bound: node, runtime and Scheduled in one status', () => {
    const decision = decide(seen(sandbox('s')));
    expect(decision).toMatchObject({
      act: 'AddFinalizerAndBind',
      node: 'a',
      status: { nodeName: 'a', runtime: 'docker', observedGeneration: 1, phase: 'Pending' },
      event: { type: 'Normal', reason: 'Scheduled' },
    });
    expect(said(decision, 'Scheduled')).toMatchObject({ status: 'True', reason: 'Bound' });
    expect(said(decision, 'Ready')).toMatchObject({ status: 'False', reason: 'Bound' });
    expect(said(decision, 'Reconciling')).toMatchObject({ status: 'True' });
    expect(said(decision, 'LimitUnenforceable')).toMatchObject({ status: 'False', reason: 'Enforceable' });
    expect(said(decision, 'Complete')).toBeUndefined();
  });

  it('[K10] has Complete=False from the start when it runs to completion', () => {
    const decision = decide(seen(sandbox('s', { spec: { command: ['true'] } })));
    expect(said(decision, 'Complete')).toMatchObject({ status: 'False', reason: 'NotFinished' });
  });

  it('[K4] waits, and says why, where no node can take it now', () => {
    const decision = decide(seen(sandbox('s', { spec: { resources: { memory: '64Gi' } } })));
    expect(decision.act).toBeUndefined();
    expect(decision.status).toMatchObject({ phase: 'Pending' });
    expect(decision.status?.nodeName).toBeUndefined();
    expect(said(decision, 'Scheduled')).toMatchObject({ status: 'False', reason: 'Unschedulable' });
    expect(said(decision, 'Stalled')).toMatchObject({ status: 'False' });
    expect(said(decision, 'LimitUnenforceable')).toMatchObject({ status: 'False', reason: 'Enforceable' });
    expect(decision.event).toMatchObject({ type: 'Warning', reason: 'FailedScheduling' });
  });

  it('[K5] has nothing new to say the second time, not even an event', () => {
    const spec = { resources: { memory: '64Gi' } };
    const first = decide(seen(sandbox('s', { spec })));
    const again = decide({
      ...seen(sandbox('s', { spec, ...(first.status && { status: first.status }) })),
      now: new Date(NOW.getTime() + 1e6),
    });
    expect(again.status).toEqual(first.status);
    expect(again.event).toBeUndefined();
  });

  it('[L9] stops where no node can enforce its limits', () => {
    const unable = sandboxNode('a', {
      runtimes: [
        docker({ limits: limitsAll({ enforced: 'No', reason: 'no controller', fix: 'delegate it' }) }),
      ],
    });
    const decision = decide(
      seen(sandbox('s', { spec: { resources: { memory: '1g' } } }), { nodes: [view(unable)] }),
    );
    expect(decision.status?.phase).toBe('Stalled');
    for (const type of ['LimitUnenforceable', 'Stalled']) {
      expect(said(decision, type)).toMatchObject({ status: 'True', reason: 'MemoryUnenforceable' });
      expect(said(decision, type)?.message).toMatch(
        /a \(docker\): memory: no controller\. Fix: delegate it\./,
      );
    }
    expect(said(decision, 'Ready')).toMatchObject({ status: 'False' });
  });

  it('[L9] starts by itself when a node becomes able, and takes its words back', () => {
    const conditions = [
      condition('LimitUnenforceable', 'True', 'MemoryUnenforceable'),
      condition('Stalled', 'True', 'MemoryUnenforceable'),
    ];
    const decision = decide(
      seen(sandbox('s', { spec: { resources: { memory: '1g' } }, status: { conditions } })),
    );
    expect(decision.act).toBe('AddFinalizerAndBind');
    expect(said(decision, 'LimitUnenforceable')).toMatchObject({ status: 'False' });
    expect(said(decision, 'Stalled')).toMatchObject({ status: 'False' });
  });

  it('[L9] what was said of limits is open again where no node can be asked', () => {
    const status = { conditions: [condition('LimitUnenforceable', 'True', 'MemoryUnenforceable')] };
    const object = sandbox('s', { spec: { resources: { memory: '1g' } }, status });
    const decision = decide(seen(object, { nodes: [view(nodeA, { heartbeat: 'Expired' })] }));
    expect(said(decision, 'LimitUnenforceable')).toMatchObject({
      status: 'Unknown',
      reason: 'Unschedulable',
    });
    expect(said(decide(seen(sandbox('s'), { nodes: [] })), 'LimitUnenforceable')).toBeUndefined();
  });

  it('[S2] [S3] waits for a node that declined for its storage, and asks it again later', () => {
    const decline = { about: 'Storage', message: '900 MiB of 1024 MiB free' } as const;
    const status = { conditions: [condition('StorageReserveLow', 'True', 'ReserveLow', 'a: 900 MiB')] };
    const decision = decide(
      seen(sandbox('s', { status }), { nodes: [view(nodeA, { decline })], declinedForMs: 10_000 }),
    );
    expect(decision.afterMs).toBe(10_000);
    expect(said(decision, 'StorageReserveLow')).toMatchObject({
      status: 'True',
      message: expect.stringMatching(/Free storage.*900 MiB of 1024 MiB free/),
    });
    const bound = decide(seen(sandbox('s', { status })));
    expect(said(bound, 'StorageReserveLow')).toMatchObject({ status: 'False', reason: 'Bound' });
    const elsewhere = decide(
      seen(sandbox('s', { status }), { nodes: [view(nodeA, { heartbeat: 'Missing' })] }),
    );
    expect(said(elsewhere, 'StorageReserveLow')).toMatchObject({ status: 'False', reason: 'AsRequested' });
  });

  it.each([
    [
      '[K9] a network list',
      { network: { runtime: { allow: ['*'] } } },
      'NetworkUnsupported',
      'spec.network.runtime.allow',
    ],
    [
      'a secret',
      { env: [{ name: 'A', valueFrom: { secretKeyRef: { name: 's', key: 'k' } } }] },
      'NotSupported',
      'spec.env[0]',
    ],
    ['[L3] an unknown limit', { resources: { gpu: 1 } }, 'InvalidSpec', 'spec.resources'],
  ])('%s stops it before any node is asked', (_, spec, reason, field) => {
    const status = { conditions: [condition('LimitUnenforceable', 'True', 'MemoryUnenforceable')] };
    const decision = decide(seen(sandbox('s', { spec, status })));
    expect(decision.act).toBeUndefined();
    expect(said(decision, 'Stalled')).toMatchObject({ status: 'True', reason });
    expect(said(decision, 'Stalled')?.message).toContain(field);
    expect(said(decision, 'LimitUnenforceable')).toBeUndefined();
    expect(decision.event).toMatchObject({ type: 'Warning' });
  });

  it('[K10] is held back while it is suspended, and placed when it is resumed', () => {
    const decision = decide(seen(sandbox('s', { spec: { suspend: true, command: ['true'] } })));
    expect(decision.act).toBeUndefined();
    expect(decision.status?.phase).toBe('Suspended');
    expect(said(decision, 'Suspended')).toMatchObject({ status: 'True', reason: 'SuspendedByUser' });
    expect(said(decision, 'Complete')).toMatchObject({ status: 'False' });
    const resumed = decide(
      seen(
        sandbox('s', { spec: { command: ['true'] }, ...(decision.status && { status: decision.status }) }),
      ),
    );
    expect(resumed.act).toBe('AddFinalizerAndBind');
    expect(said(resumed, 'Suspended')).toMatchObject({ status: 'False', reason: 'Resumed' });
  });
});

describe('a sandbox that a node has', () => {
  const status = { nodeName: 'a', conditions: [condition('Ready', 'True', 'Running')] };

  it('[K3] is its agent alone to speak of', () => {
    expect(decide(seen(sandbox('s', { status })))).toEqual({ because: 'its node has it' });
    expect(decide(seen(sandbox('s', { status }), { heartbeat: 'Unproven' })).status).toBeUndefined();
    expect(decide(seen(sandbox('s', { status }), { heartbeat: 'Released' })).status).toBeUndefined();
  });

  it('[K3] stays so whatever its spec becomes', () => {
    const spec = { network: { runtime: { allow: ['*'] } }, suspend: true };
    expect(decide(seen(sandbox('s', { spec, status }))).status).toBeUndefined();
  });

  it.each(['Expired', 'Missing'] as const)(
    '[K6] is Ready=Unknown when the lease is %s, and nothing else changes',
    (heartbeat) => {
      const decision = decide(seen(sandbox('s', { status }), { heartbeat }));
      expect(decision.act).toBeUndefined();
      expect(said(decision, 'Ready')).toMatchObject({ status: 'Unknown', reason: 'NodeLost' });
      expect(decision.status).toMatchObject({ nodeName: 'a', phase: 'Unknown' });
      expect(decision.status?.conditions).toHaveLength(1);
      expect(decision.event).toMatchObject({ type: 'Warning', reason: 'NodeLost' });
      const again = decide(
        seen(sandbox('s', { ...(decision.status && { status: decision.status }) }), { heartbeat }),
      );
      expect(again.status).toEqual(decision.status);
      expect(again.event).toBeUndefined();
    },
  );

  it.each(['Released', 'Expired', 'Missing'] as const)(
    '[K6] is Ready=Unknown when its SandboxNode was deleted and its lease is %s',
    (heartbeat) => {
      const decision = decide(seen(sandbox('s', { status }), { node: undefined, heartbeat }));
      expect(said(decision, 'Ready')?.message).toContain('The SandboxNode a was deleted.');
    },
  );

  it.each(['Alive', 'Unproven'] as const)(
    '[K3] [K6] stays its agent alone to speak of when its SandboxNode was deleted and its lease is %s',
    (heartbeat) => {
      const decision = decide(seen(sandbox('s', { status }), { node: undefined, heartbeat }));
      expect(decision).toEqual({ because: 'its node has it' });
    },
  );

  it('[K6] keeps its end when the node is lost afterwards', () => {
    const ended = { nodeName: 'a', conditions: [condition('Complete', 'True', 'Succeeded')] };
    expect(decide(seen(sandbox('s', { status: ended }), { heartbeat: 'Expired' })).status).toBeUndefined();
  });
});

describe('a sandbox that has ended', () => {
  const ended = (finishedAt: string | undefined): Sandbox['status'] => ({
    nodeName: 'a',
    ...(finishedAt !== undefined && { finishedAt }),
    conditions: [condition('Complete', 'True', 'Failed')],
  });
  const ttl = { ttlSecondsAfterFinished: 600, command: ['true'] };

  it('[K10] is deleted when its time to live is over, and looked at again then', () => {
    const status = ended('2026-01-01T00:50:00Z');
    expect(decide(seen(sandbox('s', { spec: ttl, ...(status && { status }) }))).act).toBe('Delete');
    const younger = ended('2026-01-01T00:50:01Z');
    expect(decide(seen(sandbox('s', { spec: ttl, ...(younger && { status: younger }) })))).toMatchObject({
      afterMs: 1000,
    });
    const future = ended('2036-01-01T00:00:00Z');
    expect(decide(seen(sandbox('s', { spec: ttl, ...(future && { status: future }) })))).toMatchObject({
      afterMs: 3_600_000,
    });
  });

  it('[K10] is kept without a time to live, without an end, and while it has not ended', () => {
    const status = ended('2020-01-01T00:00:00Z');
    const unknown = ended(undefined);
    expect(decide(seen(sandbox('s', { ...(status && { status }) }))).act).toBeUndefined();
    expect(
      decide(seen(sandbox('s', { spec: ttl, ...(unknown && { status: unknown }) }))).act,
    ).toBeUndefined();
    const running = {
      nodeName: 'a',
      finishedAt: '2020-01-01T00:00:00Z',
      conditions: [condition('Complete', 'False', 'NotFinished')],
    };
    expect(decide(seen(sandbox('s', { spec: ttl, status: running }))).act).toBeUndefined();
  });
});

describe('a sandbox that is being deleted', () => {
  const metadata = { deletionTimestamp: '2026-01-01T00:59:00Z', finalizers: [FINALIZER, 'other/one'] };
  const bound = { nodeName: 'a', conditions: [condition('ContainerGone', 'False', 'ContainerPresent')] };

  it('[K3] is let go at once when no node has it, whatever its spec', () => {
    expect(decide(seen(sandbox('s', { metadata, spec: { resources: { cpu: 'no' } } }))).act).toBe(
      'RemoveFinalizer',
    );
  });

  it('[K3] waits for the agent to say that the container is gone', () => {
    const waits = decide(seen(sandbox('s', { metadata, status: bound })));
    expect(waits).toMatchObject({ because: 'it is being deleted and its container may still be there' });
    expect(waits.act).toBeUndefined();
    expect(waits.status).toBeUndefined();
    const gone = { nodeName: 'a', conditions: [condition('ContainerGone', 'True', 'ContainerRemoved')] };
    expect(decide(seen(sandbox('s', { metadata, status: gone }))).act).toBe('RemoveFinalizer');
  });

  it('[K6] on a lost node it waits, and says for what', () => {
    const decision = decide(seen(sandbox('s', { metadata, status: bound }), { heartbeat: 'Expired' }));
    expect(decision.act).toBeUndefined();
    expect(said(decision, 'Ready')?.message).toMatch(
      /waits for the node to come back, or for the SandboxNode a to be deleted/,
    );
  });

  it.each(['Released', 'Expired', 'Missing'] as const)(
    '[K6] ends when the SandboxNode is deleted and its lease is %s',
    (heartbeat) => {
      const decision = decide(
        seen(sandbox('s', { metadata, status: bound }), { node: undefined, heartbeat }),
      );
      expect(decision.act).toBe('RemoveFinalizer');
    },
  );

  it.each(['Alive', 'Unproven'] as const)(
    '[K3] [K6] waits for an agent that is %s though its SandboxNode was deleted, and says nothing in its place',
    (heartbeat) => {
      const decision = decide(
        seen(sandbox('s', { metadata, status: bound }), { node: undefined, heartbeat }),
      );
      expect(decision.act).toBeUndefined();
      expect(decision.status).toBeUndefined();
    },
  );

  it('is left alone when what holds it is not ours', () => {
    const decision = decide(seen(sandbox('s', { metadata: { ...metadata, finalizers: ['other/one'] } })));
    expect(decision.act).toBeUndefined();
    expect(decision.status).toBeUndefined();
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
      condition('Scheduled', 'True', 'Bound'),
      condition('Ready', 'True', 'Running'),
      condition('LimitsEnforced', 'True', 'ReadBack'),
    ],
  };
  const lost = (
    change: {
      status?: Partial<SandboxStatus>;
      spec?: Partial<SandboxSpec>;
      silentMs?: number;
      heartbeat?: Heartbeat;
    } = {},
  ): Decision =>
    decide(
      seen(
        sandbox('s', {
          spec: { onNodeLoss: 'Replace', ...change.spec },
          status: { ...running, ...change.status },
        }),
        { heartbeat: change.heartbeat ?? 'Expired', silentMs: change.silentMs ?? 80_000 },
      ),
    );

  it('[K6] is taken back after twice the time of its fence, with the cause of its end, and nothing of the old place', () => {
    const decision = lost();
    expect(decision).toMatchObject({ act: 'TakeBack', silentMs: 80_000, event: { reason: 'Replaced' } });
    expect(decision.status).toMatchObject({
      phase: 'Pending',
      lastTermination: { cause: 'NodeLost', verdict: 'Confirmed', launch: 'Main', containerID: 'c1' },
    });
    expect(decision.status?.lastTermination?.message).toContain('ended itself: node lost');
    for (const field of ['nodeName', 'runtime', 'containerID', 'fenceSeconds', 'startedAt', 'limits'])
      expect(decision.status).not.toHaveProperty(field);
    expect(said(decision, 'Scheduled')).toMatchObject({ status: 'False', reason: 'NodeLost' });
    expect(said(decision, 'Ready')).toMatchObject({ status: 'False', reason: 'NodeLost' });
    expect(said(decision, 'LimitsEnforced')).toMatchObject({ status: 'False', reason: 'NotLaunched' });
    const { status } = decision;
    const next = decide(seen(sandbox('s', { spec: { onNodeLoss: 'Replace' }, ...(status && { status }) })));
    expect(next.act).toBe('AddFinalizerAndBind');
  });

  it('[K6] never before: it shows as lost, says what comes, and is looked at again then', () => {
    const decision = lost({ silentMs: 79_000 });
    expect(decision.act).toBeUndefined();
    expect(decision.afterMs).toBe(1000);
    expect(said(decision, 'Ready')).toMatchObject({ status: 'Unknown', reason: 'NodeLost' });
    expect(said(decision, 'Ready')?.message).toContain(
      'ends itself 40 s after the last heartbeat, and is placed anew 80 s after it',
    );
    expect(decision.status?.nodeName).toBe('a');
  });

  it('[K6] is not taken from a node that is heard, or that has given its lease back only just now', () => {
    for (const heartbeat of ['Alive', 'Unproven', 'Released'] as const)
      expect(lost({ heartbeat }).act).toBeUndefined();
  });

  it.each<[string, Partial<SandboxStatus>, Partial<SandboxSpec>]>([
    ['the policy is Keep', {}, { onNodeLoss: 'Keep' }],
    ['it has ended', { conditions: [condition('Complete', 'True', 'Succeeded')] }, { command: ['true'] }],
    ['it waits for a person', { conditions: [condition('Stalled', 'True', 'OOMKilled')] }, {}],
    ['it is suspended', {}, { suspend: true }],
  ])('[K6] stays where it is where %s', (_, status, spec) => {
    expect(lost({ status, spec, silentMs: 1e9 })).not.toHaveProperty('act');
  });

  it('[K6] stays where it is where its init was not told to end it, and says so', () => {
    const { fenceSeconds: _, ...unfenced } = running;
    const decision = decide(
      seen(sandbox('s', { spec: { onNodeLoss: 'Replace' }, status: unfenced }), {
        heartbeat: 'Expired',
        silentMs: 1e9,
      }),
    );
    expect(decision.act).toBeUndefined();
    expect(said(decision, 'Ready')?.message).toContain('It is not placed anew: its init was not told');
  });

  it('[K6] what has not begun needs no fence, and has no termination', () => {
    const status: SandboxStatus = { nodeName: 'a', conditions: [condition('Scheduled', 'True', 'Bound')] };
    const at = (silentMs: number): Decision =>
      decide(
        seen(sandbox('s', { spec: { onNodeLoss: 'Replace' }, status }), { heartbeat: 'Missing', silentMs }),
      );
    expect(at(79_999).act).toBeUndefined();
    expect(at(80_000).act).toBe('TakeBack');
    expect(at(80_000).status).not.toHaveProperty('lastTermination');
  });

  it('[K6] one that is being deleted is not placed anew', () => {
    const object = sandbox('s', {
      spec: { onNodeLoss: 'Replace' },
      status: running,
      metadata: { deletionTimestamp: '2026-01-01T00:00:00Z', finalizers: [FINALIZER] },
    });
    expect(decide(seen(object, { heartbeat: 'Expired', silentMs: 1e9 })).act).toBeUndefined();
  });
});

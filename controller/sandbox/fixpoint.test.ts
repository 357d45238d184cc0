import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { FINALIZER } from '../../crds/group.ts';
import { conditionTypes, reasons } from '../../crds/conditions.ts';
import type { SandboxSpec, SandboxStatus } from '../../crds/sandbox.ts';
import { condition, docker, limitsAll, sandbox, sandboxNode, view } from '../testing/objects.ts';
import { decide } from './decide.ts';
import type { Observation } from './types.ts';

const capability = fc.constantFrom(
  { enforced: 'Yes', reason: 'y' } as const,
  { enforced: 'No', reason: 'n', fix: 'f' } as const,
  { enforced: 'Unknown', reason: 'u' } as const,
);

const nodeView = fc
  .record({
    name: fc.constantFrom('a', 'b', 'c'),
    heartbeat: fc.constantFrom('Alive', 'Unproven', 'Released', 'Expired', 'Missing' as const),
    silentMs: fc.constantFrom(0, 79_999),
    ready: fc.boolean(),
    memory: capability,
    unschedulable: fc.boolean(),
    low: fc.constantFrom('True', 'False', 'Unknown' as const),
    used: fc.integer({ min: 0, max: 12 }),
    decline: fc.constantFrom(undefined, 'Limits', 'Storage', 'Other' as const),
  })
  .map((from) =>
    view(
      sandboxNode(from.name, {
        runtimes: [docker({ ready: from.ready, limits: { ...limitsAll(), memory: from.memory } })],
        spec: { unschedulable: from.unschedulable, maxSandboxes: 10 },
        conditions: [condition('StorageReserveLow', from.low, 'ReserveLow', 'low')],
      }),
      {
        heartbeat: from.heartbeat,
        load: { sandboxes: from.used, cpuMillis: 0, memoryBytes: from.used * 2 ** 30 },
        decline: from.decline && { about: from.decline, message: 'declined' },
      },
    ),
  );

const spec: fc.Arbitrary<Partial<SandboxSpec>> = fc.record(
  {
    resources: fc.constantFrom<Record<string, string | number>>(
      {},
      { memory: '1g' },
      { memory: '64Gi', cpu: 1 },
      { memory: 'no' },
    ),
    suspend: fc.boolean(),
    command: fc.constantFrom<string[]>(['true'], []),
    ttlSecondsAfterFinished: fc.constantFrom(0, 60),
    network: fc.constantFrom<NonNullable<SandboxSpec['network']>>({}, { runtime: { allow: ['*'] } }),
  },
  { requiredKeys: [] },
);

const conditions = fc.uniqueArray(
  fc.record({
    type: fc.constantFrom(
      'Ready',
      'Scheduled',
      'Suspended',
      'Complete',
      'LimitUnenforceable',
      'StorageReserveLow',
      'ContainerGone',
      'Stalled',
    ),
    status: fc.constantFrom('True', 'False', 'Unknown' as const),
    reason: fc.constantFrom('NodeLost', 'Running', 'Unschedulable'),
  }),
  { selector: ({ type }) => type },
);

const observation: fc.Arbitrary<Observation> = fc
  .record({
    nodes: fc.uniqueArray(nodeView, { maxLength: 3, selector: ({ node }) => node.metadata.name }),
    spec,
    conditions,
    bound: fc.boolean(),
    homeGone: fc.boolean(),
    deleting: fc.boolean(),
    finalizers: fc.constantFrom<string[]>([], [FINALIZER]),
    finishedAt: fc.constantFrom(undefined, '2026-01-01T00:00:00Z', 'nonsense'),
    heartbeat: fc.constantFrom('Alive', 'Unproven', 'Released', 'Expired', 'Missing' as const),
    silentMs: fc.constantFrom(0, 79_999),
  })
  .map((from) => {
    const status: SandboxStatus = {
      ...(from.bound && { nodeName: 'a' }),
      ...(from.finishedAt !== undefined && { finishedAt: from.finishedAt }),
      conditions: from.conditions.map(({ type, status, reason }) =>
        condition(type, status, reason, 'before'),
      ),
    };
    return {
      now: new Date('2026-01-01T00:00:30Z'),
      sandbox: sandbox('s', {
        spec: from.spec,
        status,
        metadata: {
          finalizers: from.finalizers,
          ...(from.deleting && { deletionTimestamp: '2026-01-01T00:00:20Z' }),
        },
      }),
      home: from.bound
        ? {
            name: 'a',
            node: from.homeGone ? undefined : sandboxNode('a'),
            heartbeat: from.heartbeat,
            silentMs: from.silentMs,
          }
        : undefined,
      nodes: from.bound ? [] : from.nodes,
      declinedForMs: undefined,
    };
  });

describe('any decision', () => {
  it('[K5] is a fixed point: decided again after it was done, there is nothing left to write', () => {
    fc.assert(
      fc.property(observation, (seen) => {
        const first = decide(seen);
        if (first.act === 'Delete' || first.act === 'RemoveFinalizer') return;
        const status = first.status ?? seen.sandbox.status;
        const after: Observation = {
          ...seen,
          now: new Date(seen.now.getTime() + 1000),
          sandbox: { ...seen.sandbox, ...(status && { status }) },
          ...(first.node !== undefined && {
            home: {
              name: first.node,
              node: sandboxNode(first.node),
              heartbeat: 'Alive' as const,
              silentMs: 0,
            },
            nodes: [],
          }),
        };
        const second = decide(after);
        expect(second.act === first.act ? undefined : second.act).toBeUndefined();
        expect(second.status ?? status).toEqual(status);
      }),
      { numRuns: 3000 },
    );
  });

  it('[K3] touches a bound sandbox only to say that its node is lost, or to see it off', () => {
    fc.assert(
      fc.property(
        observation.filter(({ home }) => home !== undefined),
        (seen) => {
          const { act, status } = decide(seen);
          expect(['Delete', 'RemoveFinalizer', undefined]).toContain(act);
          if (status === undefined) return;
          const others = (one: SandboxStatus | undefined): unknown =>
            one?.conditions
              ?.filter(({ type }) => type !== 'Ready')
              .sort((a, b) => (a.type < b.type ? -1 : 1));
          expect(others(status)).toEqual(others(seen.sandbox.status));
          expect(status.nodeName).toBe(seen.sandbox.status?.nodeName);
        },
      ),
    );
  });

  it('[K3] [K5] [K6] writes no status of a bound sandbox whose agent is heard, whatever that has written', () => {
    let withoutObject = 0;
    fc.assert(
      fc.property(
        observation.filter(({ home }) => home?.heartbeat === 'Alive' || home?.heartbeat === 'Unproven'),
        (seen) => {
          if (seen.home?.node === undefined) withoutObject += 1;
          const { act, status, event } = decide(seen);
          expect({ status, event }).toEqual({ status: undefined, event: undefined });
          if (act === 'RemoveFinalizer') {
            const gone = seen.sandbox.status?.conditions?.find(({ type }) => type === 'ContainerGone');
            expect(gone?.status).toBe('True');
          }
        },
      ),
      { numRuns: 1000 },
    );
    expect(withoutObject).toBeGreaterThan(0);
  });

  it('says nothing that is not listed, names each condition once, and binds only where Scheduled says so', () => {
    fc.assert(
      fc.property(observation, (seen) => {
        const { act, node, status } = decide(seen);
        const said = status?.conditions ?? [];
        expect(new Set(said.map(({ type }) => type)).size).toBe(said.length);
        for (const { type, reason } of said) {
          expect(Object.keys(conditionTypes)).toContain(type);
          expect(Object.keys(reasons)).toContain(reason);
        }
        if (act === 'AddFinalizerAndBind') {
          expect(status?.nodeName).toBe(node);
          expect(said.find(({ type }) => type === 'Scheduled')?.status).toBe('True');
          expect(said.find(({ type }) => type === 'Stalled')?.status).toBe('False');
        }
      }),
    );
  });
});

import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { FINALIZER } from '../../crds/group.ts';
import type { SandboxSpec, SandboxStatus } from '../../crds/sandbox.ts';
import { decide as controllerDecides } from '../../controller/sandbox/decide.ts';
import { condition, sandbox, sandboxNode, sandboxSpec } from '../../controller/testing/objects.ts';
import type { ContainerInfo } from '../../runtime/driver.ts';
import type { LaunchRecord, LedgerRecord } from '../../runtime/agent/ledger/record.ts';
import { applyChange } from '../../runtime/agent/sandbox/apply-change.ts';
import { decide as agentDecides } from '../../runtime/agent/sandbox/decide.ts';
import { specFacts } from '../../runtime/agent/sandbox/spec-facts.ts';
import type { Observation } from '../../runtime/agent/sandbox/types.ts';

const AT = '2026-01-01T00:00:00.000Z';
const NOW = new Date('2026-01-01T00:00:30Z');

const spec: fc.Arbitrary<SandboxSpec> = fc
  .record(
    {
      command: fc.constantFrom<string[]>(['true'], []),
      suspend: fc.boolean(),
      activeDeadlineSeconds: fc.constantFrom(10, 600),
      resources: fc.constant({ memory: '64Mi' }),
      network: fc.constantFrom<NonNullable<SandboxSpec['network']>>({}, { runtime: { allow: ['*'] } }),
    },
    { requiredKeys: [] },
  )
  .map((change) => sandboxSpec(change));

/** What a controller may have said, or the agent itself before. */
const before: fc.Arbitrary<SandboxStatus> = fc
  .uniqueArray(
    fc.constantFrom(
      condition('Ready', 'Unknown', 'NodeLost', 'lost'),
      condition('Ready', 'True', 'Running', 'runs'),
      condition('Suspended', 'True', 'SuspendedByUser', 'held'),
      condition('LimitsEnforced', 'True', 'Enforced', 'in force'),
      condition('Complete', 'False', 'NotFinished', 'not yet'),
      condition('ContainerGone', 'False', 'ContainerPresent', 'there'),
    ),
    { selector: ({ type }) => type },
  )
  .map((conditions) => ({ nodeName: 'a', runtime: 'docker', conditions }));

const launched: LaunchRecord = { intendedAt: AT, start: 1, startedAt: AT };

function record(from: SandboxSpec, change: Partial<LedgerRecord>): LedgerRecord {
  const { specHash, limitsHash, retained, hasSetup } = specFacts(from);
  return {
    version: 1,
    uid: 'uid-s',
    namespace: 'default',
    name: 's',
    runtime: 'docker',
    specHash,
    limitsHash,
    generation: 1,
    retained,
    hasSetup,
    limits: { pidsDefaulted: true, swapHeld: true },
    starts: 1,
    containerID: 'c1',
    ...change,
  };
}

function container(state: ContainerInfo['state']): ContainerInfo {
  return {
    id: 'c1',
    name: 'holdfast-uid-s',
    labels: {},
    imageID: 'sha256:1',
    state,
    pid: 1,
    exitCode: 0,
    oomKilled: false,
    error: '',
    startedAt: AT,
    finishedAt: undefined,
    limits: {},
  };
}

const agentSees: fc.Arbitrary<Observation> = fc
  .record({
    spec,
    status: before,
    deleting: fc.boolean(),
    launch: fc.constantFrom<Partial<LedgerRecord> | undefined>(
      undefined,
      {},
      { main: launched },
      { main: launched, stop: { reason: 'Suspended', at: AT, signals: ['SIGTERM'] } },
      { refusal: { reason: 'StartFailed', message: 'it could not be started' } },
    ),
    state: fc.constantFrom(undefined, 'created', 'running', 'paused', 'exited' as const),
    session: fc.boolean(),
    daemon: fc.boolean(),
    nameHeld: fc.boolean(),
    ranMs: fc.constantFrom(undefined, 5_000, 50_000),
    tornDown: fc.boolean(),
  })
  .map((from): Observation => {
    const object = sandbox('s', {
      spec: from.spec,
      status: from.status,
      metadata: {
        finalizers: [FINALIZER],
        ...(from.deleting && { deletionTimestamp: AT }),
      },
    });
    const can = { enforced: 'Yes', reason: 'it can' } as const;
    return {
      nowMs: NOW.getTime(),
      nodeName: 'a',
      sandbox: object,
      spec: specFacts(from.spec),
      record: from.launch && record(from.spec, from.launch),
      runtime: from.daemon
        ? {
            state: 'Ok',
            info: {
              name: 'docker',
              cgroupVersion: '2',
              limits: { cpu: can, memory: can, swap: can, pids: can },
            },
          }
        : { state: 'Unavailable', message: 'no answer' },
      container: from.state && container(from.state),
      probe: { ready: true },
      session: from.session
        ? { start: 1, setup: undefined, main: undefined, receipt: undefined, drift: undefined }
        : undefined,
      listening: true,
      pull: undefined,
      nameHeld: from.nameHeld,
      ending: false,
      tornDown: from.tornDown,
      ranMs: from.ranMs,
      silentMs: undefined,
      stoppingMs: undefined,
      trouble: undefined,
    } as Observation;
  });

describe('controller and agent, one after the other', () => {
  it('[K3] [K5] the controller writes nothing over what an agent that is heard has said, its SandboxNode there or not', () => {
    const counts = { written: 0, wasLost: 0 };
    fc.assert(
      fc.property(agentSees, fc.boolean(), fc.constantFrom('Alive', 'Unproven'), (seen, there, heartbeat) => {
        const object = seen.sandbox;
        if (object === undefined) return;
        const { status: change } = agentDecides(seen);
        const context = { now: NOW, observedGeneration: object.metadata.generation };
        const status = change === undefined ? object.status : applyChange(object.status, change, context);
        if (change !== undefined) counts.written += 1;
        if (change !== undefined && JSON.stringify(object.status).includes('NodeLost')) counts.wasLost += 1;
        if ((status?.nodeName ?? '') === '') return;
        const decision = controllerDecides({
          now: NOW,
          sandbox: { ...object, ...(status && { status }) },
          home: { name: 'a', node: there ? sandboxNode('a') : undefined, heartbeat, silentMs: 0 },
          nodes: [],
          declinedForMs: undefined,
        });
        expect(decision.status).toBeUndefined();
        expect(decision.event).toBeUndefined();
      }),
      { numRuns: 2000 },
    );
    expect(counts.written).toBeGreaterThan(100);
    expect(counts.wasLost).toBeGreaterThan(20);
  });
});

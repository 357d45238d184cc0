import { describe, expect, it } from 'vitest';
import type { Sandbox, SandboxSpec } from '../../../crds/sandbox.ts';
import { Lister } from '../../../kube/lister.ts';
import type { LedgerRecord } from '../ledger/record.ts';
import { newRun, type Run } from '../run.ts';
import type { Runtime } from '../runtimes/runtime.ts';
import type { Services } from '../services.ts';
import { roomFor } from './room-for.ts';
import { specFacts } from './spec-facts.ts';

const GI = 1024 ** 3;

/** A node of 8 GiB whose operator holds back one. */
function setUp() {
  const lister = new Lister<Sandbox>();
  const runs = new Map<string, Run>();
  const services = {
    nodeName: 'n',
    lister,
    runs,
    nodeSpec: () => ({ reserved: { memory: '1Gi' } }),
  } as unknown as Services;
  const runtime = { last: { state: 'Ok', info: { cpus: 4, memoryBytes: 8 * GI } } } as unknown as Runtime;
  let version = 0;
  const put = (uid: string, memory: string, generation = 1, conditions: object[] = []): void => {
    version += 1;
    lister.set({
      metadata: { name: uid, namespace: 'd', uid, generation, resourceVersion: String(version) },
      spec: { image: 'i', command: ['x'], resources: { memory } } as unknown as SandboxSpec,
      status: {
        nodeName: 'n',
        conditions: [{ type: 'Scheduled', status: 'True', observedGeneration: 1 }, ...conditions],
      },
    } as unknown as Sandbox);
  };
  const launched = (uid: string, memory: string): void => {
    put(uid, memory);
    const run = newRun(uid, { namespace: 'd', name: uid });
    const facts = specFacts(lister.get(`d/${uid}`)?.spec as SandboxSpec);
    run.record = {
      specHash: facts.specHash,
      limitsHash: facts.limitsHash,
      limits: { memoryBytes: facts.limits.memoryBytes },
    } as LedgerRecord;
    runs.set(uid, run);
  };
  const ask = (uid: string): string | undefined => {
    const sandbox = lister.get(`d/${uid}`) as Sandbox;
    const run = runs.get(uid) ?? newRun(uid, { namespace: 'd', name: uid });
    runs.set(uid, run);
    return roomFor(services, run, runtime, sandbox, specFacts(sandbox.spec));
  };
  return { lister, runs, put, launched, ask };
}

describe('room for a changed spec', () => {
  it('[K4] is asked for only where something changed since the controller counted it', () => {
    const { launched, put, ask } = setUp();
    launched('a', '6Gi');
    launched('b', '6Gi');
    expect(ask('a')).toBeUndefined();
    put('c', '64Gi');
    expect(ask('c')).toBeUndefined();
    put('c', '64Gi', 2);
    expect(ask('c')).toContain('64Gi asked for, 0 left');
    put('c', '64Gi', 3, [{ type: 'LimitsEnforced', status: 'False' }]);
    expect(ask('c')).toBeUndefined();
  });

  it('[K4] is not there for more than the node has, and there again when the spec asks for less', () => {
    const { launched, put, ask, runs } = setUp();
    launched('a', '1Gi');
    launched('b', '2Gi');
    put('a', '64Gi', 2);
    expect(ask('a')).toBe('memory: 64Gi asked for, 5Gi left of 8Gi (other sandboxes 2Gi, reserved 1Gi)');
    expect(runs.get('a')?.waitsForRoom).toBe(true);
    put('a', '5Gi', 3);
    expect(ask('a')).toBeUndefined();
    expect(runs.get('a')?.waitsForRoom).toBe(false);
  });

  it('[K4] goes to one of two that want it at the same time', () => {
    const { launched, put, ask } = setUp();
    launched('a', '1Gi');
    launched('b', '1Gi');
    put('a', '5Gi', 2);
    put('b', '5Gi', 2);
    const rounds = [ask('a'), ask('b'), ask('a'), ask('b')];
    expect(rounds.slice(2).filter((lack) => lack === undefined)).toHaveLength(1);
    expect([ask('a'), ask('b')].filter((lack) => lack === undefined)).toHaveLength(1);
  });

  it('[K4] of one that has ended has to be asked for again: it may have been given away', () => {
    const { launched, put, ask } = setUp();
    launched('a', '5Gi');
    put('a', '4Gi', 2, [{ type: 'Complete', status: 'True' }]);
    expect(ask('a')).toBeUndefined();
    launched('b', '5Gi');
    expect(ask('a')).toContain('2Gi left');
  });
});

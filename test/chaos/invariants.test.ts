import { describe, expect, it } from 'vitest';
import { condition, sandbox } from '../../controller/testing/objects.ts';
import type { Sandbox, SandboxStatus } from '../../crds/sandbox.ts';
import type { ContainerEvent, History, ObjectWrite } from './history.ts';
import { hasBecome, invariants } from './invariants.ts';

const T = 1_000_000;
const ALL = Object.keys(invariants);

function history(change: Partial<History> = {}): History {
  return {
    writes: [],
    containers: [],
    acknowledged: [],
    expected: new Map(),
    writesPerSandbox: [],
    calm: { seconds: 5, calls: [] },
    endMs: T + 600_000,
    ...change,
  };
}

function write(
  revision: number,
  atMs: number,
  status: SandboxStatus,
  change: Partial<ObjectWrite> = {},
): ObjectWrite {
  return { revision, key: 'default/s', sandbox: sandbox('s', { status }), deleted: false, atMs, ...change };
}

function container(
  action: ContainerEvent['action'],
  atMs: number,
  change: Partial<ContainerEvent> = {},
): ContainerEvent {
  return { node: 'a', uid: 'uid-s', id: 'c1', action, atMs, ...change };
}

/** The invariants that a history breaks. */
function broken(of: History): string[] {
  return ALL.filter((name) => (invariants[name]?.(of) ?? []).length > 0);
}

const onA = write(1, T, { nodeName: 'a' });

describe('[K5] what is checked of a run with faults', () => {
  it('a quiet run breaks nothing', () => {
    const containers = [container('create', T + 1), container('start', T + 2), container('die', T + 9)];
    expect(broken(history({ writes: [onA], containers }))).toEqual([]);
  });

  it('one after the other on two nodes is no breach, both at once is', () => {
    const onB = write(2, T + 20_000, { nodeName: 'b' });
    const run = (id: string, node: string, fromMs: number, toMs: number): ContainerEvent[] => [
      container('start', fromMs, { id, node }),
      container('die', toMs, { id, node }),
    ];
    const one = run('c1', 'a', T + 1, T + 19_000);
    expect(
      broken(
        history({ writes: [onA, onB], containers: [...one, ...run('c2', 'b', T + 20_001, T + 30_000)] }),
      ),
    ).toEqual([]);
    const late = run('c1', 'a', T + 1, T + 20_002);
    expect(
      broken(
        history({ writes: [onA, onB], containers: [...late, ...run('c2', 'b', T + 20_001, T + 30_000)] }),
      ),
    ).toEqual(['never two containers for one Sandbox']);
  });

  it('a container that never ended counts to the end', () => {
    const containers = [container('start', T + 1), container('start', T + 5000, { id: 'c2' })];
    expect(broken(history({ writes: [onA], containers }))).toEqual(['never two containers for one Sandbox']);
  });

  it('a start on a node that does not have it is a breach', () => {
    expect(
      broken(history({ writes: [onA], containers: [container('start', T + 9000, { node: 'b' })] })),
    ).toEqual(['a container runs on the node that has its Sandbox alone']);
  });

  it('a container that outlives its Sandbox by more than a minute is a breach', () => {
    const gone = write(2, T + 10_000, { nodeName: 'a' }, { deleted: true });
    const made = container('create', T + 1);
    const within = [made, container('destroy', T + 69_000)];
    expect(broken(history({ writes: [onA, gone], containers: within }))).toEqual([]);
    expect(broken(history({ writes: [onA, gone], containers: [made] }))).toEqual([
      'no container without a Sandbox after a minute',
    ]);
  });

  it('a Sandbox that has not become what it must is stuck', () => {
    expect(broken(history({ writes: [onA], expected: new Map([['default/s', 'Ready']]) }))).toEqual([
      'no Sandbox is stuck',
    ]);
    expect(broken(history({ writes: [onA], expected: new Map([['default/s', 'gone']]) }))).toEqual([
      'no Sandbox is stuck',
    ]);
  });

  it('an acknowledged write that etcd never had is lost', () => {
    const acknowledged = [{ who: 'user', what: 'create s', uid: 'uid-s', resourceVersion: '1' }];
    expect(broken(history({ writes: [onA], acknowledged }))).toEqual([]);
    expect(broken(history({ acknowledged }))).toEqual(['no acknowledged write is lost']);
  });

  it('many writes of one Sandbox, and writes in a calm, are breaches', () => {
    const writesPerSandbox = [{ who: 'agent-a', path: 's', count: 61 }];
    expect(broken(history({ writesPerSandbox }))).toEqual(['requests are bounded']);
    const calls = [{ who: 'agent-a', what: 'writes', count: 9 }];
    expect(broken(history({ calm: { seconds: 5, calls } }))).toEqual(['requests are bounded']);
  });
});

describe('what a Sandbox has become', () => {
  const with_ = (conditions: [string, 'True' | 'False', string][], observedGeneration = 1): Sandbox =>
    sandbox('s', { status: { observedGeneration, conditions: conditions.map((one) => condition(...one)) } });

  it.each<[string, Sandbox | undefined, Parameters<typeof hasBecome>[1], boolean]>([
    ['gone', undefined, 'gone', true],
    ['gone too early', undefined, 'Ready', false],
    ['there', with_([['Ready', 'True', 'Running']]), 'gone', false],
    ['ready', with_([['Ready', 'True', 'Running']]), 'Ready', true],
    ['ready of an older spec', with_([['Ready', 'True', 'Running']], 0), 'Ready', false],
    ['suspended', with_([['Suspended', 'True', 'SuspendedByUser']]), 'Suspended', true],
    ['failed', with_([['Complete', 'True', 'Failed']]), 'Failed', true],
    ['failed instead', with_([['Complete', 'True', 'Failed']]), 'Succeeded', false],
  ])('%s', (_name, is, wanted, becomes) => {
    expect(hasBecome(is, wanted)).toBe(becomes);
  });
});

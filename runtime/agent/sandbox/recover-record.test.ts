import { describe, expect, it } from 'vitest';
import type { Sandbox, SandboxSpec, SandboxStatus } from '../../../crds/sandbox.ts';
import type { ContainerInfo } from '../../driver.ts';
import type { ProcessExit } from '../../link/types.ts';
import { LABELS } from '../names.ts';
import { newRun } from '../run.ts';
import type { Services } from '../services.ts';
import type { LiveSession } from '../session/live-session.ts';
import { setupDone } from './checks/facts.ts';
import { recoverRecord } from './recover-record.ts';
import { specFacts } from './spec-facts.ts';
import type { ProcessView, RuntimeAnswer } from './types.ts';

const AT = '2026-01-01T00:00:00Z';
const exit = (exitCode: number): ProcessExit => ({
  exitCode,
  signal: undefined,
  coreDumped: false,
  startedAtBootMs: 7,
  endedAtBootMs: 9,
  maxRssBytes: 0,
  userMicros: 0,
  systemMicros: 0,
  endedBy: 'itself',
});
const condition = (type: string, status: string, reason: string) => ({
  type,
  status,
  reason,
  message: 'm',
  lastTransitionTime: AT,
});
const termination = (launch: 'Setup' | 'Main', exitCode: number) => ({
  launch,
  cause: 'Exited' as const,
  verdict: 'Confirmed' as const,
  exitCode,
  message: 'It exited.',
  evidence: [],
  finishedAt: AT,
});

interface Given {
  spec?: Partial<SandboxSpec>;
  status?: Partial<SandboxStatus> & Record<string, unknown>;
  container?: Partial<ContainerInfo>;
  setup?: ProcessView;
  main?: ProcessView;
  swap?: 'Yes' | 'No' | 'Unreadable';
}

function recovered(given: Given = {}) {
  const sandbox = {
    metadata: { name: 's', namespace: 'd', uid: 'u', generation: 1 },
    spec: { image: 'i', command: ['true'], resources: { memory: '64Mi' }, ...given.spec },
    status: { nodeName: 'n', runtime: 'docker', ...given.status },
  } as unknown as Sandbox;
  const { swap = 'Yes' } = given;
  const last =
    swap === 'Unreadable'
      ? { state: 'Unreadable', message: 'm' }
      : { state: 'Ok', info: { limits: { swap: { enforced: swap } } } };
  const services = {
    nodeName: 'n',
    clock: { now: () => new Date(AT) },
    runtimes: new Map([['docker', { last: last as RuntimeAnswer }]]),
  } as unknown as Services;
  const run = newRun('u', { namespace: 'd', name: 's' });
  if (given.container !== undefined) {
    run.container = {
      id: 'c',
      imageID: 'sha256:i',
      labels: {},
      state: 'running',
      startedAt: AT,
      limits: { memoryBytes: 64, memorySwapBytes: 64 },
      ...given.container,
    } as ContainerInfo;
  }
  if (given.setup !== undefined || given.main !== undefined) {
    run.session = {
      process: (launch: 'setup' | 'main') => given[launch],
    } as LiveSession;
  }
  return recoverRecord(services, run, sandbox);
}

const setup = { setup: { command: ['true'], timeoutSeconds: 60 } } as unknown as Partial<SandboxSpec>;
const exited = (code: number): ProcessView => ({ state: 'exited', exit: exit(code) });
const runs: ProcessView = { state: 'running', exit: undefined };

describe('a ledger that was lost', () => {
  it('[O4] knows from init that setup is done, so that the end of main is not taken for setup’s', () => {
    const record = recovered({ spec: setup, container: {}, setup: exited(0), main: runs });
    expect(record?.setup?.exit).toEqual(exit(0));
    expect(setupDone(record)).toBe(true);
    expect(record?.main).toBeDefined();
  });

  it('[O4] knows from the status that setup is done', () => {
    for (const status of [
      { conditions: [condition('SetupComplete', 'True', 'SetupSucceeded')] },
      { startedAt: AT },
    ] as never[]) {
      expect(setupDone(recovered({ spec: setup, container: { state: 'exited' }, status }))).toBe(true);
    }
  });

  it('[O4] takes a setup that was under way to have begun, and not to be done', () => {
    for (const given of [
      { setup: runs, container: {} },
      {
        container: { state: 'exited' as const },
        status: { conditions: [condition('SetupComplete', 'False', 'SettingUp')] } as never,
      },
    ]) {
      const record = recovered({ spec: setup, ...given });
      expect(record?.setup).toBeDefined();
      expect(setupDone(record)).toBe(false);
      expect(record?.main).toBeUndefined();
    }
    expect(recovered({ spec: setup, container: {} })?.setup).toBeUndefined();
  });

  it('[O4] does not run a setup again that has failed', () => {
    const failed = termination('Setup', 3);
    const record = recovered({
      spec: setup,
      status: { phase: 'Stalled', setup: failed, lastTermination: failed },
    });
    expect(record?.outcome).toEqual({ termination: failed, ended: 'Stalled' });
    expect(setupDone(record)).toBe(false);
  });

  it.each([
    ['Succeeded', 0, 'Succeeded'],
    ['Failed', 1, 'Failed'],
    ['Stalled', 137, 'Stalled'],
  ] as const)('[O4] keeps a verdict that was published: %s', (phase, code, ended) => {
    const last = termination('Main', code);
    const status = { phase, finishedAt: AT, startedAt: AT, lastTermination: last };
    expect(recovered({ status })?.outcome).toEqual({ termination: last, ended });
  });

  it.each([
    ['Yes', {}, true],
    ['No', {}, false],
    ['Unreadable', {}, true],
    ['Unreadable', { limits: { memoryBytes: 64 } }, false],
  ] as const)('[L4] holds swap as the runtime says: %s %j', (swap, container, held) => {
    expect(recovered({ swap, container })?.limits.swapHeld).toBe(held);
  });

  it('[L8] knows a limit on processes that nobody asked for', () => {
    const container = { limits: { pids: 1024 } };
    expect(recovered({ container })?.limits).toMatchObject({ pids: 1024, pidsDefaulted: true });
    const spec = { resources: { pids: 1024 } } as Partial<SandboxSpec>;
    expect(recovered({ spec, container })?.limits.pidsDefaulted).toBe(false);
  });

  it('[O4] is no loss where nothing has run: neither container nor word of one', () => {
    expect(recovered()).toBeUndefined();
    expect(recovered({ container: { state: 'created' } })).toBeUndefined();
    expect(recovered({ status: { nodeName: 'other', startedAt: AT } })).toBeUndefined();
  });

  const facts = specFacts({
    image: 'i',
    command: ['true'],
    resources: { memory: '64Mi' },
  } as unknown as SandboxSpec);

  it('[O4] is made again whole: from the labels, the status, and what init says runs', () => {
    const labels = { [LABELS.specHash]: 'spec', [LABELS.limitsHash]: 'limits' };
    const status = { startedAt: '2025-12-31T00:00:00Z', specHash: 'older', fenceSeconds: 40 };
    expect(recovered({ container: { labels }, status, main: runs })).toEqual({
      version: 1,
      uid: 'u',
      namespace: 'd',
      name: 's',
      runtime: 'docker',
      specHash: 'spec',
      limitsHash: 'limits',
      generation: 1,
      retained: false,
      hasSetup: false,
      limits: { memoryBytes: 64, memorySwapBytes: 64, pidsDefaulted: false, swapHeld: true },
      starts: 1,
      fence: { seconds: 40 },
      containerID: 'c',
      imageID: 'sha256:i',
      main: { intendedAt: '2025-12-31T00:00:00Z', start: 1, startedAt: '2025-12-31T00:00:00Z' },
    });
  });

  it('[K11] without labels has the hash of the status, and without that the one of the spec', () => {
    expect(recovered({ container: {}, status: { specHash: 'older' } })?.specHash).toBe('older');
    expect(recovered({ container: {} })).toMatchObject({
      specHash: facts.specHash,
      limitsHash: facts.limitsHash,
    });
  });

  it('[O4] takes main for begun where init says so, at the time at which the container began, or now', () => {
    expect(recovered({ container: {}, main: runs })?.main).toEqual({
      intendedAt: AT,
      start: 1,
      startedAt: AT,
    });
    const container = { startedAt: undefined as unknown as string };
    expect(recovered({ container, main: runs })?.main?.startedAt).toBe('2026-01-01T00:00:00.000Z');
    expect(recovered({ container: {} })).not.toHaveProperty('main');
  });

  it.each([{ startedAt: AT }, { finishedAt: AT }, { setup: termination('Setup', 1) }])(
    '[O4] is made again without a container where the status says that it has run: %j',
    (status) => {
      const record = recovered({ spec: setup, status });
      expect(record).toMatchObject({ starts: 1, limits: { pidsDefaulted: false } });
      expect(record).not.toHaveProperty('containerID');
      expect(record).not.toHaveProperty('imageID');
      expect(record).not.toHaveProperty('fence');
    },
  );

  it('[O4] has the verdict on setup as it was published, with its times', () => {
    const done = { ...termination('Setup', 0), startedAt: '2025-12-31T00:00:00Z' };
    expect(recovered({ spec: setup, container: {}, status: { setup: done } })?.setup).toEqual({
      intendedAt: '2025-12-31T00:00:00Z',
      start: 1,
      endedAt: AT,
      termination: done,
    });
  });

  it('[O4] knows the exit of a setup that must have ended well, as main has begun', () => {
    expect(recovered({ spec: setup, container: {}, main: runs })?.setup).toEqual({
      intendedAt: AT,
      start: 1,
      exit: { ...exit(0), startedAtBootMs: 0, endedAtBootMs: 0 },
    });
  });

  it.each<[string, Record<string, unknown>, unknown]>([
    [
      'a main that has no end in the status',
      { phase: 'Stalled', lastTermination: termination('Main', 1) },
      undefined,
    ],
    ['a setup that failed', { phase: 'Failed', lastTermination: termination('Setup', 1) }, 'Failed'],
    [
      'a setup of which something was restarted',
      { phase: 'Launching', lastTermination: termination('Setup', 1) },
      undefined,
    ],
    [
      'a setup that ended with 0, which is no result',
      { phase: 'Failed', finishedAt: AT, lastTermination: termination('Setup', 0) },
      'Failed',
    ],
    ['an end without a verdict', { phase: 'Failed', finishedAt: AT }, undefined],
    [
      'exit 0 of what was stopped',
      { phase: 'Failed', finishedAt: AT, lastTermination: { ...termination('Main', 0), cause: 'Deadline' } },
      'Failed',
    ],
  ])('[O4] has of %s the outcome %s %s', (_says, status, ended) => {
    expect(recovered({ spec: setup, status: { startedAt: AT, ...status } })?.outcome?.ended).toBe(ended);
  });
});

import type { Termination } from '../../../../crds/limits-status.ts';
import type { NodeRuntime } from '../../../../crds/sandbox-node.ts';
import type { Sandbox, SandboxSpec } from '../../../../crds/sandbox.ts';
import type { ContainerInfo, RuntimeInfo } from '../../../driver.ts';
import type { ProcessExit } from '../../../link/types.ts';
import type { LaunchRecord, LedgerRecord, Outcome } from '../../ledger/record.ts';
import type { Receipt } from '../receipt.ts';
import { specFacts } from '../spec-facts.ts';
import type { Observation, SessionView } from '../types.ts';

/** What tests of `decide` start from: everything is well, and each test says what is different. */

export const MIB = 1024 * 1024;
export const AT = '2026-01-01T00:00:00.000Z';

export const BASE: SandboxSpec = {
  image: 'busybox:lab',
  command: ['true'],
  resources: { memory: '64Mi' },
  terminationGracePeriodSeconds: 10,
  onNodeLoss: 'Keep',
  onDrift: 'Report',
};
export const RETAINED: Partial<SandboxSpec> = { command: [] };

export function sandbox(spec: Partial<SandboxSpec> = {}, more: Partial<Sandbox['metadata']> = {}): Sandbox {
  return {
    apiVersion: 'holdfast.dev/v1alpha1',
    kind: 'Sandbox',
    metadata: { name: 's', namespace: 'default', uid: 'u1', generation: 1, ...more },
    spec: { ...BASE, ...spec },
    status: { nodeName: 'n1', runtime: 'docker' },
  };
}

export const can = (enforced: 'Yes' | 'No' | 'Unknown' = 'Yes'): NodeRuntime['limits']['cpu'] => ({
  enforced,
  reason: 'because',
  fix: 'do this',
});
export const info = (more: Partial<RuntimeInfo> = {}): RuntimeInfo => ({
  name: 'docker',
  cgroupVersion: '2',
  limits: { cpu: can(), memory: can(), swap: can(), pids: can() },
  ...more,
});

export const container = (
  state: ContainerInfo['state'] = 'running',
  more: Partial<ContainerInfo> = {},
): ContainerInfo => ({
  id: 'c1',
  name: 'holdfast-u1',
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
  ...more,
});

export const launch = (more: Partial<LaunchRecord> = {}): LaunchRecord => ({
  intendedAt: AT,
  start: 1,
  ...more,
});
export const exit = (exitCode: number): ProcessExit => ({
  exitCode,
  signal: undefined,
  coreDumped: false,
  startedAtBootMs: 0,
  endedAtBootMs: 1,
  maxRssBytes: 0,
  userMicros: 0,
  systemMicros: 0,
  endedBy: 'itself',
});

export function record(spec: Partial<SandboxSpec> = {}, more: Partial<LedgerRecord> = {}): LedgerRecord {
  const facts = specFacts({ ...BASE, ...spec });
  return {
    version: 1,
    uid: 'u1',
    namespace: 'default',
    name: 's',
    runtime: 'docker',
    specHash: facts.specHash,
    limitsHash: facts.limitsHash,
    generation: 1,
    retained: facts.retained,
    hasSetup: facts.hasSetup,
    limits: { memoryBytes: 64 * MIB, pidsDefaulted: true, swapHeld: true },
    starts: 1,
    containerID: 'c1',
    ...more,
  };
}

export const receipt = (more: Partial<Receipt> = {}): Receipt => ({
  entries: [
    {
      limit: 'memory',
      requested: '67108864',
      applied: '67108864',
      file: '/sys/fs/cgroup/x',
      value: '67108864',
      time: AT,
    },
  ],
  mismatches: [],
  unread: [],
  limits: { memoryBytes: 64 * MIB, summary: '64Mi memory' },
  ...more,
});
export const session = (more: Partial<SessionView> = {}): SessionView => ({
  start: 1,
  setup: undefined,
  main: undefined,
  released: false,
  canFence: true,
  fenceSeconds: undefined,
  fenced: false,
  receipt: receipt(),
  drift: undefined,
  ...more,
});

export function seen(more: Partial<Observation> = {}): Observation {
  const object = 'sandbox' in more ? more.sandbox : sandbox();
  return {
    nowMs: Date.parse(AT),
    nodeName: 'n1',
    sandbox: object,
    spec: object === undefined ? undefined : specFacts(object.spec),
    record: undefined,
    runtime: { state: 'Ok', info: info() },
    container: undefined,
    probe: { ready: true },
    session: undefined,
    listening: true,
    pull: undefined,
    nameHeld: true,
    ending: false,
    tornDown: false,
    ranMs: undefined,
    silentMs: undefined,
    stopSent: true,
    unenforceable: undefined,
    stoppingMs: undefined,
    trouble: undefined,
    ...more,
  };
}

export const termination = (cause: Termination['cause'], more: Partial<Termination> = {}): Termination => ({
  launch: 'Main',
  cause,
  verdict: 'Confirmed',
  message: `It was ${cause}.`,
  evidence: [],
  finishedAt: AT,
  ...more,
});
export const outcome = (ended: Outcome['ended'], cause: Termination['cause'] = 'Exited'): Outcome => ({
  termination: termination(cause),
  ended,
});

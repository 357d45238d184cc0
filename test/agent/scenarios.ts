import { expect } from 'vitest';
import type { SandboxSpec } from '../../crds/sandbox.ts';
import type { DockerConfig } from '../lab/daemon.ts';
import type { Fault, FaultRule } from '../lab/fault-proxy.ts';
import { until } from '../until.ts';
import { condition, type TestSandbox, type World } from './world.ts';

/** A life of a sandbox that passes certain steps of the agent, and must come to the same end whoever is killed when. */
export interface Scenario {
  name: string;
  /** The only daemon of the lab that lives it so; absent: all do. */
  on?: DockerConfig;
  /** Of which this scenario passes at least one side. */
  steps: string[];
  /** What a proxy between the agent and the daemon does. */
  faults?: FaultRule[];
  /** Later passings of steps that are passed several times, as `before:NAME#2`. */
  again?: string[];
  live(world: World, name: string, node: Record<string, string>): Promise<TestSandbox>;
}

const LIMITS = { memory: '64Mi', cpu: '500m', pids: 32 };
const STUBBORN = ['sh', '-c', 'trap "" TERM; while true; do sleep 0.1; done'];

/** Setup and main each leave a line in the workspace: no line may come twice. */
async function runOnce(
  world: World,
  name: string,
  nodeSelector: Record<string, string>,
): Promise<TestSandbox> {
  const sandbox = await world.create(name, {
    nodeSelector,
    setup: { command: ['sh', '-c', 'echo setup >> /workspace/log'] },
    command: ['sh', '-c', 'echo main >> /workspace/log; cat /workspace/log'],
    resources: LIMITS,
  });
  const done = await world.awaits(sandbox, 'Complete', 'True', 'Succeeded');
  expect(condition(done, 'LimitsEnforced')?.status).toBe('True');
  // From the volume: output may be lost with an agent that stays away longer than init waits for it.
  expect(await world.workspace(sandbox, 'log')).toBe('setup\nmain\n');
  return sandbox;
}

async function retained(
  world: World,
  name: string,
  nodeSelector: Record<string, string>,
): Promise<TestSandbox> {
  const sandbox = await world.create(name, { nodeSelector, resources: LIMITS });
  const first = await world.awaits(sandbox, 'Ready', 'True', 'Running');
  await world.edit(sandbox, (spec) => {
    spec.resources = { ...LIMITS, memory: '96Mi' };
  });
  await world.until(sandbox, 'the new limit', (now) => now.status?.limits?.memoryBytes === 96 * 1024 * 1024);
  await world.edit(sandbox, (spec) => {
    spec.suspend = true;
  });
  await world.awaits(sandbox, 'Suspended', 'True');
  await world.edit(sandbox, (spec) => {
    spec.suspend = false;
  });
  const resumed = await world.awaits(sandbox, 'Ready', 'True', 'Running');
  expect(resumed.status?.containerID).toBe(first.status?.containerID);
  await world.edit(sandbox, (spec) => {
    spec.env = [{ name: 'CHANGED', value: '1' }];
  });
  await world.until(
    sandbox,
    'the new container',
    (now) =>
      condition(now, 'Ready')?.status === 'True' &&
      now.status?.observedGeneration === now.metadata.generation &&
      now.status?.containerID !== first.status?.containerID,
  );
  return sandbox;
}

async function stubborn(
  world: World,
  name: string,
  nodeSelector: Record<string, string>,
): Promise<TestSandbox> {
  const sandbox = await world.create(name, {
    nodeSelector,
    command: STUBBORN,
    terminationGracePeriodSeconds: 1,
  });
  await world.awaits(sandbox, 'Ready', 'True', 'Running');
  await world.edit(sandbox, (spec) => {
    spec.suspend = true;
  });
  const done = await world.awaits(sandbox, 'Complete', 'True', 'Failed');
  expect(done.status?.lastTermination?.cause).toBe('Suspended');
  return sandbox;
}

/** A command that ends at the first signal: whose signal it was is what must not be lost. */
async function stoppedJob(
  world: World,
  name: string,
  nodeSelector: Record<string, string>,
): Promise<TestSandbox> {
  const sandbox = await world.create(name, {
    nodeSelector,
    command: ['sh', '-c', 'trap "exit 0" TERM; while true; do sleep 0.1; done'],
    resources: LIMITS,
    terminationGracePeriodSeconds: 60,
  });
  await world.awaits(sandbox, 'Ready', 'True', 'Running');
  await world.edit(sandbox, (spec) => {
    spec.suspend = true;
  });
  const done = await world.awaits(sandbox, 'Complete', 'True', 'Failed');
  expect(done.status?.lastTermination?.cause).toBe('Suspended');
  expect(condition(done, 'Suspended')?.status).toBe('True');
  return sandbox;
}

async function prolonged(
  world: World,
  name: string,
  nodeSelector: Record<string, string>,
): Promise<TestSandbox> {
  const sandbox = await world.create(name, {
    nodeSelector,
    command: ['sleep', '1000'],
    activeDeadlineSeconds: 500,
    terminationGracePeriodSeconds: 1,
  });
  await world.awaits(sandbox, 'Ready', 'True', 'Running');
  await world.edit(sandbox, (spec) => {
    spec.activeDeadlineSeconds = 900;
  });
  await world.until(
    sandbox,
    'word of the new deadline',
    (now) =>
      now.status?.observedGeneration === now.metadata.generation &&
      condition(now, 'Ready')?.status === 'True',
  );
  return sandbox;
}

const stalls =
  (spec: Partial<SandboxSpec>, reason: string) =>
  async (world: World, name: string, nodeSelector: Record<string, string>): Promise<TestSandbox> => {
    const sandbox = await world.create(name, { nodeSelector, ...spec });
    await world.awaits(sandbox, 'Stalled', 'True', reason);
    return sandbox;
  };

async function refusedLimit(
  world: World,
  name: string,
  nodeSelector: Record<string, string>,
): Promise<TestSandbox> {
  const sandbox = await world.create(name, {
    nodeSelector,
    resources: { memory: '64Mi' },
    // Stays in the memory of the sandbox, so that cgroup v1 does not take a lower limit.
    setup: { command: ['dd', 'if=/dev/zero', 'of=/dev/shm/full', 'bs=1M', 'count=32'] },
  });
  return lowerInVain(world, sandbox, '8Mi');
}

/** cgroup v2 takes every limit, so that a daemon has to refuse it. */
async function refusedByDaemon(
  world: World,
  name: string,
  nodeSelector: Record<string, string>,
): Promise<TestSandbox> {
  const sandbox = await world.create(name, { nodeSelector, resources: { memory: '64Mi' } });
  return lowerInVain(world, sandbox, '48Mi');
}

async function lowerInVain(world: World, sandbox: TestSandbox, memory: string): Promise<TestSandbox> {
  await world.awaits(sandbox, 'Ready', 'True', 'Running');
  await world.edit(sandbox, (spec) => {
    spec.resources = { memory };
  });
  const refused = await world.awaits(sandbox, 'LimitUnenforceable', 'True');
  expect(condition(refused, 'Ready')?.status).toBe('True');
  expect(refused.status?.limits?.memoryBytes).toBe(64 * 1024 * 1024);
  return sandbox;
}

async function paused(
  world: World,
  name: string,
  nodeSelector: Record<string, string>,
): Promise<TestSandbox> {
  const sandbox = await world.create(name, {
    nodeSelector,
    command: ['sleep', '1000'],
    terminationGracePeriodSeconds: 1,
  });
  await world.awaits(sandbox, 'Ready', 'True', 'Running');
  await world.docker('POST', `/containers/holdfast-${sandbox.metadata.uid}/pause`);
  await world.awaits(sandbox, 'Ready', 'False', 'Paused');
  return sandbox;
}

async function unpullable(
  world: World,
  name: string,
  nodeSelector: Record<string, string>,
): Promise<TestSandbox> {
  const sandbox = await world.create(name, { nodeSelector, image: 'localhost:1/no:1', command: ['true'] });
  await world.awaits(sandbox, 'Ready', 'False', 'ImagePullFailed');
  return sandbox;
}

/** Writes to a workspace that was opened for it, and leaves no container of the opening behind. */
async function notRoot(
  world: World,
  name: string,
  nodeSelector: Record<string, string>,
): Promise<TestSandbox> {
  const sandbox = await world.create(name, {
    nodeSelector,
    user: '1000:1000',
    command: ['sh', '-c', 'echo main >> /workspace/log'],
  });
  await world.awaits(sandbox, 'Complete', 'True', 'Succeeded');
  expect(await world.workspace(sandbox, 'log')).toBe('main\n');
  return sandbox;
}

async function replaceable(
  world: World,
  name: string,
  nodeSelector: Record<string, string>,
): Promise<TestSandbox> {
  const sandbox = await world.create(name, { nodeSelector, resources: LIMITS, onNodeLoss: 'Replace' });
  const first = await world.awaits(sandbox, 'Ready', 'True', 'Running');
  expect(first.status?.fenceSeconds).toBe(40);
  await world.edit(sandbox, (spec) => {
    spec.onNodeLoss = 'Keep';
  });
  await world.until(sandbox, 'no fence', (now) => now.status?.fenceSeconds === undefined);
  await world.edit(sandbox, (spec) => {
    spec.onNodeLoss = 'Replace';
  });
  const again = await world.until(sandbox, 'its fence again', (now) => now.status?.fenceSeconds === 40);
  expect(again.status?.containerID).toBe(first.status?.containerID);
  return sandbox;
}

/** Frozen for longer than its fence allows: init ends it when it is thawed, before it hears a word. */
async function fenced(
  world: World,
  name: string,
  nodeSelector: Record<string, string>,
): Promise<TestSandbox> {
  const sandbox = await world.create(name, { nodeSelector, resources: LIMITS, onNodeLoss: 'Replace' });
  const first = await world.awaits(sandbox, 'Ready', 'True', 'Running');
  const container = `/containers/${first.status?.containerID}`;
  await world.docker('POST', `${container}/pause`);
  const thawAt = performance.now() + 41_000;
  await until('the time of its fence', () => performance.now() > thawAt, { everyMs: 250 });
  await world.docker('POST', `${container}/unpause`);
  const ended = await world.until(
    sandbox,
    'the word of its end',
    (now) => now.status?.lastTermination?.cause === 'NodeLost',
  );
  expect(ended.status?.lastTermination?.verdict).toBe('Confirmed');
  const resumed = await world.awaits(sandbox, 'Ready', 'True', 'Running');
  expect(resumed.status?.containerID).toBe(first.status?.containerID);
  return sandbox;
}

/** In the words of runc. */
const REFUSAL: Fault = {
  do: 'status',
  status: 500,
  body: JSON.stringify({
    message:
      'Cannot update container: runc did not terminate successfully: exit status 1: failed to write 50331648: write memory.max: device or resource busy: unknown',
  }),
};

/** Passed on one daemon of the lab alone: on cgroup v2 the sandbox's own parent is to be removed. */
export const STEPS_ON_V2_ALONE: readonly string[] = ['remove-cgroup'];

export const scenarios: Scenario[] = [
  {
    name: 'runOnce',
    live: runOnce,
    again: [2, 3].flatMap((n) => [`before:write-status#${n}`, `after:write-status#${n}`]),
    steps: [
      'import-probe-image',
      'create-probe-volumes',
      'create-probe',
      'start-probe',
      'create-node',
      'write-node',
      'ledger-create',
      'listen',
      'create-workspace',
      'create-container',
      'start-container',
      'write-status',
      'ledger-launch',
      'start-setup',
      'ledger-setup-done',
      'start-main',
      'ledger-started',
      'ledger-exit',
      'release',
      'ledger-outcome',
      'remove-container',
      'unlisten',
      'remove-cgroup',
      'remove-workspace',
      'ledger-remove',
      'remove-output',
    ],
  },
  {
    name: 'retained',
    live: retained,
    steps: ['update-limits', 'ledger-limits', 'ledger-restart', 'ledger-discard'],
  },
  { name: 'notRoot', live: notRoot, steps: ['open-workspace', 'remove-filler'] },
  { name: 'stoppedJob', live: stoppedJob, steps: ['ledger-stop', 'stop'] },
  { name: 'stubborn', live: stubborn, steps: ['ledger-kill', 'kill'] },
  {
    name: 'noSuchUser',
    live: stalls({ user: 'nobody-of-this-name', command: ['true'] }, 'StartFailed'),
    steps: ['ledger-refusal'],
  },
  {
    name: 'refusedLimit',
    on: 'docker-v1',
    live: refusedLimit,
    steps: ['ledger-refused-limits', 'restore-limits'],
  },
  {
    name: 'refusedByDaemon',
    on: 'docker-v2',
    faults: [{ method: 'POST', path: /^\/containers\/[^/]+\/update$/, fault: REFUSAL }],
    live: refusedByDaemon,
    steps: ['ledger-refused-limits', 'restore-limits'],
  },
  { name: 'prolonged', live: prolonged, steps: ['time-limit', 'ledger-time-limit'] },
  {
    name: 'replaceable',
    live: replaceable,
    steps: ['ledger-fence', 'fence', 'lift-fence', 'ledger-lift-fence'],
  },
  { name: 'fenced', live: fenced, steps: ['ledger-fenced'] },
  { name: 'paused', live: paused, steps: ['unpause'] },
  { name: 'unpullable', live: unpullable, steps: ['pull-image'] },
];

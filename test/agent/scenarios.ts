import { expect } from 'vitest';
import type { SandboxSpec } from '../../crds/sandbox.ts';
import { condition, type TestSandbox, type World } from './world.ts';

/** A life of a sandbox that passes certain steps of the agent, and must come to the same end whoever is killed when. */
export interface Scenario {
  /** Steps of which this scenario passes at least one side. */
  steps: string[];
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
    // Stays in the memory of the sandbox, so that a lower limit cannot be had.
    setup: { command: ['dd', 'if=/dev/zero', 'of=/dev/shm/full', 'bs=1M', 'count=32'] },
  });
  await world.awaits(sandbox, 'Ready', 'True', 'Running');
  await world.edit(sandbox, (spec) => {
    spec.resources = { memory: '8Mi' };
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

export const scenarios: Scenario[] = [
  {
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
      'remove-workspace',
      'ledger-remove',
      'remove-output',
    ],
  },
  {
    live: retained,
    steps: ['update-limits', 'ledger-limits', 'ledger-restart', 'listen-again', 'ledger-discard'],
  },
  { live: notRoot, steps: ['open-workspace', 'remove-filler'] },
  { live: stoppedJob, steps: ['ledger-stop', 'stop'] },
  { live: stubborn, steps: ['ledger-kill', 'kill'] },
  {
    live: stalls({ user: 'nobody-of-this-name', command: ['true'] }, 'StartFailed'),
    steps: ['ledger-refusal'],
  },
  { live: refusedLimit, steps: ['ledger-refused-limits'] },
  { live: prolonged, steps: ['time-limit', 'ledger-time-limit'] },
  { live: paused, steps: ['unpause'] },
  { live: unpullable, steps: ['pull-image'] },
];

import { expect, it } from 'vitest';
import { condition, sandbox } from '../controller/testing/objects.ts';
import type { SandboxSpec, SandboxStatus } from '../crds/sandbox.ts';
import { type Fate, fateOf } from './drain.ts';

const begun: SandboxStatus = { nodeName: 'a', startedAt: '2026-01-01T00:00:00Z' };
const command = ['sleep', '1000'];

it.each<[string, Partial<SandboxSpec>, SandboxStatus, Fate]>([
  ['what has ended', { command }, { conditions: [condition('Complete', 'True', 'Succeeded')] }, 'ended'],
  ['what has not begun', {}, { nodeName: 'a' }, 'moved'],
  ['what may run elsewhere', { command, onNodeLoss: 'Replace' }, begun, 'moved'],
  ['a retained one that may', { onNodeLoss: 'Replace' }, begun, 'moved'],
  [
    'one that may and waits for a person',
    { onNodeLoss: 'Replace' },
    { ...begun, conditions: [condition('Stalled', 'True', 'OOMKilled')] },
    'stays',
  ],
  ['a command that runs', { command }, begun, 'ends by itself'],
  ['arguments alone are a command too', { args: ['x'] }, begun, 'ends by itself'],
  ['a suspended command', { command, suspend: true }, begun, 'stays'],
  ['a retained one', {}, begun, 'stays'],
])('[K4] when its node is drained: %s', (_, spec, status, fate) => {
  expect(fateOf(sandbox('s', { spec, status }))).toBe(fate);
});

it('[K4] what is being deleted goes by itself', () => {
  const metadata = { deletionTimestamp: '2026-01-01T00:00:00Z' };
  expect(fateOf(sandbox('s', { status: begun, metadata }))).toBe('ends by itself');
});

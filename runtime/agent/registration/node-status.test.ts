import { describe, expect, it } from 'vitest';
import type { RuntimeInfo } from '../../driver.ts';
import type { RuntimeAnswer } from '../sandbox/types.ts';
import { type NodeFacts, nodeStatus } from './node-status.ts';

const yes = { enforced: 'Yes' as const, reason: 'it has the controller' };
const info: RuntimeInfo = {
  name: 'docker',
  version: '29.1',
  cgroupVersion: '2',
  limits: { cpu: yes, memory: yes, swap: yes, pids: yes },
};
const facts = (more: { answer?: RuntimeAnswer; ready?: boolean; now?: string } = {}): NodeFacts => ({
  agent: { version: '1', instance: 'i', startedAt: '2026-01-01T00:00:00Z' },
  runtimes: [
    {
      name: 'docker',
      answer: more.answer ?? { state: 'Ok', info },
      probe: { ready: more.ready ?? true, why: 'it is being made' },
    },
  ],
  overlap: undefined,
  now: new Date(more.now ?? '2026-01-01T00:00:00Z'),
  generation: 1,
});

describe('the status of a node', () => {
  it('[L6] says what the runtime can enforce, and when it was asked', () => {
    const status = nodeStatus(undefined, facts());
    expect(status.runtimes?.[0]).toMatchObject({ ...info, ready: true, askedAt: '2026-01-01T00:00:00Z' });
    expect(status.conditions?.[0]).toMatchObject({ type: 'Ready', status: 'True' });
  });

  it('[K5] is the same when the same answer comes again later', () => {
    const first = nodeStatus(undefined, facts());
    expect(nodeStatus(first, facts({ now: '2026-01-01T01:00:00Z' }))).toEqual(first);
  });

  it('[L6] changes when the answer does', () => {
    const first = nodeStatus(undefined, facts());
    const limits = { ...info.limits, memory: { enforced: 'No' as const, reason: 'it has not' } };
    const second = nodeStatus(
      first,
      facts({ answer: { state: 'Ok', info: { ...info, limits } }, now: '2026-01-01T01:00:00Z' }),
    );
    expect(second.runtimes?.[0]).toMatchObject({
      askedAt: '2026-01-01T01:00:00Z',
      limits: { memory: { enforced: 'No' } },
    });
  });

  it('[L7] keeps nothing of an earlier answer when one cannot be read', () => {
    const first = nodeStatus(undefined, facts());
    const second = nodeStatus(first, facts({ answer: { state: 'Unreadable', message: 'garbage' } }));
    expect(second.runtimes?.[0]?.limits.memory.enforced).toBe('Unknown');
    expect(second.runtimes?.[0]?.version).toBeUndefined();
    // What sets no limit may still run.
    expect(second.runtimes?.[0]?.ready).toBe(true);
  });

  it('[L7] is not ready while the runtime does not answer at all', () => {
    const status = nodeStatus(undefined, facts({ answer: { state: 'Unavailable', message: 'refused' } }));
    expect(status.runtimes?.[0]).toMatchObject({ ready: false, message: 'refused' });
    expect(status.conditions?.[0]).toMatchObject({ status: 'False', reason: 'RuntimeUnavailable' });
  });

  it('is not ready while there is no probe', () => {
    expect(nodeStatus(undefined, facts({ ready: false })).runtimes?.[0]?.ready).toBe(false);
  });
});

import { describe, expect, it } from 'vitest';
import type { SandboxStatus } from '../../../crds/sandbox.ts';
import { deepFreeze } from '../../../kube/equal.ts';
import { applyChange } from './apply-change.ts';

const context = { now: new Date('2026-01-01T00:00:00Z'), observedGeneration: 3 };

describe('a change of the status', () => {
  const before: SandboxStatus = deepFreeze({
    nodeName: 'n1',
    phase: 'Running',
    startedAt: '2026-01-01T00:00:00Z',
    observedGeneration: 2,
    conditions: [
      {
        type: 'Scheduled',
        status: 'True',
        reason: 'Bound',
        message: '',
        lastTransitionTime: '2025-01-01T00:00:00Z',
      },
    ],
  });

  it('sets, takes away, and leaves what it does not name', () => {
    const after = applyChange(
      before,
      {
        conditions: [{ type: 'Ready', status: 'False', reason: 'Failed', message: 'It failed.' }],
        set: { phase: 'Failed' },
        unset: ['startedAt'],
      },
      context,
    );
    expect(after).toEqual({
      nodeName: 'n1',
      phase: 'Failed',
      observedGeneration: 3,
      conditions: [
        {
          type: 'Ready',
          status: 'False',
          reason: 'Failed',
          message: 'It failed.',
          observedGeneration: 3,
          lastTransitionTime: '2026-01-01T00:00:00Z',
        },
        before.conditions?.[0],
      ],
    });
  });

  it('[K5] changes nothing where nothing is new', () => {
    const after = applyChange(before, { conditions: [] }, { ...context, observedGeneration: 2 });
    expect(after).toEqual(before);
    expect(after.conditions).toBe(before.conditions);
  });

  it('says nothing of a generation that it does not know', () => {
    expect(applyChange(before, { conditions: [] }, { ...context, observedGeneration: undefined })).toEqual(
      before,
    );
  });

  it('begins with an empty status', () => {
    expect(applyChange(undefined, { conditions: [] }, context)).toEqual({
      conditions: [],
      observedGeneration: 3,
    });
  });
});

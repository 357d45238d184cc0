import { describe, expect, it } from 'vitest';
import type { SandboxStatus } from '../../../crds/sandbox.ts';
import { paint, together, type Picture } from './picture.ts';

const suspendedBefore: SandboxStatus = {
  conditions: [
    {
      type: 'Scheduled',
      status: 'True',
      reason: 'Bound',
      message: '',
      lastTransitionTime: '2026-01-01T00:00:00Z',
    },
    {
      type: 'Suspended',
      status: 'True',
      reason: 'SuspendedByUser',
      message: '',
      lastTransitionTime: '2026-01-01T00:00:00Z',
    },
  ],
};
const pictures: Picture[] = [
  { is: 'Working', reason: 'Launching', message: 'm' },
  { is: 'Working', reason: 'PullingImage', message: 'm', phase: 'Pending' },
  { is: 'Working', reason: 'Suspending', message: 'm' },
  { is: 'Working', reason: 'Deleting', message: 'm', phase: 'Terminating' },
  { is: 'Running', message: 'm' },
  { is: 'Impaired', reason: 'Paused', message: 'm' },
  { is: 'Succeeded', message: 'm' },
  { is: 'Failed', message: 'm' },
  { is: 'Stalled', reason: 'NoRoom', message: 'm' },
  { is: 'Stalled', reason: 'OOMKilled', message: 'm', ended: true },
  { is: 'Suspended', message: 'm' },
  { is: 'Suspended', message: 'm', ended: true },
];
const of = (picture: Picture, retained: boolean, current?: SandboxStatus) => {
  const { conditions, set } = paint(picture, { retained, current });
  const status = (type: string): string | undefined => conditions.find((one) => one.type === type)?.status;
  return { conditions, set, status };
};

describe('a picture', () => {
  it.each(pictures)('[K1] never contradicts itself: $is $reason', (picture) => {
    for (const retained of [true, false]) {
      const { conditions, status } = of(picture, retained, suspendedBefore);
      expect(new Set(conditions.map(({ type }) => type)).size).toBe(conditions.length);
      expect(conditions.every(({ message }) => message !== '')).toBe(true);
      // kstatus: failed, in progress, or current; never two of them.
      expect([status('Reconciling'), status('Stalled')].filter((one) => one === 'True').length).toBeLessThan(
        2,
      );
      if (status('Ready') === 'True')
        expect([status('Reconciling'), status('Stalled')]).toEqual(['False', 'False']);
    }
  });

  it.each(pictures)('[K10] has no Complete where nothing completes: $is $reason', (picture) => {
    const ended = 'ended' in picture && picture.ended;
    const over = picture.is === 'Succeeded' || picture.is === 'Failed' || ended;
    expect(of(picture, false).status('Complete')).toBe(over ? 'True' : 'False');
    if (!over) expect(of(picture, true).status('Complete')).toBeUndefined();
  });

  it.each(pictures)(
    '[K10] takes Suspended back once it was resumed, and not before: $is $reason',
    (picture) => {
      const stays = picture.is === 'Suspended';
      const leaves =
        picture.is === 'Working' && (picture.reason === 'Suspending' || picture.reason === 'Deleting');
      expect(of(picture, true, suspendedBefore).status('Suspended')).toBe(
        stays ? 'True' : leaves ? undefined : 'False',
      );
      expect(of(picture, true).status('Suspended')).toBe(stays ? 'True' : undefined);
    },
  );

  it('[K10] of a resumed sandbox says so', () => {
    const { conditions } = of({ is: 'Running', message: 'm' }, true, suspendedBefore);
    expect(conditions.at(-1)).toEqual({
      type: 'Suspended',
      status: 'False',
      reason: 'Resumed',
      message: 'spec.suspend is false.',
    });
  });
});

describe('one change after the other', () => {
  it('lets the later count', () => {
    expect(
      together(
        {
          conditions: [{ type: 'Ready', status: 'True', reason: 'Running' }],
          set: { phase: 'Running', startedAt: 'a' },
        },
        undefined,
        { conditions: [{ type: 'Ready', status: 'False', reason: 'Paused' }], set: { phase: 'Failed' } },
      ),
    ).toEqual({
      conditions: [{ type: 'Ready', status: 'False', reason: 'Paused' }],
      set: { phase: 'Failed', startedAt: 'a' },
      unset: [],
    });
  });

  it('takes away what no later change sets', () => {
    const away = { conditions: [], unset: ['startedAt', 'finishedAt'] as ('startedAt' | 'finishedAt')[] };
    expect(together(away, { conditions: [], set: { startedAt: 'b' } })).toEqual({
      conditions: [],
      set: { startedAt: 'b' },
      unset: ['finishedAt'],
    });
  });
});

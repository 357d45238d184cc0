import { describe, expect, it } from 'vitest';
import { deepFreeze } from './equal.ts';
import { getCondition, isTrue, removeCondition, setCondition, timestamp } from './conditions.ts';

const early = { now: new Date('2026-01-01T00:00:00.999Z'), observedGeneration: 1 };
const late = { now: new Date('2026-01-01T01:00:00Z'), observedGeneration: 1 };
const running = { type: 'Ready', status: 'True', reason: 'Running', message: 'up' } as const;

describe('setCondition', () => {
  it('[K1] adds one with whole seconds and the generation it was decided from', () => {
    expect(setCondition(undefined, running, early)).toEqual([
      {
        type: 'Ready',
        status: 'True',
        reason: 'Running',
        message: 'up',
        observedGeneration: 1,
        lastTransitionTime: '2026-01-01T00:00:00Z',
      },
    ]);
  });

  it('[K5] gives back the very list that came in when nothing changed, so that an idle pass writes nothing', () => {
    const before = setCondition(undefined, running, early);
    expect(setCondition(before, running, late)).toBe(before);
  });

  it('keeps the transition time when only reason, message or generation change', () => {
    const before = setCondition(undefined, running, early);
    const after = setCondition(
      before,
      { ...running, reason: 'Succeeded', message: 'done' },
      { ...late, observedGeneration: 2 },
    );
    expect(after[0]).toMatchObject({
      reason: 'Succeeded',
      message: 'done',
      observedGeneration: 2,
      lastTransitionTime: '2026-01-01T00:00:00Z',
    });
  });

  it('moves the transition time with the status, Unknown included', () => {
    const before = setCondition(undefined, running, early);
    const after = setCondition(before, { ...running, status: 'Unknown', reason: 'NodeLost' }, late);
    expect(after[0]).toMatchObject({ status: 'Unknown', lastTransitionTime: '2026-01-01T01:00:00Z' });
  });

  it('gives the same order whoever wrote first: Ready, then by name', () => {
    const types = ['Stalled', 'Complete', 'Ready', 'Scheduled'] as const;
    const set = (order: readonly (typeof types)[number][]) =>
      order.reduce(
        (list, type) => setCondition(list, { type, status: 'False', reason: 'Pending' }, early),
        setCondition(undefined, { type: 'Suspended', status: 'False', reason: 'Resumed' }, early),
      );
    const expected = ['Ready', 'Complete', 'Scheduled', 'Stalled', 'Suspended'];
    expect(set(types).map(({ type }) => type)).toEqual(expected);
    expect(set(types.toReversed()).map(({ type }) => type)).toEqual(expected);
  });

  it('changes nothing of what came in', () => {
    const before = deepFreeze(setCondition(undefined, running, early));
    setCondition(before, { ...running, status: 'False', reason: 'Failed' }, late);
    expect(before[0]?.status).toBe('True');
  });

  it('holds a message to the length that the API takes', () => {
    const [condition] = setCondition(undefined, { ...running, message: 'x'.repeat(40_000) }, early);
    expect(condition?.message).toHaveLength(32768);
    expect(condition?.message.endsWith(' ...')).toBe(true);
  });

  it('reads and removes by type', () => {
    const list = setCondition(undefined, running, early);
    expect(getCondition(list, 'Ready')?.reason).toBe('Running');
    expect(isTrue(list, 'Ready')).toBe(true);
    expect(isTrue(list, 'Stalled')).toBe(false);
    expect(isTrue(undefined, 'Stalled')).toBe(false);
    expect(removeCondition(list, 'Stalled')).toBe(list);
    expect(removeCondition(list, 'Ready')).toEqual([]);
    expect(removeCondition(undefined, 'Ready')).toEqual([]);
  });

  it('writes times as metav1.Time keeps them', () => {
    expect(timestamp(new Date('2026-05-06T07:08:09.123Z'))).toBe('2026-05-06T07:08:09Z');
  });
});

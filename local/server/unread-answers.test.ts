import { describe, expect, it } from 'vitest';
import { UnreadAnswers } from './unread-answers.ts';

const MiB = 1024 * 1024;

function answers(...lengths: number[]) {
  const unread = new UnreadAnswers();
  const all = lengths.map((writableLength) => {
    const answer = { writableLength, destroyed: false, destroy: () => void (answer.destroyed = true) };
    unread.add(answer);
    return answer;
  });
  return { unread, all, broken: () => all.map(({ destroyed }) => destroyed) };
}

describe('answers that nobody reads', () => {
  it('are broken off, those that waited longest first, where they are too much together', () => {
    expect(answers(60 * MiB, 60 * MiB).broken()).toEqual([false, false]);
    expect(answers(60 * MiB, 60 * MiB, 60 * MiB).broken()).toEqual([true, false, false]);
    expect(answers(60 * MiB, 60 * MiB, 100 * MiB).broken()).toEqual([true, true, false]);
  });

  it('the newest is not, however long', () => {
    expect(answers(1, 500 * MiB).broken()).toEqual([true, false]);
  });

  it('no longer count when they have been read', () => {
    const { unread, all, broken } = answers(100 * MiB, 20 * MiB);
    if (all[0] !== undefined) unread.remove(all[0]);
    unread.add({ writableLength: 100 * MiB, destroy: () => undefined });
    expect(broken()).toEqual([false, false]);
  });
});

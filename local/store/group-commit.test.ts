import { describe, expect, it } from 'vitest';
import { GroupCommit, type Outcome } from './group-commit.ts';
import type { Transaction } from './transaction.ts';

const none = undefined as unknown as Transaction;

function commits(fail?: () => Error | undefined): { group: GroupCommit; sizes: number[] } {
  const sizes: number[] = [];
  const group = new GroupCommit((operations) => {
    sizes.push(operations.length);
    const error = fail?.();
    if (error !== undefined) throw error;
    return operations.map((operation): Outcome => {
      try {
        return { value: operation(none) };
      } catch (thrown) {
        return { error: thrown };
      }
    });
  });
  return { group, sizes };
}

describe('group commit', () => {
  it('puts what comes together into one commit, and answers each by itself', async () => {
    const { group, sizes } = commits();
    const answers = await Promise.allSettled([
      group.submit(() => 1),
      group.submit(() => {
        throw new Error('mine');
      }),
      group.submit(() => 3),
    ]);
    expect(sizes).toEqual([3]);
    expect(answers.map((answer) => answer.status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
  });

  it('fails all of a commit that fails, and goes on with the next', async () => {
    let broken = true;
    const { group } = commits(() => (broken ? new Error('disk') : undefined));
    const answers = await Promise.allSettled([group.submit(() => 1), group.submit(() => 2)]);
    expect(answers.every((answer) => answer.status === 'rejected')).toBe(true);
    broken = false;
    expect(await group.submit(() => 3)).toBe(3);
  });

  it('refuses more than it can hold at once', async () => {
    const { group, sizes } = commits();
    const answers = await Promise.allSettled(Array.from({ length: 5000 }, (_, i) => group.submit(() => i)));
    const refused = answers.filter((answer) => answer.status === 'rejected');
    expect(refused).toHaveLength(5000 - 4096);
    expect((refused[0] as PromiseRejectedResult).reason).toMatchObject({ code: 'Busy' });
    expect(Math.max(...sizes)).toBeLessThanOrEqual(512);
  });

  it('commits what is waiting when it is closed, and takes no more', async () => {
    const { group } = commits();
    const waiting = group.submit(() => 'last');
    group.close();
    expect(await waiting).toBe('last');
    await expect(group.submit(() => 'late')).rejects.toMatchObject({ code: 'Closed' });
  });
});

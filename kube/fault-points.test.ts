import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import {
  faultySteps,
  faultySyncSteps,
  plainSteps,
  stepsFromEnvironment,
  syncStepsFromEnvironment,
} from './fault-points.ts';

const effects = (): { done: string[]; kills: number[]; kill: () => void } => {
  const done: string[] = [];
  const kills: number[] = [];
  return { done, kills, kill: () => kills.push(done.length) };
};

describe('fault points', () => {
  it('end the process before the effect', async () => {
    const { done, kills, kill } = effects();
    const step = faultySteps('before:b', kill);
    await step('a', async () => done.push('a'));
    await step('b', async () => done.push('b'));
    expect(kills).toEqual([1]);
  });

  it('end the process after the effect, a failed one too', async () => {
    const { done, kills, kill } = effects();
    const step = faultySteps('after:b', kill);
    await step('a', async () => done.push('a'));
    await expect(step('b', () => Promise.reject(new Error('no')))).rejects.toThrow('no');
    expect(kills).toEqual([1]);
  });

  it('can wait for a later passing', async () => {
    const { done, kills, kill } = effects();
    const step = faultySteps('before:a#3', kill);
    for (let i = 0; i < 5; i += 1) await step('a', async () => done.push('a'));
    expect(kills).toEqual([2]);
  });

  it('do nothing in the product', async () => {
    expect(await plainSteps('a', () => Promise.resolve(7))).toBe(7);
  });

  it('end the process around an effect that holds the thread, a failed one too', () => {
    const { done, kills, kill } = effects();
    const step = faultySyncSteps('after:a#2', kill);
    step('a', () => done.push('a'));
    expect(() =>
      step('a', () => {
        throw new Error('no');
      }),
    ).toThrow('no');
    expect(kills).toEqual([1]);
    expect(syncStepsFromEnvironment({})('a', () => 7)).toBe(7);
  });

  it('are counted where a file for that is named', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'hf-trace-'));
    const trace = join(folder, 'trace');
    const step = stepsFromEnvironment({ HOLDFAST_FAULT_TRACE: trace });
    for (const name of ['a', 'b', 'a']) await step(name, async () => name);
    expect(readFileSync(trace, 'utf8')).toBe('a\nb\na\n');
    rmSync(folder, { recursive: true });
  });
});

import { describe, expect, it } from 'vitest';
import { startRefusal } from './start-refusal.ts';

const limits = { memoryBytes: 6 * 1024 * 1024, swap: 'Held' as const };

describe('a container that the runtime could not start', () => {
  it.each([
    'container init was OOM-killed (memory limit too low?)',
    'runc create failed: container init was oom killed',
    'crun: memory limit too low',
    'OOMKilled',
  ])('[O4] under a limit too low for it says so: %s', (error) => {
    expect(startRefusal(error, limits)).toBe(
      `The memory limit of 6Mi is too low to start the container: ${error}`,
    );
  });

  it('[L4] names the limit as it is held', () => {
    expect(startRefusal('OOM-killed', { ...limits, swap: 'Unbounded' })).toBe(
      'The memory (swap unbounded) limit of 6Mi is too low to start the container: OOM-killed',
    );
  });

  it('[O9] without a limit, or for another reason, has the words of the runtime', () => {
    expect(startRefusal('OOM-killed', {})).toBe('The container could not be started: OOM-killed');
    expect(startRefusal('no such device', limits)).toBe('The container could not be started: no such device');
  });
});

import { describe, expect, it } from 'vitest';
import { launchName, namedLimit, signalName, times } from './wording.ts';

describe('wording', () => {
  it.each([
    [1, 'SIGHUP'],
    [6, 'SIGABRT'],
    [9, 'SIGKILL'],
    [15, 'SIGTERM'],
    [17, 'SIGCHLD'],
    [29, 'SIGIO'],
    [34, 'signal 34'],
  ])('signal %i is %s', (signal, name) => {
    expect(signalName(signal)).toBe(name);
  });

  it.each([
    [1023, '1023 bytes'],
    [1024, '1Ki'],
    [1536, '1536 bytes'],
    [1024 ** 2, '1Mi'],
    [1025 * 1024, '1025Ki'],
    [1024 ** 3, '1Gi'],
    [1536 * 1024 ** 2, '1536Mi'],
    [3 * 1024 ** 4, '3Ti'],
  ])('[O4] a limit of %i bytes is named %s', (memoryBytes, text) => {
    expect(namedLimit({ memoryBytes, swap: 'Held' })).toBe(`the memory limit of ${text}`);
  });

  it('[L4] every naming of a limit says where swap is not held', () => {
    expect(namedLimit({ memoryBytes: 1024, swap: 'Unbounded' })).toBe(
      'the memory (swap unbounded) limit of 1Ki',
    );
    expect(namedLimit({ swap: 'Unbounded' })).toBe('the memory (swap unbounded) limit');
    expect(namedLimit({})).toBe('the memory limit');
  });

  it('names the launch', () => {
    expect(launchName({ launch: 'Setup' })).toBe('The setup command');
    expect(launchName({ launch: 'Main' })).toBe('The main command');
  });

  it('counts', () => {
    expect([1, 2].map(times)).toEqual(['once', '2 times']);
  });
});

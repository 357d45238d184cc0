import { describe, expect, it } from 'vitest';
import { limitCapabilities, unknownCapabilities, type EnforcementFacts } from './limit-capabilities.ts';

const whole: EnforcementFacts = {
  rootless: false,
  cgroupVersion: '2',
  cgroupDriver: 'cgroupfs',
  controllers: { cpu: true, memory: true, swap: true, pids: true },
};
type Changes = Partial<Omit<EnforcementFacts, 'controllers'>> & {
  controllers?: Partial<EnforcementFacts['controllers']>;
};
const facts = ({ controllers, ...changes }: Changes): EnforcementFacts => ({
  ...whole,
  ...changes,
  controllers: { ...whole.controllers, ...controllers },
});
const said = (changes: Changes): string =>
  Object.values(limitCapabilities(facts(changes)))
    .map(({ enforced }) => enforced)
    .join(' ');

const DELEGATE = 'Delegate=cpu memory pids';
const V2 = 'systemd.unified_cgroup_hierarchy=1';

/** In the order cpu, memory, swap, pids. */
const rows: [says: string, changes: Changes, expected: string][] = [
  ['[L6] everything there is: everything', {}, 'Yes Yes Yes Yes'],
  ['[L6] on cgroup v1 too', { cgroupVersion: '1' }, 'Yes Yes Yes Yes'],
  ['[L6] where the version is not said', { cgroupVersion: undefined }, 'Yes Yes Yes Yes'],
  ['[L6] with the systemd driver', { cgroupDriver: 'systemd' }, 'Yes Yes Yes Yes'],
  ['[L6] rootless on v2 with all delegated', { rootless: true }, 'Yes Yes Yes Yes'],
  ['[L5] rootless on v1, whatever it says: nothing', { rootless: true, cgroupVersion: '1' }, 'No No No No'],
  ['[L5] cgroup driver none, whatever it says: nothing', { cgroupDriver: 'none' }, 'No No No No'],
  ['[L5] no cpu controller: no CPU limit alone', { controllers: { cpu: false } }, 'No Yes Yes Yes'],
  ['[L5] no memory controller: neither memory nor swap', { controllers: { memory: false } }, 'Yes No No Yes'],
  ['[L4] no swap control: memory is still held', { controllers: { swap: false } }, 'Yes Yes No Yes'],
  [
    '[L8] no pids controller: no limit on processes alone',
    { controllers: { pids: false } },
    'Yes Yes Yes No',
  ],
];

describe('what a runtime can enforce', () => {
  it.each(rows)('%s', (_says, changes, expected) => {
    expect(said(changes)).toBe(expected);
  });

  it('[L9] every "no" has a reason that names the limit, and a fix', () => {
    for (const [, changes] of rows)
      for (const [limit, { enforced, reason, fix }] of Object.entries(limitCapabilities(facts(changes)))) {
        expect(reason.length).toBeGreaterThan(10);
        expect(reason.length).toBeLessThanOrEqual(1024);
        expect(fix === undefined).toBe(enforced === 'Yes');
        const name = { cpu: /cpu/i, memory: /memory/, swap: /swap/, pids: /process|pids/ }[limit];
        expect(reason).toMatch(name ?? /./);
      }
  });

  const fixes: [says: string, changes: Changes, fix: string][] = [
    ['rootless on v1: cgroup v2, and the delegation', { rootless: true, cgroupVersion: '1' }, V2],
    ['rootless on v1: the delegation as well', { rootless: true, cgroupVersion: '1' }, DELEGATE],
    ['driver none on v1', { cgroupDriver: 'none', cgroupVersion: '1' }, V2],
    ['driver none, rootless on v2', { cgroupDriver: 'none', rootless: true }, DELEGATE],
    ['driver none, as root', { cgroupDriver: 'none' }, 'cgroup driver systemd or cgroupfs'],
    ['not delegated', { rootless: true, controllers: { memory: false } }, DELEGATE],
    [
      'missing on v1',
      { cgroupVersion: '1', controllers: { memory: false } },
      'cgroup v1 hierarchy of memory',
    ],
    ['missing on v2', { controllers: { memory: false } }, 'cgroup_disable=memory'],
  ];
  it.each(fixes)('[L9] the fix for memory where it is %s', (_says, changes, fix) => {
    const { memory, swap } = limitCapabilities(facts(changes));
    expect(memory.fix).toContain(fix);
    // Swap goes with memory, and so does its fix.
    expect(swap.fix).toBe(memory.fix);
    expect(swap.reason).toContain(memory.reason);
  });

  it('[L9] the delegation names the unit', () => {
    const { pids } = limitCapabilities(facts({ rootless: true, controllers: { pids: false } }));
    expect(pids.fix).toContain('user@.service');
    expect(pids.reason).toContain('not delegated');
  });

  it.each([
    ['1', 'swapaccount=1', 'no swap accounting'],
    ['2', 'a cgroup of its own', 'memory.swap.max'],
  ] as const)('[L4] on v%s missing swap control is said and can be had', (cgroupVersion, fix, reason) => {
    const { swap } = limitCapabilities(facts({ cgroupVersion, controllers: { swap: false } }));
    expect(swap.reason).toContain(reason);
    expect(swap.reason).toContain('swap is unbounded');
    expect(swap.fix).toContain(fix);
  });

  it('says how a "yes" is known', () => {
    const { cpu, memory, swap } = limitCapabilities(whole);
    expect(cpu.reason).toBe('The runtime has the cpu controller (cgroup v2, cgroupfs).');
    expect(memory.reason).toBe('The runtime has the memory controller (cgroup v2, cgroupfs).');
    expect(swap.reason).toBe('Memory and swap together are held to the memory limit.');
    expect(limitCapabilities(facts({ cgroupVersion: undefined })).pids.reason).toBe(
      'The runtime has the pids controller.',
    );
  });

  it('[L7] an answer that could not be read is Unknown for each, with the reason', () => {
    const unknown = unknownCapabilities('GET /info: not JSON');
    for (const limit of ['cpu', 'memory', 'swap', 'pids'] as const)
      expect(unknown[limit]).toEqual({ enforced: 'Unknown', reason: 'GET /info: not JSON' });
  });
});

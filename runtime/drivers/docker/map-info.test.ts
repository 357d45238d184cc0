import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { DriverError } from '../../driver.ts';
import { runtimeInfo } from './map-info.ts';

type Info = Record<string, unknown>;
const fixture = (config: string): Info =>
  JSON.parse(
    readFileSync(new URL(`../../../test/lab/fixtures/${config}/info.json`, import.meta.url), 'utf8'),
  ) as Info;

const enforced = (info: Info): string => {
  const { limits } = runtimeInfo(info, '1.41');
  return Object.entries(limits)
    .map(([limit, capability]) => `${limit} ${capability.enforced}`)
    .join(', ');
};
const ALL = 'cpu Yes, memory Yes, swap Yes, pids Yes';
const NONE = 'cpu No, memory No, swap No, pids No';

describe('[L6] what recorded daemons can enforce', () => {
  const recorded: [says: string, config: string, expected: string][] = [
    ['Docker on cgroup v1: everything', 'docker-v1', ALL],
    ['Docker on cgroup v2: everything', 'docker-v2', ALL],
    ['Docker 26 on cgroup v2: everything', 'docker26-v2', ALL],
    ['with swap: everything', 'docker-v2-swap', ALL],
    [
      'no memory controller: neither memory nor swap',
      'docker-v2-nomem',
      'cpu Yes, memory No, swap No, pids Yes',
    ],
    ['no pids controller: no processes', 'docker-v2-nopids', 'cpu Yes, memory Yes, swap Yes, pids No'],
    ['no cpu controller: no CPU', 'docker-v2-nocpu', 'cpu No, memory Yes, swap Yes, pids Yes'],
    [
      '[L4] dockerd in the root cgroup: all but swap',
      'docker-v2-rootcg',
      'cpu Yes, memory Yes, swap No, pids Yes',
    ],
  ];
  it.each(recorded)('%s', (_says, config, expected) => {
    expect(enforced(fixture(config))).toBe(expected);
  });

  it('says what the runtime is', () => {
    expect(runtimeInfo(fixture('docker-v2'), '1.41')).toMatchObject({
      name: 'docker',
      version: '20.10.24+dfsg1',
      apiVersion: '1.41',
      cgroupVersion: '2',
      cgroupDriver: 'cgroupfs',
      rootless: false,
      storageDriver: 'overlay2',
      cpus: 1,
    });
  });
});

describe('[L5] where the answers of the daemon are not to be trusted', () => {
  const yes: Info = {
    MemoryLimit: true,
    SwapLimit: true,
    PidsLimit: true,
    CpuCfsPeriod: true,
    CpuCfsQuota: true,
  };
  const rootless = ['name=seccomp,profile=default', 'name=rootless', 'name=cgroupns'];

  it('cgroup driver none enforces nothing, though every boolean is true (moby#42151)', () => {
    const info = { ...fixture('docker-v1'), ...yes, CgroupDriver: 'none', SecurityOptions: rootless };
    expect(enforced(info)).toBe(NONE);
    expect(runtimeInfo(info, '1.41').limits.cpu.fix).toContain('cgroup v2');
  });

  it('rootless on cgroup v1 enforces nothing, whatever the driver', () => {
    const info = { ...fixture('docker-v1'), ...yes, SecurityOptions: rootless };
    expect(enforced(info)).toBe(NONE);
    expect(runtimeInfo(info, '1.41').limits.memory.reason).toContain('rootless on cgroup v1');
  });

  it('[L9] rootless on cgroup v2 without a controller names the delegation', () => {
    const info = { ...fixture('docker-v2'), ...yes, MemoryLimit: false, SecurityOptions: rootless };
    const { memory, cpu } = runtimeInfo(info, '1.41').limits;
    expect(cpu.enforced).toBe('Yes');
    expect(memory).toMatchObject({
      enforced: 'No',
      fix: expect.stringContaining('Delegate=cpu memory pids'),
    });
    expect(memory.fix).toContain('user@.service');
  });

  it('[L9] rootless on cgroup v2 with driver none names the delegation', () => {
    const info = { ...fixture('docker-v2'), ...yes, CgroupDriver: 'none', SecurityOptions: rootless };
    expect(enforced(info)).toBe(NONE);
    expect(runtimeInfo(info, '1.41').limits.pids.fix).toContain('Delegate=cpu memory pids');
  });

  it('driver none without rootless names the driver', () => {
    const info = { ...fixture('docker-v2'), ...yes, CgroupDriver: 'none' };
    expect(runtimeInfo(info, '1.41').limits.pids.fix).toContain('cgroup driver');
  });

  it('a CPU quota needs its period too', () => {
    expect(enforced({ ...fixture('docker-v2'), CpuCfsPeriod: false })).toContain('cpu No');
  });

  it.each([
    ['1', 'memory', 'Mount the cgroup v1 hierarchy'],
    ['2', 'memory', 'cgroup_disable=memory'],
  ])('[L9] cgroup v%s: a missing controller has its fix', (version, limit, fix) => {
    const info = { ...fixture('docker-v2'), CgroupVersion: version, MemoryLimit: false };
    const { limits } = runtimeInfo(info, '1.41');
    expect(limits[limit as 'memory'].fix).toContain(fix);
    expect(limits.swap).toMatchObject({ enforced: 'No', fix: expect.stringContaining(fix) });
  });

  it.each([
    ['1', 'swapaccount=1'],
    ['2', 'cgroup of its own'],
  ])('[L4] cgroup v%s: missing swap control has its fix', (version, fix) => {
    const info = { ...fixture('docker-v2'), CgroupVersion: version, SwapLimit: false };
    const { swap, memory } = runtimeInfo(info, '1.41').limits;
    expect(memory.enforced).toBe('Yes');
    expect(swap).toMatchObject({ enforced: 'No', fix: expect.stringContaining(fix) });
    expect(swap.reason).toContain('unbounded');
  });
});

describe('[L7] an answer that is no answer', () => {
  const whole = fixture('docker-v1');
  const codeOf = (answer: unknown): string => {
    try {
      runtimeInfo(answer, '1.41');
      return 'read';
    } catch (error) {
      return error instanceof DriverError ? error.code : String(error);
    }
  };

  it.each([
    'ID',
    'ServerVersion',
    'Driver',
    'CgroupDriver',
    'MemoryLimit',
    'SwapLimit',
    'PidsLimit',
    'CpuCfsPeriod',
    'CpuCfsQuota',
    'NCPU',
    'MemTotal',
  ])('without %s is Unreadable', (field) => {
    const { [field]: _left, ...rest } = whole;
    expect(codeOf(rest)).toBe('Unreadable');
    expect(codeOf({ ...whole, [field]: null })).toBe('Unreadable');
    expect(codeOf({ ...whole, [field]: { nested: true } })).toBe('Unreadable');
  });

  it.each([
    ['nothing', undefined],
    ['null', null],
    ['a list', []],
    ['text', 'OK'],
    ['no controllers as text', { ...whole, MemoryLimit: 'true' }],
    ['no CPUs', { ...whole, NCPU: 0 }],
    ['an empty version', { ...whole, ServerVersion: '' }],
  ])('%s is Unreadable', (_says, answer) => {
    expect(codeOf(answer)).toBe('Unreadable');
  });

  it('without what says little about limits is read', () => {
    const { CgroupVersion: _version, KernelVersion: _kernel, SecurityOptions: _options, ...rest } = whole;
    expect(runtimeInfo(rest, '1.41')).toMatchObject({ rootless: false });
    expect(runtimeInfo(rest, '1.41')).not.toHaveProperty('cgroupVersion');
    expect(runtimeInfo({ ...whole, CgroupVersion: '3' }, '1.41')).not.toHaveProperty('cgroupVersion');
  });
});

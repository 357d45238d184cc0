import { describe, expect, it } from 'vitest';
import type { ContainerSpec } from '../../driver.ts';
import { createBody } from './map-create.ts';

const spec: ContainerSpec = {
  name: 'holdfast-1',
  image: 'app:1',
  labels: { a: 'b' },
  entrypoint: ['/.holdfast/bin/holdfast-init'],
  command: ['init'],
  env: ['A=b'],
  workingDir: '/work',
  user: '1000:1000',
  limits: { memoryBytes: 67108864, memorySwapBytes: 67108864, pids: 64 },
  cgroupParent: '/holdfast/1',
  mounts: [
    { type: 'volume', source: 'bin', target: '/.holdfast/bin', readOnly: true },
    { type: 'volume', source: 'work', target: '/workspace', readOnly: false },
    { type: 'bind', source: '/run/1', target: '/.holdfast/run', readOnly: true },
  ],
  readOnlyRootFilesystem: true,
  capabilities: ['CHOWN', 'KILL'],
  networkDisabled: true,
};

const host = (changes: Partial<ContainerSpec> = {}): Record<string, unknown> =>
  createBody({ ...spec, ...changes })['HostConfig'] as Record<string, unknown>;

describe('the create call', () => {
  it('says every setting that the configuration of a daemon could decide', () => {
    expect(host()).toMatchObject({
      Init: false,
      AutoRemove: false,
      RestartPolicy: { Name: 'no' },
      LogConfig: { Type: 'none' },
      Privileged: false,
      IpcMode: 'private',
      PidMode: '',
      CgroupnsMode: 'private',
      UsernsMode: '',
      NetworkMode: 'none',
      OomScoreAdj: 0,
      ShmSize: 67108864,
    });
    expect(host()['Ulimits']).toContainEqual({ Name: 'nofile', Soft: 1024, Hard: 16384 });
  });

  it('has no network, and no hook of the daemon for one', () => {
    expect(createBody({ ...spec, hostname: 'sandbox' })).toMatchObject({
      NetworkDisabled: true,
      Hostname: 'sandbox',
    });
    expect(createBody(spec)).not.toHaveProperty('Hostname');
  });

  it('[O1] [O2] never removes by itself, and keeps no log', () => {
    expect(host()).toMatchObject({ AutoRemove: false, LogConfig: { Type: 'none', Config: {} } });
  });

  it('leaves to the daemon what is its own, and to the kernel what cannot be set everywhere', () => {
    for (const key of ['Runtime', 'MemorySwappiness', 'OomKillDisable', 'NanoCpus'])
      expect(host()).not.toHaveProperty(key);
  });

  it('drops every capability but those asked for, and lets none be gained', () => {
    expect(host()).toMatchObject({
      CapDrop: ['ALL'],
      CapAdd: ['CHOWN', 'KILL'],
      SecurityOpt: ['no-new-privileges:true'],
      ReadonlyRootfs: true,
    });
  });

  it('[L1] has the limits and the cgroup parent', () => {
    expect(host()).toMatchObject({ Memory: 67108864, PidsLimit: 64, CgroupParent: '/holdfast/1' });
    const { cgroupParent: _parent, ...without } = spec;
    expect(createBody(without)['HostConfig']).not.toHaveProperty('CgroupParent');
  });

  it('runs what it is told, with no health check and no terminal of the image', () => {
    expect(createBody(spec)).toMatchObject({
      Image: 'app:1',
      Entrypoint: spec.entrypoint,
      Cmd: ['init'],
      Env: ['A=b'],
      WorkingDir: '/work',
      User: '1000:1000',
      Tty: false,
      OpenStdin: false,
      Healthcheck: { Test: ['NONE'] },
    });
  });

  it('an image fills a volume of a sandbox only where it was asked to', () => {
    expect(host()['Mounts']).toMatchObject([
      { Type: 'volume', Target: '/.holdfast/bin', ReadOnly: true, VolumeOptions: { NoCopy: true } },
      { Type: 'volume', Target: '/workspace', ReadOnly: false, VolumeOptions: { NoCopy: true } },
      { Type: 'bind', Source: '/run/1', Target: '/.holdfast/run', ReadOnly: true },
    ]);
  });

  it('the probe sees its host, holds its stdin once, and fills its volumes', () => {
    const probe = createBody({ ...spec, probe: true });
    expect(probe).toMatchObject({ OpenStdin: true, StdinOnce: true, Tty: false });
    expect(probe['HostConfig']).toMatchObject({
      PidMode: 'host',
      CgroupnsMode: 'host',
      UsernsMode: 'host',
      SecurityOpt: ['no-new-privileges:true', 'label=disable'],
      NetworkMode: 'none',
      Privileged: false,
    });
    const mounts = (probe['HostConfig'] as { Mounts: unknown[] }).Mounts;
    expect(mounts).toContainEqual(
      expect.objectContaining({
        Type: 'bind',
        Source: '/sys/fs/cgroup',
        Target: '/sys/fs/cgroup',
        ReadOnly: false,
      }),
    );
    expect(mounts[0]).toMatchObject({ VolumeOptions: { NoCopy: false } });
  });

  it('is this, whole, for a sandbox: what is not here is left to the daemon', () => {
    expect(createBody(spec)).toEqual({
      Image: 'app:1',
      Entrypoint: ['/.holdfast/bin/holdfast-init'],
      Cmd: ['init'],
      Env: ['A=b'],
      WorkingDir: '/work',
      User: '1000:1000',
      NetworkDisabled: true,
      Labels: { a: 'b' },
      Tty: false,
      OpenStdin: false,
      StdinOnce: false,
      AttachStdin: false,
      AttachStdout: false,
      AttachStderr: false,
      StopSignal: 'SIGTERM',
      Healthcheck: { Test: ['NONE'] },
      HostConfig: {
        Memory: 67108864,
        MemorySwap: 67108864,
        CpuPeriod: 0,
        CpuQuota: 0,
        PidsLimit: 64,
        CgroupParent: '/holdfast/1',
        Init: false,
        AutoRemove: false,
        RestartPolicy: { Name: 'no', MaximumRetryCount: 0 },
        LogConfig: { Type: 'none', Config: {} },
        Privileged: false,
        CapDrop: ['ALL'],
        CapAdd: ['CHOWN', 'KILL'],
        SecurityOpt: ['no-new-privileges:true'],
        ReadonlyRootfs: true,
        NetworkMode: 'none',
        PidMode: '',
        CgroupnsMode: 'private',
        UsernsMode: '',
        IpcMode: 'private',
        UTSMode: '',
        ShmSize: 67108864,
        OomScoreAdj: 0,
        Ulimits: [
          { Name: 'nofile', Soft: 1024, Hard: 16384 },
          { Name: 'core', Soft: 0, Hard: 0 },
        ],
        Mounts: [
          {
            Type: 'volume',
            Source: 'bin',
            Target: '/.holdfast/bin',
            ReadOnly: true,
            VolumeOptions: { NoCopy: true },
          },
          {
            Type: 'volume',
            Source: 'work',
            Target: '/workspace',
            ReadOnly: false,
            VolumeOptions: { NoCopy: true },
          },
          {
            Type: 'bind',
            Source: '/run/1',
            Target: '/.holdfast/run',
            ReadOnly: true,
            BindOptions: { Propagation: 'rslave' },
          },
        ],
      },
    });
  });

  it('fills a volume from the image where that is asked for', () => {
    const [mount] = host({
      mounts: [{ type: 'volume', source: 'w', target: '/w', readOnly: false, fillFromImage: true }],
    })['Mounts'] as unknown[];
    expect(mount).toMatchObject({ VolumeOptions: { NoCopy: false } });
  });

  it('gives the probe what is mounted on the host as it is, and itself nothing back', () => {
    const mounts = host({ probe: true })['Mounts'] as unknown[];
    expect(mounts.slice(2)).toEqual([
      {
        Type: 'bind',
        Source: '/run/1',
        Target: '/.holdfast/run',
        ReadOnly: true,
        BindOptions: { Propagation: 'rprivate' },
      },
      {
        Type: 'bind',
        Source: '/sys/fs/cgroup',
        Target: '/sys/fs/cgroup',
        ReadOnly: false,
        BindOptions: { Propagation: 'rprivate' },
      },
    ]);
  });
});

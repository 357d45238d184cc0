import type { ContainerSpec, Mount } from '../../driver.ts';
import { limitsForCreate } from './map-limits.ts';

/**
 * The body of a create call. Whatever a daemon's own configuration could decide (default ulimits, init, log driver,
 * cgroup namespace, IPC mode, no-new-privileges, swap total) is said here, so that a sandbox is the same everywhere.
 * Left to the daemon: the OCI runtime, its seccomp and AppArmor profiles. Not sent at all: MemorySwappiness and
 * OomKillDisable (refused or warned about on cgroup v2, and off by default), and AutoRemove is never true: the
 * runtime must be asked about the container after its end.
 */
export function createBody(spec: ContainerSpec): Record<string, unknown> {
  const probe = spec.probe === true;
  return {
    Image: spec.image,
    Entrypoint: spec.entrypoint,
    Cmd: spec.command,
    Env: spec.env,
    WorkingDir: spec.workingDir,
    User: spec.user,
    ...(spec.hostname === undefined ? {} : { Hostname: spec.hostname }),
    // The `none` network alone has the daemon run itself once more as a hook of every start, which takes as long as the
    // whole rest of it. Loopback is brought up by the OCI runtime; what is not written is /etc/hosts.
    NetworkDisabled: true,
    Labels: spec.labels,
    Tty: false,
    OpenStdin: probe,
    // The probe ends when the agent's connection does: there is never one that nobody holds.
    StdinOnce: probe,
    AttachStdin: false,
    AttachStdout: false,
    AttachStderr: false,
    StopSignal: 'SIGTERM',
    // A health check of the image would run as an exec nobody asked for.
    Healthcheck: { Test: ['NONE'] },
    HostConfig: {
      ...limitsForCreate(spec.limits),
      ...(spec.cgroupParent === undefined ? {} : { CgroupParent: spec.cgroupParent }),
      Init: false,
      AutoRemove: false,
      RestartPolicy: { Name: 'no', MaximumRetryCount: 0 },
      LogConfig: { Type: 'none', Config: {} },
      Privileged: false,
      CapDrop: ['ALL'],
      CapAdd: spec.capabilities,
      // The probe reads files of the host, which SELinux denies to confined containers.
      SecurityOpt: probe ? ['no-new-privileges:true', 'label=disable'] : ['no-new-privileges:true'],
      ReadonlyRootfs: spec.readOnlyRootFilesystem,
      NetworkMode: 'none',
      PidMode: probe ? 'host' : '',
      CgroupnsMode: probe ? 'host' : 'private',
      UsernsMode: probe ? 'host' : '',
      IpcMode: 'private',
      UTSMode: '',
      ShmSize: SHM_BYTES,
      OomScoreAdj: 0,
      Ulimits: ULIMITS,
      Mounts: [...spec.mounts, ...(probe ? [HOST_CGROUPS] : [])].map((mount) => mountBody(mount, probe)),
    },
  };
}

const SHM_BYTES = 64 * 1024 * 1024;

/**
 * The hard limit is below what any usual daemon has: raising one's own needs CAP_SYS_RESOURCE, and a start without
 * it fails. No core files.
 */
const ULIMITS = [
  { Name: 'nofile', Soft: 1024, Hard: 16384 },
  { Name: 'core', Soft: 0, Hard: 0 },
];

const HOST_CGROUPS: Mount = {
  type: 'bind',
  source: '/sys/fs/cgroup',
  target: '/sys/fs/cgroup',
  readOnly: false,
};

function mountBody(mount: Mount, probe: boolean): Record<string, unknown> {
  const common = {
    Type: mount.type,
    Source: mount.source,
    Target: mount.target,
    ReadOnly: mount.readOnly,
  };
  // The folder of a sandbox's socket is in a volume, and below its own root Docker takes rslave or rshared alone;
  // what the probe is given of the host may be a mount that is neither.
  const propagation = probe ? 'rprivate' : 'rslave';
  if (mount.type === 'bind') return { ...common, BindOptions: { Propagation: propagation } };
  // An empty volume is filled with what the image has at its target: the probe's image is to fill the volume of the
  // init. A sandbox's image fills nothing unless it was asked to, and the copy costs 40 ms a launch.
  return { ...common, VolumeOptions: { NoCopy: !probe && mount.fillFromImage !== true } };
}

import type { ContainerSpec } from '../../../driver.ts';

export interface StartPlan {
  spec: ContainerSpec;
  /** Folder of its root directory, with every place in it where something is mounted. */
  root: string;
  /** What /proc/PID/cgroup is to say, as a file. */
  cgroupFile: string;
  /** The folder of its simulated cgroup; the cgroup above it is the folder's parent. */
  cgroup: string;
  /** The root of all of them. */
  cgroups: string;
  mounts: { source: string; target: string; readOnly: boolean }[];
  uid: number;
  gid: number;
}

const DEVICES = ['null', 'zero', 'full', 'random', 'urandom', 'tty'];

/** Where a container finds its own simulated cgroup. */
export const KERNEL = '/.fake/kernel';
/** Beside it: the one above. */
export const KERNEL_PARENT = '/.fake/parent';

/**
 * Runs as PID 1 of a container's namespaces (the probe: in those of the machine) and becomes what the container runs.
 * Says `PID n` on file 3 just before that, and waits for a line; or `ERROR text`. It mounts a file over /proc/PID/cgroup while /proc is still
 * shared with the machine, so that every probe sees it there; the kernel takes it away with the process.
 */
export function startScript(plan: StartPlan): string {
  const { spec, root } = plan;
  const probe = spec.probe === true;
  const at = (path: string): string => quote(root + path);
  const bind = (source: string, target: string, readOnly = false): string[] => [
    `mount --bind ${quote(source)} ${at(target)}`,
    ...(readOnly ? [`mount -o remount,bind,ro ${at(target)}`] : []),
  ];
  const argv = [...spec.entrypoint, ...spec.command];
  const command = argv[0] ?? '';
  const capabilities = [...new Set([...spec.capabilities, 'SETUID', 'SETGID', 'SYS_CHROOT'])];
  const user = plan.uid === 0 ? [] : [`--userspec=${plan.uid}:${plan.gid}`, '--groups='];
  return [
    'set -e',
    'read -r pid rest </proc/self/stat',
    `mount --bind ${quote(plan.cgroupFile)} /proc/$pid/cgroup`,
    // The probe goes on seeing what is mounted in the machine's /proc.
    `mount --make-r${probe ? 'slave' : 'private'} /`,
    `mount --bind ${quote(root)} ${quote(root)}`,
    ...(probe
      ? [`mount --rbind /proc ${at('/proc')}`, ...bind(plan.cgroups, '/sys/fs/cgroup')]
      : [
          `mount -t proc proc ${at('/proc')}`,
          ...bind(plan.cgroup, KERNEL),
          ...bind(`${plan.cgroup}/..`, KERNEL_PARENT),
          ...devices(root),
          `echo ${quote(spec.hostname ?? 'fake')} >/proc/sys/kernel/hostname`,
          'ip link set lo up',
        ]),
    ...plan.mounts.flatMap(({ source, target, readOnly }) => bind(source, target, readOnly)),
    ...(spec.readOnlyRootFilesystem ? [`mount -o remount,bind,ro ${quote(root)}`] : []),
    `if [ ! -x ${at(command)} ]; then`,
    `  echo ${quote(`ERROR exec: "${command}": stat ${command}: no such file or directory`)} >&3`,
    '  exit 127',
    'fi',
    'echo "PID $pid" >&3',
    'read -r go <&3',
    'exec 3>&-',
    [
      'exec setpriv --no-new-privs',
      `--bounding-set=-all,${capabilities.map((name) => `+${name.toLowerCase()}`).join()}`,
      `chroot ${[...user, root, ...argv].map(quote).join(' ')}`,
    ].join(' '),
    '',
  ].join('\n');
}

function devices(root: string): string[] {
  const dev = quote(`${root}/dev`);
  return [
    `mount -t tmpfs -o mode=755 tmpfs ${dev}`,
    `cd ${dev}`,
    'mkdir pts shm',
    `touch ${DEVICES.join(' ')}`,
    ...DEVICES.map((device) => `mount --bind /dev/${device} ${device}`),
    'mount -t devpts -o newinstance,ptmxmode=0666,mode=620 devpts pts',
    'ln -s pts/ptmx ptmx',
    'mount -t tmpfs -o mode=1777 tmpfs shm',
    'cd /',
  ];
}

/**
 * In place of a container's `dd`: the one program of the suites that wants memory, all of it at once (bs=128M). Where it
 * wants more than there is, the counters move as the kernel's would, and it dies of a SIGKILL that nobody outside sent.
 * Run as root: the counters are root's.
 */
export const WANTS_MEMORY = `#!/bin/busybox sh
for arg; do case $arg in bs=*M) size=\${arg#bs=}; want=$((\${size%M} * 1048576)) ;; esac; done
max=$(cat ${KERNEL}/memory.max 2>/dev/null || echo max)
if [ "$max" != max ] && [ "\${want:-0}" -gt "$max" ]; then
  echo "$max" >${KERNEL}/memory.peak
  for file in ${KERNEL}/memory.events ${KERNEL}/memory.events.local ${KERNEL_PARENT}/memory.events; do
    text=$(while read -r name value; do
      case $name in max | oom | oom_kill) value=$((value + 1)) ;; esac
      echo "$name $value"
    done <$file)
    echo "$text" >$file
  done
  kill -KILL $$
fi
exec /bin/busybox dd "$@"
`;

function quote(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}

import { GROUP } from '../../crds/group.ts';
import type { RuntimeInfo } from '../driver.ts';

/** Names and labels of what the agent makes in a runtime. All of it is found again by them. */
export const containerName = (uid: string): string => `holdfast-${uid}`;
export const workspaceVolume = (uid: string): string => `holdfast-ws-${uid}`;
/** The container that opens the workspace for a user other than root; it is never started. */
export const workspaceFiller = (uid: string): string => `holdfast-ws-${uid}`;
export const probeName = (node: string): string => `holdfast-probe-${node}`;
export const RUN_VOLUME = 'holdfast-run';
/** What is around the program in image and volume of the init; counted up with each change of it. */
export const LAYOUT = 3;
export const initVolume = (hash: string): string => `holdfast-init-${hash}-${LAYOUT}`;

/** Of every sandbox: in none is there anybody else to tell it from. */
export const HOSTNAME = 'sandbox';
/** Beside the program in the volume of the init. */
export const HOSTS_FILE = 'hosts';

export const BIN_PATH = '/.holdfast/bin';
export const INIT_PATH = `${BIN_PATH}/holdfast-init`;
export const RUN_PATH = '/.holdfast/run';
export const SANDBOXES_PATH = '/.holdfast/sandboxes';

export const LABELS = {
  managedBy: `${GROUP}/managed-by`,
  node: `${GROUP}/node`,
  namespace: `${GROUP}/namespace`,
  name: `${GROUP}/name`,
  uid: `${GROUP}/uid`,
  specHash: `${GROUP}/spec-hash`,
  limitsHash: `${GROUP}/limits-hash`,
  role: `${GROUP}/role`,
} as const;

const MANAGED_BY = 'holdfast-agent';

/** What every container and volume of this agent has. */
export function ownLabels(nodeName: string): Record<string, string> {
  return { [LABELS.managedBy]: MANAGED_BY, [LABELS.node]: nodeName };
}

/**
 * On cgroup v2 a cgroup of the sandbox's own, above the container's: its counters outlive the container. On v1 a
 * parent counts nothing.
 */
export function cgroupParent(uid: string, info: RuntimeInfo): string | undefined {
  if (info.cgroupVersion !== '2' || info.rootless === true) return undefined;
  if (info.cgroupDriver === 'systemd') return `holdfast-${uid.replaceAll('-', '')}.slice`;
  return info.cgroupDriver === 'cgroupfs' ? `/holdfast/${uid}` : undefined;
}

/** Where that parent is below the root of the hierarchy: systemd nests a slice in those its name spells out. */
export function cgroupParentPath(parent: string): string {
  return parent.endsWith('.slice') ? `/holdfast.slice/${parent}` : parent;
}

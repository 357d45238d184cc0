import type { NodeRuntime } from '../../crds/sandbox-node.ts';

/** What a runtime says of itself that bears on limits, in neutral words. */
export interface EnforcementFacts {
  rootless: boolean;
  cgroupVersion: '1' | '2' | undefined;
  /** cgroupfs, systemd, or none. */
  cgroupDriver: string;
  /** Whether the runtime says it can use the controller. */
  controllers: Record<Controller | 'swap', boolean>;
}

type Controller = 'cpu' | 'memory' | 'pids';
export type LimitCapabilities = NodeRuntime['limits'];
type Capability = LimitCapabilities['cpu'];

const TITLES = { cpu: 'CPU', memory: 'memory', pids: 'process' } as const;

const FIX_V2 =
  'Run the runtime on a host with cgroup v2 (kernel argument systemd.unified_cgroup_hierarchy=1), and delegate the controllers to the user: Delegate=cpu memory pids for user@.service.';
const FIX_DELEGATE =
  'Delegate the controllers to the user of the runtime: put "[Service]\\nDelegate=cpu memory pids" into /etc/systemd/system/user@.service.d/delegate.conf, run systemctl daemon-reload, and log in again.';

/**
 * What the runtime can enforce of each limit, and how that is known. The runtime's own booleans count only where it
 * has cgroups to use: a rootless daemon on cgroup v1, or one with cgroup driver none, says true to everything and
 * applies nothing (moby#42151).
 */
export function limitCapabilities(facts: EnforcementFacts): LimitCapabilities {
  const memory = controllerCapability('memory', facts);
  return {
    cpu: controllerCapability('cpu', facts),
    memory,
    swap: swapCapability(facts, memory),
    pids: controllerCapability('pids', facts),
  };
}

/** For a runtime that gave no readable answer (L7). */
export function unknownCapabilities(reason: string): LimitCapabilities {
  const unknown = (): Capability => ({ enforced: 'Unknown', reason });
  return { cpu: unknown(), memory: unknown(), swap: unknown(), pids: unknown() };
}

type Check = (controller: Controller, facts: EnforcementFacts) => Capability | undefined;

/** In order; the first that has something to say decides. */
const checks: readonly Check[] = [rootlessOnV1, driverNone, controllerMissing];

function controllerCapability(controller: Controller, facts: EnforcementFacts): Capability {
  for (const check of checks) {
    const found = check(controller, facts);
    if (found) return found;
  }
  return {
    enforced: 'Yes',
    reason: `The runtime has the ${controller} controller${facts.cgroupVersion === undefined ? '' : ` (cgroup v${facts.cgroupVersion}, ${facts.cgroupDriver})`}.`,
  };
}

function rootlessOnV1(controller: Controller, facts: EnforcementFacts): Capability | undefined {
  if (!facts.rootless || facts.cgroupVersion !== '1') return undefined;
  return {
    enforced: 'No',
    reason: `The runtime is rootless on cgroup v1, where it cannot apply a ${TITLES[controller]} limit, whatever it says.`,
    fix: FIX_V2,
  };
}

function driverNone(controller: Controller, facts: EnforcementFacts): Capability | undefined {
  if (facts.cgroupDriver !== 'none') return undefined;
  return {
    enforced: 'No',
    reason: `The runtime uses no cgroups (cgroup driver none): a ${TITLES[controller]} limit would be ignored.`,
    fix:
      facts.cgroupVersion === '1'
        ? FIX_V2
        : facts.rootless
          ? FIX_DELEGATE
          : 'Start the runtime with the cgroup driver systemd or cgroupfs.',
  };
}

function controllerMissing(controller: Controller, facts: EnforcementFacts): Capability | undefined {
  if (facts.controllers[controller]) return undefined;
  if (facts.rootless)
    return {
      enforced: 'No',
      reason: `The ${controller} controller is not delegated to the rootless runtime.`,
      fix: FIX_DELEGATE,
    };
  return {
    enforced: 'No',
    reason: `The runtime has no ${controller} controller: a ${TITLES[controller]} limit would be dropped.`,
    fix:
      facts.cgroupVersion === '1'
        ? `Mount the cgroup v1 hierarchy of ${controller} on the host of the runtime, or boot it with cgroup v2.`
        : `Boot the host of the runtime with the ${controller} controller (no cgroup_disable=${controller} on the kernel command line; for memory on some boards cgroup_enable=memory), and have it in cgroup.subtree_control above the runtime.`,
  };
}

function swapCapability(facts: EnforcementFacts, memory: Capability): Capability {
  if (memory.enforced === 'No')
    return {
      enforced: 'No',
      reason: `No memory limit, so none of swap either. ${memory.reason}`,
      ...(memory.fix === undefined ? {} : { fix: memory.fix }),
    };
  if (facts.controllers.swap)
    return { enforced: 'Yes', reason: 'Memory and swap together are held to the memory limit.' };
  return {
    enforced: 'No',
    reason:
      facts.cgroupVersion === '2'
        ? 'The runtime found no memory.swap.max in its own cgroup: it runs in the root cgroup, or the kernel has no swap accounting. Memory limits hold; swap is unbounded.'
        : 'The kernel has no swap accounting. Memory limits hold; swap is unbounded.',
    fix:
      facts.cgroupVersion === '2'
        ? 'Start the runtime in a cgroup of its own (as a systemd service, say), and the kernel with swapaccount=1.'
        : 'Boot the host of the runtime with swapaccount=1, or without swap.',
  };
}

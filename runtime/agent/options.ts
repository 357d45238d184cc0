import type { Logger } from 'pino';
import type { SandboxNodeSpec } from '../../crds/sandbox-node.ts';
import type { KubeClient } from '../../kube/client.ts';
import type { Clock } from '../../kube/clock.ts';
import type { RuntimeDriver } from '../driver.ts';

export interface AgentOptions {
  client: KubeClient;
  /** One for each runtime of the node. */
  drivers: RuntimeDriver[];
  nodeName: string;
  /** Folder of the agent's own: ledger and output. Made with mode 0700. One agent at a time. */
  dataDir: string;
  /** Path of the static holdfast-init binary. */
  initBinary: string;
  clock: Clock;
  log: Logger;
  random: () => number;
  /** Names this agent as the holder of the node name; kept in dataDir from its first start on. */
  instance: string;
  version?: string;
  /** Of the node's lease, in whole seconds, and of the fence of its sandboxes; for tests. Default 40. */
  leaseSeconds?: number;
  /** `spec.reserved` of the SandboxNode, where there is none yet. */
  reserve?: SandboxNodeSpec['reserved'];
  /** The same: what the kubelet of the node may give to pods, where that is known and `reserve` says nothing. */
  reserveForKubelet?: boolean;
}

export interface Agent {
  /** Leaves sandboxes running unless told otherwise. */
  stop(options?: { endSandboxes?: boolean }): Promise<void>;
  /** Why it does nothing for its sandboxes now; undefined: it does. */
  notReady(): string | undefined;
  /** Settles when the agent has ended. */
  readonly done: Promise<void>;
}

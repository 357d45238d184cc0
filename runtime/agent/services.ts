import type { Logger } from 'pino';
import type { Sandbox, SandboxStatus } from '../../crds/sandbox.ts';
import type { SandboxNodeSpec } from '../../crds/sandbox-node.ts';
import type { KubeClient } from '../../kube/client.ts';
import type { Clock } from '../../kube/clock.ts';
import type { EventRecorder } from '../../kube/events.ts';
import type { Lister } from '../../kube/lister.ts';
import type { Steps } from '../../kube/fault-points.ts';
import type { Ledger } from './ledger/ledger.ts';
import type { Outputs } from './output/outputs.ts';
import type { Run } from './run.ts';
import type { Runtime } from './runtimes/runtime.ts';

/** What every part of the agent works with. */
export interface Services {
  readonly client: KubeClient;
  readonly nodeName: string;
  readonly clock: Clock;
  readonly log: Logger;
  readonly random: () => number;
  readonly step: Steps;
  readonly ledger: Ledger;
  readonly outputs: Outputs;
  readonly events: EventRecorder;
  readonly lister: Lister<Sandbox>;
  readonly runtimes: ReadonlyMap<'docker' | 'podman', Runtime>;
  readonly runs: Map<string, Run>;
  nameHeld(): boolean;
  /** A renewal of the node's lease that begins now; when its request was sent (monotonic). Throws NotNow. */
  renewLease(): Promise<number>;
  /** How long after the last heartbeat a sandbox ends itself where it is to. */
  readonly fenceSeconds: number;
  /** The agent was told to end its sandboxes with itself. */
  ending(): boolean;
  enqueue(uid: string): void;
  enqueueAfter(uid: string, ms: number): void;
  /** Publishes what the runtimes can do, before a sandbox is handed back because of it. */
  publishNode(): Promise<void>;
  /** Before a status is written: whether this agent is the one to write it. Throws NotNow where it is not. */
  mayWrite(sandbox: Sandbox, next: SandboxStatus): Promise<void>;
  /** What the operator wants of this node. */
  nodeSpec(): SandboxNodeSpec | undefined;
  /** Ends with the agent. */
  readonly signal: AbortSignal;
}

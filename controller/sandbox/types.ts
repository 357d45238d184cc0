import type { EventReason } from '../../crds/conditions.ts';
import type { SandboxNode } from '../../crds/sandbox-node.ts';
import type { Sandbox, SandboxStatus } from '../../crds/sandbox.ts';
import type { Heartbeat, NodeView } from '../placement/types.ts';

/** Everything a decision about one sandbox is made from. */
export interface Observation {
  now: Date;
  sandbox: Sandbox;
  /** Of the node it is bound to; undefined: it is bound to none. */
  home: { name: string; node: SandboxNode | undefined; heartbeat: Heartbeat; silentMs: number } | undefined;
  /** Every node; empty where it is bound already. */
  nodes: readonly NodeView[];
  /** Milliseconds until a node that declined may be asked again. */
  declinedForMs: number | undefined;
}

export interface Decision {
  /** Why, in a few words; for the log and for tests. */
  because: string;
  act?: 'AddFinalizerAndBind' | 'RemoveFinalizer' | 'Delete' | 'TakeBack';
  /** Where to, with `AddFinalizerAndBind`. */
  node?: string;
  /** With `TakeBack`: for how long its node must have been silent, by a fresh look at the lease. */
  silentMs?: number;
  /** The whole status as it should be; written where it differs. */
  status?: SandboxStatus;
  /** Recorded once the status has been written. */
  event?: { type: 'Normal' | 'Warning'; reason: EventReason; message: string };
  /** Look again after this long, even if nothing changes. */
  afterMs?: number;
}

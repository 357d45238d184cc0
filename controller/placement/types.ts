import type { Limits } from '../../crds/limits.ts';
import type { NodeRuntime, SandboxNode } from '../../crds/sandbox-node.ts';
import type { SandboxSpec } from '../../crds/sandbox.ts';

/** What the sandboxes of one node hold of it, the one in question left out. */
export interface Load {
  sandboxes: number;
  cpuMillis: number;
  memoryBytes: number;
}

/**
 * Life of a node's agent, by its lease: `Alive`; `Unproven`, not seen to be renewed since this controller began, and
 * too old by its own words; `Released`, given back by an agent that was stopped; `Expired`; `Missing`, no lease.
 */
export type Heartbeat = 'Alive' | 'Unproven' | 'Released' | 'Expired' | 'Missing';

/** A handover that a node declined, and which is not offered to it again yet. */
export interface Decline {
  about: 'Limits' | 'Storage' | 'Other';
  message: string;
  /** About one limit alone; absent: about several. */
  limit?: 'cpu' | 'memory' | 'pids';
  /** The runtime gave no readable answer about it. */
  unreadable?: boolean;
}

export interface NodeView {
  node: SandboxNode;
  heartbeat: Heartbeat;
  load: Readonly<Load>;
  decline: Decline | undefined;
}

/** What is asked for. */
export interface Request {
  spec: SandboxSpec;
  limits: Limits;
}

/** One place a sandbox could go to. */
export interface Candidate {
  view: NodeView;
  runtime: NodeRuntime;
}

export type CheckName =
  | 'unschedulable'
  | 'selector'
  | 'heartbeat'
  | 'readiness'
  | 'runtime'
  | 'limits'
  | 'decline'
  | 'storage'
  | 'count'
  | 'capacity';

/** Why a node, or a runtime of it, was passed over. */
export interface Objection {
  node: string;
  /** Absent: the whole node. */
  runtime: string | undefined;
  check: CheckName;
  why: string;
  /** For `limits`: which ones, and whether there was any answer about them. */
  limits?: LimitObjection[];
}

export interface LimitObjection {
  limit: 'cpu' | 'memory' | 'pids';
  unreadable: boolean;
  why: string;
  fix: string | undefined;
}

export type Placement =
  | { found: true; node: string; runtime: 'docker' | 'podman' }
  | {
      found: false;
      reason:
        | 'NoNodes'
        | 'Unschedulable'
        | 'CPUUnenforceable'
        | 'MemoryUnenforceable'
        | 'PIDsUnenforceable'
        | 'LimitsUnenforceable'
        | 'RuntimeUnreadable';
      /** A limit that no eligible node can enforce: nothing is tried again until one can (L9). */
      unenforceable: boolean;
      /** Whether a node that was asked can enforce every limit; undefined: there was none to ask. */
      enforceable: boolean | undefined;
      /** Where nodes were passed over for their storage: which, and what they say (S3). */
      storageLow: string | undefined;
      message: string;
    };

import type { Termination } from '../../../crds/limits-status.ts';
import type { KernelLimits } from '../../driver.ts';
import type { ProcessExit } from '../../link/types.ts';
import type { KernelCounters, OurStop, Verdict } from '../../verdict/evidence.ts';

/** What the agent intends and has found out about one sandbox, kept across its own restarts. */
export interface LedgerRecord {
  version: 1;
  uid: string;
  namespace: string;
  name: string;
  runtime: 'docker' | 'podman';
  /** Identity of what the container was made for. */
  specHash: string;
  limitsHash: string;
  /** The generation of the spec that runs. */
  generation: number;
  retained: boolean;
  hasSetup: boolean;
  /** Of the host that the runtime is on, when the container was last started. */
  bootID?: string;
  containerID?: string;
  imageID?: string;
  limits: RequestedLimits;
  /** As given to the runtime; removed by us, since runtimes leave it behind. */
  cgroupParent?: string;
  /** The cgroup of PID 1, /proc/PID/cgroup as it was read at the gate. */
  cgroup?: string;
  /** How many times the container was started. */
  starts: number;
  /** Restarts in a row that followed a short run. */
  quickRestarts?: number;
  setup?: LaunchRecord;
  main?: LaunchRecord;
  /** Init ends the sandbox by itself after so long without a heartbeat; written before it is told so. */
  fence?: {
    seconds: number;
    /** It has. */
    fellAt?: string;
  };
  /** A stop of ours: written before the first signal. */
  stop?: StopRecord;
  /** The verdict on the last end; written before it is published and before the container is removed. */
  outcome?: Outcome;
  /** A change of limits in place that failed: not tried again until the spec changes. */
  refusedLimits?: {
    hash: string;
    reason: 'LimitUnenforceable' | 'ReadBackMismatch';
    message: string;
    /** Whether the old limits are in force again. */
    restored?: boolean;
  };
  /** A reason not to try this identity again, found before user code ran. */
  refusal?: { reason: RefusalReason; message: string };
}

export type RefusalReason =
  | 'ReadBackMismatch'
  | 'ReadBackFailed'
  | 'StartFailed'
  | 'CommandNotFound'
  | 'CommandNotExecutable'
  | 'NetworkUnsupported'
  | 'NotSupported'
  | 'InvalidSpec';

export interface RequestedLimits extends KernelLimits {
  pidsDefaulted: boolean;
  /** Whether the runtime can hold swap (L4). */
  swapHeld: boolean;
}

export interface LaunchRecord {
  /** Written before START is sent. */
  intendedAt: string;
  /** Which start of the container it belongs to. */
  start: number;
  /** The runtime's flag just before it began: it says nothing about this launch then. */
  flagBefore?: boolean;
  /** Kernel counters just before it began. */
  baseline?: KernelCounters;
  startedAt?: string;
  /** The activeDeadlineSeconds that init was told of. */
  deadlineSeconds?: number;
  /** Known once init said so. */
  exit?: ProcessExit;
  endedAt?: string;
  /** Kernel counters read while the cgroup was held. */
  closing?: KernelCounters;
  /** Its own verdict, for a setup that main came after. */
  termination?: Termination;
  /** The memory limit killed something in that setup, and that was not its end (O5). */
  oom?: Verdict['oom'];
}

export type StopReason = OurStop['reason'];

interface StopRecord {
  reason: StopReason;
  at: string;
  /** Names of the signals that were sent or were about to be. */
  signals: string[];
}

export interface Outcome {
  termination: Termination;
  /** The memory limit killed something during the launch, and that was not its end (O5). */
  oom?: Verdict['oom'];
  /**
   * What it means for the sandbox. `Stopped`: held until the spec says otherwise. `Restart`: the same container again.
   * `Anew`: another container.
   */
  ended: 'Succeeded' | 'Failed' | 'Stalled' | 'Stopped' | 'Restart' | 'Anew';
}

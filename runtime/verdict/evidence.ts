import type { Termination } from '../../crds/limits-status.ts';
import type { ContainerInfo, RuntimeEvent } from '../driver.ts';
import type { ProcessExit } from '../link/types.ts';

/** Everything that is known about the end of one launch. A field that is absent was not to be had. */
export interface Evidence {
  launch: Termination['launch'];
  /** In force while it ran. */
  limits: { memoryBytes?: number; swap?: 'Held' | 'Unbounded' };
  /** PID 1's word on the process: undefined when none came. User code cannot speak in its place. */
  report?: Pick<ProcessExit, 'exitCode' | 'signal' | 'endedBy' | 'outside'>;
  /** When the report was taken, RFC 3339, by the clock that a stop is written down with. */
  reportedAt?: string;
  kernel: KernelEvidence;
  /** Inspect after the end; 'Missing': the runtime has no such container. */
  container: Pick<ContainerInfo, 'state' | 'exitCode' | 'error'> | 'Missing' | undefined;
  /** The runtime's flag "a process of this container was killed for memory". */
  flag: {
    /** As it was before this launch: true once, it says nothing about this one. */
    before?: boolean;
    after?: boolean;
    /** How long after the end it was asked for the last time. */
    askedForMs: number;
  };
  /** Events of this container since the launch began, in the order of their times. */
  events: readonly Pick<RuntimeEvent, 'action' | 'detail' | 'timeMs'>[];
  /** From our ledger: a stop of ours. */
  stop?: OurStop;
  /** The runtime, or its machine, was started anew while the launch ran. */
  restarted?: 'Runtime' | 'Machine';
  /** Init was to end the sandbox by itself after so long without a heartbeat. */
  fence?: {
    seconds: number;
    /** Init said that it did, RFC 3339, by the agent's clock. */
    fellAt?: string;
  };
  /** The command never began. */
  startFailure?: StartFailure;
}

interface KernelEvidence {
  /** Just before the launch. */
  before?: KernelCounters;
  after?: KernelCounters;
  /**
   * `after` was read when the process had ended and while its cgroup was still held: what did not move by then did
   * not move. Otherwise only movement counts.
   */
  held: boolean;
}

/** A figure is absent where its file could not be read. */
export interface KernelCounters {
  /** v2 `oom_kill` of memory.events; v1 `oom_kill` of memory.oom_control. */
  oomKills?: number;
  /** How often the sandbox's own limit was hit: v2 `oom` of memory.events.local; v1 both failcnts together. */
  limitHits?: number;
  peakBytes?: number;
  /** v2, of the cgroup parent that is the sandbox's own, which outlives the container: read after its end. */
  parentOOMKills?: number;
  parentLimitHits?: number;
  /** Where each figure was read, for the list of evidence. */
  readings: readonly { path: string; content: string }[];
}

export interface OurStop {
  reason:
    | 'Suspended'
    | 'Deleted'
    | 'Deadline'
    | 'Replaced'
    | 'Stopped'
    | 'Drained'
    | 'SetupTimeout'
    | 'LimitsUnproven';
  /** RFC 3339. */
  at: string;
  /** Names of those sent or about to be sent. */
  signals: readonly string[];
}

/** From init: it could not run the command. */
export interface StartFailure {
  stage: string;
  errno: string;
}

export interface Verdict {
  /** The check that decided. */
  check: string;
  cause: Termination['cause'];
  verdict: Termination['verdict'];
  /** As a shell gives it: 128 + signal. */
  exitCode?: number;
  /** SIGKILL and the like. */
  signal?: string;
  message: string;
  evidence: string[];
  contradictions: string[];
  /**
   * Whether our memory limit killed something during the launch, apart from what ended it: a launch that got past
   * it keeps its result, and a kill before a stop of ours is recorded all the same (O5).
   */
  oom?: { verdict: 'Confirmed' | 'Unconfirmed'; message: string };
  memoryLimitBytes?: number;
  peakMemoryBytes?: number;
  /** Kills for memory during the launch, whoever's limit it was. */
  oomKills?: number;
}

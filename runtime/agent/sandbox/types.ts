import type { Reason } from '../../../crds/conditions.ts';
import type { Limits } from '../../../crds/limits.ts';
import type { Sandbox, SandboxStatus } from '../../../crds/sandbox.ts';
import type { ConditionInput } from '../../../kube/conditions.ts';
import type { ContainerInfo, RuntimeInfo } from '../../driver.ts';
import type { ProcessExit } from '../../link/types.ts';
import type { LedgerRecord, RefusalReason, StopReason } from '../ledger/record.ts';
import type { Receipt } from './receipt.ts';

/** Everything a decision is made from: taken once, changed by nobody. */
export interface Observation {
  nowMs: number;
  nodeName: string;
  /** undefined: deleted, confirmed by the API. */
  sandbox: Sandbox | undefined;
  spec: SpecFacts | undefined;
  record: LedgerRecord | undefined;
  runtime: RuntimeAnswer;
  /** undefined: the runtime has none under the sandbox's name. */
  container: ContainerInfo | undefined;
  probe: { ready: true } | { ready: false; why: string };
  session: SessionView | undefined;
  /** Whether the probe that is there now awaits the init of this sandbox. */
  listening: boolean;
  pull: PullView | undefined;
  /** Whether this agent holds its node name: without it nothing is begun. */
  nameHeld: boolean;
  /** The agent was told to end its sandboxes with itself. */
  ending: boolean;
  /** Everything of a sandbox that is going was removed by this agent already. */
  tornDown: boolean;
  /** How long user code has run, on a clock that does not jump; undefined: it has not. */
  ranMs: number | undefined;
  /** How long the container has run without its init having come. */
  silentMs: number | undefined;
  /** Whether this agent has sent the first signal of the stop that is under way. */
  stopSent: boolean;
  /** The runtime refused a limit of this spec when the container was made or started. */
  unenforceable: string | undefined;
  /** How long ago the first signal of a stop was sent. */
  stoppingMs: number | undefined;
  /** The operator wants the node to be empty. */
  draining?: boolean;
  /** Why the node has no room for a spec that has changed since the controller chose the node. */
  noRoom?: string | undefined;
  /** Why the last attempt at something failed, while it is being tried again. */
  trouble: { reason: Reason; message: string } | undefined;
}

/** What follows from a spec alone. */
export interface SpecFacts {
  specHash: string;
  limitsHash: string;
  retained: boolean;
  hasSetup: boolean;
  limits: Limits;
  /** The spec asks for what this version does not do, or contradicts itself. */
  refusal: { reason: RefusalReason; message: string } | undefined;
}

export type RuntimeAnswer =
  | { state: 'Ok'; info: RuntimeInfo }
  /** It gave an answer that cannot be read (L7), or none. */
  | { state: 'Unreadable' | 'Unavailable'; message: string };

export interface SessionView {
  /** Which start of the container it belongs to. */
  start: number;
  setup: ProcessView | undefined;
  main: ProcessView | undefined;
  /** Taken over this session; undefined: not yet. */
  receipt: Receipt | undefined;
  /** Init was told to go. */
  released: boolean;
  /** Whether this init can end the sandbox by itself. */
  canFence: boolean;
  /** It was told to, by this agent, this long after the last heartbeat. */
  fenceSeconds: number | undefined;
  /** It has. */
  fenced: boolean;
  /** A limit that has changed since, as read from the kernel: what is in force now. */
  drift: string[] | undefined;
}

export interface ProcessView {
  state: 'running' | 'exited';
  exit: ProcessExit | undefined;
}

export type PullView =
  | { state: 'running'; image: string; progress: string }
  | { state: 'failed'; image: string; message: string; retryInMs: number }
  | { state: 'absent'; image: string; message: string; retryInMs: number };

export type Action =
  | { do: 'create' }
  | { do: 'start' }
  /** A new probe awaits the init of a container that runs. */
  | { do: 'listen' }
  | { do: 'receipt' }
  | { do: 'start-setup' }
  | { do: 'setup-done' }
  | { do: 'start-main' }
  | { do: 'refuse'; reason: RefusalReason; message: string }
  /** Init is told to end the sandbox by itself when no heartbeat comes. */
  | { do: 'fence' }
  | { do: 'lift-fence' }
  /** Init has ended it by itself. */
  | { do: 'note-fence' }
  /** The deadline of what runs has changed: init is told. */
  | { do: 'time-limit'; launch: 'setup' | 'main' }
  | { do: 'collect'; launch: 'setup' | 'main' }
  /** The goodbye that collect ends with, where an agent died before it. */
  | { do: 'release'; launch: 'setup' | 'main' }
  | { do: 'conclude' }
  | { do: 'stop'; reason: StopReason }
  /** The first signal of a stop that was written down and may not have been sent. */
  | { do: 'stop-again' }
  | { do: 'kill' }
  | { do: 'unpause' }
  | { do: 'restart' }
  | { do: 'update-limits' }
  /** Container and record of this attempt go, the workspace stays. */
  | { do: 'discard' }
  /** As discard, for an attempt that came to nothing before user code: tried again after a growing wait. */
  | { do: 'give-up'; reason: Reason; message: string }
  /** The container goes; what is known about it stays. */
  | { do: 'remove-container' }
  /** Everything goes. */
  | { do: 'tear-down' }
  | { do: 'forget' }
  | { do: 'hand-back' };

export interface StatusChange {
  conditions: ConditionInput[];
  set?: Partial<SandboxStatus>;
  unset?: (keyof SandboxStatus)[];
}

export interface Decision {
  /** The check that decided. */
  because: string;
  status?: StatusChange;
  /** Before the act, and only then the act; otherwise only when no act follows. */
  writeFirst?: boolean;
  act?: Action;
  /** Look again after this long even if nothing happens. */
  againMs?: number;
}

export type Check = (seen: Observation) => Decision | undefined;

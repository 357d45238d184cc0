import type { Sandbox } from '../../crds/sandbox.ts';
import type { Reason } from '../../crds/conditions.ts';
import type { ContainerInfo, ImageInfo, RuntimeEvent } from '../driver.ts';
import type { Probe } from '../link/types.ts';
import type { LedgerRecord } from './ledger/record.ts';
import type { LiveSession } from './session/live-session.ts';
import type { PullView } from './sandbox/types.ts';

/** What the agent remembers of one sandbox while it runs. All of it can be found out again. */
export interface Run {
  readonly uid: string;
  /** Where the API has it; known from the API, or from the labels of a container. */
  namespace: string;
  name: string;
  record: LedgerRecord | undefined;
  container: ContainerInfo | undefined;
  /** Whether `container` has to be asked for again. */
  stale: boolean;
  session: LiveSession | undefined;
  /** The probe that awaits its init. */
  listener: Probe | undefined;
  /** Somebody waits for the init to come. */
  onSession: (() => void) | undefined;
  /** Of the container's image, for the command. */
  image: ImageInfo | undefined;
  pull: PullView | undefined;
  tornDown: boolean;
  /** The API confirmed that there is no such sandbox. */
  gone: boolean;
  /** What the record has of a launch is written once its status is: the next agent may want it, nobody waits for it. */
  noteStarted: boolean;
  /** Newer than the lister's, whose versions of it are known to be old. */
  newer: { object: Sandbox; outdated: Set<string> } | undefined;
  /** Monotonic times. */
  startedMs: number | undefined;
  userCodeMs: number | undefined;
  stopMs: number | undefined;
  /** This agent has sent the first signal of the stop that is under way. */
  stopSent: boolean;
  /** What the runtime said when it refused a limit at the creation or the start. */
  unenforceable: string | undefined;
  /** When an end was first seen whose verdict waits for more. */
  endSeenMs: number | undefined;
  /** This agent has told the events of the last end. */
  endSaid: boolean;
  /** Whether a ledger that is not there may have been lost: only before anything was done here. */
  mayRecover: boolean;
  /** What the runtime said happened to the container, the last few. */
  events: RuntimeEvent[];
  trouble: { reason: Reason; message: string } | undefined;
  /** A change of limits of our own is under way: what the runtime says of it is no drift. */
  ownUpdate: boolean;
  /** Its changed spec asks for more than the node has left. */
  waitsForRoom: boolean;
  /** The image that was pulled for this sandbox, where the policy is to pull always. */
  pulled: string | undefined;
  pullFailures: number;
  /** Starts of the container that failed in a row. */
  startFailures: number;
  retryPullAt: number | undefined;
  stopPull: (() => void) | undefined;
}

const EVENTS_KEPT = 32;

export function newRun(uid: string, where: { namespace: string; name: string }): Run {
  return {
    uid,
    ...where,
    record: undefined,
    container: undefined,
    stale: false,
    session: undefined,
    listener: undefined,
    onSession: undefined,
    image: undefined,
    pull: undefined,
    tornDown: false,
    gone: false,
    noteStarted: false,
    newer: undefined,
    startedMs: undefined,
    userCodeMs: undefined,
    stopMs: undefined,
    stopSent: false,
    unenforceable: undefined,
    endSeenMs: undefined,
    endSaid: false,
    mayRecover: true,
    events: [],
    trouble: undefined,
    ownUpdate: false,
    waitsForRoom: false,
    pulled: undefined,
    pullFailures: 0,
    startFailures: 0,
    retryPullAt: undefined,
    stopPull: undefined,
  };
}

export function rememberEvent(run: Run, event: RuntimeEvent): void {
  run.events.push(event);
  if (run.events.length > EVENTS_KEPT) run.events.shift();
}

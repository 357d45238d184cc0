import type { Duplex } from 'node:stream';

/**
 * The agent's ends of the two connections described in docs/protocol.md: one to the probe of a runtime, and,
 * carried by it, one to the init of each sandbox.
 */

/** What a file held, or why it could not be read. */
export type FileReading = { path: string; content: string } | { path: string; errno: string };

export interface ProbeHello {
  protocol: number;
  /** SHA-256 of the program's sources, hex, first 16 (what `holdfast-init version` prints; not the file's hash). */
  build: string;
  bootID: string;
  /** Of the host that the probe sees. */
  cgroup: 'v1' | 'v2' | 'hybrid' | 'none';
  clockTicksPerSecond: number;
  pageSizeBytes: number;
}

export interface ProcessFacts {
  pid: number;
  /** Field 22 of /proc/PID/stat. */
  startTicks: bigint;
  uid: number;
  /** From the outermost visible namespace inwards. */
  nsPids: number[];
  /** /proc/PID/cgroup as it is. */
  cgroup: string;
}

export interface InitArrival {
  /** The id given to `listen`. */
  sandboxID: string;
  /** The peer by SO_PEERCRED: PID 1 of its PID namespace, checked by the probe. */
  peer: ProcessFacts;
  stream: Duplex;
}

export interface RequestOptions {
  signal?: AbortSignal;
  /** After it the call rejects with LinkError `TimedOut`; 10 s if absent. The connection stays as it is. */
  timeoutMs?: number;
}

export interface Probe {
  readonly hello: ProbeHello;
  /** Settles when the connection is over, with the reason; never rejects. */
  readonly closed: Promise<Error>;
  /** One round trip for all; absolute paths under /sys/fs/cgroup or /proc only. */
  readFiles(paths: string[], options?: RequestOptions): Promise<FileReading[]>;
  /** undefined: no such process. */
  process(pid: number, options?: RequestOptions): Promise<ProcessFacts | undefined>;
  /** Of the probe's own root: the filesystem of the writable layers. */
  statfs(
    path: string,
    options?: RequestOptions,
  ): Promise<{
    type: number;
    blockSize: bigint;
    blocks: bigint;
    bavail: bigint;
    bfree: bigint;
    files: bigint;
    ffree: bigint;
  }>;
  /** Makes DIR/sandboxID (0755, of root) with a socket in it and accepts inits there; idempotent. */
  listen(sandboxID: string, options?: RequestOptions): Promise<void>;
  /** Ends it and removes the directory; idempotent. */
  unlisten(sandboxID: string, options?: RequestOptions): Promise<void>;
  /** Sandbox ids that have a directory, those left by an earlier probe included. */
  listening(options?: RequestOptions): Promise<string[]>;
  /** rmdir of an empty cgroup in every hierarchy it is in; `path` relative to the hierarchy's root. false: not empty. Idempotent. */
  removeCgroup(path: string, options?: RequestOptions): Promise<boolean>;
  /** One round trip to the probe and back. */
  ping(options?: RequestOptions): Promise<void>;
  close(): void;
}

export interface StartSpec {
  /** 1 setup, 2 main; others are for processes. */
  id: number;
  argv: string[];
  /** The whole environment, NAME=VALUE. */
  env: string[];
  workingDir: string;
  tty?: { rows: number; cols: number };
  stdin?: boolean;
  /** Its group is ended this long after its start even when no agent is there. Absent or 0: no limit. */
  timeoutMs?: number;
  /** Between SIGTERM and SIGKILL at the timeout; 10 s if absent. */
  graceMs?: number;
  /** Bytes of each stream it may send before the first `credit`; 64 KiB if absent. */
  windowBytes?: number;
}

export interface ProcessRecord {
  id: number;
  /** As PID 1 sees it. */
  pid: number;
  startTicks: bigint;
  state: 'running' | 'exited';
  /** For exited ones; of one that could not be started, exitCode is 127 (not found) or 126. */
  exit?: ProcessExit;
  /** It never ran: what `start` answered. */
  failed?: { stage: StartFailureStage; errno: string };
  /** Bytes of stdin that it has taken over from earlier connections. */
  stdinReceived: bigint;
}

export interface ProcessExit {
  exitCode: number | undefined;
  signal: number | undefined;
  coreDumped: boolean;
  /** Milliseconds since boot (CLOCK_BOOTTIME). */
  startedAtBootMs: number;
  endedAtBootMs: number;
  maxRssBytes: number;
  userMicros: number;
  systemMicros: number;
  /**
   * Ended by init itself: at its time limit, or by a signal the agent asked for, or passed on from outside. `outside`
   * takes a signal that asks to end, at most 10 s before: never HUP, USR1 and the like, even where it died of one. `fence`:
   * no heartbeat had come for its time.
   */
  endedBy: 'itself' | 'timeout' | 'agent' | 'outside' | 'fence';
  /**
   * A signal from outside, passed on within 10 s before the end, to which it can be due: the one it died of, of
   * whatever kind, or (it exited by itself) the last TERM, INT, QUIT or SIGRTMIN+3. There beside any `endedBy`. Absent
   * also where init is older than this field.
   */
  outside?: { signal: number; atBootMs: number };
}

export interface InitHello {
  protocol: number;
  build: string;
  /** Not init but its `gate` mode: a successful `start` is never answered, the connection ends when it runs. */
  gate: boolean;
  uid: number;
  gid: number;
  /** Monotonic count of connections of this init; 1 for the first. */
  connection: number;
  processes: ProcessRecord[];
  /** Signals that came from outside the sandbox since it began, in order. */
  outsideSignals: number[];
  /** When each of them came, in milliseconds since boot (CLOCK_BOOTTIME); absent: this init is older and does not tell. */
  outsideSignalTimes?: number[];
  /** Its clock (CLOCK_BOOTTIME) as it said this; absent: it is older, or a gate, and knows no heartbeat. */
  bootMs?: number;
  /** It has ended everything in the sandbox at that time, as no heartbeat had come. */
  fencedAtBootMs?: number;
}

export type StartResult =
  | { ok: true; pid: number; startTicks: bigint }
  /** After `fork` and `pty` nothing has happened and the id may be tried again; ESHUTDOWN: the sandbox is ending. */
  | { ok: false; stage: StartFailureStage; errno: string };

export type StartFailureStage = 'chdir' | 'exec' | 'fork' | 'pty' | 'duplicate';

/** `offset` is the number of bytes of the stream before this chunk: a chunk may come again after a reconnect. */
export interface OutputChunk {
  id: number;
  stream: 'stdout' | 'stderr';
  offset: bigint;
  data: Buffer;
}

/**
 * Called in the order of arrival, synchronously: output of a process can come before the promise of its `start` has
 * been seen to resolve. Output of processes that `hello` lists comes only after a `credit` for the stream. They must
 * not throw.
 */
export interface InitEvents {
  onOutput(chunk: OutputChunk): void;
  /** No more output on this stream: every writer has closed it. */
  onStreamEnd(id: number, stream: 'stdout' | 'stderr', total: bigint): void;
  onExit(id: number, exit: ProcessExit): void;
  /** `atBootMs` as in `outsideSignalTimes`. */
  onOutsideSignal(signal: number, atBootMs?: number): void;
  /** No heartbeat had come for its time: everything in the sandbox has been killed. */
  onFenced?(atBootMs: number): void;
  /** What was given to `stdin` has gone out (it may still be in a buffer of 64 KiB inside the sandbox). */
  onStdinDrain?(id: number): void;
}

/**
 * - `changed`: it is in force;
 * - `ended`: no such process runs (any more);
 * - `ending`: it has reached its limit already, and is being ended;
 * - `unsupported`: this init is older than that, and keeps the limit it was started with;
 * - `unanswered`: no answer in time, or the connection was lost; asking again does no harm.
 */
export type LimitResult = 'changed' | 'ended' | 'ending' | 'unsupported' | 'unanswered';

/**
 * - `taken`: the fence is at the latest of all times given so far; `bootMs` is init's clock as it answered;
 * - `too-late`: the sandbox has ended itself;
 * - `refused`: the time is not to be used: it is ahead of init's clock;
 * - `unsupported`: this init is older than that, or a gate: it does not end by itself;
 * - `unanswered`: no answer in time, or the connection was lost; asking again does no harm.
 */
export type HeartbeatResult =
  | { is: 'taken' | 'refused'; bootMs: number }
  | { is: 'too-late' | 'unsupported' | 'unanswered' };

export interface InitSession {
  readonly hello: InitHello;
  readonly closed: Promise<Error>;
  /**
   * At most once an id for the life of the sandbox: a second time answers `duplicate` with no effect. Without an answer
   * after `options.timeoutMs` (15 s if absent; a paused sandbox, say) it rejects with LinkError `TimedOut`, and may still
   * be carried out. Trying again is safe: the answer is what became of the earlier one where this session sees it,
   * else `duplicate`, which tells that it began.
   */
  start(spec: StartSpec, options?: { timeoutMs?: number }): Promise<StartResult>;
  /**
   * Changes the time limit of a process that runs: `timeoutMs` after its start (not after now), so that saying it again
   * changes nothing; a time that has passed ends it at once. undefined, 0: no limit. `graceMs` as in StartSpec, as it
   * was if absent. Never rejects; answered within `answerMs` (10 s if absent).
   */
  limit(
    id: number,
    timeoutMs: number | undefined,
    options?: { graceMs?: number; answerMs?: number },
  ): Promise<LimitResult>;
  /**
   * The sandbox may run on until `fromBootMs + forMs` on init's clock, and ends itself then; undefined: it ends itself
   * no more. Never rejects; answered within `answerMs` (10 s if absent).
   */
  heartbeat(
    beat: { fromBootMs: number; forMs: number } | undefined,
    options?: { answerMs?: number },
  ): Promise<HeartbeatResult>;
  signal(id: number, signal: number, scope: 'leader' | 'group'): void;
  /** Everything before `acked` is safe here and may be forgotten; it may send up to `acked + window`. */
  credit(id: number, stream: 'stdout' | 'stderr', acked: bigint, windowBytes: number): void;
  /** Throws `Overflow` when more than 1 MiB waits to be taken by the process. 'end' of a terminal does nothing: send ^D. */
  stdin(id: number, data: Buffer | 'end'): void;
  /** Bytes given to `stdin` that have not gone out yet. */
  stdinWaiting(id: number): number;
  resize(id: number, size: { rows: number; cols: number }): void;
  /** Frees the record of one that has exited, as soon as its group is empty; output not taken by then is lost. Its id stays used up. Not main. */
  forget(id: number): void;
  /** One round trip to init and back; LinkError `TimedOut` after `options.timeoutMs` (10 s if absent). */
  ping(options?: { timeoutMs?: number }): Promise<void>;
  /** Goodbye: init ends the sandbox at once, with the exit code given, that of main, or 0. */
  release(exitCode?: number): void;
  close(): void;
}

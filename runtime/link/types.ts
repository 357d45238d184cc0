import type { Duplex } from 'node:stream';

/**
 * The agent's ends of the two connections described in docs/protocol.md: one to the probe of a runtime, and,
 * carried by it, one to the init of each sandbox.
 */

/** What a file held, or why it could not be read. */
export type FileReading = { path: string; content: string } | { path: string; errno: string };

export interface ProbeHello {
  protocol: number;
  /** SHA-256 of the program, hex, first 16. */
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

export interface Probe {
  readonly hello: ProbeHello;
  /** Settles when the connection is over, with the reason; never rejects. */
  readonly closed: Promise<Error>;
  /** One round trip for all; absolute paths under /sys/fs/cgroup or /proc only. */
  readFiles(paths: string[], options?: { signal?: AbortSignal }): Promise<FileReading[]>;
  /** undefined: no such process. */
  process(pid: number, options?: { signal?: AbortSignal }): Promise<ProcessFacts | undefined>;
  /** Of the probe's own root: the filesystem of the writable layers. */
  statfs(
    path: string,
    options?: { signal?: AbortSignal },
  ): Promise<{
    type: number;
    blockSize: bigint;
    blocks: bigint;
    bavail: bigint;
    bfree: bigint;
    files: bigint;
    ffree: bigint;
  }>;
  /** Makes DIR/sandboxID with a socket in it and accepts inits there; idempotent. `uid` owns the directory. */
  listen(sandboxID: string, options?: { signal?: AbortSignal }): Promise<void>;
  /** Ends it and removes the directory; idempotent. */
  unlisten(sandboxID: string, options?: { signal?: AbortSignal }): Promise<void>;
  /** Sandbox ids that have a directory, those left by an earlier probe included. */
  listening(options?: { signal?: AbortSignal }): Promise<string[]>;
  /** rmdir of an empty cgroup in every hierarchy it is in; `path` relative to the hierarchy's root. false: not empty. Idempotent. */
  removeCgroup(path: string, options?: { signal?: AbortSignal }): Promise<boolean>;
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
  /** Ended this long after its start even when no agent is there. */
  timeoutMs?: number;
  /** Between SIGTERM and SIGKILL at the timeout. */
  graceMs?: number;
}

export interface ProcessRecord {
  id: number;
  /** As PID 1 sees it. */
  pid: number;
  startTicks: bigint;
  state: 'running' | 'exited';
  /** For exited ones. */
  exit?: ProcessExit;
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
  /** Ended by init itself: at its time limit, or by a signal the agent asked for, or passed on from outside. */
  endedBy: 'itself' | 'timeout' | 'agent' | 'outside';
}

export interface InitHello {
  protocol: number;
  build: string;
  uid: number;
  gid: number;
  /** Monotonic count of connections of this init; 1 for the first. */
  connection: number;
  processes: ProcessRecord[];
  /** Signals that came from outside the sandbox since it began, in order. */
  outsideSignals: number[];
}

export type StartResult =
  | { ok: true; pid: number; startTicks: bigint }
  | { ok: false; stage: 'chdir' | 'exec' | 'fork' | 'duplicate'; errno: string };

/** `offset` is the number of bytes of the stream before this chunk: a chunk may come again after a reconnect. */
export interface OutputChunk {
  id: number;
  stream: 'stdout' | 'stderr';
  offset: bigint;
  data: Buffer;
}

export interface InitEvents {
  onOutput(chunk: OutputChunk): void;
  /** No more output on this stream: every writer has closed it. */
  onStreamEnd(id: number, stream: 'stdout' | 'stderr', total: bigint): void;
  onExit(id: number, exit: ProcessExit): void;
  onOutsideSignal(signal: number): void;
}

export interface InitSession {
  readonly hello: InitHello;
  readonly closed: Promise<Error>;
  /** At most once an id for the life of the sandbox: a second time answers `duplicate` with no effect. */
  start(spec: StartSpec): Promise<StartResult>;
  signal(id: number, signal: number, scope: 'leader' | 'group'): void;
  /** Everything before `acked` is safe here and may be forgotten; it may send up to `acked + window`. */
  credit(id: number, stream: 'stdout' | 'stderr', acked: bigint, windowBytes: number): void;
  stdin(id: number, data: Buffer | 'end'): void;
  resize(id: number, size: { rows: number; cols: number }): void;
  /** Goodbye: init ends the sandbox, with the exit code of main or the one given. */
  release(exitCode?: number): void;
  close(): void;
}

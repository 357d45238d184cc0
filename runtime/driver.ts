import type { Duplex, Readable } from 'node:stream';
import type { NodeRuntime } from '../crds/sandbox-node.ts';

/**
 * What the agent asks of a container runtime, in neutral words. What Docker or Podman call things ends at their
 * own map-* file. Every call takes a signal and has a time limit of its own; it throws DriverError.
 */
export interface RuntimeDriver {
  readonly name: 'docker' | 'podman';

  /** Asks afresh what the runtime is and can enforce (L6). Throws `Unreadable` where the answer is no answer (L7). */
  info(options: CallOptions): Promise<RuntimeInfo>;

  /** undefined: not on this machine. */
  inspectImage(image: string, options: CallOptions): Promise<ImageInfo | undefined>;
  pullImage(
    image: string,
    options: CallOptions & { auth?: RegistryAuth; onProgress: (text: string) => void },
  ): Promise<void>;
  /** Makes an image of a root directory in a tar, under the given name. */
  importImage(
    tar: Readable,
    options: CallOptions & { image: string; labels: Record<string, string> },
  ): Promise<void>;

  /** The container exists afterwards, and nothing of it runs. `Conflict` when the name is taken. */
  createContainer(spec: ContainerSpec, options: CallOptions): Promise<{ id: string; warnings: string[] }>;
  /** `StartFailed` when the runtime could not start it; the message is the runtime's. */
  startContainer(id: string, options: CallOptions): Promise<void>;
  /** undefined: there is none of this id or name. */
  inspectContainer(id: string, options: CallOptions): Promise<ContainerInfo | undefined>;
  listContainers(options: CallOptions & { labels: Record<string, string> }): Promise<ContainerSummary[]>;
  /** No error when it does not run or does not exist. */
  killContainer(id: string, options: CallOptions & { signal_: NodeJS.Signals }): Promise<void>;
  unpauseContainer(id: string, options: CallOptions): Promise<void>;
  /** Removes it with its anonymous volumes, killed if need be. No error when it does not exist. */
  removeContainer(id: string, options: CallOptions): Promise<void>;
  /** Changes limits of a live container. `Unenforceable` where the runtime refuses. */
  updateLimits(id: string, limits: KernelLimits, options: CallOptions): Promise<void>;
  /** Resolves with the exit code when the container has stopped. May stay pending over a daemon restart: race it. */
  waitContainer(id: string, options: CallOptions): Promise<number>;
  /**
   * The standard streams of a container without a TTY, from now on: writing goes to its stdin, reading gives its
   * stdout (stderr goes to `onStderr`, at most 64 KiB a call), both with backpressure. Ends with the container.
   */
  attachContainer(id: string, options: CallOptions & { onStderr: (chunk: Buffer) => void }): Promise<Duplex>;

  createVolume(name: string, options: CallOptions & { labels: Record<string, string> }): Promise<VolumeInfo>;
  inspectVolume(name: string, options: CallOptions): Promise<VolumeInfo | undefined>;
  listVolumes(options: CallOptions & { labels: Record<string, string> }): Promise<VolumeInfo[]>;
  /** No error when it does not exist; `InUse` while a container has it. */
  removeVolume(name: string, options: CallOptions): Promise<void>;

  /** Container events from `sinceMs` (Unix ms) on; ends or throws when the connection does: resume with the last time seen. */
  events(
    options: CallOptions & { sinceMs: number; labels: Record<string, string> },
  ): AsyncIterable<RuntimeEvent>;
}

export interface CallOptions {
  signal?: AbortSignal;
}

export type DriverErrorCode =
  | 'Unavailable' // no answer: refused, reset, timed out
  | 'Unreadable' // an answer that is no answer: garbage, a missing field
  | 'NotFound'
  | 'Conflict'
  | 'InUse'
  | 'StartFailed'
  | 'Unenforceable' // a limit was refused
  | 'PullFailed'
  | 'Refused' // any other 4xx
  | 'Failed'; // any other 5xx

export class DriverError extends Error {
  readonly code: DriverErrorCode;
  constructor(code: DriverErrorCode, message: string, options?: { cause?: unknown }) {
    super(message, options);
    this.name = 'DriverError';
    this.code = code;
  }
}

export type RuntimeInfo = Omit<NodeRuntime, 'ready' | 'message' | 'askedAt'>;

export interface ImageInfo {
  id: string;
  entrypoint: string[];
  command: string[];
  env: string[];
  workingDir: string;
  user: string;
  architecture: string;
}

export interface RegistryAuth {
  username: string;
  password: string;
  serverAddress: string;
}

/** Limits in the kernel's terms. Absent: no limit of this kind. */
export interface KernelLimits {
  memoryBytes?: number;
  /** Memory and swap together. Absent together with memoryBytes: swap cannot be limited here. */
  memorySwapBytes?: number;
  cpuQuotaMicros?: number;
  cpuPeriodMicros?: number;
  pids?: number;
}

export interface ContainerSpec {
  name: string;
  image: string;
  labels: Record<string, string>;
  entrypoint: string[];
  command: string[];
  env: string[];
  workingDir: string;
  user: string;
  /** Absent: the runtime's own choice. */
  hostname?: string;
  limits: KernelLimits;
  /** Path (cgroupfs) or slice name (systemd); absent: the runtime's own. */
  cgroupParent?: string;
  mounts: Mount[];
  readOnlyRootFilesystem: boolean;
  capabilities: string[];
  /** No interface but loopback, which is up. There may be no /etc/hosts either. */
  networkDisabled: true;
  /** For the probe alone: the host's PID and cgroup namespaces, and its stdin held open once. */
  probe?: boolean;
}

export interface Mount {
  type: 'volume' | 'bind';
  source: string;
  target: string;
  readOnly: boolean;
  /** An empty volume takes over what the image has at the target, owner and mode with it. */
  fillFromImage?: boolean;
}

export interface ContainerInfo {
  id: string;
  name: string;
  labels: Record<string, string>;
  imageID: string;
  state: 'created' | 'running' | 'paused' | 'restarting' | 'removing' | 'exited' | 'dead';
  /** PID 1 as the runtime's host sees it; 0 when it does not run. */
  pid: number;
  exitCode: number;
  /** "any process of this container was ever killed for memory", where the runtime says so. */
  oomKilled: boolean;
  error: string;
  startedAt: string | undefined;
  finishedAt: string | undefined;
  /** What the runtime says it applied. */
  limits: KernelLimits;
}

export interface ContainerSummary {
  id: string;
  name: string;
  labels: Record<string, string>;
  state: ContainerInfo['state'];
}

export interface VolumeInfo {
  name: string;
  labels: Record<string, string>;
  /** Where it is on the runtime's host. */
  mountpoint: string;
}

export interface RuntimeEvent {
  containerID: string;
  labels: Record<string, string>;
  action:
    | 'create'
    | 'start'
    | 'oom'
    | 'kill'
    | 'die'
    | 'stop'
    | 'pause'
    | 'unpause'
    | 'update'
    | 'destroy'
    | 'other';
  /** For kill: the signal's number. For die: the exit code. */
  detail?: number;
  timeMs: number;
}

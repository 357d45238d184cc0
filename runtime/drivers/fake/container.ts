import { constants } from 'node:os';
import { PassThrough } from 'node:stream';
import type { ContainerInfo, ContainerSpec, KernelLimits, RuntimeEvent } from '../../driver.ts';

/** What a container of the fake runs: its exit code. It is told of signals, and may end then or not. */
export type FakeProgram = (process: FakeProcess) => Promise<number>;

interface FakeProcess {
  readonly spec: ContainerSpec;
  readonly stdin: PassThrough;
  readonly stdout: PassThrough;
  readonly stderr: PassThrough;
  /** Aborted by SIGKILL, and by the end of the container whatever its cause. */
  readonly killed: AbortSignal;
  /** Signals other than SIGKILL. */
  onSignal(listener: (signal: NodeJS.Signals) => void): void;
  /** As if the memory limit killed something in it: the flag at the end, and the event now. */
  oomKill(): void;
}

type Emit = (action: RuntimeEvent['action'], detail?: number) => void;

export class FakeContainer {
  readonly id: string;
  readonly spec: ContainerSpec;
  readonly imageID: string;
  limits: KernelLimits;
  state: ContainerInfo['state'] = 'created';
  exitCode = 0;
  oomKilled = false;
  error = '';
  pid = 0;
  startedAt: string | undefined;
  finishedAt: string | undefined;
  #ended: Promise<number> = Promise.resolve(0);
  #process: RunningProcess | undefined;
  #pendingStreams: RunningProcess['streams'] | undefined;
  readonly #emit: Emit;

  constructor(options: {
    id: string;
    spec: ContainerSpec;
    imageID: string;
    limits: KernelLimits;
    emit: Emit;
  }) {
    this.id = options.id;
    this.spec = options.spec;
    this.imageID = options.imageID;
    this.limits = options.limits;
    this.#emit = options.emit;
  }

  get running(): boolean {
    return this.state === 'running' || this.state === 'paused';
  }

  /** Resolves at once when it does not run. */
  get ended(): Promise<number> {
    return this.#ended;
  }

  /** The streams of what runs, or of what will: a reader may come before the start. */
  get streams(): RunningProcess['streams'] {
    if (this.#process !== undefined && this.running) return this.#process.streams;
    this.#pendingStreams ??= newStreams();
    return this.#pendingStreams;
  }

  /** `endsItself`: a SIGKILL is the program's to hear of as well, and its end comes when it says so. */
  start(program: FakeProgram, options: { pid: number; now: () => Date; endsItself: boolean }): void {
    const { pid, now, endsItself } = options;
    const streams = this.streams;
    this.#pendingStreams = undefined;
    const running: RunningProcess = { streams, killed: new AbortController(), listeners: [], oom: false };
    this.#process = running;
    this.state = 'running';
    this.pid = pid;
    this.startedAt = now().toISOString();
    this.oomKilled = false;
    this.#emit('start');
    const killed = new Promise<number>((resolve) => {
      running.killed.signal.addEventListener('abort', () => resolve(128 + constants.signals.SIGKILL), {
        once: true,
      });
    });
    const process: FakeProcess = {
      spec: this.spec,
      ...streams,
      killed: running.killed.signal,
      onSignal: (listener) => void running.listeners.push(listener),
      oomKill: () => {
        running.oom = true;
        this.#emit('oom');
      },
    };
    const own = program(process).catch(() => 255);
    const code = endsItself ? own : Promise.race([killed, own]);
    this.#ended = code.then((exitCode) => {
      this.state = 'exited';
      this.exitCode = exitCode;
      this.oomKilled = running.oom;
      this.pid = 0;
      this.finishedAt = now().toISOString();
      this.#process = undefined;
      streams.stdout.end();
      streams.stderr.end();
      running.killed.abort();
      this.#emit('die', exitCode);
      return exitCode;
    });
  }

  signal(signal: NodeJS.Signals): void {
    this.#emit('kill', constants.signals[signal]);
    if (signal === 'SIGKILL') this.#process?.killed.abort();
    else for (const listener of this.#process?.listeners ?? []) listener(signal);
  }

  info(): ContainerInfo {
    return {
      id: this.id,
      name: this.spec.name,
      labels: { ...this.spec.labels },
      imageID: this.imageID,
      state: this.state,
      pid: this.pid,
      exitCode: this.exitCode,
      oomKilled: this.oomKilled,
      error: this.error,
      startedAt: this.startedAt,
      finishedAt: this.finishedAt,
      limits: { ...this.limits },
    };
  }
}

interface RunningProcess {
  streams: { stdin: PassThrough; stdout: PassThrough; stderr: PassThrough };
  killed: AbortController;
  listeners: ((signal: NodeJS.Signals) => void)[];
  oom: boolean;
}

function newStreams(): RunningProcess['streams'] {
  return { stdin: new PassThrough(), stdout: new PassThrough(), stderr: new PassThrough() };
}

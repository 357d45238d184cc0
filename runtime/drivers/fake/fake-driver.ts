import { createHash } from 'node:crypto';
import type { Duplex, Readable } from 'node:stream';
import type { Clock } from '../../../kube/clock.ts';
import { limitCapabilities, type EnforcementFacts } from '../../capabilities/limit-capabilities.ts';
import {
  DriverError,
  type CallOptions,
  type ContainerInfo,
  type ContainerSpec,
  type ContainerSummary,
  type ImageInfo,
  type KernelLimits,
  type RuntimeDriver,
  type RuntimeEvent,
  type RuntimeInfo,
  type VolumeInfo,
} from '../../driver.ts';
import { FakeAttachedStream } from './attached-stream.ts';
import { FakeContainer, type FakeProgram } from './container.ts';
import { EventLog } from './event-log.ts';
import { asError, FaultScript, type Lies, orAbort } from './faults.ts';
import type { FakeMachine } from './machine/machine.ts';

export interface FakeDriverOptions {
  clock: Clock;
  /** Real processes, in place of programs. */
  machine?: FakeMachine;
  /** What it runs for a container where there is no machine; undefined: no such command. */
  program?: (spec: ContainerSpec) => FakeProgram | undefined;
  /** What it can enforce; what it cannot it drops in silence, as Docker does. Default: everything. */
  facts?: EnforcementFacts;
  /** Images a registry would have. */
  registry?: string[];
}

const EVERYTHING: EnforcementFacts = {
  rootless: false,
  cgroupVersion: '2',
  cgroupDriver: 'cgroupfs',
  controllers: { cpu: true, memory: true, swap: true, pids: true },
};
const MIN_MEMORY_BYTES = 6 * 1024 * 1024;

/**
 * A container runtime in this process, for tests of what is built on a driver: it holds to the same contract suite as
 * the real ones, takes scripted faults, and keeps a record of the calls. Its containers run programs of a few lines, or
 * real processes of a machine (`machine/machine.ts` says what of them is real).
 */
export class FakeDriver implements RuntimeDriver {
  readonly name = 'docker';
  readonly faults = new FaultScript();
  lies: Lies = {};
  readonly containers = new Map<string, FakeContainer>();
  readonly images = new Map<string, ImageInfo>();
  readonly volumes = new Map<string, VolumeInfo>();
  facts: EnforcementFacts;
  readonly #options: FakeDriverOptions;
  readonly #events: EventLog;
  /** Starts under way: a second call waits for the first, as a daemon's lock has it. */
  readonly #starting = new Map<FakeContainer, Promise<void>>();
  #made = 0;
  #pids = 1000;

  constructor(options: FakeDriverOptions) {
    this.#options = options;
    this.facts = options.facts ?? EVERYTHING;
    this.#events = new EventLog(options.clock);
  }

  info({ signal }: CallOptions): Promise<RuntimeInfo> {
    return this.faults.run({ call: 'info', subject: '' }, signal, () => ({
      name: this.name,
      version: 'fake',
      apiVersion: '0',
      daemonID: 'fake',
      ...(this.facts.cgroupVersion === undefined ? {} : { cgroupVersion: this.facts.cgroupVersion }),
      cgroupDriver: this.facts.cgroupDriver,
      rootless: this.facts.rootless,
      storageDriver: 'memory',
      architecture: 'x86_64',
      kernelVersion: 'none',
      cpus: 4,
      memoryBytes: 8 * 1024 ** 3,
      limits: limitCapabilities(this.facts),
    }));
  }

  inspectImage(image: string, { signal }: CallOptions): Promise<ImageInfo | undefined> {
    return this.faults.run({ call: 'inspectImage', subject: image }, signal, () => this.#image(image));
  }

  pullImage(
    image: string,
    { signal, onProgress }: CallOptions & { onProgress: (text: string) => void },
  ): Promise<void> {
    return this.faults.run({ call: 'pullImage', subject: image }, signal, () => {
      if (!this.#options.registry?.includes(image))
        throw new DriverError('PullFailed', `${image} is in no registry`);
      onProgress('1 of 1 layers');
      this.images.set(image, imageOf(image));
    });
  }

  importImage(tar: Readable, { signal, image }: CallOptions & { image: string }): Promise<void> {
    return this.faults.run({ call: 'importImage', subject: image }, signal, async () => {
      const hash = await (this.#options.machine?.disk.importImage(tar) ?? hashOf(tar));
      this.images.set(image, { ...imageOf(image), id: `sha256:${hash}` });
    });
  }

  createContainer(spec: ContainerSpec, { signal }: CallOptions): Promise<{ id: string; warnings: string[] }> {
    return this.faults.run({ call: 'createContainer', subject: spec.name }, signal, async () => {
      const image = this.#image(spec.image);
      if (image === undefined) throw new DriverError('NotFound', `No such image: ${spec.image}`);
      if (this.#find(spec.name) !== undefined)
        throw new DriverError('Conflict', `The container name "/${spec.name}" is already in use`);
      if (spec.limits.memoryBytes !== undefined && spec.limits.memoryBytes < MIN_MEMORY_BYTES)
        throw new DriverError('Unenforceable', 'Minimum memory limit allowed is 6MB');
      this.#made += 1;
      const id = createHash('sha256').update(`${spec.name} ${this.#made}`).digest('hex');
      const emit = (action: RuntimeEvent['action'], detail?: number): void =>
        this.#events.emit({ containerID: id, labels: { ...spec.labels }, action }, detail);
      const container = new FakeContainer({
        id,
        spec: structuredClone(spec),
        imageID: image.id,
        limits: this.#kept(spec.limits),
        emit,
      });
      this.containers.set(id, container);
      for (const mount of spec.mounts) if (mount.type === 'volume') this.#ensureVolume(mount.source, {});
      try {
        await this.#options.machine?.make(container);
      } catch (error) {
        this.containers.delete(id);
        throw error;
      }
      emit('create');
      return { id, warnings: [] };
    });
  }

  startContainer(id: string, { signal }: CallOptions): Promise<void> {
    return this.faults.run({ call: 'startContainer', subject: id }, signal, async () => {
      const container = this.#get(id);
      if (container.running) return;
      const begun = this.#starting.get(container) ?? this.#start(container);
      this.#starting.set(container, begun);
      await begun.finally(() => this.#starting.delete(container));
    });
  }

  inspectContainer(id: string, { signal }: CallOptions): Promise<ContainerInfo | undefined> {
    return this.faults.run({ call: 'inspectContainer', subject: id }, signal, () => {
      const info = this.#find(id)?.info();
      return info === undefined ? undefined : (this.lies.inspect?.(info) ?? info);
    });
  }

  listContainers({
    labels,
    signal,
  }: CallOptions & { labels: Record<string, string> }): Promise<ContainerSummary[]> {
    return this.faults.run({ call: 'listContainers', subject: '' }, signal, () =>
      [...this.containers.values()]
        .filter((container) => hasLabels(container.spec.labels, labels))
        .map((container) => ({
          id: container.id,
          name: container.spec.name,
          labels: { ...container.spec.labels },
          state: container.state,
        })),
    );
  }

  killContainer(id: string, { signal_, signal }: CallOptions & { signal_: NodeJS.Signals }): Promise<void> {
    return this.faults.run({ call: 'killContainer', subject: id }, signal, () => {
      const container = this.#find(id);
      if (container?.running) container.signal(signal_);
    });
  }

  unpauseContainer(id: string, { signal }: CallOptions): Promise<void> {
    return this.faults.run({ call: 'unpauseContainer', subject: id }, signal, () => {
      const container = this.#get(id);
      if (container.state === 'paused') container.state = 'running';
    });
  }

  removeContainer(id: string, { signal }: CallOptions): Promise<void> {
    return this.faults.run({ call: 'removeContainer', subject: id }, signal, async () => {
      const container = this.#find(id);
      if (container === undefined) return;
      if (container.running) {
        container.signal('SIGKILL');
        await container.ended;
      }
      if (!this.containers.delete(container.id)) return;
      await this.#options.machine?.remove(container.id, container.spec);
      this.#events.emit({
        containerID: container.id,
        labels: { ...container.spec.labels },
        action: 'destroy',
      });
    });
  }

  updateLimits(id: string, limits: KernelLimits, { signal }: CallOptions): Promise<void> {
    return this.faults.run({ call: 'updateLimits', subject: id }, signal, async () => {
      const container = this.#get(id);
      if (limits.memoryBytes !== undefined && limits.memoryBytes < MIN_MEMORY_BYTES)
        throw new DriverError('Unenforceable', 'Minimum memory limit allowed is 6MB');
      container.limits = this.#kept(limits);
      if (container.running) await this.#options.machine?.setLimits(container, this.facts.controllers);
    });
  }

  waitContainer(id: string, { signal }: CallOptions): Promise<number> {
    return this.faults.run({ call: 'waitContainer', subject: id }, signal, () => {
      const container = this.#get(id);
      return orAbort(container.ended, signal);
    });
  }

  attachContainer(
    id: string,
    { signal, onStderr }: CallOptions & { onStderr: (chunk: Buffer) => void },
  ): Promise<Duplex> {
    return this.faults.run({ call: 'attachContainer', subject: id }, signal, () => {
      const { spec, streams } = this.#get(id);
      streams.stderr.on('data', onStderr);
      return new FakeAttachedStream(streams.stdin, streams.stdout, spec.probe === true);
    });
  }

  createVolume(
    name: string,
    { labels, signal }: CallOptions & { labels: Record<string, string> },
  ): Promise<VolumeInfo> {
    return this.faults.run({ call: 'createVolume', subject: name }, signal, async () => {
      const volume = this.#ensureVolume(name, labels);
      await this.#options.machine?.disk.makeVolume(name);
      return volume;
    });
  }

  inspectVolume(name: string, { signal }: CallOptions): Promise<VolumeInfo | undefined> {
    return this.faults.run({ call: 'inspectVolume', subject: name }, signal, () => this.volumes.get(name));
  }

  listVolumes({ labels, signal }: CallOptions & { labels: Record<string, string> }): Promise<VolumeInfo[]> {
    return this.faults.run({ call: 'listVolumes', subject: '' }, signal, () =>
      [...this.volumes.values()].filter((volume) => hasLabels(volume.labels, labels)),
    );
  }

  removeVolume(name: string, { signal }: CallOptions): Promise<void> {
    return this.faults.run({ call: 'removeVolume', subject: name }, signal, async () => {
      for (const container of this.containers.values())
        if (container.spec.mounts.some(({ type, source }) => type === 'volume' && source === name))
          throw new DriverError('InUse', `volume is in use - [${container.id}]`);
      this.volumes.delete(name);
      await this.#options.machine?.disk.removeVolume(name);
    });
  }

  async *events({
    signal,
    sinceMs,
    labels,
  }: CallOptions & { sinceMs: number; labels: Record<string, string> }): AsyncGenerator<
    RuntimeEvent,
    void,
    void
  > {
    await this.faults.run({ call: 'events', subject: '' }, signal, () => {});
    for await (const event of this.#events.follow(sinceMs, signal))
      if (hasLabels(event.labels, labels)) yield* this.lies.events?.(event) ?? [event];
  }

  /** Somebody else's `docker pause`. */
  pause(id: string): void {
    this.#get(id).state = 'paused';
  }

  /** A proxy's idle timeout: the streams of events break, and nothing else happens. */
  breakEvents(): void {
    this.#events.breakAll();
  }

  /** The daemon dies and comes back: containers are dead, event streams break, its memory of events is gone. */
  async restart(): Promise<void> {
    for (const container of this.containers.values()) {
      if (!container.running) continue;
      container.signal('SIGKILL');
      await container.ended;
    }
    this.#events.breakAll();
  }

  async #start(container: FakeContainer): Promise<void> {
    const { machine, program } = this.#options;
    try {
      if (machine !== undefined) {
        const { id, limits } = container;
        const spec = this.lies.runs?.(container.spec) ?? container.spec;
        const started = await machine.start({ id, spec, limits }, this.facts.controllers);
        this.#run(container, started.program, started.pid);
        return;
      }
      const found = program?.(container.spec);
      if (found === undefined)
        throw new DriverError(
          'StartFailed',
          `exec: "${container.spec.entrypoint[0]}": no such file or directory`,
        );
      this.#pids += 1;
      this.#run(container, found, this.#pids);
    } catch (error) {
      container.error = asError(error).message;
      container.exitCode = 127;
      throw error;
    }
  }

  #run(container: FakeContainer, program: FakeProgram, pid: number): void {
    const endsItself = this.#options.machine !== undefined;
    container.start(program, { pid, now: () => this.#options.clock.now(), endsItself });
  }

  #ensureVolume(name: string, labels: Record<string, string>): VolumeInfo {
    const mountpoint = this.#options.machine?.disk.volume(name) ?? `/fake/volumes/${name}/_data`;
    const volume = this.volumes.get(name) ?? { name, labels, mountpoint };
    this.volumes.set(name, volume);
    return volume;
  }

  /** By name or by id. */
  #image(image: string): ImageInfo | undefined {
    return this.images.get(image) ?? [...this.images.values()].find(({ id }) => id === image);
  }

  #find(id: string): FakeContainer | undefined {
    const byID = this.containers.get(id);
    return byID ?? [...this.containers.values()].find((container) => container.spec.name === id);
  }

  #get(id: string): FakeContainer {
    const container = this.#find(id);
    if (container === undefined) throw new DriverError('NotFound', `No such container: ${id}`);
    return container;
  }

  /** What is left of the limits without those that cannot be enforced. */
  #kept(limits: KernelLimits): KernelLimits {
    const { controllers } = this.facts;
    const kept: KernelLimits = {};
    if (controllers.memory && limits.memoryBytes !== undefined) {
      kept.memoryBytes = limits.memoryBytes;
      if (controllers.swap) kept.memorySwapBytes = limits.memorySwapBytes ?? limits.memoryBytes;
    }
    if (controllers.cpu && limits.cpuQuotaMicros !== undefined) {
      kept.cpuQuotaMicros = limits.cpuQuotaMicros;
      kept.cpuPeriodMicros = limits.cpuPeriodMicros ?? 100_000;
    }
    if (controllers.pids && limits.pids !== undefined) kept.pids = limits.pids;
    return kept;
  }
}

async function hashOf(tar: Readable): Promise<string> {
  const hash = createHash('sha256');
  for await (const chunk of tar) hash.update(chunk as Buffer);
  return hash.digest('hex');
}

function hasLabels(have: Record<string, string>, want: Record<string, string>): boolean {
  return Object.entries(want).every(([key, value]) => have[key] === value);
}

function imageOf(image: string): ImageInfo {
  return {
    id: `sha256:${createHash('sha256').update(image).digest('hex')}`,
    entrypoint: [],
    command: [],
    env: [],
    workingDir: '',
    user: '',
    architecture: 'amd64',
  };
}

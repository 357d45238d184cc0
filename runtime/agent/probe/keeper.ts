import type { Logger } from 'pino';
import { Backoff } from '../../../kube/backoff.ts';
import { type Clock, sleep } from '../../../kube/clock.ts';
import type { RuntimeDriver, RuntimeEvent } from '../../driver.ts';
import { openProbe } from '../../link/probe.ts';
import type { InitArrival, Probe } from '../../link/types.ts';
import type { Steps } from '../../../kube/fault-points.ts';
import {
  BIN_PATH,
  INIT_PATH,
  initVolume,
  LABELS,
  ownLabels,
  probeName,
  RUN_VOLUME,
  SANDBOXES_PATH,
} from '../names.ts';
import { type InitProgram, probeImage, probeRoot } from './image.ts';
import { answersInTime, keepAsking } from './pulse.ts';

export interface ProbeKeeperOptions {
  driver: RuntimeDriver;
  program: InitProgram;
  nodeName: string;
  clock: Clock;
  random: () => number;
  log: Logger;
  step: Steps;
  onInit: (arrival: InitArrival) => void;
  /** The probe came or went. */
  changed: () => void;
  /** For tests: in place of the real connection. */
  open?: typeof openProbe;
}

const MIB = 1024 * 1024;
const REMOVE_MS = 5000;
/** How long a probe may take from its start to its first word. */
const HELLO_MS = 30_000;

/**
 * Keeps one probe alive in a runtime. It is made anew at every start of the agent, whenever its stream breaks, and when
 * it does not answer any more: it may have been frozen from outside, or its connection may be dead at one end only. It
 * remembers nothing, so nothing is lost with it: the inits of the sandboxes dial again.
 */
export class ProbeKeeper {
  readonly #options: ProbeKeeperOptions;
  #probe: Probe | undefined;
  #why = 'it is being made';
  #runFolder: string | undefined;
  #initFolder: string | undefined;
  #container: string | undefined;
  #wentAtMs: number | undefined;

  constructor(options: ProbeKeeperOptions) {
    this.#options = options;
  }

  get probe(): Probe | undefined {
    return this.#probe;
  }

  /** Why there is none. */
  get why(): string {
    return this.#why;
  }

  /** Folder of the runtime's host in which each sandbox has one of its own. */
  get runFolder(): string | undefined {
    return this.#runFolder;
  }

  /** Folder of the runtime's host with the init and what is beside it. */
  get initFolder(): string | undefined {
    return this.#initFolder;
  }

  /** When the last one went (Unix ms); undefined: none has. */
  get wentAtMs(): number | undefined {
    return this.#wentAtMs;
  }

  /** An event of a probe's container: one that is frozen is given up at once. */
  happened(event: RuntimeEvent): void {
    if (event.action !== 'pause' || event.containerID !== this.#container) return;
    this.#options.log.warn({ runtime: this.#options.driver.name }, 'the probe was paused from outside');
    this.#probe?.close();
  }

  get image(): string {
    return probeImage(this.#options.program.hash);
  }

  get volume(): string {
    return initVolume(this.#options.program.hash);
  }

  /** Until the signal aborts; then the probe's container is removed, if the runtime answers in time. */
  async run(signal: AbortSignal): Promise<void> {
    await this.#keep(signal);
    const { driver, log } = this.#options;
    if (this.#container === undefined) return;
    try {
      await driver.removeContainer(this.#container, { signal: AbortSignal.timeout(REMOVE_MS) });
    } catch (error) {
      log.debug({ err: error, runtime: driver.name }, 'probe not removed');
    }
  }

  async #keep(signal: AbortSignal): Promise<void> {
    const { clock, random, log, changed, driver } = this.#options;
    const backoff = new Backoff({ baseMs: 250, maxMs: 30_000, random });
    while (!signal.aborted) {
      try {
        const probe = await this.#make(signal);
        const stop = (): void => probe.close();
        signal.addEventListener('abort', stop, { once: true });
        this.#probe = probe;
        this.#why = '';
        log.info({ runtime: driver.name, build: probe.hello.build }, 'probe is ready');
        backoff.reset();
        changed();
        const pulse = new AbortController();
        void probe.closed.then(() => pulse.abort());
        void keepAsking(probe, clock, random, pulse.signal).then((silent) => {
          if (!silent) return;
          log.warn({ runtime: driver.name }, 'the probe does not answer');
          probe.close();
        });
        const reason = await probe.closed;
        signal.removeEventListener('abort', stop);
        this.#probe = undefined;
        this.#wentAtMs = clock.now().getTime();
        this.#why = reason.message;
        if (signal.aborted) return;
        log.warn({ runtime: driver.name, err: reason }, 'probe has gone');
        changed();
      } catch (error) {
        if (signal.aborted) return;
        this.#why = error instanceof Error ? error.message : String(error);
        log.warn({ runtime: driver.name, err: error }, 'probe could not be made');
        changed();
      }
      await sleep(clock, backoff.next(), signal);
    }
  }

  async #make(signal: AbortSignal): Promise<Probe> {
    const { driver, program, nodeName, step, log } = this.#options;
    const { image } = this;
    const labels = { ...ownLabels(nodeName), [LABELS.role]: 'probe' };
    const name = probeName(nodeName);
    const call = { signal };
    if ((await driver.inspectImage(image, call)) === undefined) {
      await step('import-probe-image', () =>
        driver.importImage(probeRoot(program), { ...call, image, labels: { [LABELS.role]: 'probe' } }),
      );
    }
    const [run, init] = await step('create-probe-volumes', () =>
      Promise.all([
        driver.createVolume(RUN_VOLUME, { ...call, labels: { [LABELS.role]: 'run' } }),
        driver.createVolume(this.volume, { ...call, labels: { [LABELS.role]: 'init' } }),
        this.#removeOld(name, signal),
      ]),
    );
    const { id } = await step('create-probe', () =>
      driver.createContainer(
        {
          name,
          image,
          labels,
          entrypoint: [INIT_PATH, 'probe'],
          command: [],
          env: [],
          workingDir: '/',
          user: '0:0',
          limits: { memoryBytes: 64 * MIB, pids: 8 },
          mounts: [
            { type: 'volume', source: this.volume, target: BIN_PATH, readOnly: false },
            { type: 'volume', source: RUN_VOLUME, target: SANDBOXES_PATH, readOnly: false },
          ],
          readOnlyRootFilesystem: true,
          capabilities: ['KILL'],
          networkDisabled: true,
          probe: true,
        },
        call,
      ),
    );
    this.#container = id;
    const stream = await driver.attachContainer(id, {
      ...call,
      onStderr: (chunk) => log.warn({ text: chunk.toString().slice(0, 500) }, 'probe complains'),
    });
    try {
      await step('start-probe', () => driver.startContainer(id, call));
      const open = this.#options.open ?? openProbe;
      const probe = await answersInTime(
        open(stream, { onInit: this.#options.onInit }),
        HELLO_MS,
        this.#options.clock,
        'the probe has started and says nothing',
        signal,
      );
      this.#runFolder = run.mountpoint;
      this.#initFolder = init.mountpoint;
      return probe;
    } catch (error) {
      stream.destroy();
      throw error;
    }
  }

  /** A frozen one as well: some runtimes do not kill what is paused. */
  async #removeOld(name: string, signal: AbortSignal): Promise<void> {
    const { driver, log } = this.#options;
    const old = await driver.inspectContainer(name, { signal });
    if (old === undefined) return;
    if (old.state === 'paused') {
      await driver.unpauseContainer(old.id, { signal }).catch((error: unknown) => {
        log.debug({ err: error, runtime: driver.name }, 'old probe not unpaused');
      });
    }
    await driver.removeContainer(old.id, { signal });
  }
}

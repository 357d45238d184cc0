import type { Sandbox } from '../../crds/sandbox.ts';
import type { SandboxNode } from '../../crds/sandbox-node.ts';
import { API_VERSION } from '../../crds/group.ts';
import { sleep } from '../../kube/clock.ts';
import { EventRecorder } from '../../kube/events.ts';
import { LeaseHolder } from '../../kube/lease.ts';
import { Lister } from '../../kube/lister.ts';
import { Reflector } from '../../kube/reflector.ts';
import { NAMESPACES, SANDBOX_NODES, SANDBOXES } from '../../kube/resources.ts';
import { isAlreadyExists } from '../../kube/errors.ts';
import { WorkQueue } from '../../kube/work-queue.ts';
import type { RuntimeDriver, RuntimeEvent } from '../driver.ts';
import { adopt, ensureRun } from './adopt.ts';
import { sweepDrift } from './drift-sweep.ts';
import type { Steps } from '../../kube/fault-points.ts';
import type { Ledger } from './ledger/ledger.ts';
import { LABELS } from './names.ts';
import { NotNow } from './not-now.ts';
import type { AgentOptions } from './options.ts';
import type { Outputs } from './output/outputs.ts';
import type { InitProgram } from './probe/image.ts';
import { ProbeKeeper } from './probe/keeper.ts';
import { Presence } from './registration/presence.ts';
import { NodePublisher } from './registration/publish-node.ts';
import { rememberEvent, type Run } from './run.ts';
import { followEvents } from './runtimes/follow-events.ts';
import { Runtime } from './runtimes/runtime.ts';
import { reconcileSandbox } from './sandbox/reconcile.ts';
import type { Services } from './services.ts';
import { takeArrival } from './session/arrivals.ts';

/** Namespace of the node leases. */
const LEASE_NAMESPACE = 'holdfast-system';
const LEASE_SECONDS = 40;
/** Renewals within its duration. */
const RENEWALS = 4;
const WORKERS = 8;
const SWEEP_MS = 30_000;
/** Between two questions to the runtimes about what they can do; while one gives no readable answer, more often. */
const PUBLISH_MS = 60_000;
const UNREADABLE_MS = 5000;
/** How long ending the sandboxes may take when the agent was told to. */
const END_MS = 60_000;

export interface RunningOptions extends AgentOptions {
  program: InitProgram;
  ledger: Ledger;
  outputs: Outputs;
  step: Steps;
  startedAt: string;
}

export class Agent {
  readonly #options: RunningOptions;
  readonly #stop = new AbortController();
  readonly #runtimes = new Map<'docker' | 'podman', Runtime>();
  readonly #runs = new Map<string, Run>();
  readonly #lister: Lister<Sandbox>;
  readonly #queue: WorkQueue;
  readonly #events: EventRecorder;
  readonly #publisher: NodePublisher;
  readonly #nodes: Lister<SandboxNode>;
  readonly #lease: LeaseHolder;
  readonly #services: Services;
  #held = false;
  #nodesFollowed = false;
  #synced = false;
  #ending = false;
  /** Runtimes whose containers have been listed: what is not in the list does not exist. */
  readonly #adopted = new Set<string>();

  constructor(options: RunningOptions) {
    this.#options = options;
    const { client, clock, log, random, nodeName } = options;
    this.#lister = new Lister<Sandbox>({
      indexes: { uid: (sandbox) => (sandbox.metadata.uid === undefined ? [] : [sandbox.metadata.uid]) },
      log,
    });
    this.#queue = new WorkQueue({ name: 'sandboxes', clock, random, log });
    this.#events = new EventRecorder({
      client,
      clock,
      random,
      log,
      component: 'holdfast-agent',
      instance: nodeName,
      quietMs: 250,
    });
    for (const driver of options.drivers) this.#runtimes.set(driver.name, this.#runtime(driver));
    this.#publisher = new NodePublisher({
      client,
      clock,
      nodeName,
      agent: {
        version: options.version ?? '0.0.0',
        instance: options.instance.slice(0, 64),
        startedAt: options.startedAt,
      },
      runtimes: [...this.#runtimes.values()],
      reserve: options.reserve ?? {},
      reserveForKubelet: options.reserveForKubelet === true,
      log,
      step: options.step,
    });
    this.#nodes = new Lister<SandboxNode>({ log });
    this.#lease = this.#newLease();
    const presence = new Presence({
      clock,
      held: () => this.#nameHeld(),
      renew: () => this.#lease.renewNow(),
      publish: () => {
        // The watch may not have shown yet that it was deleted.
        this.#publisher.seen(undefined);
        return this.#publisher.publish(this.#stop.signal);
      },
    });
    this.#services = {
      client,
      nodeName,
      clock,
      log,
      random,
      step: options.step,
      ledger: options.ledger,
      outputs: options.outputs,
      events: this.#events,
      lister: this.#lister,
      runtimes: this.#runtimes,
      runs: this.#runs,
      nameHeld: () => this.#nameHeld(),
      renewLease: () => this.#renewLease(),
      fenceSeconds: this.#leaseSeconds,
      ending: () => this.#ending,
      enqueue: (uid) => this.#queue.add(uid),
      enqueueAfter: (uid, ms) => this.#queue.addAfter(uid, ms),
      publishNode: () => this.#publisher.publish(this.#stop.signal),
      mayWrite: (sandbox, next) => presence.mayWrite(sandbox, next),
      nodeSpec: () => this.#nodes.get(nodeName)?.spec,
      signal: this.#stop.signal,
    };
  }

  async run(): Promise<void> {
    const { signal } = this.#stop;
    let first: (() => void) | undefined;
    const heldOnce = new Promise<void>((resolve) => {
      first = resolve;
    });
    signal.addEventListener('abort', () => first?.(), { once: true });
    const holding = this.#lease.run(signal, {
      onHeld: async (lost) => {
        this.#held = true;
        first?.();
        for (const uid of this.#runs.keys()) this.#queue.add(uid);
        // Whoever held it meanwhile, or deleted it, may have left other words there.
        if (this.#nodesFollowed) this.#publish().catch(() => undefined);
        await aborted(lost);
        this.#held = false;
      },
      onRenewed: (sentMs) => this.#beat(sentMs),
      onRefused: (holder) => this.#refused(holder),
    });
    // Another agent of the same name may run the same sandboxes, with a probe of its own: nothing is touched before.
    await heldOnce;
    if (!signal.aborted) await this.#work();
    await holding;
    await this.#events.stop();
  }

  /** Leaves sandboxes running, unless they are to end as well. */
  async stop(options: { endSandboxes?: boolean } = {}): Promise<void> {
    if (options.endSandboxes === true && this.#held) {
      this.#ending = true;
      for (const uid of this.#runs.keys()) this.#queue.add(uid);
      const { clock } = this.#options;
      const deadline = clock.monotonicMs() + END_MS;
      while (this.#live() && clock.monotonicMs() < deadline) await sleep(clock, 50, this.#stop.signal);
    }
    this.#stop.abort(new Error('the agent is being stopped'));
  }

  /** Why it does nothing for its sandboxes now; undefined: it does. */
  notReady(): string | undefined {
    const { nodeName } = this.#options;
    if (this.#stop.signal.aborted || this.#ending) return 'it is being stopped';
    if (!this.#held) return `it does not hold the lease of the node "${nodeName}"`;
    return this.#synced ? undefined : 'the API has not been listed yet';
  }

  async #work(): Promise<void> {
    const { client, clock, random, log, nodeName } = this.#options;
    const { signal } = this.#stop;
    const reflector = new Reflector<Sandbox>({
      client,
      resource: SANDBOXES,
      options: { fieldSelector: `status.nodeName=${nodeName}` },
      lister: this.#lister,
      clock,
      random,
      log,
    });
    const node = new Reflector<SandboxNode>({
      client,
      resource: SANDBOX_NODES,
      options: { fieldSelector: `metadata.name=${nodeName}` },
      lister: this.#nodes,
      clock,
      random,
      log,
    });
    this.#nodes.onChange((_key, old, object) => {
      this.#roomMayHaveChanged();
      if (old?.spec?.drain !== object?.spec?.drain) for (const uid of this.#runs.keys()) this.#queue.add(uid);
      if (this.#publisher.seen(object)) this.#publish().catch(() => undefined);
    });
    this.#nodesFollowed = true;
    this.#lister.onChange((_key, old, object) => this.#changed(object ?? old));
    const loops: Promise<unknown>[] = [
      reflector.run(signal),
      node.run(signal),
      this.#every(
        () => this.#publishAgainMs(),
        () => this.#publish(),
      ),
    ];
    for (const runtime of this.#runtimes.values()) {
      loops.push(runtime.probe.run(signal));
      loops.push(this.#follow(runtime));
      loops.push(
        this.#every(
          () => SWEEP_MS,
          () => sweepDrift(this.#services, runtime),
        ),
      );
    }
    // What the API does not have is removed: only once it is known what the API has.
    const synced = await reflector.synced.then(
      () => true,
      () => false,
    );
    if (synced) {
      this.#synced = true;
      loops.push(this.#queue.run(WORKERS, (uid) => reconcileSandbox(this.#services, uid), signal));
    }
    await Promise.all(loops);
  }

  #runtime(driver: RuntimeDriver): Runtime {
    const { clock, random, log, nodeName, program, step } = this.#options;
    const probe = new ProbeKeeper({
      driver,
      program,
      nodeName,
      clock,
      random,
      log,
      step,
      onInit: (arrival) => {
        takeArrival(this.#services, arrival).catch((error: unknown) =>
          log.error({ err: error, uid: arrival.sandboxID }, 'an init was lost'),
        );
      },
      changed: () => {
        for (const [uid, run] of this.#runs) {
          run.startedMs = clock.monotonicMs();
          this.#queue.add(uid);
        }
        this.#publish().catch(() => undefined);
      },
    });
    return new Runtime({ driver, probe, clock });
  }

  #follow(runtime: Runtime): Promise<void> {
    const { clock, random, log, nodeName, ledger } = this.#options;
    let sinceMs = clock.now().getTime();
    for (const uid of ledger.uids()) {
      const record = ledger.get(uid);
      const began = record?.setup?.intendedAt ?? record?.main?.intendedAt;
      if (began !== undefined && record?.outcome === undefined)
        sinceMs = Math.min(sinceMs, Date.parse(began));
    }
    return followEvents(
      {
        runtime,
        nodeName,
        sinceMs,
        clock,
        random,
        log,
        onEvent: (event) => this.#happened(runtime, event),
        onBreak: () => this.#everythingMayHaveChanged(),
        running: () =>
          [...this.#runs.values()].flatMap(({ container, record }) =>
            container?.state === 'running' && (record?.runtime ?? runtime.driver.name) === runtime.driver.name
              ? [container]
              : [],
          ),
        onResume: async () => {
          await adopt(this.#services, runtime);
          this.#adopted.add(runtime.driver.name);
          this.#publish().catch(() => undefined);
        },
      },
      this.#stop.signal,
    );
  }

  #happened(runtime: Runtime, event: RuntimeEvent): void {
    if (event.labels[LABELS.role] === 'probe') {
      runtime.probe.happened(event);
      return;
    }
    const uid = event.labels[LABELS.uid];
    const run = uid === undefined ? undefined : this.#runs.get(uid);
    if (run === undefined) return;
    rememberEvent(run, event);
    if (event.action === 'create' || event.action === 'other' || event.action === 'oom') return;
    if (event.action === 'update') {
      sweepDrift(this.#services, runtime, run.uid).catch((error: unknown) =>
        this.#options.log.warn({ err: error, uid: run.uid }, 'limits could not be read'),
      );
      return;
    }
    // The start was ours, and the fast path knows it already.
    if (event.action === 'start' && (run.onSession !== undefined || run.container?.state === 'running'))
      return;
    run.stale = true;
    this.#queue.add(run.uid);
  }

  #everythingMayHaveChanged(): void {
    for (const [uid, run] of this.#runs) {
      run.stale = true;
      this.#queue.add(uid);
    }
  }

  #changed(sandbox: Sandbox | undefined): void {
    const { uid, namespace, name } = sandbox?.metadata ?? {};
    if (uid === undefined || namespace === undefined || name === undefined) return;
    const stale = this.#adopted.size < this.#runtimes.size;
    const run = ensureRun(this.#services, uid, { namespace, name }, stale);
    run.gone = false;
    this.#queue.add(uid);
    this.#roomMayHaveChanged();
  }

  /** A sandbox went or shrank, or the operator holds back less: those who wait for room are looked at. */
  #roomMayHaveChanged(): void {
    for (const [uid, run] of this.#runs) if (run.waitsForRoom) this.#queue.add(uid);
  }

  async #publish(): Promise<void> {
    if (!this.#held) return;
    try {
      await this.#publisher.publish(this.#stop.signal);
    } catch (error) {
      if (this.#stop.signal.aborted) return;
      this.#options.log.warn({ err: error }, 'the SandboxNode could not be written');
    }
  }

  #publishAgainMs(): number {
    const all = [...this.#runtimes.values()].every((runtime) => runtime.last?.state === 'Ok');
    return all ? PUBLISH_MS : UNREADABLE_MS;
  }

  async #every(ms: () => number, work: () => Promise<void>): Promise<void> {
    const { signal } = this.#stop;
    const { clock, random, log } = this.#options;
    while (!signal.aborted) {
      try {
        await work();
      } catch (error) {
        if (!signal.aborted) log.warn({ err: error }, 'a regular look failed');
      }
      await sleep(clock, ms() * (0.9 + random() / 5), signal);
    }
  }

  get #leaseSeconds(): number {
    return this.#options.leaseSeconds ?? LEASE_SECONDS;
  }

  /** By the clock: an agent that was stopped for a while knows before it has heard of anything. */
  #nameHeld(): boolean {
    return this.#held && this.#lease.leftMs() > 0;
  }

  async #renewLease(): Promise<number> {
    await this.#lease.renewNow();
    if (!this.#nameHeld()) throw new NotNow('the node name is not held');
    return this.#lease.renewedMs;
  }

  /** Those that end by themselves without it hear that the lease was renewed. */
  #beat(sentMs: number): void {
    for (const [uid, { session }] of this.#runs) {
      if (session?.fence.seconds === undefined) continue;
      session.fence.beat(sentMs, session.fence.seconds).then(
        (answer) => {
          if (answer === 'too-late') this.#queue.add(uid);
        },
        (error: unknown) => this.#options.log.error({ err: error, uid }, 'a heartbeat failed'),
      );
    }
  }

  #newLease(): LeaseHolder {
    const { client, clock, random, log, nodeName, instance } = this.#options;
    return new LeaseHolder({
      client,
      clock,
      random,
      log,
      namespace: LEASE_NAMESPACE,
      name: nodeName,
      identity: instance,
      durationSeconds: this.#leaseSeconds,
      renewEveryMs: (this.#leaseSeconds * 1000) / RENEWALS,
      // A label has at most 63 characters, a node's name 253.
      ...(nodeName.length <= 63 && { labels: { [LABELS.node]: nodeName } }),
      makeNamespace: (signal) => this.#makeNamespace(signal),
    });
  }

  #refused(holder: string): void {
    const { log, nodeName } = this.#options;
    log.error({ nodeName, holder }, 'another agent holds this node name; nothing is launched here');
    this.#events.record(
      { apiVersion: API_VERSION, kind: 'SandboxNode', metadata: { name: nodeName } },
      'Warning',
      'Failed',
      `A second agent (${this.#options.instance}) was started with the node name "${nodeName}"; it launches nothing.`,
    );
  }

  /** In a cluster it is there, and would not be an agent's to make. */
  async #makeNamespace(signal: AbortSignal): Promise<void> {
    const { client, log } = this.#options;
    try {
      await client.create(
        NAMESPACES,
        { apiVersion: 'v1', kind: 'Namespace', metadata: { name: LEASE_NAMESPACE } },
        { signal },
      );
    } catch (error) {
      if (!isAlreadyExists(error)) log.debug({ err: error }, 'namespace not made');
    }
  }

  #live(): boolean {
    return [...this.#runs.values()].some((run) => run.stale || run.container?.state === 'running');
  }
}

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener('abort', () => resolve(), { once: true });
  });
}

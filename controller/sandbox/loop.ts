import type { Logger } from 'pino';
import type { SandboxNode } from '../../crds/sandbox-node.ts';
import type { Sandbox } from '../../crds/sandbox.ts';
import type { KubeClient } from '../../kube/client.ts';
import type { CancelTimer, Clock } from '../../kube/clock.ts';
import { isNotFound } from '../../kube/errors.ts';
import type { EventRecorder } from '../../kube/events.ts';
import type { Steps } from '../../kube/fault-points.ts';
import type { Lease } from '../../kube/lease.ts';
import { keyOf } from '../../kube/lister.ts';
import { done, lookAgainAfter, type ReconcileResult } from '../../kube/reconcile.ts';
import { LEASES } from '../../kube/resources.ts';
import { WorkQueue } from '../../kube/work-queue.ts';
import { Commitments } from '../commitments.ts';
import { Declines } from '../declines.ts';
import type { Listers } from '../listers.ts';
import { NodeHealth } from '../node-health.ts';
import { SYSTEM_NAMESPACE } from '../system-namespace.ts';
import { act } from './act.ts';
import { isLost } from './checks/lost.ts';
import { decide } from './decide.ts';
import { isBehind, mattersToPlacement, mayChangeItsMind } from './changes.ts';
import { observe } from './observe.ts';

export interface SandboxLoopOptions {
  client: KubeClient;
  clock: Clock;
  random: () => number;
  log: Logger;
  events: EventRecorder;
  listers: Listers;
  step: Steps;
  /** Sandboxes worked on at once. */
  workers?: number;
}

/** A watch is never further behind than this; after a restore of the API's store versions may be lower for good. */
const WATCH_LAG_MS = 130_000;

/** Room that becomes free in many small steps is offered to those that wait once in this time. */
const RETRY_PENDING_MS = 50;
const LONGEST_RETRY_MS = 2_000;
/** After a fresh look showed that the node is not lost after all. */
const TAKE_BACK_AGAIN_MS = 5_000;

/**
 * Gives sandboxes to nodes, and sees them off again. What it knows between two looks (promises, declines, heartbeats)
 * is kept up by the watches whether or not this controller leads; work is done in `run` alone.
 */
export class SandboxLoop {
  readonly #options: SandboxLoopOptions;
  readonly #commitments = new Commitments();
  readonly #declines: Declines;
  readonly #health: NodeHealth;
  /** Our last write of each sandbox, by uid, until the watch has caught up with it. */
  readonly #written = new Map<string, { resourceVersion: string; untilMs: number }>();
  readonly #unsubscribe: (() => void)[];
  #queue: WorkQueue | undefined;
  #retryPending: CancelTimer | undefined;

  constructor(options: SandboxLoopOptions) {
    this.#options = options;
    this.#declines = new Declines(options.clock);
    this.#health = new NodeHealth({ clock: options.clock, onChange: (node) => this.#nodeChanged(node) });
    const { sandboxes, nodes, leases } = options.listers;
    this.#unsubscribe = [
      sandboxes.onChange((key, old, sandbox) => this.#sandboxChanged(key, old, sandbox)),
      nodes.onChange((key, old, node) => this.#nodeObjectChanged(key, old, node)),
      leases.onChange((_, old, lease) => {
        const name = (lease ?? old)?.metadata.name;
        if (name !== undefined) this.#health.observe(name, lease);
      }),
    ];
  }

  /** Once the listers are synced; until the signal aborts. */
  async run(signal: AbortSignal): Promise<void> {
    const { clock, random, log, listers, workers = 16 } = this.#options;
    const queue = new WorkQueue({ name: 'sandbox', clock, random, log });
    this.#queue = queue;
    for (const key of listers.sandboxes.keys()) queue.add(key);
    try {
      await queue.run(workers, (key, signal) => this.#reconcile(key, signal), signal);
    } finally {
      this.#queue = undefined;
      this.#retryPending?.();
      this.#retryPending = undefined;
    }
  }

  /** Ends every timer and subscription of it. */
  stop(): void {
    for (const end of this.#unsubscribe) end();
    this.#health.stop();
    this.#retryPending?.();
  }

  async #reconcile(key: string, signal: AbortSignal): Promise<ReconcileResult> {
    const { client, events, listers, clock, log } = this.#options;
    const sandbox = listers.sandboxes.get(key);
    if (sandbox === undefined) return done();
    // What we wrote ourselves is not in view yet; deciding without it would decide twice. The watch brings it.
    const behindMs = this.#behindMs(sandbox);
    if (behindMs > 0) return lookAgainAfter(behindMs);
    const decision = decide(
      observe(sandbox, {
        listers,
        now: clock.now(),
        commitments: this.#commitments,
        declines: this.#declines,
        health: this.#health,
      }),
    );
    const written = await act(sandbox, decision, {
      client,
      events,
      commitments: this.#commitments,
      step: this.#options.step,
      confirmSilent: (node, ms, calling) => this.#confirmSilent(node, ms, calling),
      signal,
    });
    if (written?.metadata.uid !== undefined && written.metadata.resourceVersion !== undefined) {
      const { uid, resourceVersion } = written.metadata;
      this.#written.set(uid, { resourceVersion, untilMs: clock.monotonicMs() + WATCH_LAG_MS });
      log.debug({ sandbox: key, because: decision.because, act: decision.act }, 'sandbox decided');
    }
    if (decision.act === 'TakeBack' && written === undefined) return lookAgainAfter(TAKE_BACK_AGAIN_MS);
    return decision.afterMs === undefined ? done() : lookAgainAfter(decision.afterMs);
  }

  /** Fresh from the API, where every renewal that was acknowledged is. */
  async #confirmSilent(node: string, ms: number, signal: AbortSignal): Promise<boolean> {
    const ref = { namespace: SYSTEM_NAMESPACE, name: node };
    let lease: Lease | undefined;
    try {
      lease = await this.#options.client.get<Lease>(LEASES, ref, { signal });
    } catch (error) {
      if (!isNotFound(error)) throw error;
    }
    this.#health.observe(node, lease);
    const heartbeat = this.#health.of(node);
    const home = { name: node, node: this.#options.listers.nodes.get(node), heartbeat, silentMs: ms };
    return isLost(home) && this.#health.silentMs(node) >= ms;
  }

  /** How long to wait at most for the watch to show our own last write; 0: it has. */
  #behindMs(sandbox: Sandbox): number {
    const written = this.#written.get(sandbox.metadata.uid ?? '');
    if (written === undefined || !isBehind(sandbox, written.resourceVersion)) return 0;
    return Math.max(0, written.untilMs - this.#options.clock.monotonicMs());
  }

  #sandboxChanged(key: string, old: Sandbox | undefined, sandbox: Sandbox | undefined): void {
    this.#declines.observe(old, sandbox);
    if (sandbox === undefined) {
      const uid = old?.metadata.uid ?? '';
      this.#commitments.forget(uid);
      this.#written.delete(uid);
    } else {
      this.#commitments.observe(sandbox);
      if (this.#behindMs(sandbox) === 0) this.#written.delete(sandbox.metadata.uid ?? '');
      this.#queue?.add(key);
    }
    // Whatever a node had of it may be free now.
    const home = old?.status?.nodeName ?? '';
    if (home !== '' && (sandbox === undefined || mayFree(old, sandbox))) this.#pendingSoon();
  }

  #nodeObjectChanged(key: string, old: SandboxNode | undefined, node: SandboxNode | undefined): void {
    if (old === undefined || node === undefined) this.#nodeChanged(key);
    else {
      if (mayChangeItsMind(old, node)) this.#declines.forgive(key);
      if (mattersToPlacement(old, node)) this.#pendingSoon();
    }
  }

  /** It came, went, fell silent or was heard again. */
  #nodeChanged(name: string): void {
    for (const sandbox of this.#options.listers.sandboxes.byIndex('node', name)) {
      this.#queue?.add(keyOf(sandbox));
    }
    this.#pendingSoon();
  }

  /** The longer the line, the longer the wait, so that looking through it never takes most of the time. */
  #pendingSoon(): void {
    if (this.#queue === undefined || this.#retryPending !== undefined) return;
    const { clock, listers } = this.#options;
    const waiting = listers.sandboxes.byIndex('node', '').length;
    this.#retryPending = clock.setTimer(Math.min(RETRY_PENDING_MS + waiting / 5, LONGEST_RETRY_MS), () => {
      this.#retryPending = undefined;
      for (const sandbox of listers.sandboxes.byIndex('node', '').sort(byAge))
        this.#queue?.add(keyOf(sandbox));
    });
  }
}

/** Who came first is offered room first. */
function byAge(a: Sandbox, b: Sandbox): number {
  const [first, second] = [a.metadata.creationTimestamp ?? '', b.metadata.creationTimestamp ?? ''];
  return first < second ? -1 : first > second ? 1 : 0;
}

function mayFree(old: Sandbox | undefined, sandbox: Sandbox): boolean {
  return (
    old?.status?.nodeName !== sandbox.status?.nodeName ||
    old?.metadata.generation !== sandbox.metadata.generation ||
    isComplete(old) !== isComplete(sandbox)
  );
}

function isComplete(sandbox: Sandbox | undefined): boolean {
  return (
    sandbox?.status?.conditions?.some(({ type, status }) => type === 'Complete' && status === 'True') ?? false
  );
}

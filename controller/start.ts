import type { Logger } from 'pino';
import type { KubeClient } from '../kube/client.ts';
import type { Clock } from '../kube/clock.ts';
import { EventRecorder } from '../kube/events.ts';
import { stepsFromEnvironment } from '../kube/fault-points.ts';
import { LeaderElector } from '../kube/lease.ts';
import { type Fence, fencedClient } from '../kube/fenced-client.ts';
import { makeListers, reflect } from './listers.ts';
import { SandboxLoop } from './sandbox/loop.ts';
import { ensureSystemNamespace, makeSystemNamespace, SYSTEM_NAMESPACE } from './system-namespace.ts';

export interface ControllerOptions {
  client: KubeClient;
  clock: Clock;
  log: Logger;
  random: () => number;
  /** Which controller this is, among several: unique, such as a pod's or host's name. */
  identity: string;
  /** Of the leadership, in whole seconds; for tests. The renew deadline is two thirds of it. Default 15. */
  leaseSeconds?: number;
  /** false where there can be no other, as in one process with the API. */
  leaderElection: boolean;
}

export interface RunningController {
  /** Resolves when nothing of it is left. */
  stop(): Promise<void>;
  /** Why it could not work at once if it were elected; undefined: it could. */
  notReady(): string | undefined;
  /** Settles when it has ended; rejects with a fault of its own. */
  done: Promise<void>;
}

/** Begins at once; everything the API refuses or fails to answer is tried again. */
export function startController(options: ControllerOptions): RunningController {
  const { clock, log, random, identity } = options;
  const elector = options.leaderElection ? electorOf(options) : undefined;
  const fence: Fence = {
    leftMs: () => elector?.leftMs() ?? Number.POSITIVE_INFINITY,
    what: 'this controller does not lead any more',
  };
  // Whatever this controller writes but its lease goes through the fence.
  const client = elector === undefined ? options.client : fencedClient(options.client, fence, clock);
  const step = stepsFromEnvironment();
  const stopping = new AbortController();
  const listers = makeListers(log);
  const events = new EventRecorder({
    client,
    clock,
    random,
    log,
    component: 'holdfast-controller',
    instance: identity,
    quietMs: 250,
  });
  const loop = new SandboxLoop({ client, clock, random, log, events, listers, step });
  const reflecting = reflect(listers, { client, clock, random, log }, stopping.signal);
  let synced = false;
  void reflecting.synced.then(() => (synced = true));

  const lead = async (signal: AbortSignal): Promise<void> => {
    await Promise.race([reflecting.synced, aborted(signal)]);
    if (signal.aborted) return;
    log.info({ identity, sandboxes: listers.sandboxes.size, nodes: listers.nodes.size }, 'controller works');
    await loop.run(signal);
    // Before the lease is given back.
    if (fence.leftMs() > 0) await events.flush();
  };

  const work = async (): Promise<void> => {
    if (elector !== undefined) return elector.run(stopping.signal, lead);
    await ensureSystemNamespace({ client, clock, random, log, step }, stopping.signal);
    return lead(stopping.signal);
  };

  const done = (async () => {
    try {
      await Promise.all([work(), reflecting.done]);
    } finally {
      stopping.abort();
      loop.stop();
      await events.stop();
      log.info({ identity }, 'controller stopped');
    }
  })();
  // Whoever does not look at it still hears of it by the log; the fault itself is theirs who do.
  done.catch((error: unknown) => log.error({ err: error }, 'controller failed'));

  return {
    done,
    notReady() {
      if (stopping.signal.aborted) return 'it is being stopped';
      return synced ? undefined : 'the API has not been listed yet';
    },
    async stop() {
      stopping.abort();
      await done.catch(() => {});
    },
  };
}

/** With the durations that Kubernetes' own components have: 15, 10 and 2 s. */
function electorOf({
  client,
  clock,
  random,
  log,
  identity,
  leaseSeconds = 15,
}: ControllerOptions): LeaderElector {
  return new LeaderElector({
    client,
    clock,
    random,
    log,
    namespace: SYSTEM_NAMESPACE,
    name: 'holdfast-controller',
    identity,
    durationSeconds: leaseSeconds,
    renewDeadlineMs: (leaseSeconds * 1000 * 2) / 3,
    renewEveryMs: (leaseSeconds * 1000 * 2) / 15,
    attemptMs: (leaseSeconds * 1000) / 3,
    // The namespace may be deleted at any time; the one who leads makes it again with its lease.
    makeNamespace: (signal) => makeSystemNamespace(client, signal),
  });
}

/** Resolves when the signal aborts. */
function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener('abort', () => resolve(), { once: true });
  });
}

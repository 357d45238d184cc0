import type { KubeClient } from '../kube/client.ts';
import { Backoff } from '../kube/backoff.ts';
import { sleep, type Clock } from '../kube/clock.ts';
import { isAlreadyExists, isForbidden, isNotFound } from '../kube/errors.ts';
import type { Steps } from '../kube/fault-points.ts';
import { NAMESPACES } from '../kube/resources.ts';
import type { Logger } from 'pino';

/** The leases of the nodes and of the controller are here. */
export const SYSTEM_NAMESPACE = 'holdfast-system';

/**
 * Makes the namespace where there is none: on the embedded API nobody else does. Resolves when it is there, when we
 * may not make it (then whoever installed the controller has), or when the signal aborts.
 */
export async function ensureSystemNamespace(
  options: { client: KubeClient; clock: Clock; random: () => number; log: Logger; step: Steps },
  signal: AbortSignal,
): Promise<void> {
  const backoff = new Backoff({ baseMs: 200, maxMs: 10_000, random: options.random });
  while (!signal.aborted) {
    try {
      await options.client.get(NAMESPACES, { name: SYSTEM_NAMESPACE }, { signal });
      return;
    } catch (error) {
      // Whoever may not look may not make it either, and then somebody else has.
      if (isForbidden(error)) return;
      if (!isNotFound(error)) {
        if (!signal.aborted) options.log.warn({ err: error }, 'the system namespace could not be read');
        await sleep(options.clock, backoff.next(), signal);
        continue;
      }
    }
    try {
      await options.step('create-namespace', () => makeSystemNamespace(options.client, signal));
      return;
    } catch (error) {
      if (!signal.aborted) options.log.warn({ err: error }, 'the system namespace could not be made');
      await sleep(options.clock, backoff.next(), signal);
    }
  }
}

/** One try. Where we may not, whoever installed the controller has made it. */
export async function makeSystemNamespace(client: KubeClient, signal: AbortSignal): Promise<void> {
  try {
    await client.create(
      NAMESPACES,
      { apiVersion: 'v1', kind: 'Namespace', metadata: { name: SYSTEM_NAMESPACE } },
      { signal },
    );
  } catch (error) {
    if (!isAlreadyExists(error) && !isForbidden(error)) throw error;
  }
}

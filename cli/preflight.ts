import type { Logger } from 'pino';
import { Backoff } from '../kube/backoff.ts';
import { ApiError, type KubeClient } from '../kube/client.ts';
import { sleep, systemClock, type Clock } from '../kube/clock.ts';
import { TransportError } from '../kube/errors.ts';
import type { APISource } from './config.ts';
import { Failure } from './failure.ts';
import { describeRights, missingRights, type Right } from './rights.ts';

const LONGEST_WAIT_MS = 30_000;

/** OpenSSL's and Node's names for a certificate that is not the one that was expected. */
const CERTIFICATE =
  /CERT|SELF_SIGNED|UNABLE_TO_VERIFY|UNABLE_TO_GET_ISSUER|ERR_TLS|wrong version number|ERR_SSL/i;

/**
 * Looks whether the API is there, is the right one, lets us in and has our kinds, before anything is begun. What only
 * whoever gave the kubeconfig can mend ends the program (Failure); what comes by itself, or by somebody else's hand in
 * the cluster, is waited for, each finding told in one line when it is new. In a pod everything is waited for: its
 * rights may come after it, and to crash helps nobody.
 */
export async function untilUsable(options: {
  client: KubeClient;
  server: string;
  source: APISource;
  rights: readonly Right[];
  log: Logger;
  stop: AbortSignal;
  clock?: Clock;
}): Promise<void> {
  const { client, server, source, rights, log, stop, clock = systemClock } = options;
  const backoff = new Backoff({ baseMs: 500, maxMs: LONGEST_WAIT_MS, random: Math.random });
  let told = '';
  while (!stop.aborted) {
    const found = await look(client, server, rights, stop);
    if (found === undefined) return;
    if (found.whose === 'kubeconfig' && source.from === 'files') {
      throw new Failure(`${source.files.join(', ')}: ${found.text}`);
    }
    if (found.text !== told) {
      if (found.usable === true) log.warn(found.text);
      else log.error(`waiting: ${found.text}`);
    }
    told = found.text;
    if (found.usable === true) return;
    await sleep(clock, backoff.next(), stop);
  }
}

interface Finding {
  /** Whose it is to mend. */
  whose: 'kubeconfig' | 'cluster';
  text: string;
  /** It is said, and work begins all the same. */
  usable?: boolean;
}

async function look(
  client: KubeClient,
  server: string,
  rights: readonly Right[],
  stop: AbortSignal,
): Promise<Finding | undefined> {
  try {
    const missing = await missingRights(client, rights, stop);
    if (missing.length > 0) {
      return { whose: 'kubeconfig', text: `missing rights on ${server}: ${describeRights(missing)}` };
    }
    const { definitionsNote } = await import('./definitions.ts');
    const note = await definitionsNote(client, stop);
    return note === undefined ? undefined : { whose: 'cluster', ...note };
  } catch (error) {
    if (stop.aborted) return undefined;
    return refused(error, server);
  }
}

function refused(error: unknown, server: string): Finding {
  if (error instanceof ApiError && error.code === 401) {
    return {
      whose: 'kubeconfig',
      text: `${server} does not accept the credentials (401): expired, or of another cluster`,
    };
  }
  if (error instanceof ApiError && error.code === 404) {
    return { whose: 'kubeconfig', text: `${server} is no Kubernetes API: ${error.message}` };
  }
  if (error instanceof TransportError) {
    const { code = '', message = '' } = (error.cause ?? {}) as { code?: string; message?: string };
    if (CERTIFICATE.test(code) || CERTIFICATE.test(message)) {
      return {
        whose: 'kubeconfig',
        text: `${server} has another certificate than expected (${code || message}): is this the address of another cluster?`,
      };
    }
  }
  return {
    whose: 'cluster',
    text: `${server} does not answer as it should: ${error instanceof Error ? error.message : String(error)}`,
  };
}

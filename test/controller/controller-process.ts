/**
 * A controller in a process of its own, whose clock is off by some milliseconds. Everything that it sends to the API
 * to be written, and how that ended, is told to the parent: ConnectionJSON IDENTITY CLOCK_OFF_MS LEASE_SECONDS.
 */
import pino from 'pino';
import { startController } from '../../controller/start.ts';
import type { CallOptions, KubeClient } from '../../kube/client.ts';
import { systemClock } from '../../kube/clock.ts';
import { createKubeClient } from '../../kube/http-client.ts';
import type { Connection } from '../../kube/kubeconfig.ts';
import { sharedMs } from './shared-clock.ts';

export interface Write {
  verb: string;
  plural: string;
  /** When it was put on the wire, by the clock that all processes of a machine share; absent: it was not. */
  sentMs?: number;
  /** Answered with 2xx. */
  done: boolean;
}

const [connection = '{}', identity = '', clockOffMs = '0', leaseSeconds = '15'] = process.argv.slice(2);
const inner = createKubeClient({
  ...(JSON.parse(connection) as Connection),
  userAgent: `holdfast-${identity}`,
});

/** The fence is above it: what arrives here is what the controller believes that it may write. */
async function told<T>(
  verb: string,
  plural: string,
  options: CallOptions,
  call: (options: CallOptions) => Promise<T>,
): Promise<T> {
  const write: Write = { verb, plural, done: false };
  const beforeSend = (): void => {
    options.beforeSend?.();
    write.sentMs = sharedMs();
  };
  try {
    const answer = await call({ ...options, beforeSend });
    write.done = true;
    return answer;
  } finally {
    process.send?.(write);
  }
}

const client: KubeClient = {
  get: (...rest) => inner.get(...rest),
  list: (...rest) => inner.list(...rest),
  watch: (...rest) => inner.watch(...rest),
  create: (resource, object, options = {}) =>
    told('create', resource.plural, options, (more) => inner.create(resource, object, more)),
  update: (resource, object, options = {}) =>
    told('update', resource.plural, options, (more) =>
      inner.update(resource, object, { ...options, ...more }),
    ),
  patch: (resource, ref, body, options) =>
    told('patch', resource.plural, options, (more) =>
      inner.patch(resource, ref, body, { ...options, ...more }),
    ),
  delete: (resource, ref, options = {}) =>
    told('delete', resource.plural, options, (more) => inner.delete(resource, ref, { ...options, ...more })),
};

const running = startController({
  client,
  clock: { ...systemClock, now: () => new Date(Date.now() + Number(clockOffMs)) },
  log: pino({ level: process.env['HOLDFAST_TEST_LOG'] ?? 'silent' }, pino.destination(2)),
  random: Math.random,
  identity,
  leaderElection: true,
  leaseSeconds: Number(leaseSeconds),
});
process.on('message', () => process.send?.('alive'));
process.once('disconnect', () => void running.stop().then(() => process.exit(0)));
process.once('SIGTERM', () => void running.stop().then(() => process.exit(0)));

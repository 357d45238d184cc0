import type { Sandbox } from '../crds/sandbox.ts';
import type { KubeClient, ObjectRef } from '../kube/client.ts';
import { systemClock, type Clock } from '../kube/clock.ts';
import { Lister } from '../kube/lister.ts';
import { Reflector } from '../kube/reflector.ts';
import { SANDBOXES } from '../kube/resources.ts';
import { pino } from 'pino';

/** Resolves with true when this very sandbox is on the API no more, with false when the signal aborts before. */
export async function untilGone(options: {
  client: KubeClient;
  ref: ObjectRef;
  uid: string;
  signal: AbortSignal;
  clock?: Clock;
}): Promise<boolean> {
  const { client, ref, uid, signal, clock = systemClock } = options;
  const log = pino({ level: 'silent' });
  const lister = new Lister<Sandbox>({ log });
  const reflector = new Reflector<Sandbox>({
    client,
    resource: SANDBOXES,
    options: {
      ...(ref.namespace !== undefined && { namespace: ref.namespace }),
      fieldSelector: `metadata.name=${ref.name}`,
    },
    lister,
    clock,
    random: Math.random,
    log,
  });
  const end = new AbortController();
  const stop = (): void => end.abort();
  signal.addEventListener('abort', stop, { once: true });
  if (signal.aborted) stop();
  let gone = false;
  const look = (): void => {
    if (lister.list().some(({ metadata }) => metadata.uid === uid)) return;
    gone = true;
    stop();
  };
  lister.onChange(look);
  const running = reflector.run(end.signal);
  // Gone before the first list: then there is no change to hear of.
  await reflector.synced.then(look, () => {});
  await running;
  signal.removeEventListener('abort', stop);
  return gone && !signal.aborted;
}

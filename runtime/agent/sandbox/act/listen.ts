import { type ActContext, probeOf } from './context.ts';

/** The sandbox's folder and its bind mount are as they were; only the socket in it is new. */
export async function listen(context: ActContext): Promise<void> {
  const { services, run } = context;
  const probe = probeOf(context);
  await services.step('listen', () => probe.listen(run.uid, { signal: services.signal }));
  run.listener = probe;
}

import { openInit } from '../../link/init.ts';
import type { InitArrival } from '../../link/types.ts';
import type { Services } from '../services.ts';
import { lifeOf } from './life.ts';
import { outputTrouble } from './output-trouble.ts';
import { openLiveSession } from './live-session.ts';

/** An init has come through a probe: from now on what happens in its sandbox is known here. */
export async function takeArrival(services: Services, arrival: InitArrival): Promise<void> {
  const { log, runs, outputs, clock } = services;
  const uid = arrival.sandboxID;
  const run = runs.get(uid);
  if (run === undefined) {
    log.warn({ uid }, 'an init came for a sandbox that is not known here');
    arrival.stream.destroy();
    return;
  }
  const containerID = run.container?.id ?? run.record?.containerID ?? '';
  const start = run.record?.starts ?? 1;
  try {
    const session = await openLiveSession({
      arrival,
      start,
      life: lifeOf(containerID, start),
      writer: (launch) => outputs.writer(uid, launch, outputTrouble(services, run, launch)),
      changed: () => services.enqueue(uid),
      nowMs: () => clock.monotonicMs(),
      failed: (error) => {
        // Not written, so not acknowledged: it comes again with the next connection.
        log.error({ err: error, uid }, 'output could not be written');
        arrival.stream.destroy();
      },
      open: (events) => openInit(arrival.stream, events),
    });
    run.session?.init.close();
    run.session = session;
    run.onSession?.();
    services.enqueue(uid);
    const reason = await session.init.closed;
    log.debug({ uid, because: reason.message }, 'init is gone');
    if (run.session !== session) return;
    run.session = undefined;
    run.startedMs = clock.monotonicMs();
    run.stale = true;
    services.enqueue(uid);
  } catch (error) {
    log.warn({ err: error, uid }, 'an init came and could not be spoken with');
    arrival.stream.destroy();
  }
}

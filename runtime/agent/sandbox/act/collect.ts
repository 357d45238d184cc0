import { counterFiles } from '../cgroup-paths.ts';
import { counterPaths, readCounters } from '../counters.ts';
import { cgroupParentPath } from '../../names.ts';
import { type ActContext, cgroupVersion, NotNow, recordOf, rfc3339, sessionOf } from './context.ts';

/** How long output that has come to a standstill is waited for: a background child may hold a stream for ever. */
export const STILL_MS = 2000;

/**
 * A process has ended and init holds its cgroup: the kernel's counters are read now, written down with the exit, and
 * only then init is told to go.
 */
export async function collect(context: ActContext, launch: 'setup' | 'main'): Promise<void> {
  const { services, runtime } = context;
  const record = recordOf(context);
  const session = sessionOf(context);
  const exit = session.process(launch)?.exit;
  const own = record[launch];
  if (exit === undefined || own === undefined) throw new NotNow('the process has not ended');
  const parent = record.cgroupParent === undefined ? undefined : cgroupParentPath(record.cgroupParent);
  const files = counterFiles(session.arrival.peer.cgroup, cgroupVersion(context));
  const probe = runtime.probe.probe;
  if (files !== undefined && probe !== undefined) {
    const readings = await probe.readFiles(counterPaths(files, parent), { signal: services.signal });
    own.closing = readCounters(files, parent, readings);
  } else own.closing = { readings: [] };
  own.exit = exit;
  own.endedAt = rfc3339(services.clock.now().getTime());
  await services.step('ledger-exit', () => services.ledger.put(record));
  await release(context, launch);
}

/** All output first, then the goodbye: with init goes everything that was not read. */
export async function release(context: ActContext, launch: 'setup' | 'main'): Promise<void> {
  const { services, run } = context;
  const session = sessionOf(context);
  const exit = session.process(launch)?.exit;
  if (exit === undefined) throw new NotNow('the process has not ended');
  await session.drained(launch, STILL_MS);
  run.stale = true;
  await services.step('release', async () => {
    session.init.release(exit.exitCode ?? 128 + (exit.signal ?? 0));
    session.released = true;
  });
}

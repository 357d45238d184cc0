import { counterFiles, limitFiles } from '../cgroup-paths.ts';
import { counterPaths, readCounters } from '../counters.ts';
import { makeReceipt, receiptPaths } from '../receipt.ts';
import { cgroupParentPath } from '../../names.ts';
import type { LiveSession } from '../../session/live-session.ts';
import { type ActContext, cgroupVersion, NotNow, probeOf, recordOf, rfc3339, sessionOf } from './context.ts';

/** Reads limits and counters of the gated sandbox in one round trip (L11). */
export async function receipt(context: ActContext): Promise<void> {
  const session = sessionOf(context);
  await readReceipt(context, session);
  const record = recordOf(context);
  // Once the gate was passed, another limit than the one asked for is a change from outside.
  if (record.main?.start === record.starts) session.drift = session.receipt?.mismatches;
}

export async function readReceipt(context: ActContext, session: LiveSession): Promise<void> {
  const { services, runtime } = context;
  const record = recordOf(context);
  const probe = probeOf(context);
  if (runtime.last?.state !== 'Ok') await runtime.answer({ signal: services.signal });
  const version = cgroupVersion(context);
  const { cgroup } = session.arrival.peer;
  const files = limitFiles(cgroup, version);
  if (files === undefined) throw new NotNow(`no cgroup v${version} path in ${JSON.stringify(cgroup)}`);
  const counters = counterFiles(cgroup, version);
  const parent = record.cgroupParent === undefined ? undefined : cgroupParentPath(record.cgroupParent);
  const readings = await probe.readFiles(
    [...receiptPaths(files), ...(counters === undefined ? [] : counterPaths(counters, parent))],
    { signal: services.signal },
  );
  record.cgroup = cgroup;
  session.baseline = readCounters(counters, parent, readings);
  session.receipt = makeReceipt({
    requested: record.limits,
    files,
    readings,
    pageBytes: probe.hello.pageSizeBytes,
    systemd: runtime.last?.state === 'Ok' && runtime.last.info.cgroupDriver === 'systemd',
    time: rfc3339(services.clock.now().getTime()),
  });
}

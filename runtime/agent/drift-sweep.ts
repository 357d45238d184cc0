import { limitFiles, type LimitFiles } from './sandbox/cgroup-paths.ts';
import { makeReceipt, receiptPaths } from './sandbox/receipt.ts';
import type { Run } from './run.ts';
import type { Runtime } from './runtimes/runtime.ts';
import type { Services } from './services.ts';
import type { LiveSession } from './session/live-session.ts';

/** Sandboxes whose files are read in one request. */
const BATCH = 200;

/**
 * Reads the limits in force of every running sandbox, all in one round trip, and wakes up only those that are not as
 * they were asked for, or are again (L12).
 */
export async function sweepDrift(services: Services, runtime: Runtime, only?: string): Promise<void> {
  const probe = runtime.probe.probe;
  const answer = runtime.last;
  if (probe === undefined || answer?.state !== 'Ok') return;
  const version = answer.info.cgroupVersion === '2' ? 2 : 1;
  const all: { run: Run; session: LiveSession; files: LimitFiles }[] = [];
  for (const run of services.runs.values()) {
    if (only !== undefined && run.uid !== only) continue;
    const { session, record } = run;
    if (session === undefined || record?.runtime !== runtime.driver.name) continue;
    if (record.main === undefined && record.setup === undefined) continue;
    const files = limitFiles(session.arrival.peer.cgroup, version);
    if (files !== undefined) all.push({ run, session, files });
  }
  for (let at = 0; at < all.length; at += BATCH) {
    const some = all.slice(at, at + BATCH);
    const readings = await probe.readFiles(
      some.flatMap((one) => receiptPaths(one.files)),
      { signal: services.signal },
    );
    for (const { run, session, files } of some) {
      // A change of our own is under way: its own read-back decides.
      if (run.record === undefined || run.ownUpdate || run.session !== session) continue;
      const receipt = makeReceipt({
        requested: run.record.limits,
        files,
        readings,
        pageBytes: probe.hello.pageSizeBytes,
        systemd: answer.info.cgroupDriver === 'systemd',
        time: services.clock.now().toISOString(),
      });
      // Files that are gone belong to a sandbox that is ending.
      if (receipt.unread.length > 0) continue;
      note(services, run, session, receipt.mismatches, () => {
        session.receipt = receipt;
      });
    }
  }
}

function note(
  services: Services,
  run: Run,
  session: LiveSession,
  mismatches: string[],
  renew: () => void,
): void {
  const before = session.drift ?? [];
  if (mismatches.join() === before.join()) {
    session.drift ??= mismatches;
    return;
  }
  session.drift = mismatches;
  if (mismatches.length > 0) {
    services.events.record(
      {
        apiVersion: 'holdfast.dev/v1alpha1',
        kind: 'Sandbox',
        metadata: { namespace: run.namespace, name: run.name, uid: run.uid },
      },
      'Warning',
      'LimitsDrifted',
      `A limit was changed from outside: ${mismatches.join('; ')}.`,
    );
  } else renew();
  services.enqueue(run.uid);
}

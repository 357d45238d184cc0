import { LABELS, ownLabels } from './names.ts';
import { newRun, type Run } from './run.ts';
import type { Runtime } from './runtimes/runtime.ts';
import type { Services } from './services.ts';

/** The run of a sandbox; made when it is first heard of. */
export function ensureRun(
  services: Services,
  uid: string,
  where: { namespace: string; name: string },
  stale: boolean,
): Run {
  const known = services.runs.get(uid);
  if (known !== undefined) return known;
  const run = newRun(uid, where);
  run.stale = stale;
  run.record = services.ledger.get(uid);
  services.runs.set(uid, run);
  return run;
}

/**
 * Everything in the runtime and in the ledger that is this agent's, by label: adopted, whoever made it. What is known
 * of any container may be old by now.
 */
export async function adopt(services: Services, runtime: Runtime): Promise<void> {
  const labels = { ...ownLabels(services.nodeName) };
  const call = { signal: services.signal, labels };
  const [containers, volumes] = await Promise.all([
    runtime.driver.listContainers(call),
    runtime.driver.listVolumes(call),
  ]);
  for (const run of services.runs.values()) run.stale = true;
  for (const found of [...containers, ...volumes]) {
    const uid = found.labels[LABELS.uid];
    const namespace = found.labels[LABELS.namespace];
    const name = found.labels[LABELS.name];
    if (uid === undefined || namespace === undefined || name === undefined) continue;
    ensureRun(services, uid, { namespace, name }, true).stale = true;
  }
  for (const uid of services.ledger.uids()) {
    const record = services.ledger.get(uid);
    if (record !== undefined) ensureRun(services, uid, record, true);
  }
  for (const uid of services.runs.keys()) services.enqueue(uid);
}

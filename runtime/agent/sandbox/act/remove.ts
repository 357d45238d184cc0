import type { Runtime } from '../../runtimes/runtime.ts';
import { cgroupParentPath, containerName, LABELS, workspaceVolume } from '../../names.ts';
import { type ActContext, say } from './context.ts';
import { sayEnd } from './say-end.ts';
import { closeFiller } from './open-workspace.ts';

/** The container goes; what is known about it stays, for the status. */
export async function removeContainer(context: ActContext): Promise<void> {
  const { services, run, runtime } = context;
  if (run.record?.outcome !== undefined && !run.endSaid) sayEnd(context, run.record.outcome);
  await dropContainer(context, runtime);
  await services.outputs.close(run.uid);
}

/** Container and record of this attempt go; the workspace stays for the next. */
export async function discard(context: ActContext): Promise<void> {
  const { services, run, runtime } = context;
  await dropContainer(context, runtime);
  await services.step('ledger-discard', () => services.ledger.remove(run.uid));
  run.record = undefined;
  run.startFailures = 0;
  run.userCodeMs = undefined;
  run.stopMs = undefined;
  run.stopSent = false;
  run.endSaid = false;
  run.events = [];
}

/** As discard; throws, so that the next attempt waits longer each time. */
export async function giveUp(context: ActContext, message: string): Promise<void> {
  say(context, 'Warning', 'Failed', message);
  await discard(context);
  throw new Error(message);
}

/** Everything of a sandbox that is gone, being deleted, or somebody else's; in every runtime. */
export async function tearDown(context: ActContext): Promise<void> {
  const { services, run } = context;
  run.stopPull?.();
  const had = run.container !== undefined;
  for (const runtime of services.runtimes.values()) {
    await dropContainer({ ...context, runtime }, runtime);
    await closeFiller({ ...context, runtime });
    await services.step('remove-workspace', () =>
      runtime.driver.removeVolume(workspaceVolume(run.uid), { signal: services.signal }),
    );
  }
  await services.step('remove-output', () => services.outputs.remove(run.uid));
  await services.step('ledger-remove', () => services.ledger.remove(run.uid));
  run.record = undefined;
  run.tornDown = true;
  if (had) say(context, 'Normal', 'Removed', 'The container and its volumes were removed.');
}

/** Streams first: a stream that nobody reads can hold up a runtime. */
async function dropContainer(context: ActContext, runtime: Runtime): Promise<void> {
  const { services, run } = context;
  run.session?.init.close();
  run.session = undefined;
  const name = containerName(run.uid);
  const call = { signal: services.signal };
  const found = await runtime.driver.inspectContainer(name, call);
  // The name may be somebody else's; what is not ours is left alone.
  if (found !== undefined && found.labels[LABELS.uid] === run.uid) {
    await services.step('remove-container', () => runtime.driver.removeContainer(found.id, call));
  }
  run.container = undefined;
  run.stale = false;
  const probe = runtime.probe.probe;
  const parent = run.record?.cgroupParent;
  run.listener = undefined;
  if (probe === undefined) return;
  await services.step('unlisten', () => probe.unlisten(run.uid, call));
  if (parent === undefined) return;
  await services.step('remove-cgroup', () => probe.removeCgroup(relative(cgroupParentPath(parent)), call));
}

const relative = (path: string): string => path.replace(/^\/+/, '');

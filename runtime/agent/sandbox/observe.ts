import { DriverError } from '../../driver.ts';
import { containerName, LABELS } from '../names.ts';
import type { Run } from '../run.ts';
import type { Runtime } from '../runtimes/runtime.ts';
import type { Services } from '../services.ts';
import { currentSandbox } from './current.ts';
import { recoverRecord } from './recover-record.ts';
import { roomFor } from './room-for.ts';
import { specFacts } from './spec-facts.ts';
import type { Observation, RuntimeAnswer } from './types.ts';

/** Looks at everything a decision needs, asking only for what may have changed. */
export async function observe(
  services: Services,
  run: Run,
): Promise<{ seen: Observation; runtime: Runtime | undefined }> {
  const { clock } = services;
  const sandbox = await currentSandbox(services, run);
  run.record ??= services.ledger.get(run.uid);
  const runtime = runtimeOf(services, run, sandbox?.status?.runtime);
  let answer: RuntimeAnswer = runtime?.last ?? { state: 'Unreadable', message: 'it was not asked yet' };
  if (runtime !== undefined) {
    try {
      await lookAtContainer(services, run, runtime);
    } catch (error) {
      if (!(error instanceof DriverError) || error.code !== 'Unavailable') throw error;
      answer = { state: 'Unavailable', message: error.message };
    }
    const making = run.container === undefined || run.container.state === 'created';
    if (making && answer.state !== 'Unavailable' && sandbox !== undefined) {
      answer = await runtime.answer({ signal: services.signal });
    }
  }
  if (run.mayRecover) run.record ??= recoverRecord(services, run, sandbox);
  if (!run.stale) run.mayRecover = false;
  forgetOldPull(services, run);
  const spec = sandbox === undefined ? undefined : facts(run, sandbox.spec);
  const nowMs = clock.now().getTime();
  const seen: Observation = {
    nowMs,
    nodeName: services.nodeName,
    sandbox,
    spec,
    record: run.record,
    runtime: answer,
    container: run.container,
    probe:
      runtime?.probe.probe === undefined
        ? { ready: false, why: runtime?.probe.why ?? 'there is no such runtime' }
        : { ready: true },
    session:
      run.session === undefined
        ? undefined
        : {
            start: run.session.start,
            setup: run.session.process('setup'),
            main: run.session.process('main'),
            receipt: run.session.receipt,
            released: run.session.released,
            canFence: run.session.fence.can,
            fenceSeconds: run.session.fence.seconds,
            fenced: run.session.fence.fell,
            drift: run.session.drift,
          },
    listening: runtime?.probe.probe !== undefined && run.listener === runtime.probe.probe,
    pull: run.pull,
    nameHeld: services.nameHeld(),
    ending: services.ending(),
    draining: services.nodeSpec()?.drain === true,
    tornDown: run.tornDown,
    ranMs: ran(services, run, nowMs),
    silentMs: since(services, run.startedMs),
    stopSent: run.stopSent,
    unenforceable: run.unenforceable,
    stoppingMs: stopping(services, run, nowMs),
    noRoom:
      sandbox === undefined || spec === undefined || runtime === undefined
        ? undefined
        : roomFor(services, run, runtime, sandbox, spec),
    trouble: run.trouble,
  };
  return { seen, runtime };
}

const known = new WeakMap<object, ReturnType<typeof specFacts>>();

/** Specs are frozen and change as a whole, so what follows from one is worked out once. */
function facts(_run: Run, spec: Parameters<typeof specFacts>[0]): ReturnType<typeof specFacts> {
  const before = known.get(spec);
  if (before !== undefined) return before;
  const made = specFacts(spec);
  known.set(spec, made);
  return made;
}

function runtimeOf(
  services: Services,
  run: Run,
  named: 'docker' | 'podman' | undefined,
): Runtime | undefined {
  const name = run.record?.runtime ?? named;
  if (name !== undefined) return services.runtimes.get(name);
  return services.runtimes.values().next().value;
}

/** After this long without its init a container is asked for at every look: what told of its end may be lost. */
const BLIND_MS = 1000;

async function lookAtContainer(services: Services, run: Run, runtime: Runtime): Promise<void> {
  const blind =
    run.session === undefined &&
    run.container?.state === 'running' &&
    (since(services, run.startedMs) ?? 0) > BLIND_MS;
  if (!run.stale && !blind) return;
  run.stale = false;
  try {
    const found = await runtime.driver.inspectContainer(containerName(run.uid), { signal: services.signal });
    run.container = found?.labels[LABELS.uid] === run.uid ? found : undefined;
  } catch (error) {
    run.stale = true;
    throw error;
  }
  if (run.container?.state === 'running') run.startedMs ??= services.clock.monotonicMs();
}

function forgetOldPull(services: Services, run: Run): void {
  if (run.pull === undefined || run.pull.state === 'running') return;
  const leftMs = (run.retryPullAt ?? 0) - services.clock.monotonicMs();
  if (leftMs <= 0) run.pull = undefined;
  else run.pull = { ...run.pull, retryInMs: leftMs };
}

function since(services: Services, monotonicMs: number | undefined): number | undefined {
  return monotonicMs === undefined ? undefined : services.clock.monotonicMs() - monotonicMs;
}

/**
 * For how long user code has run, on the monotonic clock; after a restart of the agent the wall clock's span is where
 * it begins, so that a jump of the clock while the agent runs changes nothing.
 */
function ran(services: Services, run: Run, nowMs: number): number | undefined {
  if (run.userCodeMs === undefined) {
    const { record } = run;
    const began =
      record?.setup?.startedAt ??
      record?.setup?.intendedAt ??
      record?.main?.startedAt ??
      record?.main?.intendedAt;
    if (began === undefined) return undefined;
    run.userCodeMs = services.clock.monotonicMs() - Math.max(0, nowMs - Date.parse(began));
  }
  return services.clock.monotonicMs() - run.userCodeMs;
}

function stopping(services: Services, run: Run, nowMs: number): number | undefined {
  const stop = run.record?.stop;
  if (stop === undefined) return undefined;
  run.stopMs ??= services.clock.monotonicMs() - Math.max(0, nowMs - Date.parse(stop.at));
  return services.clock.monotonicMs() - run.stopMs;
}

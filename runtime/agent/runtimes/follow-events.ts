import type { Logger } from 'pino';
import { Backoff } from '../../../kube/backoff.ts';
import { type Clock, sleep } from '../../../kube/clock.ts';
import type { RuntimeEvent } from '../../driver.ts';
import { ownLabels } from '../names.ts';
import type { Runtime } from './runtime.ts';

export interface FollowEventsOptions {
  runtime: Runtime;
  nodeName: string;
  /** Unix ms; what happened since is told again. */
  sinceMs: number;
  clock: Clock;
  random: () => number;
  log: Logger;
  onEvent: (event: RuntimeEvent) => void;
  /** The stream broke, or works again: what is known of any container may be old. */
  onBreak: () => void;
  onResume: () => Promise<void>;
  /** The containers of this runtime as they were last seen running. */
  running: () => { id: string; startedAt: string | undefined }[];
}

/** How long a stream has to hold before the next break begins with a short wait again. */
const HEALTHY_MS = 5000;

/** Container events of a runtime for ever: resumed with the last time seen. Until the signal aborts. */
export async function followEvents(options: FollowEventsOptions, signal: AbortSignal): Promise<void> {
  const { runtime, clock, random, log } = options;
  const backoff = new Backoff({ baseMs: 100, maxMs: 5000, random });
  let sinceMs = options.sinceMs;
  while (!signal.aborted) {
    const startedMs = clock.monotonicMs();
    try {
      const answer = await runtime.ask({ signal });
      if (answer.state === 'Unavailable') {
        runtime.silent();
        throw new Error(answer.message);
      }
      const tookMs = clock.monotonicMs() - startedMs;
      runtime.answers(clock.now().getTime(), { tookMs, survived: await survived(options, signal) });
      await options.onResume();
      for await (const event of runtime.driver.events({
        signal,
        sinceMs,
        labels: ownLabels(options.nodeName),
      })) {
        sinceMs = Math.max(sinceMs, event.timeMs);
        options.onEvent(event);
      }
    } catch (error) {
      if (signal.aborted) return;
      log.warn({ err: error, runtime: runtime.driver.name }, 'events of the runtime broke off');
    }
    if (signal.aborted) return;
    runtime.broke(clock.now().getTime());
    options.onBreak();
    if (clock.monotonicMs() - startedMs > HEALTHY_MS) backoff.reset();
    await sleep(clock, backoff.next(), signal);
  }
}

/** Whether a container runs on that was started before the break: then nothing ended the containers as a whole. */
async function survived(options: FollowEventsOptions, signal: AbortSignal): Promise<boolean> {
  const { runtime, nodeName, running } = options;
  const sinceMs = runtime.brokenSinceMs;
  const before = new Map(running().map((container) => [container.id, container.startedAt]));
  if (sinceMs === undefined || before.size === 0) return false;
  const found = await runtime.driver.listContainers({ signal, labels: ownLabels(nodeName) });
  for (const { id, state } of found) {
    if (state !== 'running' || !before.has(id)) continue;
    const now = await runtime.driver.inspectContainer(id, { signal });
    if (now?.state !== 'running' || now.startedAt === undefined) continue;
    if (now.startedAt === before.get(id) || Date.parse(now.startedAt) < sinceMs) return true;
  }
  return false;
}

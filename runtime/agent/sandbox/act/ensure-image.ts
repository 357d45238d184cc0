import { effectivePullPolicy } from '../../../../crds/identity.ts';
import type { ImageInfo } from '../../../driver.ts';
import { type ActContext, say } from './context.ts';

/** Progress is told at most this often. */
const PROGRESS_MS = 5000;
const RETRY_FIRST_MS = 10_000;
const RETRY_MAX_MS = 300_000;
const ABSENT_MS = 30_000;

/**
 * The image by policy. undefined: not there yet; what is going on about it is in `run.pull`, and the key comes back
 * when that changes. A pull goes on by itself, whoever waits for it.
 */
export async function ensureImage(context: ActContext): Promise<ImageInfo | undefined> {
  const { services, run, runtime, seen } = context;
  const spec = seen.sandbox?.spec;
  if (spec === undefined) return undefined;
  if (run.pull?.state === 'running') {
    if (run.pull.image === spec.image) return undefined;
    // The spec has changed: nobody waits for that image any more.
    run.stopPull?.();
    run.pull = undefined;
  }
  const call = { signal: services.signal };
  const policy = effectivePullPolicy(spec);
  if (policy !== 'Always' || run.pulled === spec.image) {
    // A question from before our own pull has ended may still be under way.
    const image =
      run.pulled === undefined
        ? await runtime.image(spec.image, call)
        : await runtime.driver.inspectImage(spec.image, call);
    if (image !== undefined) {
      run.pull = undefined;
      run.pulled = undefined;
      return image;
    }
  }
  if (policy === 'Never') {
    // Somebody may load it: looked for again from time to time.
    run.retryPullAt = services.clock.monotonicMs() + ABSENT_MS;
    run.pull = {
      state: 'absent',
      image: spec.image,
      retryInMs: ABSENT_MS,
      message: `The image ${spec.image} is not on node ${services.nodeName}, and spec.imagePullPolicy is Never.`,
    };
    return undefined;
  }
  pull(context, spec.image);
  return undefined;
}

function pull(context: ActContext, image: string): void {
  const { services, run, runtime } = context;
  const { clock } = services;
  const stop = new AbortController();
  const aborted = (): void => stop.abort(services.signal.reason);
  services.signal.addEventListener('abort', aborted, { once: true });
  const current = (): boolean => run.pull?.state === 'running' && run.pull.image === image;
  let told = Number.NEGATIVE_INFINITY;
  run.pull = { state: 'running', image, progress: `Pulling image ${image}.` };
  run.stopPull = () => stop.abort(new Error('the sandbox does not need the image any more'));
  say(context, 'Normal', 'Pulling', `Pulling image ${image}.`);
  const onProgress = (text: string): void => {
    if (!current()) return;
    run.pull = { state: 'running', image, progress: `Pulling image ${image}: ${text}`.slice(0, 1000) };
    if (clock.monotonicMs() - told < PROGRESS_MS) return;
    told = clock.monotonicMs();
    services.enqueue(run.uid);
  };
  services
    .step('pull-image', () => runtime.driver.pullImage(image, { signal: stop.signal, onProgress }))
    .then(
      () => {
        if (!current()) return;
        run.pulled = image;
        run.pull = undefined;
        run.pullFailures = 0;
        say(context, 'Normal', 'Pulled', `Pulled image ${image}.`);
      },
      (error: unknown) => {
        if (!current()) return;
        if (stop.signal.aborted) {
          run.pull = undefined;
          return;
        }
        run.pullFailures += 1;
        const retryInMs = Math.min(RETRY_FIRST_MS * 2 ** (run.pullFailures - 1), RETRY_MAX_MS);
        const why = error instanceof Error ? error.message : String(error);
        const message = `The image ${image} could not be pulled: ${why}`;
        run.pull = { state: 'failed', image, message, retryInMs };
        say(context, 'Warning', 'Failed', message);
        run.retryPullAt = clock.monotonicMs() + retryInMs;
      },
    )
    .finally(() => {
      services.signal.removeEventListener('abort', aborted);
      services.enqueue(run.uid);
    });
}

import type { Sandbox } from '../../../crds/sandbox.ts';
import { FINALIZER } from '../../../crds/group.ts';
import { SANDBOXES } from '../../../kube/resources.ts';
import type { Stage } from './stage.ts';

export interface Bare {
  /** Creations, each with its patch and its write of the status, in a second. */
  perSecond: number;
  samplesMs: number[];
}

/**
 * What the API server gives a client that thinks nothing: create, patch of the finalizers, write of the same status as
 * the controller's, by so many workers at once. No controller runs meanwhile; whatever is left over afterwards stays.
 */
export async function bareRate(
  stage: Stage,
  like: Sandbox,
  options: { workers: number; seconds: number },
): Promise<Bare> {
  const samplesMs: number[] = [];
  const startedMs = performance.now();
  const endMs = startedMs + options.seconds * 1000;
  const { client } = stage;
  const worker = async (_: unknown, index: number): Promise<void> => {
    for (let round = 0; performance.now() < endMs; round += 1) {
      const beganMs = performance.now();
      const name = `bare-${index}-${round}`;
      const made = await stage.create(name);
      const ref = { namespace: made.metadata.namespace ?? '', name };
      const { resourceVersion } = made.metadata;
      const guarded = await client.patch<Sandbox>(
        SANDBOXES,
        ref,
        { metadata: { finalizers: [FINALIZER], resourceVersion } },
        { type: 'merge' },
      );
      await client.update(SANDBOXES, { ...guarded, status: like.status }, { subresource: 'status' });
      samplesMs.push(performance.now() - beganMs);
    }
  };
  await Promise.all(Array.from({ length: options.workers }, worker));
  return { perSecond: samplesMs.length / ((performance.now() - startedMs) / 1000), samplesMs };
}

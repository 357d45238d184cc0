import { expect, it } from 'vitest';
import { clusterBinaries, NoCluster } from '../cluster/versions.ts';
import { runChaos } from './run.ts';

/** The same with each run: what fails now and then is what `make chaos` looks for, with other seeds. */
const SEED = 3;

it('[K2] [K5] [K6] docker-v1, kube-apiserver: kills, restarts and a bad network break no invariant', async ({
  skip,
}) => {
  const missing = await clusterBinaries().then(
    () => undefined,
    (error: unknown) => {
      if (error instanceof NoCluster) return error.message;
      throw error;
    },
  );
  skip(missing !== undefined, missing);
  const told: string[] = [`seed ${SEED}`];
  const { breaches } = await runChaos({
    seed: SEED,
    seconds: 18,
    settleSeconds: 90,
    calmSeconds: 3,
    leaseSeconds: 6,
    say: (line) => told.push(line),
  });
  expect(Object.values(breaches).flat(), told.join('\n')).toEqual([]);
});

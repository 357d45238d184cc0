import { expect, it } from 'vitest';
import { clusterBinaries, NoCluster } from '../cluster/versions.ts';
import { runChaos } from './run.ts';

/** Another one with each run would be a test that fails now and then; `make chaos` takes others. */
const SEED = Number(process.env['CHAOS_SEED'] ?? 1);

const missing = await clusterBinaries().then(
  () => undefined,
  (error: unknown) => {
    if (error instanceof NoCluster) return error.message;
    throw error;
  },
);

it.skipIf(missing !== undefined)(
  `[K2] [K5] [K6] docker-v1, kube-apiserver: kills, restarts and a bad network break no invariant${missing === undefined ? '' : ` (skipped: ${missing})`}`,
  async () => {
    const told: string[] = [`seed ${SEED}`];
    const { breaches } = await runChaos({
      seed: SEED,
      seconds: 20,
      settleSeconds: 90,
      calmSeconds: 3,
      leaseSeconds: 6,
      say: (line) => told.push(line),
    });
    expect(Object.values(breaches).flat(), told.join('\n')).toEqual([]);
  },
);

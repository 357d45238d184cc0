/**
 * `make bench-cluster`: the controller on a real kube-apiserver, with simulated nodes. Each part has a server of its own
 * and is measured beside a bare client on that server. Prints a table and writes bench-out/cluster.json.
 * BENCH_ONLY=burst,place,rate; BENCH_NODES (1000), BENCH_SANDBOXES (10000), BENCH_SECONDS (60), BENCH_RATE (300).
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import { cpus, release, totalmem } from 'node:os';
import { join } from 'node:path';
import { ROOT } from '../../scripts/setup/cache.ts';
import { benchBurst } from './cluster/burst.ts';
import { benchPlace } from './cluster/place.ts';
import { benchRate } from './cluster/rate.ts';
import type { BenchResult } from './result.ts';
import { table } from './table.ts';

const number = (name: string, otherwise: number): number => Number(process.env[name] ?? otherwise);
const only = process.env['BENCH_ONLY']?.split(',');
const parts: Record<string, () => Promise<BenchResult>> = {
  burst: () => benchBurst({ nodes: 20, sandboxes: 1000, creators: 20 }),
  rate: () =>
    benchRate({ nodes: 100, perSecond: number('BENCH_RATE', 300), seconds: number('BENCH_SECONDS', 60) }),
  place: () =>
    benchPlace({ nodes: number('BENCH_NODES', 1000), sandboxes: number('BENCH_SANDBOXES', 10_000) }),
};

const machine = `${cpus().length} x ${cpus()[0]?.model ?? '?'}, ${(totalmem() / 1e9).toFixed(0)} GB, Linux ${release()}, Node ${process.version}`;
console.log(`${machine}; API server, etcd, controller, nodes and users on it together`);
const results: BenchResult[] = [];
for (const [name, part] of Object.entries(parts)) {
  if (only !== undefined && !only.includes(name)) continue;
  const result = await part();
  results.push(result);
  console.log(`\n${table([result])}`);
}
const out = join(ROOT, 'bench-out');
mkdirSync(out, { recursive: true });
writeFileSync(
  join(out, 'cluster.json'),
  `${JSON.stringify({ machine, time: new Date().toISOString(), results }, null, 2)}\n`,
);
console.log('\nEvery sample: bench-out/cluster.json');

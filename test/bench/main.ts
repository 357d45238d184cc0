/**
 * `make bench`: Holdfast and raw Docker side by side on one daemon, what idling costs, the embedded API and placement.
 * Prints a table and writes bench-out/bench.json with every sample. BENCH_RUNS (30), BENCH_ONLY=launch,idle,api,placement.
 */
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { cpus, release, tmpdir, totalmem } from 'node:os';
import { join } from 'node:path';
import { createKubeClient } from '../../kube/http-client.ts';
import { loadKubeconfig } from '../../kube/kubeconfig.ts';
import { findDaemon } from '../../scripts/demo/daemon.ts';
import { holdfastUp } from '../../scripts/demo/holdfast-up.ts';
import { removeLeftovers } from '../../scripts/demo/leftovers.ts';
import { ROOT } from '../../scripts/setup/cache.ts';
import { benchIdle } from './idle.ts';
import { benchLaunch } from './launch.ts';
import { startRawSide } from './raw-client.ts';
import type { BenchResult } from './result.ts';
import { SandboxClient } from './sandbox-client.ts';
import { table } from './table.ts';

const runs = Number(process.env['BENCH_RUNS'] ?? 30);
const only = process.env['BENCH_ONLY']?.split(',');
const wanted = (part: string) => only === undefined || only.includes(part);
const results: BenchResult[] = [];
const machine = `${cpus().length} x ${cpus()[0]?.model ?? '?'}, ${(totalmem() / 1e9).toFixed(0)} GB, Linux ${release()}, Node ${process.version}`;
console.log(machine);

// Interrupted or not, `finally` takes down what was started.
const interrupted = new Promise<never>((_resolve, reject) => {
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => reject(new Error(signal)));
});
if (wanted('launch') || wanted('idle')) await onDaemon();
for (const part of ['api', 'placement']) if (wanted(part)) alone(part);

const out = join(ROOT, 'bench-out');
mkdirSync(out, { recursive: true });
writeFileSync(
  join(out, 'bench.json'),
  `${JSON.stringify({ machine, time: new Date().toISOString(), results }, null, 2)}\n`,
);
console.log(`\n${table(results)}\n\nEvery sample: bench-out/bench.json`);

async function onDaemon(): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'hf-bench-'));
  const daemon = await findDaemon(folder);
  console.log(daemon.description);
  try {
    const up = await holdfastUp(folder, daemon.api.socketPath);
    const connection = await loadKubeconfig({ files: [up.kubeconfig] });
    const client = createKubeClient({ ...connection, userAgent: 'holdfast-bench' });
    const sandboxes = new SandboxClient(client, daemon.image);
    const raw = startRawSide(daemon.api.socketPath, daemon.image);
    const measure = async () => {
      await sandboxes.start();
      if (wanted('launch')) {
        for (const atOnce of [1, 8]) results.push(await benchLaunch(raw, sandboxes, { runs, atOnce }));
      }
      if (wanted('idle')) results.push(await benchIdle(client, sandboxes, up.pid));
    };
    try {
      await Promise.race([interrupted, measure()]);
    } finally {
      sandboxes.close();
      raw.close();
      client.close();
      await up.stop();
      await removeLeftovers(daemon.api);
    }
  } finally {
    await daemon.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

/** A part that is a program of its own; the last line of its output is its result. */
function alone(part: string): void {
  const program = join(import.meta.dirname, `${part}.ts`);
  if (!existsSync(program)) return;
  const { stdout, status } = spawnSync(process.execPath, [program], {
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'inherit'],
    maxBuffer: 1 << 28,
  });
  if (status !== 0) throw new Error(`test/bench/${part}.ts ended with ${status}`);
  results.push(JSON.parse(stdout.trim().split('\n').at(-1) ?? '') as BenchResult);
}

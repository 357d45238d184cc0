/**
 * The embedded API alone, in a process of its own on a real disk: durable creates a second, and the rate at which
 * this disk can fsync at all measured beside it, in turns. BENCH_API_SECONDS (3), BENCH_API_WRITERS (64).
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, fdatasyncSync, openSync, readFileSync, rmSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { temporaryFolder, TestClient, widget, WIDGETS } from '../../local/testing.ts';
import { type BenchResult, median, quantile } from './result.ts';

const SECONDS = Number(process.env['BENCH_API_SECONDS'] ?? 3);
const WRITERS = Number(process.env['BENCH_API_WRITERS'] ?? 64);
const ROUNDS = 5;
const GOAL = 1000;
const SCRIPT = join(import.meta.dirname, '../../local/testing-server.ts');

interface Running {
  child: ChildProcess;
  client: TestClient;
}

async function start(folder: string): Promise<Running> {
  const child = spawn(process.execPath, [SCRIPT, folder], { stdio: ['ignore', 'pipe', 'inherit'] });
  const [line] = (await once(createInterface({ input: child.stdout }), 'line')) as [string];
  const client = new TestClient(JSON.parse(line) as { url: string; caData: string; token: string });
  return { child, client };
}

/** fdatasync calls a second after writes of one page, on the file system of `folder`. */
function fsyncRate(folder: string, ms: number): number {
  const path = join(folder, 'fsync-probe');
  const fd = openSync(path, 'w');
  const page = Buffer.alloc(4096, 1);
  const begun = performance.now();
  let count = 0;
  while (performance.now() - begun < ms) {
    writeSync(fd, page);
    fdatasyncSync(fd);
    count += 1;
  }
  const rate = (count * 1000) / (performance.now() - begun);
  closeSync(fd);
  rmSync(path);
  return rate;
}

async function createRate(client: TestClient, round: number, latencies: number[]): Promise<number> {
  const begun = performance.now();
  let count = 0;
  const writer = async (id: number): Promise<void> => {
    for (let i = 0; performance.now() - begun < SECONDS * 1000; i++) {
      const sent = performance.now();
      const { code, text } = await client.call('POST', WIDGETS, { body: widget(`r${round}-${id}-${i}`) });
      if (code !== 201) throw new Error(`create answered ${code}: ${text}`);
      latencies.push(performance.now() - sent);
      count += 1;
    }
  };
  await Promise.all(Array.from({ length: WRITERS }, (_, id) => writer(id)));
  return (count * 1000) / (performance.now() - begun);
}

/** Resident memory of a process, in MB; undefined where /proc is not there. */
function residentMB(pid: number | undefined): number | undefined {
  try {
    const status = readFileSync(`/proc/${pid}/status`, 'utf8');
    return Number(/VmRSS:\s+(\d+) kB/.exec(status)?.[1]) / 1000;
  } catch {
    return undefined;
  }
}

const folder = temporaryFolder();
try {
  let running = await start(folder.path);
  const idle = residentMB(running.child.pid);
  const creates: number[] = [];
  const fsyncs: number[] = [];
  const latencies: number[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    fsyncs.push(fsyncRate(folder.path, 500));
    creates.push(await createRate(running.client, round, latencies));
  }
  // Durable means that this finds everything.
  const exit = once(running.child, 'exit');
  running.child.kill('SIGKILL');
  await exit;
  running.client.close();
  running = await start(folder.path);
  const { body } = await running.client.call('GET', `${WIDGETS}?limit=1`);
  const kept = 1 + ((body.metadata as { remainingItemCount?: number }).remainingItemCount ?? 0);
  const exited = once(running.child, 'exit');
  running.child.kill('SIGTERM');
  running.client.close();
  await exited;
  const rate = median(creates);
  const result: BenchResult = {
    title: 'Embedded API: durable creates (SQLite WAL, synchronous=FULL, group commit)',
    lines: [
      {
        what: `creates, ${WRITERS} writers`,
        measured: `${rate.toFixed(0)}/s`,
        goal: `${GOAL}/s`,
        met: rate >= GOAL,
      },
      { what: 'create, p50', measured: `${median(latencies).toFixed(1)} ms` },
      { what: 'create, p99', measured: `${quantile(latencies, 0.99).toFixed(1)} ms` },
      { what: 'fdatasync of this disk', measured: `${median(fsyncs).toFixed(0)}/s` },
      {
        what: 'kept after kill -9',
        measured: `${kept} of ${latencies.length}`,
        goal: 'all',
        met: kept === latencies.length,
      },
      ...(idle === undefined
        ? []
        : [{ what: 'resident, idle, from source', measured: `${idle.toFixed(0)} MB` }]),
    ],
    samples: { createsPerSecond: creates, fdatasyncsPerSecond: fsyncs },
  };
  console.log(JSON.stringify(result));
} finally {
  folder.remove();
}

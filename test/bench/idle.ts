import { readFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import type { KubeClient, KubeObject, Resource } from '../../kube/client.ts';
import { EVENTS, LEASES, SANDBOXES, SANDBOX_NODES } from '../../kube/resources.ts';
import type { BenchResult } from './result.ts';
import type { SandboxClient } from './sandbox-client.ts';

const WINDOW_MS = 60_000;
const SANDBOXES_HELD = 50;
/** Fifty fit on one core. */
const RESOURCES = { memory: '16Mi', cpu: '20m', pids: 8 };
const TICKS_PER_SECOND = 100;

/** What `holdfast up` costs while nothing happens: memory without sandboxes; CPU and writes with 50 of them. */
export async function benchIdle(
  client: KubeClient,
  sandboxes: SandboxClient,
  pid: number,
): Promise<BenchResult> {
  const emptyMB = await settledMemoryMB(pid);
  const names: string[] = [];
  for (let n = 0; n < SANDBOXES_HELD; n += 5) names.push(...(await sandboxes.launch(5, RESOURCES)).names);
  await delay(5_000);

  const writes = new WriteCounter(client);
  await writes.start();
  const cpuBefore = cpuSeconds(pid);
  await delay(WINDOW_MS);
  const cpuPercent = ((cpuSeconds(pid) - cpuBefore) / (WINDOW_MS / 1000)) * 100;
  const { leases, others } = writes.stop();
  const heldMB = memoryMB(pid);
  for (let n = 0; n < names.length; n += 5) await sandboxes.remove(names.slice(n, n + 5));

  return {
    title: `Idle for ${WINDOW_MS / 1000} s`,
    lines: [
      {
        what: 'holdfast up, resident, no sandbox',
        measured: `${emptyMB.toFixed(0)} MB`,
        goal: 'under 150 MB',
        met: emptyMB < 150,
      },
      { what: `holdfast up, resident, ${SANDBOXES_HELD} sandboxes`, measured: `${heldMB.toFixed(0)} MB` },
      {
        what: 'writes to the API but lease renewals',
        measured: String(others),
        goal: '0',
        met: others === 0,
      },
      { what: 'lease renewals', measured: String(leases) },
      {
        what: 'CPU of one core',
        measured: `${cpuPercent.toFixed(2)} %`,
        goal: 'under 1 %',
        met: cpuPercent < 1,
      },
    ],
    samples: {
      emptyMB: [emptyMB],
      heldMB: [heldMB],
      cpuPercent: [cpuPercent],
      writes: [others],
      leases: [leases],
    },
  };
}

/** Counts what changes, kind by kind, through watches. */
class WriteCounter {
  readonly #client: KubeClient;
  readonly #stop = new AbortController();
  readonly #seen = new Map<Resource, number>();
  constructor(client: KubeClient) {
    this.#client = client;
  }

  async start(): Promise<void> {
    for (const resource of [SANDBOXES, SANDBOX_NODES, EVENTS, LEASES]) {
      const { resourceVersion } = await this.#client.list<KubeObject>(resource, {});
      void this.#count(resource, resourceVersion);
    }
  }

  stop(): { leases: number; others: number } {
    this.#stop.abort();
    const leases = this.#seen.get(LEASES) ?? 0;
    return { leases, others: [...this.#seen.values()].reduce((sum, n) => sum + n, 0) - leases };
  }

  async #count(resource: Resource, resourceVersion: string): Promise<void> {
    const signal = this.#stop.signal;
    try {
      const options = { resourceVersion, signal, timeoutSeconds: 3600 };
      for await (const event of this.#client.watch<KubeObject>(resource, options))
        if (event.type !== 'BOOKMARK') this.#seen.set(resource, (this.#seen.get(resource) ?? 0) + 1);
    } catch (error) {
      if (!signal.aborted) throw error;
    }
  }
}

/** The smallest of some readings: garbage that was collected in between does not count. */
async function settledMemoryMB(pid: number): Promise<number> {
  const readings: number[] = [];
  for (let n = 0; n < 10; n++) {
    await delay(1_000);
    readings.push(memoryMB(pid));
  }
  return readings.at(-1) ?? Number.NaN;
}

function memoryMB(pid: number): number {
  const match = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'));
  return (Number(match?.[1]) * 1024) / 1e6;
}

function cpuSeconds(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8')
    .replace(/^.*\) /, '')
    .split(' ');
  return (Number(fields[11]) + Number(fields[12])) / TICKS_PER_SECOND;
}

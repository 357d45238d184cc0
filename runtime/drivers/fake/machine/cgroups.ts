import { existsSync } from 'node:fs';
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { EnforcementFacts } from '../../../capabilities/limit-capabilities.ts';
import type { KernelLimits } from '../../../driver.ts';

/**
 * The cgroups of a fake machine: files as cgroup v2 has them, with nothing behind them. No limit is held by them; what
 * reads them (the probe) cannot tell. Counters move when a container's `dd` moves them: see `start-script.ts`.
 */
export class FakeCgroups {
  readonly folder: string;
  /** A kernel that has something else in a file than what was written; undefined: it has no such file. */
  lie: ((file: string, value: string) => string | undefined) | undefined;

  constructor(folder: string) {
    this.folder = folder;
  }

  /** `path` as in /proc/PID/cgroup. Anew with each start, as a runtime makes it; its parent keeps what it has counted. */
  async make(
    path: string,
    limits: KernelLimits,
    controllers: EnforcementFacts['controllers'],
  ): Promise<void> {
    await this.remove(path);
    await mkdir(this.#at(path), { recursive: true });
    await this.#count(join(path, '..'), controllers);
    await this.#count(path, controllers);
    await this.apply(path, limits, controllers);
  }

  async apply(
    path: string,
    limits: KernelLimits,
    controllers: EnforcementFacts['controllers'],
  ): Promise<void> {
    const { memoryBytes, memorySwapBytes, cpuQuotaMicros, cpuPeriodMicros, pids } = limits;
    if (controllers.memory) {
      await this.write(path, 'memory.max', memoryBytes ?? 'max');
      const swap =
        memoryBytes === undefined || memorySwapBytes === undefined ? 'max' : memorySwapBytes - memoryBytes;
      if (controllers.swap) await this.write(path, 'memory.swap.max', swap);
    }
    if (controllers.cpu)
      await this.write(path, 'cpu.max', `${cpuQuotaMicros ?? 'max'} ${cpuPeriodMicros ?? 100_000}`);
    if (controllers.pids) await this.write(path, 'pids.max', pids ?? 'max');
  }

  async write(path: string, file: string, value: string | number): Promise<void> {
    const kept = this.lie === undefined ? String(value) : this.lie(file, String(value));
    if (kept !== undefined) await writeFile(join(this.#at(path), file), `${kept}\n`);
  }

  async oomKills(path: string): Promise<number> {
    const text = await readFile(join(this.#at(path), 'memory.events'), 'utf8').catch(() => '');
    return Number(/^oom_kill (\d+)$/m.exec(text)?.[1] ?? 0);
  }

  async remove(path: string): Promise<void> {
    await rm(this.#at(path), { recursive: true, force: true });
  }

  /** Counters at zero, where there are none yet. */
  async #count(path: string, controllers: EnforcementFacts['controllers']): Promise<void> {
    if (!controllers.memory) return;
    for (const [file, value] of COUNTERS)
      if (!existsSync(join(this.#at(path), file))) await this.write(path, file, value);
  }

  #at(path: string): string {
    return join(this.folder, path);
  }
}

const EVENTS = 'low 0\nhigh 0\nmax 0\noom 0\noom_kill 0';
const COUNTERS = [
  ['memory.events', EVENTS],
  ['memory.events.local', EVENTS],
  ['memory.peak', 1024 * 1024],
] as const;

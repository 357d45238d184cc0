import type { Logger } from 'pino';
import type { Sandbox } from '../../crds/sandbox.ts';
import type { KubeClient } from '../../kube/client.ts';
import { systemClock } from '../../kube/clock.ts';
import { Lister } from '../../kube/lister.ts';
import { Reflector } from '../../kube/reflector.ts';
import { SANDBOXES } from '../../kube/resources.ts';

/** When each Sandbox was first seen with a node, by a watch such as any user can have. */
export class Arrivals {
  readonly lister = new Lister<Sandbox>();
  readonly #seen = new Map<string, number>();
  readonly #waiting = new Map<string, () => void>();
  readonly #stop = new AbortController();
  #watching: Promise<void> = Promise.resolve();
  #wanted: { missing: Set<string>; resolve: () => void } | undefined;

  constructor() {
    this.lister.onChange((_key, _old, sandbox) => {
      if (sandbox === undefined || (sandbox.status?.nodeName ?? '') === '') return;
      const { name } = sandbox.metadata;
      if (this.#seen.has(name)) return;
      this.#seen.set(name, performance.now());
      this.#waiting.get(name)?.();
      if (this.#wanted?.missing.delete(name) === true && this.#wanted.missing.size === 0)
        this.#wanted.resolve();
    });
  }

  async start(client: KubeClient, log: Logger): Promise<void> {
    const reflector = new Reflector<Sandbox>({
      client,
      resource: SANDBOXES,
      lister: this.lister,
      clock: systemClock,
      random: Math.random,
      log,
      watchSeconds: 600,
    });
    this.#watching = reflector.run(this.#stop.signal);
    await reflector.synced;
  }

  get count(): number {
    return this.#seen.size;
  }

  /** performance.now() of its arrival. */
  at(name: string): number {
    return this.#seen.get(name) ?? Number.NaN;
  }

  of(name: string): Promise<void> {
    if (this.#seen.has(name)) return Promise.resolve();
    return new Promise((resolve) => this.#waiting.set(name, resolve));
  }

  /** Until all of these have arrived; false: not within the time. */
  async untilAll(names: readonly string[], withinMs: number): Promise<boolean> {
    const missing = new Set(names.filter((name) => !this.#seen.has(name)));
    if (missing.size === 0) return true;
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<boolean>((resolve) => {
      timer = setTimeout(() => resolve(false), withinMs);
    });
    const all = new Promise<boolean>((resolve) => {
      this.#wanted = { missing, resolve: () => resolve(true) };
    });
    const came = await Promise.race([all, late]);
    clearTimeout(timer);
    this.#wanted = undefined;
    return came;
  }

  async stop(): Promise<void> {
    this.#stop.abort();
    await this.#watching;
  }
}

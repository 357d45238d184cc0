import type { Logger } from 'pino';

const RETRY_MS = 1000;

/**
 * Runs one task for each key, one at a time; a key that is added while its task runs is run again after it. A task
 * that throws is tried again a little later.
 */
export class Work {
  readonly #waiting = new Set<string>();
  readonly #retries = new Set<NodeJS.Timeout>();
  readonly #task: (key: string) => Promise<void>;
  readonly #log: Logger;
  #running: Promise<void> | undefined;
  #stopped = false;

  constructor(task: (key: string) => Promise<void>, log: Logger) {
    this.#task = task;
    this.#log = log;
  }

  add(key: string): void {
    if (this.#stopped) return;
    this.#waiting.add(key);
    this.#running ??= this.#run();
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    this.#waiting.clear();
    for (const timer of this.#retries) clearTimeout(timer);
    await this.#running;
  }

  async #run(): Promise<void> {
    // Out of the commit that has caused it.
    await new Promise<void>((resolve) => void setImmediate(resolve));
    for (const key of this.#waiting) {
      this.#waiting.delete(key);
      try {
        await this.#task(key);
      } catch (error) {
        if (this.#stopped) break;
        this.#log.warn({ err: error, key }, 'housekeeping failed and will be tried again');
        const timer = setTimeout(() => {
          this.#retries.delete(timer);
          this.add(key);
        }, RETRY_MS).unref();
        this.#retries.add(timer);
      }
    }
    this.#running = undefined;
    if (this.#waiting.size > 0) this.#running = this.#run();
  }
}

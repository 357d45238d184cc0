import type { Logger } from 'pino';
import { explain, Failure } from './failure.ts';

/** Something that runs until it is stopped. */
export interface Part {
  name: string;
  /** Resolves when nothing of it is left. */
  stop(): Promise<void>;
  /** Settles when it has ended, by itself too. */
  done?: Promise<void>;
}

/**
 * Parts of one process, each standing on those before it: stopped in the other order, all of them whatever happens.
 */
export class Parts {
  readonly #parts: Part[] = [];
  readonly #log: Logger;

  constructor(log: Logger) {
    this.#log = log;
  }

  add(part: Part): void {
    // Looked at in `untilStopped`; until then nobody else does.
    part.done?.catch(() => {});
    this.#parts.push(part);
  }

  /** Resolves when told to stop; throws Failure when a part ended by itself. */
  async untilStopped(stop: AbortSignal): Promise<void> {
    let stopped = (): void => {};
    const told = new Promise<void>((resolve) => {
      stopped = resolve;
    });
    stop.addEventListener('abort', stopped, { once: true });
    if (stop.aborted) stopped();
    const ended = this.#parts.flatMap(({ name, done }) =>
      done === undefined
        ? []
        : [
            done.then(
              () => {
                if (!stop.aborted) throw new Failure(`the ${name} ended by itself`);
              },
              (error: unknown) => {
                throw new Failure(`the ${name} failed: ${explain(error)}`, { cause: error });
              },
            ),
          ],
    );
    try {
      await Promise.race([told, ...ended.map((one) => one.then(() => told))]);
    } finally {
      stop.removeEventListener('abort', stopped);
      for (const one of ended) one.catch(() => {});
    }
  }

  /** Never throws: what goes wrong at the end is logged. */
  async stop(): Promise<void> {
    for (const part of this.#parts.splice(0).reverse()) {
      try {
        await part.stop();
        this.#log.debug({ part: part.name }, 'stopped');
      } catch (error) {
        this.#log.error({ err: error, part: part.name }, 'not stopped cleanly');
      }
    }
  }
}

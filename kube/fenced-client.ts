import type { CallOptions, KubeClient } from './client.ts';
import type { Clock } from './clock.ts';

/** Nothing was written: whoever wanted to may not any more. */
export class FencedError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'FencedError';
  }
}

export interface Fence {
  /** Milliseconds for which it is certain that nobody else may write; 0 or less: it is not certain. */
  leftMs(): number;
  /** For the error's message. */
  what: string;
}

/**
 * The same client, but every write asks the fence: before anything is done, again at the last moment before the request
 * goes out (a process may have been stopped in between, for any time), and a request that is under way is broken off
 * when the time is over. Reads and watches go through as they are.
 */
export function fencedClient(client: KubeClient, fence: Fence, clock: Clock): KubeClient {
  const check = (): number => {
    const leftMs = fence.leftMs();
    if (leftMs <= 0) throw new FencedError(`not written: ${fence.what}`);
    return leftMs;
  };
  async function write<T, O extends CallOptions>(
    options: O | undefined,
    call: (fenced: O) => Promise<T>,
  ): Promise<T> {
    const leftMs = check();
    const limit = new AbortController();
    const outer = options?.signal;
    const stop = (): void => limit.abort(outer?.reason);
    if (outer?.aborted === true) stop();
    outer?.addEventListener('abort', stop, { once: true });
    const cancel = clock.setTimer(leftMs, () =>
      limit.abort(
        new FencedError(`broken off, so that it is not known whether it was written: ${fence.what}`),
      ),
    );
    try {
      return await call({ ...options, signal: limit.signal, beforeSend: () => void check() } as O);
    } finally {
      cancel();
      outer?.removeEventListener('abort', stop);
    }
  }
  return {
    get: (resource, ref, options) => client.get(resource, ref, options),
    list: (resource, options) => client.list(resource, options),
    watch: (resource, options) => client.watch(resource, options),
    create: (resource, object, options) =>
      write(options, (fenced) => client.create(resource, object, fenced)),
    update: (resource, object, options) =>
      write(options, (fenced) => client.update(resource, object, fenced)),
    patch: (resource, ref, body, options) =>
      write(options, (fenced) => client.patch(resource, ref, body, fenced)),
    delete: (resource, ref, options) => write(options, (fenced) => client.delete(resource, ref, fenced)),
  };
}

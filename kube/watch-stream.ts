import type { IncomingHttpHeaders } from 'node:http';
import { apiError } from './answers.ts';
import type { KubeObject, WatchEvent } from './client.ts';
import type { Clock } from './clock.ts';
import { TransportError } from './errors.ts';
import { LineDecoder } from './line-decoder.ts';
import type { OpenAnswer, Transport } from './transport.ts';

export interface WatchStreamOptions {
  transport: Transport;
  clock: Clock;
  path: string;
  signal: AbortSignal;
  headersTimeoutMs: number;
  /** Nothing at all for this long: the connection is taken for dead. Time in the consumer does not count. */
  idleTimeoutMs: number | undefined;
  maxLineBytes: number;
  onHeaders: (headers: IncomingHttpHeaders) => void;
}

/** An answer of an error may be this long and no longer. */
const MOST_ERROR_BYTES = 1024 * 1024;

/**
 * The events of one watch request. Ends when the server ends it whole; throws ApiError when it was refused,
 * TransportError when it broke off, fell silent or sent what is no event, the signal's reason when aborted.
 */
export async function* watchStream<T extends KubeObject>(
  options: WatchStreamOptions,
): AsyncGenerator<WatchEvent<T>, void, void> {
  const opened = await options.transport.stream({
    method: 'GET',
    path: options.path,
    timeoutMs: options.headersTimeoutMs,
    signal: options.signal,
  });
  try {
    const { code, headers } = opened;
    options.onHeaders(headers);
    if (code !== 200) {
      const body = await withIdleDeadline(options, opened, () => opened.body(MOST_ERROR_BYTES));
      throw apiError(`watch ${options.path}`, code, headers, body, options.clock.now());
    }
    const lines = new LineDecoder({ maxLineBytes: options.maxLineBytes });
    const chunks = opened.chunks();
    for (;;) {
      const next = await withIdleDeadline(options, opened, () => chunks.next());
      // Data that had arrived before the abort is not handed out after it.
      options.signal.throwIfAborted();
      if (next.done) break;
      for (const line of lines.push(next.value)) yield parseEvent<T>(options.path, line);
    }
    if (lines.pendingBytes > 0) {
      throw new TransportError('Malformed', `watch ${options.path}: ended in the middle of an event`);
    }
  } finally {
    opened.close();
  }
}

async function withIdleDeadline<R>(
  options: WatchStreamOptions,
  opened: OpenAnswer,
  read: () => Promise<R>,
): Promise<R> {
  const { idleTimeoutMs, clock } = options;
  const cancel =
    idleTimeoutMs === undefined
      ? () => {}
      : clock.setTimer(idleTimeoutMs, () =>
          opened.fail(
            new TransportError('Silent', `watch ${options.path}: nothing came for ${idleTimeoutMs} ms`),
          ),
        );
  try {
    const result = await read();
    opened.throwIfFailed();
    return result;
  } catch (error) {
    throw opened.explain(error);
  } finally {
    cancel();
  }
}

function parseEvent<T extends KubeObject>(path: string, line: string): WatchEvent<T> {
  let event: Partial<WatchEvent<T>> | null;
  try {
    event = JSON.parse(line) as Partial<WatchEvent<T>> | null;
  } catch (error) {
    throw new TransportError('Malformed', `watch ${path}: a line that is not JSON: ${line.slice(0, 200)}`, {
      cause: error,
    });
  }
  if (
    typeof event !== 'object' ||
    typeof event?.type !== 'string' ||
    typeof event.object !== 'object' ||
    event.object === null
  ) {
    throw new TransportError('Malformed', `watch ${path}: a line that is no event: ${line.slice(0, 200)}`);
  }
  return event as WatchEvent<T>;
}

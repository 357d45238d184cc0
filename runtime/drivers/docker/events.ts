import { LineDecoder } from '../../../kube/line-decoder.ts';
import { DriverError, type CallOptions, type RuntimeEvent } from '../../driver.ts';
import { eventAnswer } from './answers.ts';
import type { DaemonConnection } from './connection.ts';
import { labelFilter } from './filters.ts';
import { jsonLines } from './json-lines.ts';
import { runtimeEvent, sinceParameter } from './map-event.ts';
import { TIMEOUTS } from './timeouts.ts';

const MAX_EVENT_BYTES = 1024 * 1024;

/**
 * Events from `sinceMs` on, those of that very millisecond included, so one may come twice after a resume. Docker
 * keeps the last 256 events, in memory: an older `sinceMs`, or a restart of the daemon, leaves a gap in silence.
 */
export async function* eventStream(
  daemon: DaemonConnection,
  { signal, sinceMs, labels }: CallOptions & { sinceMs: number; labels: Record<string, string> },
): AsyncGenerator<RuntimeEvent, void, void> {
  const answer = await daemon.stream({
    method: 'GET',
    path: '/events',
    query: { since: sinceParameter(sinceMs), filters: labelFilter(labels, { type: ['container'] }) },
    timeoutMs: TIMEOUTS.readMs,
    signal,
  });
  try {
    for await (const line of jsonLines(answer.chunks(), new LineDecoder({ maxLineBytes: MAX_EVENT_BYTES }))) {
      const parsed = eventAnswer.safeParse(line);
      if (!parsed.success) throw new DriverError('Unreadable', 'a line of the events is no event');
      yield runtimeEvent(parsed.data);
    }
  } finally {
    answer.close();
  }
}

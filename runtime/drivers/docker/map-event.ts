import type { z } from 'zod';
import type { RuntimeEvent } from '../../driver.ts';
import type { eventAnswer } from './answers.ts';

const ACTIONS = new Set<string>([
  'create',
  'start',
  'oom',
  'kill',
  'die',
  'stop',
  'pause',
  'unpause',
  'update',
  'destroy',
]);
/** Docker puts these into the same map as the labels. */
const NOT_LABELS = new Set(['image', 'name', 'exitCode', 'signal', 'execID', 'execDuration']);

export function runtimeEvent(answer: z.output<typeof eventAnswer>): RuntimeEvent {
  const { Attributes: attributes, ID } = answer.Actor;
  const action = ACTIONS.has(answer.Action) ? (answer.Action as RuntimeEvent['action']) : 'other';
  const event: RuntimeEvent = {
    containerID: ID,
    labels: Object.fromEntries(Object.entries(attributes).filter(([key]) => !NOT_LABELS.has(key))),
    action,
    // Nanoseconds are beyond 2^53: the last digits are rounded, far below a millisecond.
    timeMs: answer.timeNano === undefined ? (answer.time ?? 0) * 1000 : Math.floor(answer.timeNano / 1e6),
  };
  const detail = Number(
    action === 'kill' ? attributes['signal'] : action === 'die' ? attributes['exitCode'] : Number.NaN,
  );
  if (Number.isInteger(detail)) event.detail = detail;
  return event;
}

/** `since` of the events call: seconds with nine decimals. */
export function sinceParameter(sinceMs: number): string {
  const whole = Math.max(0, Math.floor(sinceMs));
  const seconds = Math.floor(whole / 1000);
  return `${seconds}.${String((whole % 1000) * 1_000_000).padStart(9, '0')}`;
}

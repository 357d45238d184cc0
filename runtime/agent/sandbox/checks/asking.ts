import { paint, together } from '../picture.ts';
import type { Decision, Observation, StatusChange } from '../types.ts';
import { context, hasBegun, isLive, setupDone } from './facts.ts';
import { stopStatus } from './stopping.ts';

/** The spec asks that it does not run: an unsupported field, suspend, or a deadline that has passed. */
export function asking(seen: Observation): Decision | undefined {
  return ending(seen) ?? unsupported(seen) ?? suspended(seen) ?? pastDeadline(seen);
}

function ending(seen: Observation): Decision | undefined {
  if (!seen.ending) return undefined;
  if (!isLive(seen)) {
    return seen.record?.outcome === undefined && hasBegun(seen.record)
      ? undefined
      : { because: 'the agent ends, and its sandboxes with it' };
  }
  return {
    because: 'the agent ends, and its sandboxes with it',
    status: stopStatus(seen, 'Stopped'),
    act: { do: 'stop', reason: 'Stopped' },
  };
}

function unsupported(seen: Observation): Decision | undefined {
  const refusal = seen.spec?.refusal;
  if (refusal === undefined) return undefined;
  const status = paint({ is: 'Stalled', ...refusal }, context(seen));
  if (isLive(seen)) {
    return {
      because: 'the spec asks for what is not supported',
      status,
      act: { do: 'stop', reason: 'Stopped' },
    };
  }
  if (seen.container !== undefined && !hasBegun(seen.record)) {
    return { because: 'the spec asks for what is not supported', status, act: { do: 'discard' } };
  }
  if (hasBegun(seen.record) && seen.record?.outcome === undefined) return undefined;
  return { because: 'the spec asks for what is not supported', status: together(status, lastEnd(seen)) };
}

function suspended(seen: Observation): Decision | undefined {
  if (seen.sandbox?.spec.suspend !== true) return undefined;
  const { record, spec } = seen;
  const retained = record?.retained ?? spec?.retained ?? false;
  if (!hasBegun(record)) {
    const message = retained
      ? 'The sandbox is suspended; it has not begun.'
      : 'The sandbox is held back by spec.suspend; its command has not begun.';
    const status = paint({ is: 'Suspended', message }, context(seen));
    if (seen.container === undefined) return { because: 'it is suspended and has not begun', status };
    return { because: 'it is suspended before user code began', status, act: { do: 'discard' } };
  }
  if (isLive(seen)) {
    return {
      because: 'it is to be suspended',
      status: stopStatus(seen, 'Suspended'),
      act: { do: 'stop', reason: 'Suspended' },
    };
  }
  if (record?.outcome?.ended !== 'Stopped' || seen.container === undefined) return undefined;
  const message = setupDone(record)
    ? 'The sandbox is suspended; its filesystem is kept.'
    : 'The sandbox is suspended; its setup had not ended and will be run again in a new container.';
  return {
    because: 'it is suspended',
    status: together(paint({ is: 'Suspended', message }, context(seen)), lastEnd(seen)),
  };
}

function pastDeadline(seen: Observation): Decision | undefined {
  const leftMs = deadlineLeftMs(seen);
  if (leftMs === undefined || leftMs > 0 || !isLive(seen)) return undefined;
  return {
    because: 'activeDeadlineSeconds is over',
    status: stopStatus(seen, 'Deadline'),
    act: { do: 'stop', reason: 'Deadline' },
  };
}

/** undefined: no deadline, or user code has not begun. */
export function deadlineLeftMs(seen: Observation): number | undefined {
  const seconds = seen.sandbox?.spec.activeDeadlineSeconds;
  if (seconds === undefined || seen.ranMs === undefined) return undefined;
  return seconds * 1000 - seen.ranMs;
}

function lastEnd(seen: Observation): StatusChange {
  const termination = seen.record?.outcome?.termination;
  return { conditions: [], ...(termination === undefined ? {} : { set: { lastTermination: termination } }) };
}

import type { Reason } from '../../../../crds/conditions.ts';
import { setsLimits } from '../../../../crds/limits.ts';
import { paint, together } from '../picture.ts';
import { unenforceable, type Unenforceable } from '../requested-limits.ts';
import { declined } from './no-room.ts';
import type { Decision, Observation } from '../types.ts';
import { context } from './facts.ts';

const AGAIN_MS = 5000;

/** There is no container yet, or one that was never started. */
export function making(seen: Observation): Decision | undefined {
  const { container, spec } = seen;
  if (spec === undefined) return undefined;
  if (container !== undefined && container.state !== 'created') return undefined;
  if (container !== undefined && seen.record === undefined) {
    // Made by an agent that died before it wrote down what it had asked for.
    return { because: 'what the container was made for is not known', act: { do: 'discard' } };
  }
  return (
    unanswered(seen) ??
    notEnforced(seen) ??
    withoutRoom(seen) ??
    withoutProbe(seen) ??
    pulling(seen) ??
    (container === undefined
      ? { because: 'there is no container', act: { do: 'create' } }
      : { because: 'the container was never started', act: { do: 'start' } })
  );
}

function unanswered(seen: Observation): Decision | undefined {
  if (seen.runtime.state !== 'Unavailable') return undefined;
  return {
    because: 'the runtime does not answer',
    status: working(seen, 'RuntimeUnavailable', `The runtime does not answer: ${seen.runtime.message}`),
    againMs: AGAIN_MS,
  };
}

function notEnforced(seen: Observation): Decision | undefined {
  const { spec, runtime } = seen;
  if (seen.unenforceable !== undefined) {
    return refuse(seen, refusedLimit(seen.unenforceable), [
      `Node ${seen.nodeName}: the runtime refused the limits: ${seen.unenforceable}.`,
    ]);
  }
  if (spec === undefined || !setsLimits(spec.limits)) return undefined;
  if (runtime.state !== 'Ok') {
    return refuse(seen, 'RuntimeUnreadable', [
      `Node ${seen.nodeName}: the runtime gave no readable answer about what it can enforce (${runtime.message}).`,
    ]);
  }
  const missing = unenforceable(spec.limits, runtime.info.limits);
  if (missing.length === 0) return undefined;
  return refuse(
    seen,
    reasonFor(missing),
    missing.map(
      (one) =>
        `Node ${seen.nodeName} (${runtime.info.name}) cannot enforce ${one.limit}: ${one.why}${one.fix === undefined ? '' : ` Fix: ${one.fix}`}`,
    ),
  );
}

/** The runtime's own words name the limit, by its flag or by its cgroup file. */
function refusedLimit(message: string): Reason {
  if (/memory|swap/i.test(message)) return 'MemoryUnenforceable';
  if (/cpu/i.test(message)) return 'CPUUnenforceable';
  if (/pids/i.test(message)) return 'PIDsUnenforceable';
  return 'LimitsUnenforceable';
}

function withoutRoom(seen: Observation): Decision | undefined {
  return seen.noRoom === undefined ? undefined : declined(seen, seen.noRoom);
}

function reasonFor(missing: Unenforceable[]): Reason {
  if (missing.some((one) => one.unknown)) return 'RuntimeUnreadable';
  if (missing.length > 1) return 'LimitsUnenforceable';
  const reasons = {
    cpu: 'CPUUnenforceable',
    memory: 'MemoryUnenforceable',
    pids: 'PIDsUnenforceable',
  } as const;
  return reasons[missing[0]?.limit ?? 'memory'];
}

/** Stops here, and gives the sandbox back: the controller knows every other node, and when one becomes able (L9). */
function refuse(seen: Observation, reason: Reason, lines: string[]): Decision {
  const message = lines.join(' ');
  const status = together(paint({ is: 'Stalled', reason, message }, context(seen)), {
    conditions: [
      { type: 'LimitUnenforceable', status: 'True', reason, message },
      {
        type: 'Scheduled',
        status: 'False',
        reason: 'Declined',
        message: `Node ${seen.nodeName} handed the sandbox back: ${message}`.slice(0, 4096),
      },
    ],
  });
  if (seen.container !== undefined) return { because: 'a limit cannot be enforced', act: { do: 'discard' } };
  return { because: 'a limit cannot be enforced', status, act: { do: 'hand-back' } };
}

function withoutProbe(seen: Observation): Decision | undefined {
  if (seen.probe.ready) return undefined;
  return {
    because: 'the probe is not there',
    status: working(seen, 'RuntimeUnavailable', `The probe of the runtime is not ready: ${seen.probe.why}`),
    againMs: AGAIN_MS,
  };
}

function pulling(seen: Observation): Decision | undefined {
  const { pull } = seen;
  if (pull === undefined || pull.image !== seen.sandbox?.spec.image) return undefined;
  switch (pull.state) {
    case 'running':
      return { because: 'the image is being pulled', status: working(seen, 'PullingImage', pull.progress) };
    case 'failed':
      return {
        because: 'the image could not be pulled',
        status: working(seen, 'ImagePullFailed', pull.message),
        againMs: pull.retryInMs,
      };
    case 'absent':
      return {
        because: 'the image is not there and must not be pulled',
        status: paint({ is: 'Stalled', reason: 'ImageNotPresent', message: pull.message }, context(seen)),
        againMs: pull.retryInMs,
      };
  }
}

function working(seen: Observation, reason: Reason, message: string): NonNullable<Decision['status']> {
  return paint({ is: 'Working', reason, message }, context(seen));
}

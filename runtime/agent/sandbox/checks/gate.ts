import { paint, together } from '../picture.ts';
import type { Receipt } from '../receipt.ts';
import type { Decision, Observation, SessionView, StatusChange } from '../types.ts';
import { deadlineLeftMs } from './asking.ts';
import { context, setupDone } from './facts.ts';
import { fencing, fenceStatus } from './fencing.ts';
import { limitsNow } from './limits-now.ts';
import { timeLimit } from './time-limit.ts';

/** Said after this long: a launch that takes its usual time needs no word of its own. */
const QUIET_MS = 1000;
/** An init that has not come by then does not come. */
const SILENT_MAX_MS = 60_000;

/** The container runs and main has not begun in this start of it: receipt, setup, main, in this order. */
export function gate(seen: Observation): Decision | undefined {
  const { record, container, session } = seen;
  if (container?.state !== 'running' || record === undefined) return undefined;
  if (record.main !== undefined && record.main.start === record.starts) {
    // Adopted, or the probe is new: the receipt of a running sandbox is known, and what runs is not asked again.
    if (session === undefined || session.main !== undefined) return undefined;
    if (record.retained && record.main.startedAt !== undefined) return undefined;
    if (record.main.exit !== undefined) return undefined;
    // START was intended, and init knows nothing of it: the answer to the first one was lost with an agent.
    return session.receipt === undefined
      ? { because: 'START was intended and not sent', act: { do: 'receipt' } }
      : (faulty(seen, session.receipt) ?? fencing(seen) ?? main(seen, session.receipt));
  }
  if (session === undefined) return waiting(seen);
  if (session.receipt === undefined) return { because: 'no receipt yet', act: { do: 'receipt' } };
  return (
    faulty(seen, session.receipt) ??
    fencing(seen) ??
    setup(seen, session, session.receipt) ??
    main(seen, session.receipt)
  );
}

function waiting(seen: Observation): Decision {
  if (seen.probe.ready && !seen.listening) return { because: 'the probe is new', act: { do: 'listen' } };
  const silentMs = seen.silentMs ?? 0;
  const message = seen.probe.ready
    ? 'The container has started; its init has not come yet.'
    : `The container has started; the probe is not ready: ${seen.probe.why}`;
  if (silentMs > SILENT_MAX_MS && seen.probe.ready) {
    return {
      because: 'init did not come',
      act: {
        do: 'give-up',
        reason: 'StartFailed',
        message: `The init of the sandbox did not come within ${SILENT_MAX_MS / 1000} s.`,
      },
    };
  }
  if (silentMs < QUIET_MS) return { because: 'init has not come yet', againMs: QUIET_MS };
  return {
    because: 'init has not come yet',
    status: paint({ is: 'Working', reason: 'Launching', message }, context(seen)),
    againMs: 5000,
  };
}

function faulty(seen: Observation, receipt: Receipt): Decision | undefined {
  if (receipt.unread.length > 0) {
    return {
      because: 'a limit could not be read back',
      act: {
        do: 'refuse',
        reason: 'ReadBackFailed',
        message: `${notRun(seen)}: ${receipt.unread.join('; ')}.`,
      },
    };
  }
  if (receipt.mismatches.length > 0) {
    return {
      because: 'the kernel has another limit',
      act: {
        do: 'refuse',
        reason: 'ReadBackMismatch',
        message: `${notRun(seen)}: ${receipt.mismatches.join('; ')}.`,
      },
    };
  }
  return undefined;
}

function notRun(seen: Observation): string {
  return seen.record?.setup === undefined
    ? 'User code was not run'
    : 'The command was not run, after setup was';
}

function setup(seen: Observation, session: SessionView, receipt: Receipt): Decision | undefined {
  const { record } = seen;
  if (record === undefined || !record.hasSetup || setupDone(record)) return undefined;
  if (record.setup !== undefined && record.setup.start !== record.starts) {
    return { because: 'whether setup ended is unknown', act: { do: 'discard' } };
  }
  const status = together(
    paint({ is: 'Working', reason: 'SettingUp', message: 'The setup command runs.' }, context(seen)),
    enforced(seen, receipt),
    {
      conditions: [
        { type: 'SetupComplete', status: 'False', reason: 'SettingUp', message: 'The setup command runs.' },
      ],
    },
  );
  if (session.setup === undefined) {
    return { because: 'setup has not begun', status, writeFirst: true, act: { do: 'start-setup' } };
  }
  if (session.setup.state === 'running') {
    const limit = timeLimit(seen, 'setup');
    if (limit !== undefined) return limit;
    const leftMs = deadlineLeftMs(seen);
    return {
      because: 'setup runs',
      status: together(status, limitsNow(seen)),
      ...(leftMs === undefined ? {} : { againMs: leftMs }),
    };
  }
  if (session.setup.exit?.exitCode === 0)
    return { because: 'setup has ended with 0', act: { do: 'setup-done' } };
  if (record.setup?.closing === undefined) {
    return { because: 'setup has failed', act: { do: 'collect', launch: 'setup' } };
  }
  if (!session.released) {
    return {
      because: 'setup has failed and init was not told to go',
      act: { do: 'release', launch: 'setup' },
    };
  }
  return { because: 'setup has failed; the container is on its way out', againMs: 5000 };
}

function main(seen: Observation, receipt: Receipt): Decision {
  const { record } = seen;
  const complete: StatusChange = { conditions: [] };
  if (record?.hasSetup === true) {
    complete.conditions.push({
      type: 'SetupComplete',
      status: 'True',
      reason: 'SetupSucceeded',
      message: 'The setup command ended with exit code 0.',
    });
    if (record.setup?.termination !== undefined) complete.set = { setup: record.setup.termination };
    // Once: a later start of the same container may have killed something of its own.
    const oom = record.setup?.start === record.starts ? record.setup.oom : undefined;
    if (oom !== undefined) {
      complete.conditions.push({
        type: 'OOMKilled',
        status: 'True',
        reason: oom.verdict,
        message: `Setup: ${oom.message}`,
      });
    }
  }
  const status = together(
    paint(
      {
        is: 'Working',
        reason: 'Launching',
        message: 'The limits are in force; user code is about to begin.',
      },
      context(seen),
    ),
    enforced(seen, receipt),
    complete,
  );
  return { because: 'the limits are in force', status, writeFirst: true, act: { do: 'start-main' } };
}

/** What a receipt says, with everything that identifies what it was read of. */
export function enforced(seen: Observation, receipt: Receipt): StatusChange {
  const { record, container } = seen;
  const none = receipt.entries.every((entry) => entry.requested === undefined);
  const message = none
    ? 'The sandbox sets no limit; what is in force was read from the kernel.'
    : `Read back from the kernel: ${receipt.limits.summary ?? ''}.`;
  return {
    conditions: [
      { type: 'LimitsEnforced', status: 'True', reason: none ? 'NoLimits' : 'ReadBack', message },
      {
        type: 'LimitUnenforceable',
        status: 'False',
        reason: 'Enforceable',
        message: 'Every requested limit can be enforced on the node.',
      },
    ],
    set: {
      limits: receipt.limits,
      ...fenceStatus(seen),
      ...(record === undefined ? {} : { specHash: record.specHash }),
      ...(container === undefined
        ? {}
        : { containerID: container.id, containerName: container.name, imageID: container.imageID }),
    },
  };
}

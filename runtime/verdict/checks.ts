import { looksKilled, SIGKILL, type End } from './end.ts';
import type { Evidence, OurStop, Verdict } from './evidence.ts';
import type { MemoryFindings } from './memory.ts';
import { otherLimitKilled, ourLimitKilled, unconfirmedKill } from './oom.ts';
import { launchName, namedLimit, signalName } from './wording.ts';

export interface Case {
  evidence: Evidence;
  end: End;
  memory: MemoryFindings;
}

type Cause = Pick<Verdict, 'cause' | 'verdict' | 'message'> & { notes?: string[] };
export type Check = (seen: Case) => Cause | undefined;

/** In order; the first that has something to say decides. */
export const checks: readonly [name: string, check: Check][] = [
  ['never-started', neverStarted],
  ['own-fence', ownFence],
  ['our-stop', ourStop],
  ['own-time-limit', ownTimeLimit],
  ['own-result', ownResult],
  ['runtime-restarted', runtimeRestarted],
  ['container-lost', containerLost],
  ['killed-from-outside', killedFromOutside],
  ['exit-code-of-the-fence', fenceExitCode],
  ['our-memory-limit', ourMemoryLimit],
  ['other-memory-limit', otherMemoryLimit],
  ['unconfirmed-memory-kill', unconfirmedMemoryKill],
  ['exited-by-itself', exitedByItself],
  ['ended-by-signal', endedBySignal],
  ['runtime-says-exited', runtimeSaysExited],
  ['unknown', unknown],
];

function neverStarted({ evidence }: Case): Cause | undefined {
  const failure = evidence.startFailure;
  if (failure === undefined) return undefined;
  const name = launchName(evidence);
  const { stage, errno } = failure;
  if (stage === 'exec' && (errno === 'ENOENT' || errno === 'ENOTDIR'))
    return {
      cause: 'CommandNotFound',
      verdict: 'Confirmed',
      message: `${name} does not exist in the image (${errno}).`,
    };
  if (stage === 'exec' && NOT_EXECUTABLE.has(errno))
    return {
      cause: 'CommandNotExecutable',
      verdict: 'Confirmed',
      message: `${name} exists but cannot be executed (${errno}).`,
    };
  return {
    cause: 'StartFailed',
    verdict: 'Confirmed',
    message: `${name} could not be started: ${stage} failed with ${errno}.`,
  };
}

/** What init exits with when it has ended the sandbox by itself and nobody came for its word. */
const FENCED = 94;

/** Init's word: no heartbeat of the agent, backed by a renewed lease, had come for its time. */
function ownFence({ evidence }: Case): Cause | undefined {
  const { fence, report } = evidence;
  if (report !== undefined && report.endedBy !== 'fence') return undefined;
  if (report === undefined && fence?.fellAt === undefined) return undefined;
  return {
    cause: 'NodeLost',
    verdict: 'Confirmed',
    message: `The sandbox ended itself: ${silence(fence)}.`,
    notes: [
      'Init says that it killed everything in the sandbox because no heartbeat had come for its time.',
      ...(fence?.fellAt === undefined ? [] : [`The agent heard of it at ${fence.fellAt}.`]),
    ],
  };
}

/** Without init's word its exit code is all there is, and a command can end with the same. */
function fenceExitCode({ evidence, end }: Case): Cause | undefined {
  const { fence } = evidence;
  if (fence === undefined || end.by !== 'Runtime' || end.exitCode !== FENCED) return undefined;
  return {
    cause: 'NodeLost',
    verdict: 'Unconfirmed',
    message: `The sandbox ended itself: ${silence(fence)}.`,
    notes: [
      `The ledger has that it ends itself ${fence.seconds} s after the last heartbeat; init exits with ${FENCED} then.`,
    ],
  };
}

function silence(fence: Evidence['fence']): string {
  const time = fence === undefined ? 'its time' : `${fence.seconds} s`;
  return `node lost: no heartbeat of its agent, backed by a renewed lease, had come for ${time}`;
}

const NOT_EXECUTABLE = new Set(['EACCES', 'ENOEXEC', 'EPERM', 'EISDIR']);

const STOPS: Record<OurStop['reason'], { cause: Verdict['cause']; why: string }> = {
  Suspended: { cause: 'Suspended', why: 'because spec.suspend is true' },
  Deleted: { cause: 'Deleted', why: 'because the sandbox is being deleted' },
  Deadline: { cause: 'Deadline', why: 'at activeDeadlineSeconds' },
  Replaced: { cause: 'Replaced', why: 'because the spec changed' },
  Stopped: { cause: 'Stopped', why: 'by the agent' },
  Drained: { cause: 'Drained', why: 'because its node is being drained' },
  SetupTimeout: { cause: 'Timeout', why: "at setup's time limit" },
  LimitsUnproven: { cause: 'LimitsUnproven', why: 'because its limits could not be shown to be in force' },
};

/**
 * A stop of ours is never anything else (O9): neither a memory kill while the process was ending at our word, nor an
 * exit code of the program's own on SIGTERM. But what had ended by itself before our signal got there keeps its end.
 */
function ourStop({ evidence, end }: Case): Cause | undefined {
  const { stop, report } = evidence;
  if (stop === undefined || endedBefore(stop, evidence)) return undefined;
  const fromOutside = outsideSignal(evidence);
  if (fromOutside === undefined) {
    if (report?.endedBy === 'itself' && end.signal !== SIGKILL) return undefined;
  } else if (!isOurs(stop, fromOutside, end)) return undefined;
  const { cause, why } = STOPS[stop.reason];
  const signals = stop.signals.length === 0 ? '' : ` with ${stop.signals.join(', then ')}`;
  const through =
    fromOutside === undefined
      ? []
      : ['Init passed it on as a signal from outside: it was sent through the runtime.'];
  return {
    cause,
    verdict: 'Confirmed',
    message: `${launchName(evidence)} was stopped ${why}.`,
    notes: [`The ledger has our stop (${stop.reason}) of ${stop.at}${signals}.`, ...through],
  };
}

function endedBefore(stop: OurStop, { report, reportedAt }: Evidence): boolean {
  if (report === undefined || report.endedBy === 'agent' || report.endedBy === 'timeout') return false;
  // Unreadable times prove nothing: NaN is not smaller.
  return reportedAt !== undefined && Date.parse(reportedAt) < Date.parse(stop.at);
}

/**
 * Where init is not connected our own signals go through the runtime, and init takes them for somebody else's. What it
 * died of must be in the ledger; what it ended itself upon, it did when we had begun to stop it.
 */
function isOurs(stop: OurStop, signal: number | 'unknown', end: End): boolean {
  return end.signal === undefined || signal === 'unknown' || stop.signals.includes(signalName(signal));
}

/** The signal from outside to which init lays the end, or may; 'unknown': init is older and does not tell which. */
function outsideSignal({ report }: Evidence): number | 'unknown' | undefined {
  if (report === undefined) return undefined;
  if (report.outside !== undefined && (report.endedBy === 'outside' || report.endedBy === 'itself'))
    return report.outside.signal;
  return report.endedBy === 'outside' ? (report.signal ?? 'unknown') : undefined;
}

function ownTimeLimit({ evidence }: Case): Cause | undefined {
  const by = evidence.report?.endedBy;
  if (by !== 'timeout' && by !== 'agent') return undefined;
  if (by === 'timeout')
    return {
      cause: evidence.launch === 'Setup' ? 'Timeout' : 'Deadline',
      verdict: 'Confirmed',
      message: `${launchName(evidence)} ran into its time limit and was ended by init.`,
      notes: ['Init ended it at its time limit.'],
    };
  return {
    cause: 'Stopped',
    verdict: 'Confirmed',
    message: `${launchName(evidence)} was stopped by the agent.`,
    notes: ['Init ended it at the request of the agent.'],
  };
}

/** Exit code 0 is a result of its own, whatever was killed on the way (O5). */
function ownResult({ evidence, end }: Case): Cause | undefined {
  if (end.signal !== undefined || end.exitCode !== 0) return undefined;
  const asked = outsideSignal(evidence) !== undefined;
  return {
    cause: 'Exited',
    verdict: 'Confirmed',
    message: `${launchName(evidence)} exited with code 0.`,
    notes: asked ? ['Init had passed a signal from outside on to it; it ended itself upon that.'] : [],
  };
}

/** Whoever restarts a runtime ends its containers; what init saw before that stands. */
function runtimeRestarted({ evidence, end }: Case): Cause | undefined {
  if (evidence.restarted === undefined) return undefined;
  if (end.by === 'Init' && outsideSignal(evidence) === undefined) return undefined;
  const what = evidence.restarted === 'Machine' ? 'The machine of the runtime' : 'The runtime';
  return {
    cause: 'RuntimeRestarted',
    verdict: 'Confirmed',
    message: `${what} was restarted while ${launchName(evidence).toLowerCase()} ran.`,
    notes: [`${what} was started anew during the launch.`],
  };
}

function containerLost({ evidence, end }: Case): Cause | undefined {
  if (evidence.container !== 'Missing' || end.by === 'Init') return undefined;
  const seen = evidence.events.some((event) => event.action === 'destroy');
  return {
    cause: 'ContainerLost',
    verdict: 'Confirmed',
    message: `The container was removed from outside while ${launchName(evidence).toLowerCase()} ran.`,
    notes: [
      'The runtime has no container of this ID any more.',
      ...(seen ? ['The runtime reported that somebody removed it.'] : []),
    ],
  };
}

/** A signal that init passed on from outside, or a kill event that is not of our ledger. */
function killedFromOutside({ evidence, end, memory }: Case): Cause | undefined {
  const name = launchName(evidence);
  const signal = outsideSignal(evidence);
  if (signal !== undefined) {
    if (limitSpeaksLouder(signal, end) && ourLimitKilled(evidence, memory) === 'Confirmed') return undefined;
    const which = signal === 'unknown' ? '' : ` (${signalName(signal)})`;
    return {
      cause: 'KilledFromOutside',
      verdict: 'Confirmed',
      message: `${name} was ended by a signal from outside the sandbox${which} that was not ours.`,
      notes: [`Init passed a signal from outside on to it${which}.`],
    };
  }
  // Init's report means that PID 1 outlived the process: a kill of the container came after its end.
  if (end.by === 'Init') return undefined;
  const kill = evidence.events.find(
    (event) =>
      event.action === 'kill' &&
      event.detail !== undefined &&
      (event.detail === SIGKILL || end.shellCode === 128 + event.detail),
  );
  if (kill?.detail === undefined) return undefined;
  return {
    cause: 'KilledFromOutside',
    verdict: 'Confirmed',
    message: `${name} was killed through the API of the runtime (${signalName(kill.detail)}), not by us.`,
    notes: [
      `The runtime reported a kill with ${signalName(kill.detail)} at ${new Date(kill.timeMs).toISOString()}; our ledger has none.`,
    ],
  };
}

/**
 * Whether a kill by our limit explains an exit better than a signal from outside before it: the exit code says SIGKILL,
 * as a shell does of its child, and nobody outside sent that; or nothing shows that the signal was near the end.
 */
function limitSpeaksLouder(signal: number | 'unknown', end: End): boolean {
  return signal === 'unknown' || (end.exitCode === 128 + SIGKILL && signal !== SIGKILL);
}

/** Any end but exit 0: whatever the limit killed took the launch's result with it (O4, O5). */
function ourMemoryLimit({ evidence, end, memory }: Case): Cause | undefined {
  if (ourLimitKilled(evidence, memory) !== 'Confirmed') return undefined;
  const itself = looksKilled(end);
  return {
    cause: 'OOMKilled',
    verdict: 'Confirmed',
    message: itself
      ? `${launchName(evidence)} was killed by ${namedLimit(evidence.limits)}.`
      : `A process of the sandbox was killed by ${namedLimit(evidence.limits)}, and ${launchName(evidence).toLowerCase()} ended without a result.`,
  };
}

function otherMemoryLimit({ evidence, end, memory }: Case): Cause | undefined {
  if (!looksKilled(end) || !otherLimitKilled(evidence, memory)) return undefined;
  const own =
    evidence.limits.memoryBytes === undefined
      ? 'the sandbox has no memory limit'
      : `${namedLimit(evidence.limits)} was not reached`;
  return {
    cause: 'AncestorOOMKilled',
    verdict: 'Confirmed',
    message: `${launchName(evidence)} was killed for memory by a limit above the sandbox or by the host running out of memory; ${own}.`,
  };
}

function unconfirmedMemoryKill({ evidence, end, memory }: Case): Cause | undefined {
  if (!unconfirmedKill(evidence, end, memory)) return undefined;
  return {
    cause: 'OOMKilled',
    verdict: 'Unconfirmed',
    message: `${launchName(evidence)} was killed under ${namedLimit(evidence.limits)}; the runtime did not confirm that it was the limit.`,
  };
}

function exitedByItself({ evidence, end }: Case): Cause | undefined {
  if (end.by !== 'Init' || end.exitCode === undefined) return undefined;
  return {
    cause: 'Exited',
    verdict: 'Confirmed',
    message: `${launchName(evidence)} exited with code ${end.exitCode}.`,
  };
}

/** Signals that a process brings upon itself by a fault or an abort; others are sent by somebody. */
const OWN_FAULTS = new Set([3, 4, 5, 6, 7, 8, 11, 13, 24, 25, 31]);

function endedBySignal({ evidence, end, memory }: Case): Cause | undefined {
  if (end.signal === undefined) return undefined;
  const name = launchName(evidence);
  if (OWN_FAULTS.has(end.signal))
    return {
      cause: 'Exited',
      verdict: 'Confirmed',
      message: `${name} ended by ${signalName(end.signal)}.`,
    };
  return {
    cause: 'KilledFromOutside',
    // Without counters SIGKILL can be the host's out-of-memory killer too.
    verdict: end.signal === SIGKILL && memory.kernel === 'Unknown' ? 'Unconfirmed' : 'Confirmed',
    message: `${name} was ended by ${signalName(end.signal)}, which neither the agent nor a memory limit sent: it came from another process in the sandbox or from the host.`,
  };
}

function runtimeSaysExited({ evidence, end }: Case): Cause | undefined {
  if (end.exitCode === undefined || looksKilled(end)) return undefined;
  const { container } = evidence;
  const error = typeof container === 'object' ? container.error : '';
  return {
    cause: 'Exited',
    verdict: 'Confirmed',
    message: `${launchName(evidence)} ended with exit code ${end.exitCode}${error === '' ? '' : ` (${error})`}.`,
  };
}

function unknown({ evidence, end }: Case): Cause {
  const name = launchName(evidence);
  if (end.shellCode === undefined)
    return {
      cause: 'Unknown',
      verdict: 'Unconfirmed',
      message: `${name} ended; nothing shows how.`,
    };
  return {
    cause: 'Unknown',
    verdict: 'Unconfirmed',
    message: `${name} ended with exit code ${end.shellCode}: by itself, or by SIGKILL from outside the runtime; no memory limit is behind it, and nothing shows which it was.`,
  };
}

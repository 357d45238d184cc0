import type { Evidence, KernelCounters } from './evidence.ts';
import { times } from './wording.ts';

/** What the kernel's counters say of kills for memory during the launch (O6). */
export type KernelWord =
  /** Something was killed, and the sandbox's own limit was hit. */
  | 'OurLimit'
  /** Something was killed, and the own limit was not hit: an ancestor's, or the host's. */
  | 'OtherLimit'
  /** Something was killed; whose limit it was could not be read. */
  | 'SomeLimit'
  /** Nothing was killed, and the figures are final. */
  | 'Nothing'
  | 'Unknown';

/** What the runtime says: its flag, or its event. Neither tells whose limit, or which process. */
type RuntimeWord = 'Killed' | 'Silent' | 'Stale';

export interface MemoryFindings {
  kernel: KernelWord;
  runtime: RuntimeWord;
  kills: number | undefined;
  peakBytes: number | undefined;
  evidence: string[];
  contradictions: string[];
}

export function memoryFindings(evidence: Evidence): MemoryFindings {
  const findings: MemoryFindings = {
    kernel: 'Unknown',
    runtime: 'Silent',
    kills: undefined,
    peakBytes: evidence.kernel.after?.peakBytes,
    evidence: [],
    contradictions: [],
  };
  readKernel(evidence, findings);
  readRuntime(evidence, findings);
  compare(findings);
  return findings;
}

function readKernel(evidence: Evidence, findings: MemoryFindings): void {
  const { before, after, held } = evidence.kernel;
  if (after === undefined) {
    findings.evidence.push("The kernel's counters could not be read after the end.");
    return;
  }
  if (before === undefined) {
    findings.evidence.push("The kernel's counters were not read before the launch: nothing to compare with.");
    return;
  }
  for (const { path, content } of after.readings)
    findings.evidence.push(`${path}: ${content.trim().replaceAll(/\s*\n\s*/g, '; ')}`);

  const own = moved(before, after, 'oomKills', findings);
  const parent = moved(before, after, 'parentOOMKills', findings);
  if (own === undefined && parent === undefined) {
    findings.evidence.push('No counter of kills for memory could be compared.');
    return;
  }
  const kills = Math.max(own ?? 0, parent ?? 0);
  findings.kills = kills;
  if (kills === 0) {
    // The parent's figures were read after the container's end, the own ones count as final while held.
    const final = parent !== undefined || held;
    findings.kernel = final ? 'Nothing' : 'Unknown';
    findings.evidence.push(
      final
        ? 'The kernel counted no kill for memory during the launch.'
        : 'The kernel had counted no kill for memory when it was last asked, which was before the end.',
    );
    return;
  }
  findings.evidence.push(`The kernel counted a kill for memory ${times(kills)} during the launch.`);
  const hits =
    moved(before, after, 'limitHits', findings) ?? moved(before, after, 'parentLimitHits', findings);
  const lateHits = moved(before, after, 'parentLimitHits', findings);
  const peak = peakOnV1(evidence, before, after);
  if ((hits ?? 0) > 0 || (lateHits ?? 0) > 0) {
    findings.kernel = 'OurLimit';
    findings.evidence.push("The sandbox's own memory limit was hit during the launch.");
  } else if (peak === 'Reached') {
    findings.kernel = 'OurLimit';
    findings.evidence.push(
      "The sandbox's memory use had reached its own limit during the launch (its failcnt does not say so on every kernel).",
    );
  } else if (peak === 'Earlier') {
    findings.kernel = 'SomeLimit';
    findings.evidence.push(
      "The sandbox's memory use had reached its own limit before this launch: whose limit it was this time cannot be told.",
    );
  } else if (peak === 'Unread') {
    findings.kernel = 'SomeLimit';
    findings.evidence.push(
      "The sandbox's peak memory use could not be read both before and after: whose limit it was cannot be told.",
    );
  } else if (hits === undefined || (!held && lateHits === undefined)) {
    findings.kernel = 'SomeLimit';
    findings.evidence.push('Whether it was the limit of the sandbox could not be read.');
  } else {
    findings.kernel = 'OtherLimit';
    findings.evidence.push(
      "The sandbox's own memory limit was not hit: it was the limit of a cgroup above it, or the host ran out of memory.",
    );
  }
}

/** A peak is whole pages, and pages are at most 64 KiB. */
const PAGE_SLACK_BYTES = 64 * 1024;

/**
 * On cgroup v1 a failcnt that stayed 0 proves nothing: newer kernels (6.18) do not count there when the limit kills at
 * once. What tells an ancestor's kill from ours is then the peak, which an ancestor's limit keeps below our own. On v2
 * `oom` is exact, and a peak at the limit may be page cache that was given back.
 */
function peakOnV1(
  evidence: Evidence,
  before: KernelCounters,
  after: KernelCounters,
): 'Reached' | 'Earlier' | 'Below' | 'Unread' | 'NotAsked' {
  const { memoryBytes } = evidence.limits;
  const v1 = after.readings.some(({ path }) => path.endsWith('memory.oom_control'));
  if (!v1 || memoryBytes === undefined) return 'NotAsked';
  if (after.peakBytes === undefined) return 'Unread';
  if (after.peakBytes < memoryBytes - PAGE_SLACK_BYTES) return 'Below';
  if (before.peakBytes === undefined) return 'Unread';
  return before.peakBytes < memoryBytes - PAGE_SLACK_BYTES ? 'Reached' : 'Earlier';
}

type Figure = 'oomKills' | 'limitHits' | 'parentOOMKills' | 'parentLimitHits';

/** undefined: not read at both times, or gone back, which means another cgroup. */
function moved(
  before: KernelCounters,
  after: KernelCounters,
  figure: Figure,
  findings: MemoryFindings,
): number | undefined {
  const [from, to] = [before[figure], after[figure]];
  if (from === undefined || to === undefined) return undefined;
  if (to >= from) return to - from;
  const sentence = `${figure} went from ${from} back to ${to}: not the same cgroup.`;
  if (!findings.contradictions.includes(sentence)) findings.contradictions.push(sentence);
  return undefined;
}

function readRuntime(evidence: Evidence, findings: MemoryFindings): void {
  const { flag } = evidence;
  if (evidence.events.some((event) => event.action === 'oom')) {
    findings.runtime = 'Killed';
    findings.evidence.push('The runtime sent an oom event during the launch.');
  }
  if (flag.after === true) {
    if (flag.before !== true && (evidence.kernel.before?.oomKills ?? 0) === 0) {
      findings.runtime = 'Killed';
      findings.evidence.push('The runtime has set its OOMKilled flag: some process was killed for memory.');
    } else {
      if (findings.runtime === 'Silent') findings.runtime = 'Stale';
      findings.evidence.push(
        'The OOMKilled flag of the runtime is left from something earlier in this container and confirms nothing.',
      );
    }
  } else if (flag.after === false)
    findings.evidence.push(
      `The runtime did not set its OOMKilled flag within ${(flag.askedForMs / 1000).toFixed(1)} s.`,
    );
}

function compare(findings: MemoryFindings): void {
  if (findings.kernel === 'Nothing' && findings.runtime === 'Killed')
    findings.contradictions.push(
      'The runtime speaks of a kill for memory, but the kernel counted none by the end of the launch.',
    );
  if ((findings.kernel === 'OurLimit' || findings.kernel === 'OtherLimit') && findings.runtime === 'Silent')
    findings.contradictions.push('The runtime did not report the kill that the kernel counted (moby#41929).');
}

import { checks, type Case } from './checks.ts';
import { endOf } from './end.ts';
import type { Evidence, Verdict } from './evidence.ts';
import { memoryFindings } from './memory.ts';
import { FLAG_PATIENCE_MS, ourLimitKilled } from './oom.ts';
import { namedLimit, signalName } from './wording.ts';

const MAX_SENTENCE = 512;
const MAX_EVIDENCE = 32;
const MAX_CONTRADICTIONS = 16;
const MAX_MESSAGE = 4096;

/** Why a launch ended, how sure that is, and what shows it. Pure: the same evidence gives the same verdict. */
export function judge(evidence: Evidence): Verdict {
  const seen: Case = { evidence, end: endOf(evidence), memory: memoryFindings(evidence) };
  for (const [check, decide] of checks) {
    const found = decide(seen);
    if (found === undefined) continue;
    const { notes = [], ...cause } = found;
    return compose(seen, check, cause, notes);
  }
  throw new Error('the last check always decides');
}

/** Whether the runtime should be asked for its flag again: where that alone would confirm a kill for memory (O7). */
export function flagMayStillCome(evidence: Evidence): boolean {
  if (evidence.flag.askedForMs >= FLAG_PATIENCE_MS || evidence.container === 'Missing') return false;
  return judge(evidence).check === 'unconfirmed-memory-kill';
}

function compose(
  { evidence, end, memory }: Case,
  check: string,
  cause: Pick<Verdict, 'cause' | 'verdict' | 'message'>,
  notes: string[],
): Verdict {
  const verdict: Verdict = {
    check,
    ...cause,
    message: capitalised(cause.message).slice(0, MAX_MESSAGE),
    evidence: bounded(
      [...(end.sentence === undefined ? [] : [end.sentence]), ...notes, ...memory.evidence],
      MAX_EVIDENCE,
    ),
    contradictions: bounded(memory.contradictions, MAX_CONTRADICTIONS),
  };
  if (end.shellCode !== undefined) verdict.exitCode = end.shellCode;
  if (end.signal !== undefined) verdict.signal = signalName(end.signal);
  if (evidence.limits.memoryBytes !== undefined) verdict.memoryLimitBytes = evidence.limits.memoryBytes;
  if (memory.peakBytes !== undefined) verdict.peakMemoryBytes = memory.peakBytes;
  if (memory.kills !== undefined) verdict.oomKills = memory.kills;

  const oom = cause.cause === 'OOMKilled' ? cause.verdict : ourLimitKilled(evidence, memory);
  if (oom !== undefined)
    verdict.oom = {
      verdict: oom,
      message:
        cause.cause === 'OOMKilled'
          ? verdict.message
          : `A process of the sandbox was killed by ${namedLimit(evidence.limits)}; the launch was not ended by that.`,
    };
  return verdict;
}

function bounded(sentences: string[], most: number): string[] {
  return sentences.slice(0, most).map((sentence) => sentence.slice(0, MAX_SENTENCE));
}

function capitalised(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

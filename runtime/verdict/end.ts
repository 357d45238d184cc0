import type { Evidence } from './evidence.ts';
import { signalName } from './wording.ts';

/** How the process ended, as far as anybody says. */
export interface End {
  /** Init's word, or the runtime's where init said nothing. */
  by: 'Init' | 'Runtime' | 'Nobody';
  exitCode: number | undefined;
  /** Only init can tell a signal from an exit code above 128. */
  signal: number | undefined;
  /** Exit code as a shell gives it. */
  shellCode: number | undefined;
  sentence: string | undefined;
}

export function endOf(evidence: Evidence): End {
  const { report, container } = evidence;
  if (report?.signal !== undefined)
    return {
      by: 'Init',
      exitCode: undefined,
      signal: report.signal,
      shellCode: 128 + report.signal,
      sentence: `Init saw it end by ${signalName(report.signal)}.`,
    };
  if (report?.exitCode !== undefined)
    return {
      by: 'Init',
      exitCode: report.exitCode,
      signal: undefined,
      shellCode: report.exitCode,
      sentence: `Init saw it exit by itself with code ${report.exitCode}, not by a signal.`,
    };
  if (container !== undefined && container !== 'Missing' && ENDED.has(container.state))
    return {
      by: 'Runtime',
      exitCode: container.exitCode,
      signal: undefined,
      shellCode: container.exitCode,
      sentence: `Init left no report; the runtime says that the container ended with ${container.exitCode}.`,
    };
  return { by: 'Nobody', exitCode: undefined, signal: undefined, shellCode: undefined, sentence: undefined };
}

const ENDED = new Set(['exited', 'dead']);

/** SIGKILL, as a signal or as the code 137 of somebody who cannot tell. */
export function looksKilled(end: End): boolean {
  return end.by === 'Init' ? end.signal === SIGKILL : end.shellCode === 128 + SIGKILL;
}

export const SIGKILL = 9;

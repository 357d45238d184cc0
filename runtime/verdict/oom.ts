import { looksKilled, type End } from './end.ts';
import type { Evidence } from './evidence.ts';
import type { KernelWord, MemoryFindings } from './memory.ts';

/** How long the runtime's flag is waited for (O7). */
export const FLAG_PATIENCE_MS = 2000;

/** Whether our own limit killed something during the launch: by the kernel's word above all, else by the runtime's. */
export function ourLimitKilled(evidence: Evidence, memory: MemoryFindings): OOMVerdict {
  if (evidence.limits.memoryBytes === undefined) return undefined;
  return BY_WORDS[memory.kernel][memory.runtime === 'Killed' ? 'killed' : 'silent'];
}

type OOMVerdict = 'Confirmed' | 'Unconfirmed' | undefined;

/** The kernel's word against the runtime's. */
const BY_WORDS: Record<KernelWord, Record<'killed' | 'silent', OOMVerdict>> = {
  OurLimit: { killed: 'Confirmed', silent: 'Confirmed' },
  OtherLimit: { killed: undefined, silent: undefined },
  Nothing: { killed: undefined, silent: undefined },
  // The runtime's word cannot tell whose limit it was either, but it is a confirmation (O6).
  SomeLimit: { killed: 'Confirmed', silent: 'Unconfirmed' },
  Unknown: { killed: 'Confirmed', silent: undefined },
};

/** Something was killed for memory, and not by a limit of ours. */
export function otherLimitKilled(evidence: Evidence, memory: MemoryFindings): boolean {
  if (memory.kernel === 'OtherLimit') return true;
  if (evidence.limits.memoryBytes !== undefined) return false;
  return (
    memory.kernel === 'OurLimit' ||
    memory.kernel === 'SomeLimit' ||
    (memory.kernel === 'Unknown' && memory.runtime === 'Killed')
  );
}

/**
 * Exit 137 under a limit, and no counter to ask: all that is left is that nobody confirmed it (O8). A stop of ours that
 * was the cause has decided before; one that came after the end does not make it less of a kill.
 */
export function unconfirmedKill(evidence: Evidence, end: End, memory: MemoryFindings): boolean {
  return (
    evidence.limits.memoryBytes !== undefined &&
    looksKilled(end) &&
    (memory.kernel === 'Unknown' || memory.kernel === 'SomeLimit') &&
    memory.runtime !== 'Killed'
  );
}

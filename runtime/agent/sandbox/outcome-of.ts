import type { LedgerRecord, Outcome } from '../ledger/record.ts';
import type { Termination } from '../../../crds/limits-status.ts';
import { setupDone } from './checks/facts.ts';

/** What an end means for the sandbox (K10, O4, O11). Pure. */
export function outcomeOf(record: LedgerRecord, termination: Termination): Outcome['ended'] {
  const { cause, launch } = termination;
  const kept = record.retained;
  switch (cause) {
    case 'OOMKilled':
    case 'CommandNotFound':
    case 'CommandNotExecutable':
    case 'StartFailed':
      // The same would happen again.
      return 'Stalled';
    case 'LimitsUnproven':
      return kept ? 'Stopped' : 'Stalled';
    case 'RuntimeRestarted':
    case 'KilledFromOutside':
    case 'AncestorOOMKilled':
      if (!kept) return cause === 'RuntimeRestarted' ? 'Stalled' : failed(launch);
      // Where it is unknown whether setup ended, its container is of no use (K10).
      return setupDone(record) ? 'Restart' : 'Anew';
    case 'NodeLost':
      // It was to run again elsewhere: so it may here, where the node is back before that.
      return kept && setupDone(record) ? 'Restart' : 'Anew';
    case 'ContainerLost':
      return kept ? 'Anew' : 'Stalled';
    case 'Suspended':
    case 'Stopped':
      return kept ? 'Stopped' : 'Failed';
    case 'Deadline':
    case 'Timeout':
      return kept || launch === 'Setup' ? 'Stalled' : 'Failed';
    case 'Deleted':
    case 'Drained':
    case 'Replaced':
      return 'Stopped';
    case 'Exited':
      if (launch === 'Setup') return 'Stalled';
      // The init of a retained sandbox has no reason to end by itself.
      if (kept) return 'Stalled';
      return termination.exitCode === 0 ? 'Succeeded' : 'Failed';
    case 'Unknown':
      return kept || launch === 'Setup' ? 'Stalled' : 'Failed';
  }
}

function failed(launch: Termination['launch']): 'Failed' | 'Stalled' {
  return launch === 'Setup' ? 'Stalled' : 'Failed';
}

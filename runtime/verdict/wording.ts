import { constants } from 'node:os';
import type { Evidence } from './evidence.ts';

const NAMES = new Map(Object.entries(constants.signals).map(([name, number]) => [number, name]));
// Linux has two names for these; the common one wins over whichever came last.
NAMES.set(6, 'SIGABRT');
NAMES.set(17, 'SIGCHLD');
NAMES.set(29, 'SIGIO');

export function signalName(signal: number): string {
  return NAMES.get(signal) ?? `signal ${signal}`;
}

/** "the memory limit of 64Mi", or with the words that every naming of the limit carries where swap is not held (L4). */
export function namedLimit(limits: Evidence['limits']): string {
  const word = limits.swap === 'Unbounded' ? 'memory (swap unbounded)' : 'memory';
  return limits.memoryBytes === undefined
    ? `the ${word} limit`
    : `the ${word} limit of ${formatBytes(limits.memoryBytes)}`;
}

function formatBytes(bytes: number): string {
  for (const [unit, size] of UNITS) if (bytes >= size && bytes % size === 0) return `${bytes / size}${unit}`;
  return `${bytes} bytes`;
}

const UNITS = [
  ['Ti', 1024 ** 4],
  ['Gi', 1024 ** 3],
  ['Mi', 1024 ** 2],
  ['Ki', 1024],
] as const;

export function launchName(evidence: Pick<Evidence, 'launch'>): string {
  return evidence.launch === 'Setup' ? 'The setup command' : 'The main command';
}

export function times(count: number): string {
  return count === 1 ? 'once' : `${count} times`;
}

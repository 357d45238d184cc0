import type { Evidence } from './evidence.ts';
import { namedLimit } from './wording.ts';

/** The OCI runtimes' words for "its first process was killed for memory before it got to the command". */
const TOO_LOW = /OOM[- ]?killed|memory limit too low/i;

/** What is said of a container that the runtime could not start; `error` is its own text. */
export function startRefusal(error: string, limits: Evidence['limits']): string {
  if (limits.memoryBytes === undefined || !TOO_LOW.test(error))
    return `The container could not be started: ${error}`;
  const limit = namedLimit(limits);
  return `${limit.charAt(0).toUpperCase()}${limit.slice(1)} is too low to start the container: ${error}`;
}

import type { LinkError } from './link-error.ts';
import type { StartResult } from './types.ts';

interface Waiting {
  resolve(result: StartResult): void;
  reject(error: LinkError): void;
}

interface Entry {
  /** STARTs sent that have not been answered. */
  unanswered: number;
  waiting: Waiting | undefined;
  /** What became of a start that nobody waited for any longer when it was told. */
  late: StartResult | undefined;
}

/**
 * Which answer belongs to which start. A caller that has given up waiting may try again, and then both are read by
 * init at once: the second is a `duplicate`, which can come before the first one's true answer.
 */
export class StartBook {
  private readonly entries = new Map<number, Entry>();

  waitsFor(id: number): boolean {
    return this.entries.get(id)?.waiting !== undefined;
  }

  /** What an earlier try has come to by now; told once. */
  takeLate(id: number): StartResult | undefined {
    const entry = this.entries.get(id);
    const late = entry?.late;
    if (entry) entry.late = undefined;
    this.tidy(id);
    return late;
  }

  sent(id: number, waiting: Waiting): void {
    const entry = this.entries.get(id) ?? { unanswered: 0, waiting: undefined, late: undefined };
    this.entries.set(id, { ...entry, unanswered: entry.unanswered + 1, waiting });
  }

  giveUp(id: number): void {
    const entry = this.entries.get(id);
    if (entry) entry.waiting = undefined;
  }

  answered(id: number, result: StartResult): void {
    const entry = this.entries.get(id);
    if (!entry) return;
    entry.unanswered--;
    // Another answer is still to come, and says more than that nothing was done now.
    if (entry.unanswered > 0 && idle(result)) return;
    if (entry.waiting) entry.waiting.resolve(result);
    else if (!idle(result)) entry.late = result;
    entry.waiting = undefined;
    this.tidy(id);
  }

  failAll(error: LinkError): void {
    for (const entry of this.entries.values()) entry.waiting?.reject(error);
    this.entries.clear();
  }

  private tidy(id: number): void {
    const entry = this.entries.get(id);
    if (entry && entry.unanswered === 0 && !entry.waiting && !entry.late) this.entries.delete(id);
  }
}

/** The message did nothing: the id was taken already, or there was no room for it. */
function idle(result: StartResult): boolean {
  return !result.ok && ['duplicate', 'fork', 'pty'].includes(result.stage);
}

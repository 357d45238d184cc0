import type { Condition } from '../crds/meta.ts';
import type { Sandbox } from '../crds/sandbox.ts';
import type { Clock } from '../kube/clock.ts';
import type { Decline } from './placement/types.ts';

const FIRST_WAIT_MS = 10_000;
const LONGEST_WAIT_MS = 5 * 60_000;

interface Entry extends Decline {
  times: number;
  /** Monotonic. */
  untilMs: number;
}

/**
 * Which nodes handed which sandboxes back. A node is not offered the same sandbox again for a while that doubles each
 * time (10 s to 5 min), unless the node says meanwhile that something has changed. Kept in memory alone: a controller
 * that begins anew asks once too often at worst.
 */
export class Declines {
  readonly #clock: Clock;
  /** uid -> node -> entry */
  readonly #entries = new Map<string, Map<string, Entry>>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** To be told each change of a sandbox: a node name that became empty is a declined handover (K3). */
  observe(before: Sandbox | undefined, after: Sandbox | undefined): void {
    const uid = (after ?? before)?.metadata.uid ?? '';
    if (after === undefined) {
      this.#entries.delete(uid);
      return;
    }
    if (before?.metadata.generation !== after.metadata.generation) this.#entries.delete(uid);
    // A node that was lost has declined nothing.
    if (after.status?.conditions?.some(({ type, reason }) => type === 'Scheduled' && reason === 'NodeLost'))
      return;
    const node = before?.status?.nodeName ?? '';
    if (node !== '' && (after.status?.nodeName ?? '') === '') this.#add(uid, node, after);
  }

  /** What the node said, while it is not to be asked again. */
  of(uid: string, node: string): Decline | undefined {
    const entry = this.#entries.get(uid)?.get(node);
    return entry !== undefined && entry.untilMs > this.#clock.monotonicMs() ? entry : undefined;
  }

  /** Milliseconds until the first node may be asked again; undefined: none has declined. */
  nextMs(uid: string): number | undefined {
    const now = this.#clock.monotonicMs();
    const waits = [...(this.#entries.get(uid)?.values() ?? [])]
      .map(({ untilMs }) => untilMs - now)
      .filter((ms) => ms > 0);
    return waits.length > 0 ? Math.min(...waits) : undefined;
  }

  /** Something about the node has changed: it may be asked again at once. */
  forgive(node: string): void {
    for (const nodes of this.#entries.values()) {
      const entry = nodes.get(node);
      if (entry !== undefined) entry.untilMs = 0;
    }
  }

  #add(uid: string, node: string, sandbox: Sandbox): void {
    const nodes = this.#entries.get(uid) ?? new Map<string, Entry>();
    this.#entries.set(uid, nodes);
    const times = (nodes.get(node)?.times ?? 0) + 1;
    const waitMs = Math.min(FIRST_WAIT_MS * 2 ** Math.min(times - 1, 10), LONGEST_WAIT_MS);
    nodes.set(node, { ...declineOf(sandbox), times, untilMs: this.#clock.monotonicMs() + waitMs });
  }
}

const LIMIT_OF = {
  CPUUnenforceable: 'cpu',
  MemoryUnenforceable: 'memory',
  PIDsUnenforceable: 'pids',
} as const;

/** The agent's own words: the conditions it wrote together with the empty node name. */
function declineOf(sandbox: Sandbox): Decline {
  const conditions = sandbox.status?.conditions ?? [];
  const isTrue = (type: string): Condition | undefined =>
    conditions.find((condition) => condition.type === type && condition.status === 'True');
  const limits = isTrue('LimitUnenforceable');
  if (limits !== undefined) {
    const limit = LIMIT_OF[limits.reason as keyof typeof LIMIT_OF];
    return {
      about: 'Limits',
      message: limits.message,
      unreadable: limits.reason === 'RuntimeUnreadable',
      ...(limit !== undefined && { limit }),
    };
  }
  const storage = isTrue('StorageReserveLow');
  if (storage !== undefined) return { about: 'Storage', message: storage.message };
  const scheduled = conditions.find(({ type }) => type === 'Scheduled');
  return { about: 'Other', message: scheduled?.message || 'it gave no reason' };
}

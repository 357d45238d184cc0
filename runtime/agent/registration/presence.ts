import type { Sandbox, SandboxStatus } from '../../../crds/sandbox.ts';
import type { Clock } from '../../../kube/clock.ts';
import { NotNow } from '../not-now.ts';

export interface PresenceOptions {
  clock: Clock;
  held: () => boolean;
  /** Renews the lease; resolves when that was done. */
  renew: () => Promise<void>;
  /** Makes the SandboxNode if there is none, and writes what differs. */
  publish: () => Promise<void>;
}

/** Between two answers to the same sandbox's being called lost: whoever calls it so must be able to see the first. */
const ANSWER_MS = 10_000;
/** A proof that is not older serves other sandboxes too. */
const PROOF_MS = 1000;

/** What an agent may say of a sandbox while others doubt that it lives. */
export class Presence {
  readonly #options: PresenceOptions;
  readonly #answered = new Map<string, number>();
  #proof: { at: number; done: Promise<void> } | undefined;

  constructor(options: PresenceOptions) {
    this.#options = options;
  }

  /**
   * Before a status is written. Throws NotNow when the node name is not held: the sandbox may be another agent's, or
   * be called lost by the controller, and its word stands until then. One that is called lost although the name is
   * held is answered by lease and SandboxNode first, and only then by its status.
   */
  async mayWrite(sandbox: Sandbox, next: SandboxStatus): Promise<void> {
    const { clock, held } = this.#options;
    if (!held()) throw new NotNow('the node name is not held; nothing is written');
    const uid = sandbox.metadata.uid ?? '';
    if (!isLost(sandbox.status) || isLost(next)) return;
    const last = this.#answered.get(uid);
    if (last !== undefined && clock.monotonicMs() - last < ANSWER_MS) {
      throw new NotNow('it was called lost again; the lease has to be seen first');
    }
    await this.#prove();
    if (!held()) throw new NotNow('the node name is not held; nothing is written');
    const now = clock.monotonicMs();
    for (const [other, at] of this.#answered) if (now - at >= ANSWER_MS) this.#answered.delete(other);
    this.#answered.set(uid, now);
  }

  #prove(): Promise<void> {
    const { clock, renew, publish } = this.#options;
    const now = clock.monotonicMs();
    if (this.#proof !== undefined && now - this.#proof.at < PROOF_MS) return this.#proof.done;
    const done = renew().then(publish);
    this.#proof = { at: now, done };
    return done;
  }
}

function isLost(status: SandboxStatus | undefined): boolean {
  return status?.conditions?.some(({ type, reason }) => type === 'Ready' && reason === 'NodeLost') ?? false;
}

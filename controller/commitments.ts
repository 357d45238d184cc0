import { hasErrors, limitsOf } from '../crds/limits.ts';
import type { Sandbox } from '../crds/sandbox.ts';
import type { Load } from './placement/types.ts';

const NOTHING: Readonly<Load> = Object.freeze({ sandboxes: 0, cpuMillis: 0, memoryBytes: 0 });

interface Commitment extends Load {
  node: string;
  /** Decided here and not yet seen on the API. */
  assumed: boolean;
}

/**
 * What is promised of each node: the limits of every sandbox bound to it, those included whose binding has been
 * decided and is still on its way to the API. So two placements never promise the same room, however far the watch
 * is behind.
 */
export class Commitments {
  readonly #of = new Map<string, Commitment>();
  /** Never changed in place: views of it are handed out. */
  readonly #loads = new Map<string, Readonly<Load>>();

  /** As the API has it; to be told each state of each sandbox. */
  observe(sandbox: Sandbox): void {
    const uid = sandbox.metadata.uid ?? '';
    const node = sandbox.status?.nodeName ?? '';
    if (node === '') {
      // The watch may be behind a binding of ours.
      if (this.#of.get(uid)?.assumed !== true) this.forget(uid);
    } else if (isOver(sandbox)) this.forget(uid);
    else this.#put(uid, { node, assumed: false, ...sizeOf(sandbox) });
  }

  /** Before the binding is written. Of a sandbox that is bound already it changes nothing. */
  assume(sandbox: Sandbox, node: string): void {
    const uid = sandbox.metadata.uid ?? '';
    if (this.#of.get(uid)?.assumed === false) return;
    this.#put(uid, { node, assumed: true, ...sizeOf(sandbox) });
  }

  /** It is gone, or the API has refused its binding. */
  forget(uid: string): void {
    const before = this.#of.get(uid);
    if (before === undefined) return;
    this.#of.delete(uid);
    this.#add(before.node, before, -1);
  }

  /** The API has refused the binding, so that it is not there; one that has been seen there stays. */
  forgetAssumed(uid: string): void {
    if (this.#of.get(uid)?.assumed === true) this.forget(uid);
  }

  /** The load of a node without one sandbox, which may hold a promise of an earlier try. */
  loadOf(node: string, without: string): Readonly<Load> {
    const load = this.#loads.get(node) ?? NOTHING;
    const own = this.#of.get(without);
    if (own?.node !== node) return load;
    return {
      sandboxes: load.sandboxes - 1,
      cpuMillis: load.cpuMillis - own.cpuMillis,
      memoryBytes: load.memoryBytes - own.memoryBytes,
    };
  }

  #put(uid: string, commitment: Commitment): void {
    this.forget(uid);
    this.#of.set(uid, commitment);
    this.#add(commitment.node, commitment, 1);
  }

  #add(node: string, size: Load, sign: 1 | -1): void {
    const before = this.#loads.get(node) ?? NOTHING;
    const sandboxes = before.sandboxes + sign;
    if (sandboxes === 0) this.#loads.delete(node);
    else
      this.#loads.set(node, {
        sandboxes,
        cpuMillis: before.cpuMillis + sign * size.cpuMillis,
        memoryBytes: before.memoryBytes + sign * size.memoryBytes,
      });
  }
}

/** One that has ended needs nothing any more. One that is suspended or stalled may start again where it is. */
function isOver(sandbox: Sandbox): boolean {
  return (
    sandbox.status?.conditions?.some(({ type, status }) => type === 'Complete' && status === 'True') ?? false
  );
}

/** Without limits it counts as nothing but one sandbox (K4). */
function sizeOf(sandbox: Sandbox): Load {
  const limits = limitsOf(sandbox.spec);
  const known = hasErrors(limits) ? {} : limits;
  return { sandboxes: 1, cpuMillis: known.cpuMillis ?? 0, memoryBytes: known.memoryBytes ?? 0 };
}

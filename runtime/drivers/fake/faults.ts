import type { ContainerInfo, ContainerSpec, DriverError, RuntimeDriver, RuntimeEvent } from '../../driver.ts';

export type DriverCall = Exclude<keyof RuntimeDriver, 'name'>;

export interface CallRecord {
  call: DriverCall;
  /** Name or id the call is about; '' for those about none. */
  subject: string;
}

/** What happens to a call: thrown before anything is done, or after it was done; or it never answers. */
export type FakeFault = { do: 'throw' | 'throw-after'; error: DriverError } | { do: 'hang' | 'hang-after' };

/** What a runtime says or does that is not so, while every call of it succeeds; each is given what is so. */
export interface Lies {
  inspect?: (info: ContainerInfo) => ContainerInfo;
  /** In place of an event: none, several, or an earlier one that was held back. */
  events?: (event: RuntimeEvent) => RuntimeEvent[];
  /** What a start really runs. */
  runs?: (spec: ContainerSpec) => ContainerSpec;
}

interface Scripted {
  call: DriverCall;
  fault: FakeFault;
  times: number;
}

/** Scripted faults of a fake driver, and what was called. */
export class FaultScript {
  readonly calls: CallRecord[] = [];
  readonly #scripted: Scripted[] = [];

  /** The next `times` calls of this kind go wrong, after those scripted before. */
  add(call: DriverCall, fault: FakeFault, times = 1): void {
    this.#scripted.push({ call, fault, times });
  }

  clear(): void {
    this.#scripted.length = 0;
  }

  /** Runs one call under the script. A hang ends with the caller's signal alone. */
  async run<T>(record: CallRecord, signal: AbortSignal | undefined, work: () => T | Promise<T>): Promise<T> {
    signal?.throwIfAborted();
    this.calls.push(record);
    const fault = this.#take(record.call);
    // Every call of a real driver takes at least a turn of the event loop.
    await new Promise((resolve) => setImmediate(resolve));
    if (fault?.do === 'throw') throw fault.error;
    if (fault?.do === 'hang') return hang(signal);
    const result = await work();
    if (fault?.do === 'throw-after') throw fault.error;
    if (fault?.do === 'hang-after') return hang(signal);
    return result;
  }

  #take(call: DriverCall): FakeFault | undefined {
    const at = this.#scripted.findIndex((scripted) => scripted.call === call);
    const found = this.#scripted[at];
    if (found === undefined) return undefined;
    found.times -= 1;
    if (found.times <= 0) this.#scripted.splice(at, 1);
    return found.fault;
  }
}

function hang(signal: AbortSignal | undefined): Promise<never> {
  return orAbort(new Promise<never>(() => {}), signal);
}

/** The work, or the reason of the signal if that comes first. */
export function orAbort<T>(work: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (signal === undefined) return work;
  return new Promise((resolve, reject) => {
    const onAbort = (): void => reject(asError(signal.reason));
    if (signal.aborted) onAbort();
    signal.addEventListener('abort', onAbort, { once: true });
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', onAbort));
  });
}

export function asError(reason: unknown): Error {
  return reason instanceof Error ? reason : new Error(String(reason));
}

import type { OutputStream } from './frame.ts';
import { streamKey } from './frame.ts';
import type { OutputWriter } from './writer.ts';

/** What becomes of output that cannot be written. */
export interface OutputTrouble {
  /** It could not: what comes within the next `retryInMs` is dropped. */
  lost(error: unknown, retryInMs: number): void;
  /** It is written again; so many bytes are missing. */
  back(lostBytes: number): void;
}

const RETRY_FIRST_MS = 5000;
const RETRY_MAX_MS = 300_000;

/**
 * A writer that never fails: output that cannot be written is taken all the same, dropped and counted, so that the
 * sandbox goes on and its end is seen. The files are opened anew each time, which cuts off what was written by half.
 */
export async function keepGoing(
  open: () => Promise<OutputWriter>,
  monotonicMs: () => number,
  trouble: OutputTrouble,
): Promise<OutputWriter> {
  /** The last that could be opened: it knows what is safe even when it is of no use any more. */
  let last: OutputWriter | undefined;
  let usable = false;
  let failures = 0;
  let retryAtMs = 0;
  let lostBytes = 0;
  const droppedTo = new Map<string, bigint>();

  const written = (life: number, stream: OutputStream): bigint => {
    const safe = last?.written(life, stream) ?? 0n;
    const dropped = droppedTo.get(streamKey(life, stream)) ?? 0n;
    return dropped > safe ? dropped : safe;
  };
  const breakOff = async (cause: unknown): Promise<void> => {
    const broken = usable ? last : undefined;
    usable = false;
    failures += 1;
    const retryInMs = Math.min(RETRY_FIRST_MS * 2 ** (failures - 1), RETRY_MAX_MS);
    retryAtMs = monotonicMs() + retryInMs;
    trouble.lost(cause, retryInMs);
    // Told already, and whatever closing says, the files are opened anew.
    await broken?.close().catch(() => undefined);
  };
  const ready = async (): Promise<OutputWriter | undefined> => {
    if (usable) return last;
    if (failures > 0 && monotonicMs() < retryAtMs) return undefined;
    last = await open();
    usable = true;
    return last;
  };
  /** Whether it was done. */
  const attempt = async (work: (writer: OutputWriter) => Promise<void>): Promise<boolean> => {
    try {
      const writer = await ready();
      if (writer === undefined) return false;
      await work(writer);
    } catch (error) {
      await breakOff(error);
      return false;
    }
    if (failures > 0) {
      failures = 0;
      trouble.back(lostBytes);
      lostBytes = 0;
    }
    return true;
  };

  let chain: Promise<unknown> = Promise.resolve();
  const inOrder = <T>(work: () => Promise<T>): Promise<T> => {
    const next = chain.then(work);
    chain = next.catch(() => undefined);
    return next;
  };

  try {
    await ready();
  } catch (error) {
    await breakOff(error);
  }
  return {
    append: (life, stream, offset, data) =>
      inOrder(async () => {
        const safe = written(life, stream);
        const end = offset + BigInt(data.length);
        // What was dropped and comes again stays dropped: it has been counted.
        if (end <= safe) return;
        const at = offset < safe ? safe : offset;
        const fresh = data.subarray(Number(at - offset));
        if (await attempt((writer) => writer.append(life, stream, at, fresh))) return;
        lostBytes += fresh.length;
        droppedTo.set(streamKey(life, stream), end);
      }),
    end: (life) =>
      inOrder(async () => {
        await attempt((writer) => writer.end(life));
      }),
    written,
    close: () =>
      inOrder(async () => {
        if (usable) await last?.close();
      }),
  };
}

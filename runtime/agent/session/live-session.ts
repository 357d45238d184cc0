import type { InitArrival, InitEvents, InitSession, ProcessExit } from '../../link/types.ts';
import type { KernelCounters } from '../../verdict/evidence.ts';
import type { OutputWriter } from '../output/writer.ts';
import type { Receipt } from '../sandbox/receipt.ts';
import type { ProcessView } from '../sandbox/types.ts';
import type { Launch } from '../output/frame.ts';
import { InitFence } from './fence.ts';

export const SETUP_ID = 1;
export const MAIN_ID = 2;

/** Bytes an init may send before they are written down. */
const WINDOW_BYTES = 256 * 1024;
/**
 * To one that ran before: of output that could not be written, nothing here may know how far it came. Init has 64 KiB
 * under way at most, whatever it may send.
 */
const RESUMED_WINDOW_BYTES = Number.MAX_SAFE_INTEGER;

export interface LiveSession {
  readonly init: InitSession;
  readonly arrival: InitArrival;
  /** Which start of the container it belongs to. */
  readonly start: number;
  process(launch: Launch): ProcessView | undefined;
  /** After a START of ours: its output may come. */
  begun(launch: Launch): void;
  /** Settles when all output of the launch that there is has been written, or after `waitMs` of silence. */
  drained(launch: Launch, waitMs: number): Promise<void>;
  receipt: Receipt | undefined;
  baseline: KernelCounters | undefined;
  drift: string[] | undefined;
  /** Init was told to go. */
  released: boolean;
  readonly fence: InitFence;
}

const launchOf = (id: number): Launch | undefined =>
  id === SETUP_ID ? 'setup' : id === MAIN_ID ? 'main' : undefined;
const idOf = (launch: Launch): number => (launch === 'setup' ? SETUP_ID : MAIN_ID);

export interface LiveSessionOptions {
  arrival: InitArrival;
  start: number;
  /** Identifies the streams of this start of this container. */
  life: number;
  writer: (launch: Launch) => Promise<OutputWriter>;
  /** Something happened that may need a decision. */
  changed: () => void;
  failed: (error: unknown) => void;
  /** Monotonic. */
  nowMs: () => number;
  open: (events: InitEvents) => Promise<InitSession>;
}

/** Takes an init that has come: its output goes to files, its exits to whoever decides. */
export async function openLiveSession(options: LiveSessionOptions): Promise<LiveSession> {
  const exits = new Map<number, ProcessExit>();
  const running = new Set<number>();
  const ended = new Map<string, bigint>();
  const waiters = new Set<() => void>();
  const wake = (): void => {
    for (const waiter of waiters) waiter();
  };
  let session: InitSession | undefined;
  let fence: InitFence | undefined;
  let fell = false;
  const received: Parameters<InitEvents['onOutput']>[0][] = [];

  const take = (chunk: Parameters<InitEvents['onOutput']>[0]): void => {
    const launch = launchOf(chunk.id);
    if (launch === undefined) return;
    options
      .writer(launch)
      .then((writer) =>
        writer.append(options.life, chunk.stream, chunk.offset, chunk.data).then(() => writer),
      )
      .then((writer) => {
        session?.credit(chunk.id, chunk.stream, writer.written(options.life, chunk.stream), WINDOW_BYTES);
        wake();
      })
      .catch(options.failed);
  };

  const init = await options.open({
    onOutput: (chunk) => {
      if (session === undefined) received.push(chunk);
      else take(chunk);
    },
    onStreamEnd: (id, stream, total) => {
      ended.set(`${id}/${stream}`, total);
      wake();
    },
    onExit: (id, exit) => {
      running.delete(id);
      exits.set(id, exit);
      wake();
      options.changed();
    },
    onOutsideSignal: () => options.changed(),
    onFenced: () => {
      fell = true;
      if (fence !== undefined) fence.fell = true;
      options.changed();
    },
  });
  session = init;
  fence = new InitFence(init, options.nowMs);
  if (fell) fence.fell = true;
  for (const chunk of received) take(chunk);

  const grant = async (launch: Launch, windowBytes: number): Promise<void> => {
    const writer = await options.writer(launch);
    for (const stream of ['stdout', 'stderr'] as const) {
      init.credit(idOf(launch), stream, writer.written(options.life, stream), windowBytes);
    }
  };
  for (const record of init.hello.processes) {
    const launch = launchOf(record.id);
    if (launch === undefined) continue;
    if (record.state === 'exited' && record.exit !== undefined) exits.set(record.id, record.exit);
    else running.add(record.id);
    await grant(launch, RESUMED_WINDOW_BYTES);
  }

  const isDrained = async (launch: Launch): Promise<boolean> => {
    const writer = await options.writer(launch);
    return (['stdout', 'stderr'] as const).every((stream) => {
      const total = ended.get(`${idOf(launch)}/${stream}`);
      return total !== undefined && writer.written(options.life, stream) >= total;
    });
  };

  return {
    init,
    arrival: options.arrival,
    start: options.start,
    receipt: undefined,
    baseline: undefined,
    drift: undefined,
    released: false,
    fence,
    process: (launch) => {
      const exit = exits.get(idOf(launch));
      if (exit !== undefined) return { state: 'exited', exit };
      return running.has(idOf(launch)) ? { state: 'running', exit: undefined } : undefined;
    },
    begun: (launch) => {
      if (!exits.has(idOf(launch))) running.add(idOf(launch));
      grant(launch, WINDOW_BYTES).catch(options.failed);
    },
    drained: async (launch, waitMs) => {
      for (;;) {
        if (await isDrained(launch)) break;
        // A background child may hold a stream open for ever: what comes to a standstill has been read.
        const moved = await new Promise<boolean>((resolve) => {
          const end = (value: boolean): void => {
            clearTimeout(timer);
            waiters.delete(woken);
            resolve(value);
          };
          const woken = (): void => end(true);
          const timer = setTimeout(() => end(false), waitMs);
          waiters.add(woken);
          void init.closed.then(() => end(false));
        });
        if (!moved) break;
      }
      await (await options.writer(launch)).end(options.life);
    },
  };
}

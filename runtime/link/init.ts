import type { Duplex } from 'node:stream';
import { encodeFields, type FieldList, Fields } from './fields.ts';
import { encodeMessage, FrameDecoder, type Message } from './frame.ts';
import { LinkError } from './link-error.ts';
import {
  heartbeatResult,
  initHello,
  limitResult,
  processExit,
  startFailure,
  streamName,
} from './messages.ts';
import { F, PROTOCOL, T } from './protocol.ts';
import { StartBook } from './start-book.ts';
import { StdinQueue } from './stdin-queue.ts';
import { REQUEST_TIMEOUT_MS, START_TIMEOUT_MS, timeLimit } from './time-limit.ts';
import type {
  HeartbeatResult,
  InitEvents,
  InitHello,
  InitSession,
  LimitResult,
  StartResult,
  StartSpec,
} from './types.ts';

interface Waiting<T> {
  resolve(value: T): void;
  reject(error: Error): void;
}

const MAX_ID = 0xffff_ffff;

/**
 * Speaks with the init of a sandbox over its stream and resolves at its hello. Rejects with LinkError `Closed` or
 * `Garbage`. The stream is destroyed when the session is over; the sandbox itself goes on and dials again.
 */
export function openInit(stream: Duplex, events: InitEvents): Promise<InitSession> {
  return new Promise((resolve, reject) => {
    const link = new InitLink(stream, events, (hello) => resolve(link.open(hello)));
    void link.closed.then(reject);
  });
}

class InitLink {
  readonly closed: Promise<Error>;
  private readonly stream: Duplex;
  private readonly events: InitEvents;
  private readonly onHello: (hello: InitHello) => void;
  private readonly decoder = new FrameDecoder();
  private readonly starts = new StartBook();
  private readonly inputs = new Map<number, StdinQueue>();
  /** In the order they were sent, which is that of the answers. One that has timed out keeps its place. */
  private readonly pings: Waiting<void>[] = [];
  private readonly limits: Waiting<LimitResult>[] = [];
  private readonly beats: Waiting<HeartbeatResult>[] = [];
  private greeted = false;
  private over: LinkError | undefined;
  private settle: (error: Error) => void = () => undefined;

  constructor(stream: Duplex, events: InitEvents, onHello: (hello: InitHello) => void) {
    this.stream = stream;
    this.events = events;
    this.onHello = onHello;
    this.closed = new Promise((resolve) => {
      this.settle = resolve;
    });
    stream.on('data', (chunk: Buffer) => this.receive(chunk));
    stream.on('error', (error: Error) => {
      this.end(new LinkError('Closed', 'the connection to the sandbox broke', { cause: error }));
    });
    stream.on('end', () => this.end(new LinkError('Closed', 'the connection to the sandbox has ended')));
    stream.on('close', () => this.end(new LinkError('Closed', 'the connection to the sandbox is closed')));
    this.send(T.HELLO, 0, [[F.PROTOCOL, PROTOCOL]]);
  }

  open(hello: InitHello): InitSession {
    for (const record of hello.processes) this.input(record.id, record.stdinReceived);
    return {
      hello,
      closed: this.closed,
      start: async (spec, options) => this.start(spec, options?.timeoutMs ?? START_TIMEOUT_MS),
      limit: async (id, timeoutMs, options) => {
        if (hello.gate) return 'unsupported';
        return this.limit(id, timeoutMs, options).catch(() => 'unanswered' as const);
      },
      heartbeat: async (beat, options) => {
        if (hello.gate || hello.bootMs === undefined) return { is: 'unsupported' };
        return this.heartbeat(beat, options?.answerMs ?? REQUEST_TIMEOUT_MS).catch(() => ({
          is: 'unanswered' as const,
        }));
      },
      signal: (id, signal, scope) => {
        this.send(T.SIGNAL, id, [
          [F.SIGNAL, signal],
          [F.SCOPE, scope === 'group'],
        ]);
      },
      credit: (id, stream, acked, windowBytes) => {
        this.send(T.CREDIT, id, [
          [F.STREAM, stream === 'stderr' ? 2 : 1],
          [F.ACKED, acked],
          [F.LIMIT, acked + BigInt(windowBytes)],
        ]);
      },
      stdin: (id, data) => this.input(id, 0n).add(data),
      stdinWaiting: (id) => this.inputs.get(id)?.waiting ?? 0,
      resize: (id, { rows, cols }) => {
        this.send(T.RESIZE, id, [
          [F.ROWS, rows],
          [F.COLS, cols],
        ]);
      },
      forget: (id) => {
        this.inputs.delete(id);
        this.send(T.FORGET, id, []);
      },
      ping: async (options) => this.ping(options?.timeoutMs ?? REQUEST_TIMEOUT_MS),
      release: (exitCode) => this.send(T.RELEASE, 0, [[F.EXIT_CODE, exitCode]]),
      close: () => this.close(),
    };
  }

  private start(spec: StartSpec, timeoutMs: number): Promise<StartResult> {
    if (!Number.isInteger(spec.id) || spec.id < 1 || spec.id > MAX_ID) {
      throw new LinkError('Invalid', `${spec.id} is no process id`);
    }
    if (spec.argv.length === 0) throw new LinkError('Invalid', 'argv is empty');
    if (this.starts.waitsFor(spec.id))
      throw new LinkError('Invalid', `process ${spec.id} is being started already`);
    for (const text of [...spec.argv, ...spec.env, spec.workingDir]) {
      if (text.includes('\0')) throw new LinkError('Invalid', 'a NUL in an argument, variable or path');
    }
    const payload = encodeFields([
      ...spec.argv.map((arg) => [F.ARG, arg] as const),
      ...spec.env.map((entry) => [F.ENV, entry] as const),
      [F.WORKING_DIR, spec.workingDir],
      [F.ROWS, spec.tty?.rows],
      [F.COLS, spec.tty?.cols],
      [F.STDIN, spec.stdin],
      [F.TIMEOUT_MS, spec.timeoutMs],
      [F.GRACE_MS, spec.graceMs],
      [F.WINDOW, spec.windowBytes],
    ]);
    const frame = encodeMessage(T.START, spec.id, payload);
    const late = this.starts.takeLate(spec.id);
    if (late) return Promise.resolve(late);
    return new Promise((resolve, reject) => {
      if (this.over) {
        reject(this.over);
        return;
      }
      const waiting = limited({ resolve, reject }, timeoutMs, () => this.starts.giveUp(spec.id));
      this.starts.sent(spec.id, waiting);
      this.stream.write(frame);
    });
  }

  private ping(timeoutMs: number): Promise<void> {
    return new Promise<void>((resolve, reject) => {
      if (this.over) {
        reject(this.over);
        return;
      }
      this.pings.push(limited({ resolve, reject }, timeoutMs));
      this.send(T.PING, 0, []);
    });
  }

  private limit(
    id: number,
    timeoutMs: number | undefined,
    { graceMs, answerMs }: { graceMs?: number; answerMs?: number } = {},
  ): Promise<LimitResult> {
    return new Promise((resolve, reject) => {
      if (this.over) {
        reject(this.over);
        return;
      }
      this.limits.push(limited({ resolve, reject }, answerMs ?? REQUEST_TIMEOUT_MS));
      this.send(T.TIME_LIMIT, id, [
        [F.TIMEOUT_MS, wholeMs(timeoutMs)],
        [F.GRACE_MS, graceMs],
      ]);
    });
  }

  private heartbeat(
    beat: { fromBootMs: number; forMs: number } | undefined,
    answerMs: number,
  ): Promise<HeartbeatResult> {
    return new Promise((resolve, reject) => {
      if (this.over) {
        reject(this.over);
        return;
      }
      this.beats.push(limited({ resolve, reject }, answerMs));
      this.send(T.HEARTBEAT, 0, [
        [F.BOOT_MS, beat?.fromBootMs],
        [F.TIMEOUT_MS, beat?.forMs ?? 0],
      ]);
    });
  }

  private input(id: number, received: bigint): StdinQueue {
    const known = this.inputs.get(id);
    if (known) return known;
    const queue = new StdinQueue(
      received,
      (offset, data, end) => {
        this.send(T.STDIN, id, [
          [F.OFFSET, offset],
          [F.DATA, data],
          [F.END, end ? true : undefined],
        ]);
      },
      () => this.events.onStdinDrain?.(id),
    );
    this.inputs.set(id, queue);
    return queue;
  }

  /**
   * Everything but START and STDIN is a few bytes, and STDIN is bounded by what init grants: so the stream's own
   * buffer is bounded by what the caller asks for.
   */
  private send(type: number, channel: number, list: FieldList): void {
    if (this.over) return;
    this.stream.write(encodeMessage(type, channel, encodeFields(list)));
  }

  private receive(chunk: Buffer): void {
    if (this.over) return;
    try {
      this.decoder.push(chunk, (message) => this.dispatch(message));
    } catch (error) {
      this.end(
        error instanceof LinkError ? error : new LinkError('Garbage', String(error), { cause: error }),
      );
    }
  }

  private dispatch(message: Message): void {
    if (this.over) return;
    const fields = new Fields(message.payload);
    if (!this.greeted) {
      if (message.type !== T.HELLO) throw new LinkError('Garbage', 'init did not begin with hello');
      this.greeted = true;
      this.onHello(initHello(fields));
      return;
    }
    const id = message.channel;
    switch (message.type) {
      case T.STARTED:
        this.starts.answered(id, {
          ok: true,
          pid: fields.number(F.PID),
          startTicks: fields.big(F.START_TICKS),
        });
        return;
      case T.START_FAILED:
        this.starts.answered(id, startFailure(fields));
        return;
      case T.OUTPUT:
        this.events.onOutput({
          id,
          stream: streamName(fields),
          offset: fields.big(F.OFFSET),
          data: fields.bytes(F.DATA) ?? Buffer.alloc(0),
        });
        return;
      case T.STREAM_END:
        this.events.onStreamEnd(id, streamName(fields), fields.big(F.TOTAL));
        return;
      case T.EXITED:
        this.events.onExit(id, processExit(fields));
        return;
      case T.OUTSIDE_SIGNAL:
        this.events.onOutsideSignal(fields.number(F.SIGNAL), fields.optionalNumber(F.SIGNAL_AT));
        return;
      case T.STDIN_CREDIT:
        this.input(id, 0n).grant(fields.big(F.LIMIT));
        return;
      case T.TIME_LIMIT_SET:
        this.limits.shift()?.resolve(limitResult(fields));
        return;
      case T.HEARTBEAT_SET:
        this.beats.shift()?.resolve(heartbeatResult(fields));
        return;
      case T.FENCED:
        this.events.onFenced?.(fields.number(F.FENCED_AT));
        return;
      case T.PONG:
        this.pings.shift()?.resolve();
        return;
      case T.ERROR:
        // About one message of ours; whoever waits for an answer to it must not wait for ever.
        if (fields.number(F.TYPE) === T.PING) this.pings.shift()?.resolve();
        if (fields.number(F.TYPE) === T.HEARTBEAT) this.beats.shift()?.resolve({ is: 'unsupported' });
        if (fields.number(F.TYPE) === T.TIME_LIMIT) this.limits.shift()?.resolve('unsupported');
        return;
      default:
        this.send(T.ERROR, id, [
          [F.TYPE, message.type],
          [F.MESSAGE, 'unknown type'],
        ]);
    }
  }

  /** What has been said before, a goodbye above all, still goes out. */
  private close(): void {
    this.finish(new LinkError('Closed', 'the connection to the sandbox was closed here'), () => {
      this.stream.end(() => this.stream.destroy());
    });
  }

  private end(error: LinkError): void {
    this.finish(error, () => this.stream.destroy());
  }

  private finish(error: LinkError, leave: () => void): void {
    if (this.over) return;
    this.over = error;
    this.starts.failAll(error);
    for (const waiting of [...this.pings, ...this.limits, ...this.beats]) waiting.reject(error);
    leave();
    this.settle(error);
  }
}

/** 0 is no limit at all; the shortest that is one is 1 ms. */
function wholeMs(timeoutMs: number | undefined): number {
  if (timeoutMs === undefined || timeoutMs === 0 || timeoutMs > Number.MAX_SAFE_INTEGER) return 0;
  return Math.max(1, Math.ceil(timeoutMs));
}

/** The same with a time limit; `late` is called when that has passed. */
function limited<T>(waiting: Waiting<T>, timeoutMs: number, late?: () => void): Waiting<T> {
  const stopTimer = timeLimit(timeoutMs, 'the sandbox', (error) => {
    late?.();
    waiting.reject(error);
  });
  return {
    resolve: (value) => {
      stopTimer();
      waiting.resolve(value);
    },
    reject: (error) => {
      stopTimer();
      waiting.reject(error);
    },
  };
}

import type { Duplex } from 'node:stream';
import { ChannelStream } from './channel-stream.ts';
import { encodeFields, type FieldList, Fields } from './fields.ts';
import { encodeMessage, FrameDecoder, MESSAGE_MAX_BYTES, type Message } from './frame.ts';
import { FrameWriter } from './frame-writer.ts';
import { LinkError } from './link-error.ts';
import { fileReadings, processFacts, probeHello, statfsOf } from './messages.ts';
import { F, T } from './protocol.ts';
import { REQUEST_TIMEOUT_MS, timeLimit } from './time-limit.ts';
import type { FileReading, InitArrival, Probe, ProbeHello, ProcessFacts, RequestOptions } from './types.ts';

type CallOptions = RequestOptions | undefined;

const MAX_WAITING = 4096;
/** Of paths in one request; its reply must fit a message. */
const MAX_PATHS = 4096;

interface Waiting {
  resolve(fields: Fields): void;
  reject(error: Error): void;
}

export interface ProbeHandlers {
  /** An init has connected. Its stream is bounded by windows until it is read; whoever does not want it destroys it. */
  onInit: (arrival: InitArrival) => void;
}

/**
 * Takes over the probe's standard streams and resolves when it has said hello. Rejects with LinkError `Closed` or
 * `Garbage`. The duplex is destroyed when the connection is over, and with it the streams of all inits.
 */
export function openProbe(duplex: Duplex, handlers: ProbeHandlers): Promise<Probe> {
  return new Promise((resolve, reject) => {
    const link = new ProbeLink(duplex, handlers, (hello) => resolve(link.open(hello)));
    void link.closed.then(reject);
  });
}

class ProbeLink {
  readonly closed: Promise<Error>;
  private readonly duplex: Duplex;
  private readonly handlers: ProbeHandlers;
  private readonly onHello: (hello: ProbeHello) => void;
  private readonly writer: FrameWriter;
  private readonly decoder = new FrameDecoder();
  private readonly waiting = new Map<number, Waiting>();
  private readonly channels = new Map<number, ChannelStream>();
  private greeted = false;
  private nextRequest = 1;
  private over: LinkError | undefined;
  private settle: (error: Error) => void = () => undefined;

  constructor(duplex: Duplex, handlers: ProbeHandlers, onHello: (hello: ProbeHello) => void) {
    this.duplex = duplex;
    this.handlers = handlers;
    this.onHello = onHello;
    this.writer = new FrameWriter(duplex);
    this.closed = new Promise((resolve) => {
      this.settle = resolve;
    });
    duplex.on('data', (chunk: Buffer) => this.receive(chunk));
    duplex.on('error', (error: Error) => {
      this.end(new LinkError('Closed', 'the connection to the probe broke', { cause: error }));
    });
    duplex.on('end', () => this.end(new LinkError('Closed', 'the probe has ended')));
    duplex.on('close', () => this.end(new LinkError('Closed', 'the connection to the probe is closed')));
  }

  open(hello: ProbeHello): Probe {
    const call = (type: number, list: FieldList, options: CallOptions): Promise<Fields> =>
      this.request(type, list, options);
    return {
      hello,
      closed: this.closed,
      readFiles: async (paths, options) => readFiles(paths, (list) => call(T.READ_FILES, list, options)),
      process: async (pid, options): Promise<ProcessFacts | undefined> => {
        const reply = await call(T.PROCESS, [[F.PID, pid]], options);
        return reply.has(F.PID) ? processFacts(reply) : undefined;
      },
      statfs: async (path, options) => statfsOf(await call(T.STATFS, [[F.PATH, path]], options)),
      listen: async (sandboxID, options) => {
        await call(T.LISTEN, [[F.SANDBOX, sandboxID]], options);
      },
      unlisten: async (sandboxID, options) => {
        await call(T.UNLISTEN, [[F.SANDBOX, sandboxID]], options);
      },
      listening: async (options) => {
        const reply = await call(T.LIST, [], options);
        return reply.all(F.SANDBOX).map((id) => id.toString('utf8'));
      },
      removeCgroup: async (path, options) =>
        (await call(T.REMOVE_CGROUP, [[F.PATH, path]], options)).number(F.REMOVED) === 1,
      ping: async (options) => {
        await call(T.PING, [], options);
      },
      close: () => this.end(new LinkError('Closed', 'the connection to the probe was closed here')),
    };
  }

  private request(type: number, list: FieldList, options: CallOptions): Promise<Fields> {
    const signal = options?.signal;
    return new Promise((resolve, reject) => {
      if (this.over) {
        reject(this.over);
        return;
      }
      if (signal?.aborted) {
        reject(signal.reason as Error);
        return;
      }
      if (this.waiting.size >= MAX_WAITING) {
        reject(new LinkError('Overflow', `${MAX_WAITING} requests wait for the probe already`));
        return;
      }
      const id = this.nextRequest++;
      const frame = encodeMessage(type, 0, encodeFields([[F.REQUEST, id], ...list]));
      const done = (): void => {
        stopTimer();
        this.waiting.delete(id);
        signal?.removeEventListener('abort', onAbort);
      };
      const onAbort = (): void => {
        done();
        reject(signal?.reason as Error);
      };
      const stopTimer = timeLimit(options?.timeoutMs ?? REQUEST_TIMEOUT_MS, 'the probe', (error) => {
        done();
        reject(error);
      });
      signal?.addEventListener('abort', onAbort);
      this.waiting.set(id, {
        resolve: (fields) => {
          done();
          resolve(fields);
        },
        reject: (error) => {
          done();
          reject(error);
        },
      });
      this.writer.send(frame);
    });
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
      if (message.type !== T.HELLO) throw new LinkError('Garbage', 'the probe did not begin with hello');
      this.greeted = true;
      this.onHello(probeHello(fields));
      return;
    }
    switch (message.type) {
      case T.REPLY:
      case T.PONG:
      case T.ERROR:
        this.answer(message.type, fields);
        return;
      case T.OPEN:
        this.arrival(message.channel, fields);
        return;
      case T.DATA:
        if (this.channels.get(message.channel)?.deliver(fields.bytes(F.DATA) ?? Buffer.alloc(0)) === false) {
          throw new LinkError('Garbage', 'the probe sent more than the window');
        }
        return;
      case T.WINDOW:
        this.channels.get(message.channel)?.window(fields.number(F.LIMIT));
        return;
      case T.CLOSE:
        this.channels.get(message.channel)?.ended();
        return;
      default:
        this.writer.send(
          encodeMessage(
            T.ERROR,
            message.channel,
            encodeFields([
              [F.TYPE, message.type],
              [F.MESSAGE, 'unknown type'],
            ]),
          ),
        );
    }
  }

  private answer(type: number, fields: Fields): void {
    const waiting = this.waiting.get(fields.number(F.REQUEST));
    if (!waiting) return; // given up meanwhile
    if (type === T.ERROR) {
      waiting.reject(new LinkError('Refused', `the probe: ${fields.text(F.MESSAGE)}`, { errno: 'ENOSYS' }));
    } else if (fields.has(F.ERRNO)) {
      const errno = fields.text(F.ERRNO);
      waiting.reject(new LinkError('Refused', `the probe answered ${errno}`, { errno }));
    } else waiting.resolve(fields);
  }

  private arrival(channel: number, fields: Fields): void {
    const stream = new ChannelStream(channel, fields.number(F.LIMIT), this.writer, () => {
      this.channels.delete(channel);
    });
    this.channels.set(channel, stream);
    // Whoever takes the stream adds a listener of its own; without one an error must not end the process.
    stream.on('error', () => undefined);
    this.handlers.onInit({ sandboxID: fields.text(F.SANDBOX), peer: processFacts(fields), stream });
  }

  private end(error: LinkError): void {
    if (this.over) return;
    this.over = error;
    for (const waiting of this.waiting.values()) waiting.reject(error);
    for (const stream of this.channels.values()) stream.ended(error);
    this.duplex.destroy();
    this.settle(error);
  }
}

async function readFiles(
  paths: string[],
  call: (list: FieldList) => Promise<Fields>,
): Promise<FileReading[]> {
  if (paths.length > MAX_PATHS) throw new LinkError('Invalid', `${paths.length} paths in one request`);
  if (paths.reduce((sum, path) => sum + path.length + 5, 0) * 2 > MESSAGE_MAX_BYTES) {
    throw new LinkError('Invalid', 'the paths of one request are too long');
  }
  const readings = fileReadings(await call(paths.map((path) => [F.PATH, path] as const)));
  if (readings.length !== paths.length) throw new LinkError('Garbage', 'the probe answered for other files');
  return readings;
}

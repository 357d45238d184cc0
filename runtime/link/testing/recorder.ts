import type { InitEvents, InitSession, OutputChunk, ProcessExit } from '../types.ts';
import { until } from './until.ts';

const WINDOW_BYTES = 65_536;

interface Stream {
  bytes: bigint;
  chunks: Buffer[];
  total: bigint | undefined;
}

/** Takes what init says as an agent does: keeps bytes once, whatever is sent twice, and acknowledges them. */
export class Recorder implements InitEvents {
  readonly exits = new Map<number, ProcessExit>();
  readonly outside: number[] = [];
  readonly outsideTimes: (number | undefined)[] = [];
  readonly drained: number[] = [];
  fencedAt: number | undefined;
  /** Bytes that came a second time. */
  repeated = 0;
  gap = false;
  /** Whether what comes is acknowledged at once. */
  crediting = true;
  onBytes: (() => void) | undefined;
  private readonly streams = new Map<string, Stream>();
  private session: InitSession | undefined;

  /** On a new session: says from where to go on. */
  attach(session: InitSession): void {
    this.session = session;
    for (const record of session.hello.processes) {
      if (record.exit) this.exits.set(record.id, record.exit);
      if (this.crediting) {
        for (const name of ['stdout', 'stderr'] as const) this.credit(record.id, name);
      }
    }
  }

  credit(id: number, name: 'stdout' | 'stderr', windowBytes = WINDOW_BYTES): void {
    this.session?.credit(id, name, this.stream(id, name).bytes, windowBytes);
  }

  onOutput({ id, stream: name, offset, data }: OutputChunk): void {
    const stream = this.stream(id, name);
    if (offset > stream.bytes) this.gap = true;
    const known = Number(stream.bytes - offset);
    this.repeated += Math.min(known, data.length);
    if (known < data.length) {
      const fresh = data.subarray(known);
      stream.chunks.push(fresh);
      stream.bytes += BigInt(fresh.length);
    }
    if (this.crediting) this.credit(id, name);
    this.onBytes?.();
  }

  onStreamEnd(id: number, name: 'stdout' | 'stderr', total: bigint): void {
    this.stream(id, name).total = total;
  }

  onExit(id: number, exit: ProcessExit): void {
    this.exits.set(id, exit);
  }

  onOutsideSignal(signal: number, atBootMs?: number): void {
    this.outside.push(signal);
    this.outsideTimes.push(atBootMs);
  }

  onFenced(atBootMs: number): void {
    this.fencedAt = atBootMs;
  }

  onStdinDrain(id: number): void {
    this.drained.push(id);
  }

  stream(id: number, name: 'stdout' | 'stderr'): Stream {
    const key = `${id}/${name}`;
    let stream = this.streams.get(key);
    if (!stream) {
      stream = { bytes: 0n, chunks: [], total: undefined };
      this.streams.set(key, stream);
    }
    return stream;
  }

  text(id: number, name: 'stdout' | 'stderr' = 'stdout'): string {
    return Buffer.concat(this.stream(id, name).chunks).toString('utf8');
  }

  ended(id: number): boolean {
    return this.stream(id, 'stdout').total !== undefined && this.stream(id, 'stderr').total !== undefined;
  }

  /** Waits until the process has exited and both its streams have ended. */
  async over(id: number): Promise<ProcessExit> {
    await until(`the end of process ${id}`, () => this.exits.has(id) && this.ended(id));
    return this.exits.get(id) as ProcessExit;
  }
}

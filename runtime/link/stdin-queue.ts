import { LinkError } from './link-error.ts';

const MAX_WAITING_BYTES = 1024 * 1024;
const CHUNK_BYTES = 32_768;

/** Input for one process: sent as far as init grants, and bounded. */
export class StdinQueue {
  private readonly send: (offset: bigint, data: Buffer | undefined, end: boolean) => void;
  private readonly onDrain: () => void;
  private chunks: Buffer[] = [];
  private waitingBytes = 0;
  private offset: bigint;
  private limit: bigint;
  private end = false;
  private endSent = false;

  constructor(
    received: bigint,
    send: (offset: bigint, data: Buffer | undefined, end: boolean) => void,
    onDrain: () => void,
  ) {
    this.offset = received;
    this.limit = received;
    this.send = send;
    this.onDrain = onDrain;
  }

  get waiting(): number {
    return this.waitingBytes;
  }

  add(data: Buffer | 'end'): void {
    if (this.end) throw new LinkError('Invalid', 'the input has been ended already');
    if (data === 'end') this.end = true;
    else {
      if (this.waitingBytes + data.length > MAX_WAITING_BYTES) {
        throw new LinkError('Overflow', `more than ${MAX_WAITING_BYTES} bytes of input wait for the process`);
      }
      if (data.length > 0) this.chunks.push(data);
      this.waitingBytes += data.length;
    }
    this.flush();
  }

  grant(limit: bigint): void {
    if (limit > this.limit) this.limit = limit;
    this.flush();
  }

  private flush(): void {
    const before = this.waitingBytes;
    while (this.chunks.length > 0 && this.offset < this.limit) {
      const first = this.chunks[0] as Buffer;
      const length = Math.min(first.length, CHUNK_BYTES, Number(this.limit - this.offset));
      this.send(this.offset, first.subarray(0, length), false);
      this.offset += BigInt(length);
      this.waitingBytes -= length;
      if (length === first.length) this.chunks.shift();
      else this.chunks[0] = first.subarray(length);
    }
    if (this.chunks.length === 0 && this.end && !this.endSent) {
      this.endSent = true;
      this.send(this.offset, undefined, true);
    }
    if (before > 0 && this.waitingBytes === 0) this.onDrain();
  }
}

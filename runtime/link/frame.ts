import { LinkError } from './link-error.ts';

export const HEADER_BYTES = 12;
export const PAYLOAD_MAX_BYTES = 65_536;
export const MESSAGE_MAX_BYTES = 3 * 1024 * 1024;

const MAGIC = 0x48; // 'H'
const FLAG_MORE = 0x01;

export interface Message {
  type: number;
  channel: number;
  payload: Buffer;
}

/** One message as frames: one, or more where the payload is longer than a frame holds. */
export function encodeMessage(type: number, channel: number, payload: Buffer): Buffer {
  if (payload.length > MESSAGE_MAX_BYTES) {
    throw new LinkError(
      'Invalid',
      `a message of ${payload.length} bytes is longer than the ${MESSAGE_MAX_BYTES} allowed`,
    );
  }
  const frames = Math.max(1, Math.ceil(payload.length / PAYLOAD_MAX_BYTES));
  const out = Buffer.allocUnsafe(payload.length + frames * HEADER_BYTES);
  let at = 0;
  for (let i = 0; i < frames; i++) {
    const part = payload.subarray(i * PAYLOAD_MAX_BYTES, (i + 1) * PAYLOAD_MAX_BYTES);
    out[at] = MAGIC;
    out[at + 1] = type;
    out[at + 2] = i < frames - 1 ? FLAG_MORE : 0;
    out[at + 3] = 0;
    out.writeUInt32BE(channel, at + 4);
    out.writeUInt32BE(part.length, at + 8);
    part.copy(out, at + HEADER_BYTES);
    at += HEADER_BYTES + part.length;
  }
  return out;
}

/**
 * Turns chunks, cut anywhere, into messages. Keeps at most one message (3 MiB) and one chunk. Payloads are views
 * of the chunks where they can be. Throws `Garbage` at the first header that can't be one, and ever after.
 */
export class FrameDecoder {
  private pending: Buffer[] = [];
  private pendingBytes = 0;
  private parts: Buffer[] = [];
  private partBytes = 0;
  private open: { type: number; channel: number } | undefined;
  private failure: LinkError | undefined;

  push(chunk: Buffer, onMessage: (message: Message) => void): void {
    if (this.failure) throw this.failure;
    this.pending.push(chunk);
    this.pendingBytes += chunk.length;
    let data: Buffer | undefined;
    while (this.pendingBytes >= this.needed()) {
      if (this.pending.length > 1) this.pending = [Buffer.concat(this.pending)];
      data = this.pending[0] as Buffer;
      if (this.pendingBytes < this.needed()) break; // what was needed was the rest of the header
      const used = this.take(data, onMessage);
      this.pendingBytes -= used;
      this.pending = this.pendingBytes > 0 ? [data.subarray(used)] : [];
    }
  }

  /** Bytes without which nothing can be taken; learnt from the header once that is there. */
  private needed(): number {
    const head = this.pending[0];
    if (!head || head.length < HEADER_BYTES) return HEADER_BYTES;
    return HEADER_BYTES + this.header(head).length;
  }

  private take(data: Buffer, onMessage: (message: Message) => void): number {
    const { type, more, channel, length } = this.header(data);
    const payload = data.subarray(HEADER_BYTES, HEADER_BYTES + length);
    if (more) {
      this.open = { type, channel };
      this.parts.push(payload);
      this.partBytes += length;
      return HEADER_BYTES + length;
    }
    const whole = this.parts.length > 0 ? Buffer.concat([...this.parts, payload]) : payload;
    this.open = undefined;
    this.parts = [];
    this.partBytes = 0;
    onMessage({ type, channel, payload: whole });
    return HEADER_BYTES + length;
  }

  private header(data: Buffer): { type: number; more: boolean; channel: number; length: number } {
    const type = data[1] as number;
    const flags = data[2] as number;
    const channel = data.readUInt32BE(4);
    const length = data.readUInt32BE(8);
    const more = flags === FLAG_MORE;
    if (data[0] !== MAGIC) this.fail('not a frame');
    if ((flags !== 0 && !more) || data[3] !== 0) this.fail('unknown flags');
    if (length > PAYLOAD_MAX_BYTES) this.fail(`a frame of ${length} bytes`);
    if (more && length === 0) this.fail('an empty fragment');
    if (this.open && (this.open.type !== type || this.open.channel !== channel)) {
      this.fail('fragments of two messages mixed');
    }
    if (this.partBytes + length > MESSAGE_MAX_BYTES) this.fail('a message that is too long');
    return { type, more, channel, length };
  }

  private fail(what: string): never {
    this.failure = new LinkError('Garbage', `the other side does not speak the protocol: ${what}`);
    this.pending = [];
    this.parts = [];
    throw this.failure;
  }
}

import { Duplex } from 'node:stream';
import { encodeFields } from './fields.ts';
import { encodeMessage } from './frame.ts';
import type { FrameWriter } from './frame-writer.ts';
import { F, T } from './protocol.ts';

/** Of bytes from an init that may be on their way or unread here. */
export const CHANNEL_WINDOW_BYTES = 131_072;
const DATA_MAX_BYTES = 32_768;

/** One init's byte stream inside the probe's, with a window in each direction. */
export class ChannelStream extends Duplex {
  private readonly number: number;
  private readonly writer: FrameWriter;
  private received = 0;
  private granted = 0;
  private sent = 0;
  private sendLimit: number;
  private waiting: { rest: Buffer; callback: (error?: Error | null) => void } | undefined;
  private over = false;
  private readonly onGone: () => void;

  constructor(number: number, sendLimit: number, writer: FrameWriter, onGone: () => void) {
    super({ readableHighWaterMark: CHANNEL_WINDOW_BYTES / 2, writableHighWaterMark: 65_536 });
    this.number = number;
    this.writer = writer;
    this.sendLimit = sendLimit;
    this.onGone = onGone;
    this.grant();
  }

  override _read(): void {
    this.grant();
  }

  private grant(): void {
    const limit = this.received - this.readableLength + CHANNEL_WINDOW_BYTES;
    if (this.over || limit - this.granted < CHANNEL_WINDOW_BYTES / 4) return;
    this.granted = limit;
    this.writer.send(encodeMessage(T.WINDOW, this.number, encodeFields([[F.LIMIT, limit]])));
  }

  /** Bytes that the probe read from the init. False: more than was granted. */
  deliver(data: Buffer): boolean {
    this.received += data.length;
    if (this.received > this.granted) return false;
    if (!this.over) this.push(data);
    return true;
  }

  window(limit: number): void {
    if (limit <= this.sendLimit) return;
    this.sendLimit = limit;
    const waiting = this.waiting;
    this.waiting = undefined;
    if (waiting) this.sendSome(waiting.rest, waiting.callback);
  }

  override _write(chunk: Buffer, _encoding: BufferEncoding, callback: (error?: Error | null) => void): void {
    this.sendSome(chunk, callback);
  }

  private sendSome(data: Buffer, callback: (error?: Error | null) => void): void {
    if (this.over) {
      callback();
      return;
    }
    const length = Math.min(data.length, DATA_MAX_BYTES, this.sendLimit - this.sent);
    if (length <= 0) {
      this.waiting = { rest: data, callback };
      return;
    }
    this.sent += length;
    const frame = encodeMessage(T.DATA, this.number, encodeFields([[F.DATA, data.subarray(0, length)]]));
    const rest = data.subarray(length);
    this.writer.sendThen(frame, () => {
      if (rest.length > 0) this.sendSome(rest, callback);
      else callback();
    });
  }

  override _final(callback: (error?: Error | null) => void): void {
    this.goodbye();
    callback();
  }

  override _destroy(error: Error | null, callback: (error?: Error | null) => void): void {
    this.goodbye();
    this.waiting?.callback(error);
    this.waiting = undefined;
    callback(error);
  }

  private goodbye(): void {
    if (this.over) return;
    this.over = true;
    this.writer.send(encodeMessage(T.CLOSE, this.number, Buffer.alloc(0)));
    this.onGone();
  }

  /** The probe says it is over: what has come is still read, then the stream ends; with an error it ends at once. */
  ended(error?: Error): void {
    if (this.over) return;
    this.over = true;
    this.onGone();
    const waiting = this.waiting;
    this.waiting = undefined;
    waiting?.callback();
    if (error) this.destroy(error);
    else this.push(null);
  }
}

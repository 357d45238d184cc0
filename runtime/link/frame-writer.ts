import type { Writable } from 'node:stream';

/** Writes to a stream and says when it takes more, so that a slow reader slows its writer and fills no memory. */
export class FrameWriter {
  private readonly stream: Writable;
  private waiting: (() => void)[] = [];
  private blocked = false;

  constructor(stream: Writable) {
    this.stream = stream;
    stream.on('drain', () => this.release());
    stream.on('close', () => this.release());
  }

  /** Sends now; for what is small and bounded by its nature. */
  send(frame: Buffer): void {
    if (this.stream.destroyed || this.stream.writableEnded) return;
    if (!this.stream.write(frame)) this.blocked = true;
  }

  /** Sends, and calls back when the stream takes more (or is over). */
  sendThen(frame: Buffer, callback: () => void): void {
    this.send(frame);
    if (this.blocked && !this.stream.destroyed) this.waiting.push(callback);
    else callback();
  }

  private release(): void {
    this.blocked = false;
    const waiting = this.waiting;
    this.waiting = [];
    for (const callback of waiting) callback();
  }
}

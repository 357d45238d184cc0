import { Duplex, type PassThrough } from 'node:stream';

/** Reading gives stdout, writing goes to stdin; who goes away leaves a stdout that is thrown away, as Docker does. */
export class FakeAttachedStream extends Duplex {
  readonly #stdin: PassThrough;
  readonly #stdout: PassThrough;
  readonly #stdinOnce: boolean;

  /** `stdinOnce`: its stdin ends with the first who had it. */
  constructor(stdin: PassThrough, stdout: PassThrough, stdinOnce: boolean) {
    super({ allowHalfOpen: false });
    this.#stdinOnce = stdinOnce;
    this.#stdin = stdin;
    this.#stdout = stdout;
    stdout.on('data', (chunk: Buffer) => {
      if (!this.destroyed && !this.push(chunk)) stdout.pause();
    });
    stdout.once('end', () => {
      if (!this.destroyed) this.push(null);
    });
    stdout.pause();
  }

  override _read(): void {
    this.#stdout.resume();
  }

  override _write(chunk: Buffer, _encoding: BufferEncoding, done: (error?: Error | null) => void): void {
    this.#stdin.write(chunk, done);
  }

  override _final(done: (error?: Error | null) => void): void {
    this.#stdin.end(done);
  }

  override _destroy(error: Error | null, done: (error?: Error | null) => void): void {
    this.#stdout.resume();
    if (this.#stdinOnce) this.#stdin.end();
    done(error);
  }
}

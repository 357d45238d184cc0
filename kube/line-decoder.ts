import { TransportError } from './errors.ts';

/**
 * Cuts a byte stream into lines, wherever the chunks end (inside a character too). Empty lines are left out, such as
 * the bare line ends by which some proxies keep a connection alive.
 * Bytes are joined once a line is whole, so that a line in many small chunks costs no more than one in a large one.
 */
export class LineDecoder {
  readonly #maxLineBytes: number;
  #parts: Buffer[] = [];
  #bytes = 0;

  constructor(options: { maxLineBytes: number }) {
    this.#maxLineBytes = options.maxLineBytes;
  }

  /** The lines that this chunk completes, without their ends. Throws TransportError `TooLarge`. */
  push(chunk: Buffer): string[] {
    const lines: string[] = [];
    let from = 0;
    for (;;) {
      const end = chunk.indexOf(0x0a, from);
      const part = chunk.subarray(from, end === -1 ? chunk.length : end);
      if (this.#bytes + part.length > this.#maxLineBytes) {
        throw new TransportError(
          'TooLarge',
          `a line of the stream has more than ${this.#maxLineBytes} bytes`,
        );
      }
      if (part.length > 0) {
        this.#parts.push(part);
        this.#bytes += part.length;
      }
      if (end === -1) return lines;
      const line = this.#take();
      if (line !== '') lines.push(line);
      from = end + 1;
    }
  }

  /** Bytes of a line that has not ended. */
  get pendingBytes(): number {
    return this.#bytes;
  }

  #take(): string {
    const [first] = this.#parts;
    const line = this.#parts.length === 1 && first ? first : Buffer.concat(this.#parts, this.#bytes);
    this.#parts = [];
    this.#bytes = 0;
    return line.toString('utf8').replace(/\r$/, '');
  }
}

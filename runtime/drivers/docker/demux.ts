import { DriverError } from '../../driver.ts';

/**
 * Docker's framing of the standard streams of a container without a TTY: 8 bytes of header (stream, three zeros,
 * length in network order), then the payload. Payload is handed on as it arrives, so nothing is held but a header
 * that was cut: a frame of any length costs no memory.
 */
export class Demultiplexer {
  readonly #header = Buffer.alloc(8);
  #headerBytes = 0;
  #stream = 0;
  #left = 0;
  #daemonSays: Buffer[] = [];
  #daemonBytes = 0;

  /**
   * Takes apart one chunk. Throws `Unreadable` on what is no header, and `Failed` with the daemon's own message
   * when it reports an error in the stream; nothing may be fed afterwards.
   */
  feed(chunk: Buffer, onPayload: (stream: 'stdout' | 'stderr', payload: Buffer) => void): void {
    let at = 0;
    while (at < chunk.length) {
      if (this.#left === 0 && !this.#inFrame) {
        const take = Math.min(8 - this.#headerBytes, chunk.length - at);
        chunk.copy(this.#header, this.#headerBytes, at, at + take);
        this.#headerBytes += take;
        at += take;
        if (this.#headerBytes < 8) return;
        this.#openFrame();
        continue;
      }
      const take = Math.min(this.#left, chunk.length - at);
      const payload = chunk.subarray(at, at + take);
      at += take;
      this.#left -= take;
      this.#deliver(payload, onPayload);
      if (this.#left === 0) this.#closeFrame();
    }
  }

  /** Whether the stream may end here: between two frames. */
  get atBoundary(): boolean {
    return !this.#inFrame && this.#headerBytes === 0;
  }

  #inFrame = false;

  #openFrame(): void {
    const header = this.#header;
    this.#headerBytes = 0;
    const stream = header[0] ?? 255;
    if (stream > SYSTEM_ERROR || header[1] !== 0 || header[2] !== 0 || header[3] !== 0)
      throw new DriverError(
        'Unreadable',
        `the attached stream has no frame header where one is due: ${header.toString('hex')}`,
      );
    this.#stream = stream;
    this.#left = header.readUInt32BE(4);
    this.#inFrame = true;
    if (this.#left === 0) this.#closeFrame();
  }

  #closeFrame(): void {
    this.#inFrame = false;
    if (this.#stream !== SYSTEM_ERROR) return;
    throw new DriverError('Failed', Buffer.concat(this.#daemonSays).toString('utf8').trim());
  }

  #deliver(payload: Buffer, onPayload: (stream: 'stdout' | 'stderr', payload: Buffer) => void): void {
    if (this.#stream === SYSTEM_ERROR) {
      const room = MAX_DAEMON_MESSAGE - this.#daemonBytes;
      if (room <= 0) return;
      const kept = payload.subarray(0, room);
      this.#daemonSays.push(Buffer.from(kept));
      this.#daemonBytes += kept.length;
      return;
    }
    // 0 is stdin, echoed by some: it is written to stdout, as Docker's own reader does.
    onPayload(this.#stream === STDERR ? 'stderr' : 'stdout', payload);
  }
}

const STDERR = 2;
const SYSTEM_ERROR = 3;
const MAX_DAEMON_MESSAGE = 16 * 1024;

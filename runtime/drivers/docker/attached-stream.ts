import type { Socket } from 'node:net';
import { Duplex } from 'node:stream';
import { DriverError } from '../../driver.ts';
import { Demultiplexer } from './demux.ts';
import { transportError } from './map-errors.ts';

const MAX_STDERR_CHUNK = 64 * 1024;

/**
 * The standard streams of a container as one Duplex over a hijacked connection: reading gives stdout, writing goes
 * to stdin, `end()` closes stdin alone and reading goes on. Backpressure holds both ways: while nobody reads, the
 * socket is not read either. Garbage and an end in mid-frame destroy it with a DriverError.
 */
export class AttachedStream extends Duplex {
  readonly #socket: Socket;
  readonly #frames = new Demultiplexer();
  readonly #onStderr: (chunk: Buffer) => void;

  constructor(socket: Socket, head: Buffer, onStderr: (chunk: Buffer) => void) {
    // The end of stdout ends stdin too; the end of stdin alone does not end stdout.
    super({ allowHalfOpen: false });
    this.#socket = socket;
    this.#onStderr = onStderr;
    // Node's HTTP agent arms these for idle sockets.
    socket.setTimeout(0);
    socket.setNoDelay(true);
    socket.on('data', (chunk: Buffer) => this.#take(chunk));
    socket.on('end', () => this.#ended());
    socket.on('error', (error) => this.destroy(transportError(error, 'the attached stream')));
    socket.on('close', () => {
      if (!this.readableEnded && !this.destroyed) this.#ended();
    });
    socket.pause();
    if (head.length > 0) socket.unshift(head);
  }

  override _read(): void {
    this.#socket.resume();
  }

  override _write(chunk: Buffer, _encoding: BufferEncoding, done: (error?: Error | null) => void): void {
    this.#socket.write(chunk, (error) => done(error ? transportError(error, 'writing to stdin') : undefined));
  }

  override _final(done: (error?: Error | null) => void): void {
    if (this.#socket.destroyed || this.#socket.writableEnded) {
      done();
      return;
    }
    this.#socket.end(() => done());
  }

  override _destroy(error: Error | null, done: (error?: Error | null) => void): void {
    this.#socket.destroy();
    done(error);
  }

  #ended(): void {
    if (this.#frames.atBoundary) {
      this.push(null);
      return;
    }
    this.destroy(new DriverError('Unavailable', 'the attached stream broke off within a frame'));
  }

  #take(chunk: Buffer): void {
    if (this.destroyed) return;
    try {
      this.#frames.feed(chunk, (stream, payload) => {
        if (stream === 'stdout') {
          if (!this.push(payload)) this.#socket.pause();
          return;
        }
        for (let at = 0; at < payload.length; at += MAX_STDERR_CHUNK)
          this.#onStderr(payload.subarray(at, at + MAX_STDERR_CHUNK));
      });
    } catch (error) {
      this.destroy(error instanceof Error ? error : new Error(String(error)));
    }
  }
}

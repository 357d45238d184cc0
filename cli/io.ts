import type { Writable } from 'node:stream';
import type { Environment } from './config.ts';

/** What a command has of the world. */
export interface IO {
  stdout: Writable & { isTTY?: boolean; columns?: number };
  stderr: Writable & { isTTY?: boolean; columns?: number };
  env: Environment;
  /** Aborts when told to stop; whoever is told twice does not come back here. */
  stop: AbortSignal;
}

/** Resolves when the text has been taken, so that a slow reader slows us down and nothing piles up. */
export async function write(stream: Writable, data: string | Buffer): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    stream.write(data, (error) => (error ? reject(error) : resolve()));
  });
}

import { watch } from 'node:fs';
import { open, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { Launch, OutputStream } from './frame.ts';
import { readFrameAt, readPreamble, type ScannedFrame } from './scan.ts';

export interface OutputPiece {
  stream: OutputStream;
  life: number;
  /** Position of the first byte in its stream. */
  offset: bigint;
  data: Buffer;
  timeMs: number;
}

export interface ReadOutputOptions {
  /** The agent's data folder. */
  dataDir: string;
  uid: string;
  /** Default: main. */
  launch?: Launch;
  /** Go on until the launch has ended or `signal` aborts. */
  follow?: boolean;
  signal?: AbortSignal;
}

/** Where the files of a launch are. */
export function outputFolder(dataDir: string, uid: string, launch: Launch): string {
  return join(dataDir, 'output', uid, launch);
}

const NAME = /^\d{8}\.out$/;
const LOOK_AGAIN_MS = 500;

/**
 * What is kept of a launch's output, oldest first. Works beside a running writer and in another process. A launch
 * that wrote nothing yields nothing.
 */
export async function* readOutput(options: ReadOutputOptions): AsyncGenerator<OutputPiece> {
  const folder = outputFolder(options.dataDir, options.uid, options.launch ?? 'main');
  let name = '';
  let position = 0;
  for (;;) {
    if (options.signal?.aborted) return;
    const files = await list(folder);
    const current = files.find((file) => file >= name);
    let ended = false;
    if (current !== undefined) {
      if (current !== name) {
        name = current;
        position = 0;
      }
      for await (const { frame, data } of framesFrom(join(folder, name), position)) {
        position = frame.next;
        if (frame.header.stream === 'end') {
          ended = true;
          continue;
        }
        ended = false;
        yield {
          stream: frame.header.stream,
          life: frame.header.life,
          offset: frame.header.offset,
          timeMs: frame.header.timeMs,
          data,
        };
      }
      const newer = (await list(folder)).find((file) => file > name);
      if (newer !== undefined && !(await hasMore(join(folder, name), position))) {
        name = newer;
        position = 0;
        continue;
      }
    }
    if (options.follow !== true || ended) return;
    await change(folder, options.signal);
  }
}

async function list(folder: string): Promise<string[]> {
  try {
    return (await readdir(folder)).filter((file) => NAME.test(file)).toSorted();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
    throw error;
  }
}

async function* framesFrom(
  path: string,
  from: number,
): AsyncGenerator<{ frame: ScannedFrame; data: Buffer }> {
  const file = await open(path, 'r').catch((error: NodeJS.ErrnoException) => {
    // Rotated away since it was listed.
    if (error.code === 'ENOENT') return undefined;
    throw error;
  });
  if (file === undefined) return;
  try {
    const { size } = await file.stat();
    let position = from;
    if (position === 0) {
      const preamble = await readPreamble(file);
      if (preamble === undefined) return;
      position = preamble.next;
    }
    for (;;) {
      const frame = await readFrameAt(file, position, size);
      if (frame === undefined) return;
      const data = Buffer.alloc(frame.header.length);
      await file.read(data, 0, data.length, frame.dataAt);
      position = frame.next;
      yield { frame, data };
    }
  } finally {
    await file.close();
  }
}

async function hasMore(path: string, position: number): Promise<boolean> {
  for await (const _ of framesFrom(path, position)) return true;
  return false;
}

/** Until something in the folder changes; also a look from time to time, since a watch can miss a change. */
function change(folder: string, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve) => {
    const done = (): void => {
      clearTimeout(timer);
      signal?.removeEventListener('abort', done);
      watcher?.close();
      resolve();
    };
    const timer = setTimeout(done, LOOK_AGAIN_MS);
    signal?.addEventListener('abort', done, { once: true });
    let watcher: ReturnType<typeof watch> | undefined;
    try {
      watcher = watch(folder, done);
      watcher.on('error', () => undefined);
    } catch {
      // The folder is not there yet: the timer looks again.
    }
  });
}

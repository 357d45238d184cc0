import { type FileHandle, mkdir, open, readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { encodeFrame, encodePreamble, type OutputStream, streamKey } from './frame.ts';
import { readFrameAt, readPreamble } from './scan.ts';

export interface OutputBounds {
  fileBytes: number;
  files: number;
}

/** Bounds by launch: at most 16 MiB of main's output and 2 MiB of setup's are kept. */
export const OUTPUT_BOUNDS: Record<'setup' | 'main', OutputBounds> = {
  setup: { fileBytes: 1024 * 1024, files: 2 },
  main: { fileBytes: 4 * 1024 * 1024, files: 4 },
};

/** Appends output of one launch to bounded, rotated files. One writer a folder. */
export interface OutputWriter {
  /** Written when it resolves; what was written before is left out. */
  append(life: number, stream: OutputStream, offset: bigint, data: Buffer): Promise<void>;
  /** Marks that nothing follows in this life. Idempotent. */
  end(life: number): Promise<void>;
  /** Bytes of the stream that are safe. */
  written(life: number, stream: OutputStream): bigint;
  close(): Promise<void>;
}

const NAME = /^(\d{8})\.out$/;
const fileName = (number: number): string => `${String(number).padStart(8, '0')}.out`;

export async function openOutputWriter(
  folder: string,
  options: OutputBounds & { nowMs: () => number },
): Promise<OutputWriter> {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const numbers = (await readdir(folder))
    .map((name) => NAME.exec(name)?.[1])
    .filter((number) => number !== undefined)
    .map(Number)
    .toSorted((a, b) => a - b);
  const offsets = new Map<string, bigint>();
  let ended = -1;
  let file: FileHandle | undefined;
  let size = 0;

  const begin = async (): Promise<void> => {
    const number = (numbers.at(-1) ?? 0) + 1;
    await file?.close();
    file = undefined;
    const opened = await open(join(folder, fileName(number)), 'a', 0o600);
    file = opened;
    numbers.push(number);
    const preamble = encodePreamble(offsets);
    await opened.appendFile(preamble);
    size = preamble.length;
    while (numbers.length > options.files) {
      const oldest = numbers.shift();
      if (oldest !== undefined) await rm(join(folder, fileName(oldest)), { force: true });
    }
  };

  const resume = async (number: number): Promise<boolean> => {
    const opened = await open(join(folder, fileName(number)), 'r+');
    try {
      const total = (await opened.stat()).size;
      const preamble = await readPreamble(opened);
      if (preamble === undefined) return false;
      for (const [key, value] of preamble.offsets) offsets.set(key, value);
      let position = preamble.next;
      for (;;) {
        const frame = await readFrameAt(opened, position, total);
        if (frame === undefined) break;
        if (frame.header.stream === 'end') ended = frame.header.life;
        else {
          offsets.set(
            streamKey(frame.header.life, frame.header.stream),
            frame.header.offset + BigInt(frame.header.length),
          );
        }
        position = frame.next;
      }
      // A frame that a crash cut off was not acknowledged, so it comes again.
      await opened.truncate(position);
      size = position;
    } finally {
      await opened.close();
    }
    file = await open(join(folder, fileName(number)), 'a', 0o600);
    return true;
  };

  const last = numbers.at(-1);
  if (last !== undefined && !(await resume(last))) {
    await rm(join(folder, fileName(last)), { force: true });
    numbers.pop();
    const previous = numbers.at(-1);
    if (previous !== undefined) await resume(previous);
  }

  const write = async (bytes: Buffer): Promise<void> => {
    if (file === undefined || size + bytes.length > options.fileBytes) await begin();
    await file?.appendFile(bytes);
    size += bytes.length;
  };

  let chain: Promise<unknown> = Promise.resolve();
  const inOrder = <T>(work: () => Promise<T>): Promise<T> => {
    const next = chain.then(work);
    chain = next.catch(() => undefined);
    return next;
  };

  return {
    append: (life, stream, offset, data) =>
      inOrder(async () => {
        const key = streamKey(life, stream);
        const safe = offsets.get(key) ?? 0n;
        const end = offset + BigInt(data.length);
        if (end <= safe) return;
        const fresh = offset < safe ? data.subarray(Number(safe - offset)) : data;
        const at = offset < safe ? safe : offset;
        await write(
          encodeFrame({ life, stream, offset: at, length: fresh.length, timeMs: options.nowMs() }, fresh),
        );
        offsets.set(key, end);
      }),
    end: (life) =>
      inOrder(async () => {
        if (ended === life) return;
        await write(
          encodeFrame(
            { life, stream: 'end', offset: 0n, length: 0, timeMs: options.nowMs() },
            Buffer.alloc(0),
          ),
        );
        ended = life;
      }),
    written: (life, stream) => offsets.get(streamKey(life, stream)) ?? 0n,
    close: () =>
      inOrder(async () => {
        await file?.close();
        file = undefined;
      }),
  };
}

import type { OutputPiece } from '../runtime/agent/output/reader.ts';

export interface Line {
  stream: OutputPiece['stream'];
  /** With its end, where it has one. */
  data: Buffer;
  /** When its first byte was read. */
  timeMs: number;
}

/** A longer line is shown in parts: output need not have any ends of lines. */
const LONGEST_LINE = 1024 * 1024;

/** Output pieces as lines, each stream by itself. */
export async function* lines(
  pieces: AsyncIterable<Pick<OutputPiece, 'stream' | 'data' | 'timeMs'>>,
  wanted: OutputPiece['stream'] | undefined,
): AsyncGenerator<Line> {
  const open = new Map<OutputPiece['stream'], Line>();
  for await (const { stream, data, timeMs } of pieces) {
    if (wanted !== undefined && stream !== wanted) continue;
    let from = 0;
    while (from < data.length) {
      const end = data.indexOf(0x0a, from);
      const part = data.subarray(from, end === -1 ? data.length : end + 1);
      from += part.length;
      const before = open.get(stream);
      const line = before
        ? { ...before, data: Buffer.concat([before.data, part]) }
        : { stream, data: part, timeMs };
      if (end === -1 && line.data.length < LONGEST_LINE) {
        open.set(stream, line);
      } else {
        open.delete(stream);
        yield line;
      }
    }
  }
  yield* open.values();
}

/** The last `count`; of lines that go on for ever none is ever the last. */
export async function* lastLines(all: AsyncIterable<Line>, count: number): AsyncGenerator<Line> {
  const kept: Line[] = [];
  for await (const line of all) {
    kept.push(line);
    if (kept.length > count) kept.shift();
  }
  yield* kept;
}

/** How far each stream has been read, so that a second reading goes on exactly there. */
export class Positions {
  readonly #ends = new Map<string, bigint>();

  /** The same pieces; where they end is remembered. */
  async *note(pieces: AsyncIterable<OutputPiece>): AsyncGenerator<OutputPiece> {
    for await (const piece of pieces) {
      this.#ends.set(keyOf(piece), piece.offset + BigInt(piece.data.length));
      yield piece;
    }
  }

  /** What comes after that. */
  async *after(pieces: AsyncIterable<OutputPiece>): AsyncGenerator<OutputPiece> {
    for await (const piece of pieces) {
      const known = (this.#ends.get(keyOf(piece)) ?? 0n) - piece.offset;
      if (known <= 0n) yield piece;
      else if (known < BigInt(piece.data.length)) {
        yield { ...piece, offset: piece.offset + known, data: piece.data.subarray(Number(known)) };
      }
    }
  }
}

function keyOf({ life, stream }: OutputPiece): string {
  return `${life}/${stream}`;
}

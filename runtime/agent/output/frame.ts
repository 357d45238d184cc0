/**
 * Output files hold frames: a header line, the bytes, a newline. The header says which stream the bytes belong to and
 * where in it they stand, so that a chunk that is sent again after a reconnect is written once.
 */
export type OutputStream = 'stdout' | 'stderr';
export type Launch = 'setup' | 'main';

export interface FrameHeader {
  /** Which start of which container: streams of different lives have nothing to do with each other. */
  life: number;
  /** `end`: no more frames of this life follow. */
  stream: OutputStream | 'end';
  offset: bigint;
  length: number;
  timeMs: number;
}

const LETTERS = { stdout: 'o', stderr: 'e', end: 'x' } as const;
const HEADER = /^#(\d{1,9}) ([oex]) (\d{1,19}) (\d{1,9}) (\d{1,15})$/;
/** No header line is longer. */
export const HEADER_BYTES_MAX = 80;

export function encodeFrame(header: FrameHeader, data: Buffer): Buffer {
  const line = `#${header.life} ${LETTERS[header.stream]} ${header.offset} ${header.length} ${header.timeMs}\n`;
  return Buffer.concat([Buffer.from(line), data, Buffer.from('\n')]);
}

export function parseHeader(line: string): FrameHeader | undefined {
  const match = HEADER.exec(line);
  if (match === null) return undefined;
  const [, life, letter, offset, length, timeMs] = match;
  return {
    life: Number(life),
    stream: letter === 'o' ? 'stdout' : letter === 'e' ? 'stderr' : 'end',
    offset: BigInt(offset ?? '0'),
    length: Number(length),
    timeMs: Number(timeMs),
  };
}

/** First line of a file: where each stream stood when the file was begun. */
export function encodePreamble(offsets: ReadonlyMap<string, bigint>): Buffer {
  const plain = Object.fromEntries([...offsets].map(([key, value]) => [key, String(value)]));
  return Buffer.from(`holdfast-output 1 ${JSON.stringify(plain)}\n`);
}

export function parsePreamble(line: string): Map<string, bigint> | undefined {
  const prefix = 'holdfast-output 1 ';
  if (!line.startsWith(prefix)) return undefined;
  try {
    const value: unknown = JSON.parse(line.slice(prefix.length));
    if (typeof value !== 'object' || value === null) return undefined;
    return new Map(Object.entries(value).map(([key, offset]) => [key, BigInt(String(offset))]));
  } catch {
    return undefined;
  }
}

export function streamKey(life: number, stream: OutputStream): string {
  return `${life}/${stream}`;
}

import type { FileHandle } from 'node:fs/promises';
import { type FrameHeader, HEADER_BYTES_MAX, parseHeader, parsePreamble } from './frame.ts';

export interface ScannedFrame {
  header: FrameHeader;
  /** Where its bytes begin in the file. */
  dataAt: number;
  /** Where the next frame begins. */
  next: number;
}

const PREAMBLE_BYTES_MAX = 64 * 1024;

/** Offsets at the beginning of the file and the position of its first frame; undefined: no complete preamble. */
export async function readPreamble(
  file: FileHandle,
): Promise<{ offsets: Map<string, bigint>; next: number } | undefined> {
  const buffer = Buffer.alloc(PREAMBLE_BYTES_MAX);
  const { bytesRead } = await file.read(buffer, 0, buffer.length, 0);
  const end = buffer.subarray(0, bytesRead).indexOf(10);
  if (end < 0) return undefined;
  const offsets = parsePreamble(buffer.toString('utf8', 0, end));
  return offsets === undefined ? undefined : { offsets, next: end + 1 };
}

/** The frame at `position`; undefined: the end, or a frame that is not complete (yet). */
export async function readFrameAt(
  file: FileHandle,
  position: number,
  size: number,
): Promise<ScannedFrame | undefined> {
  const buffer = Buffer.alloc(HEADER_BYTES_MAX);
  const { bytesRead } = await file.read(buffer, 0, buffer.length, position);
  const end = buffer.subarray(0, bytesRead).indexOf(10);
  if (end < 0) return undefined;
  const header = parseHeader(buffer.toString('latin1', 0, end));
  if (header === undefined) return undefined;
  const dataAt = position + end + 1;
  const next = dataAt + header.length + 1;
  return next > size ? undefined : { header, dataAt, next };
}

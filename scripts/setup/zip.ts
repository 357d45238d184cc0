import { inflateRawSync } from 'node:zlib';

const END_OF_DIRECTORY = 0x06054b50;
const DIRECTORY_ENTRY = 0x02014b50;

/** One file out of a zip archive (stored or deflated, no zip64), by its name. Throws where there is none. */
export function readZipEntry(archive: Buffer, name: string): Buffer {
  const end = archive.lastIndexOf(uint32(END_OF_DIRECTORY));
  if (end < 0) throw new Error('not a zip archive: no end of directory');
  const count = archive.readUInt16LE(end + 10);
  let at = archive.readUInt32LE(end + 16);
  for (let i = 0; i < count; i++) {
    if (archive.readUInt32LE(at) !== DIRECTORY_ENTRY)
      throw new Error('broken zip archive: bad directory entry');
    const nameLength = archive.readUInt16LE(at + 28);
    if (archive.toString('utf8', at + 46, at + 46 + nameLength) === name) return content(archive, at);
    at += 46 + nameLength + archive.readUInt16LE(at + 30) + archive.readUInt16LE(at + 32);
  }
  throw new Error(`no ${name} in the zip archive`);
}

function content(archive: Buffer, entry: number): Buffer {
  const method = archive.readUInt16LE(entry + 10);
  const compressedBytes = archive.readUInt32LE(entry + 20);
  const header = archive.readUInt32LE(entry + 42);
  const start = header + 30 + archive.readUInt16LE(header + 26) + archive.readUInt16LE(header + 28);
  const data = archive.subarray(start, start + compressedBytes);
  if (method === 0) return data;
  if (method === 8) return inflateRawSync(data);
  throw new Error(`zip compression method ${method} is not supported`);
}

function uint32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32LE(value);
  return bytes;
}

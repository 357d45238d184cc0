import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { pack } from 'tar-stream';
import { Readable } from 'node:stream';
import { HOSTNAME, HOSTS_FILE, LAYOUT } from '../names.ts';

/** The runtime writes none for a container without a network. */
const HOSTS = `127.0.0.1\tlocalhost ${HOSTNAME}\n::1\tlocalhost ip6-localhost ip6-loopback\n`;

export interface InitProgram {
  /** First 16 hex digits of the SHA-256 of the file. */
  hash: string;
  bytes: Buffer;
}

export async function readInitProgram(path: string): Promise<InitProgram> {
  const bytes = await readFile(path);
  return { bytes, hash: createHash('sha256').update(bytes).digest('hex').slice(0, 16) };
}

/** An empty folder that everybody may write to. */
export const OPEN_PATH = '/.holdfast/open';

export const probeImage = (hash: string): string => `holdfast/probe:${hash}-${LAYOUT}`;

/** A root directory of nothing but the program, and of the places where something is mounted. */
export function probeRoot(program: InitProgram): Readable {
  const tar = pack();
  // The same content gives the same bytes.
  const mtime = new Date(0);
  for (const name of [
    '.holdfast/',
    '.holdfast/bin/',
    '.holdfast/sandboxes/',
    'sys/',
    'sys/fs/',
    'sys/fs/cgroup/',
    'proc/',
    'dev/',
    'etc/',
  ]) {
    tar.entry({ name, type: 'directory', mode: 0o755, mtime });
  }
  tar.entry({ name: `${OPEN_PATH.slice(1)}/`, type: 'directory', mode: 0o777, mtime });
  tar.entry({ name: '.holdfast/bin/holdfast-init', mode: 0o755, mtime }, program.bytes);
  tar.entry({ name: `.holdfast/bin/${HOSTS_FILE}`, mode: 0o644, mtime }, HOSTS);
  tar.finalize();
  // Its streams are not Node's own.
  return Readable.from(tar);
}

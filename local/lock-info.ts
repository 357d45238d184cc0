import { readFileSync, rmSync } from 'node:fs';
import { writeFileAtomic } from './files.ts';

/**
 * Who has a data folder, for the message to whoever wants it too. The lock itself is the database's: this file
 * can be stale.
 */
export interface Holder {
  pid: number;
  url: string;
}

export function writeHolder(path: string, holder: Holder): void {
  writeFileAtomic(path, `${JSON.stringify(holder)}\n`, 0o600);
}

export function readHolder(path: string): string {
  try {
    const { pid, url } = JSON.parse(readFileSync(path, 'utf8')) as Holder;
    return ` (process ${pid}, ${url})`;
  } catch {
    return '';
  }
}

export function removeHolder(path: string): void {
  rmSync(path, { force: true });
}

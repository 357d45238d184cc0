import {
  accessSync,
  constants,
  existsSync,
  lstatSync,
  mkdirSync,
  readlinkSync,
  rmSync,
  symlinkSync,
} from 'node:fs';
import { homedir } from 'node:os';
import { delimiter, join } from 'node:path';

export const ROOT = join(import.meta.dirname, '..', '..');
const BIN = join(ROOT, '.cache', 'bin');

/** Where downloads and slow builds are kept, so that a second clone does not pay for them again. */
export function downloadCache(): string {
  const base = process.env['XDG_CACHE_HOME'] ?? join(homedir(), '.cache');
  return process.env['HOLDFAST_CACHE'] ?? join(base, 'holdfast');
}

/** Makes .cache/bin/NAME a link to `target`. */
export function linkIntoBin(name: string, target: string): void {
  mkdirSync(BIN, { recursive: true });
  const link = join(BIN, name);
  if (isLink(link) && readlinkSync(link) === target && existsSync(link)) return;
  rmSync(link, { force: true });
  symlinkSync(target, link);
}

/** The first program of this name on PATH outside this repository. */
export function onPath(name: string): string | undefined {
  const folders = (process.env['PATH'] ?? '').split(delimiter).filter((folder) => !folder.startsWith(ROOT));
  return folders.map((folder) => join(folder, name)).find(executable);
}

function executable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false; // not there, or not to be run: the next folder is looked at
  }
}

function isLink(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() === true;
}

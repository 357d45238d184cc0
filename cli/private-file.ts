import { mkdir, rename, writeFile } from 'node:fs/promises';
import path from 'node:path';

/** Makes the folder for its owner alone; one that exists already is left as it is. */
export async function makePrivateFolder(folder: string): Promise<void> {
  await mkdir(folder, { recursive: true, mode: 0o700 });
}

/** Writes a file that only its owner can read, whole or not at all. */
export async function writePrivateFile(file: string, content: string): Promise<void> {
  await makePrivateFolder(path.dirname(file));
  const temporary = `${file}.${process.pid}.tmp`;
  await writeFile(temporary, content, { mode: 0o600 });
  await rename(temporary, file);
}

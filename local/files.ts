import { closeSync, fsyncSync, openSync, renameSync, rmSync, writeSync } from 'node:fs';
import { dirname } from 'node:path';
import { syncStepsFromEnvironment } from '../kube/fault-points.ts';

const step = syncStepsFromEnvironment();

/** Writes a file that is there whole or not at all, on the disk when this returns. */
export function writeFileAtomic(path: string, content: string, mode: number): void {
  const part = `${path}.${process.pid}.part`;
  // A file left by a killed process might have another mode.
  rmSync(part, { force: true });
  step('write-file', () => {
    const fd = openSync(part, 'wx', mode);
    try {
      writeSync(fd, content);
      fsyncSync(fd);
    } finally {
      closeSync(fd);
    }
  });
  step('rename-file', () => renameSync(part, path));
  const folder = openSync(dirname(path), 'r');
  try {
    fsyncSync(folder);
  } finally {
    closeSync(folder);
  }
}

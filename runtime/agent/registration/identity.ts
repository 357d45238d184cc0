import { createHash } from 'node:crypto';
import { mkdir, readFile, realpath, rename, writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:net';
import { join } from 'node:path';

/**
 * Names the holder of the node name. Kept with the ledger: the agent that comes after a crash with the same data is
 * the same holder and need not wait for its own lease to expire; one with other data is another holder.
 */
export async function keptInstance(dataDir: string, fresh: string): Promise<string> {
  const path = join(dataDir, 'instance');
  try {
    const kept = (await readFile(path, 'utf8')).trim();
    if (kept !== '') return kept;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
  }
  await writeFile(`${path}.tmp`, `${fresh}\n`, { mode: 0o600 });
  await rename(`${path}.tmp`, path);
  return fresh;
}

class DataDirInUse extends Error {
  constructor(dataDir: string) {
    super(`another agent uses the data folder ${dataDir}: end it, or give this one a folder of its own`);
    this.name = 'DataDirInUse';
  }
}

/**
 * Makes the folder and takes it for this process. An abstract socket is the lock: the kernel lets go of it with the
 * process, however that ends. Throws DataDirInUse.
 */
export async function lockDataDir(dataDir: string): Promise<() => Promise<void>> {
  await mkdir(dataDir, { recursive: true, mode: 0o700 });
  const id = createHash('sha256')
    .update(await realpath(dataDir))
    .digest('hex')
    .slice(0, 32);
  const server = createServer((socket) => socket.destroy());
  await new Promise<void>((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) => {
      reject(error.code === 'EADDRINUSE' ? new DataDirInUse(dataDir) : error);
    });
    server.listen({ path: `\0holdfast-agent-${id}` }, resolve);
  });
  server.unref();
  return () => closed(server);
}

function closed(server: Server): Promise<void> {
  return new Promise((resolve) => server.close(() => resolve()));
}

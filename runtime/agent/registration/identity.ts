import { createHash, randomUUID } from 'node:crypto';
import { link, mkdir, open, readFile, realpath, rename, unlink, writeFile } from 'node:fs/promises';
import { connect, createServer, type Server } from 'node:net';
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
 * Makes the folder and takes it for this process. Two sockets are the lock, and the kernel lets go of both with the
 * process, however that ends: an abstract one, which leaves nothing behind, and one in the folder, which also two pods
 * with a network namespace each have in common. Throws DataDirInUse.
 */
export async function lockDataDir(dataDir: string): Promise<() => Promise<void>> {
  await mkdir(dataDir, { recursive: true, mode: 0o700 });
  const id = createHash('sha256')
    .update(await realpath(dataDir))
    .digest('hex')
    .slice(0, 32);
  const abstract = await listen(`\0holdfast-agent-${id}`).catch((error: NodeJS.ErrnoException) => {
    throw error.code === 'EADDRINUSE' ? new DataDirInUse(dataDir) : error;
  });
  try {
    const inFolder = await lockFolder(dataDir);
    return async () => {
      await inFolder();
      await closed(abstract);
    };
  } catch (error) {
    await closed(abstract);
    throw error;
  }
}

const TRIES = 5;

async function lockFolder(dataDir: string): Promise<() => Promise<void>> {
  // The path of a socket has at most 107 bytes, that of a folder more: it is named by way of a descriptor.
  const folder = await open(dataDir, 'r');
  const path = process.platform === 'linux' ? `/proc/self/fd/${folder.fd}/lock` : join(dataDir, 'lock');
  try {
    for (let tried = 1; ; tried += 1) {
      try {
        const server = await listen(path);
        return async () => {
          await closed(server);
          await folder.close();
        };
      } catch (error) {
        const { code } = error as NodeJS.ErrnoException;
        if (code !== 'EADDRINUSE' || tried === TRIES) throw error;
      }
      if (await answers(path)) throw new DataDirInUse(dataDir);
      await removeDead(path, dataDir);
    }
  } catch (error) {
    await folder.close();
    throw error;
  }
}

/** Out of the way first, then looked at again: between two looks another agent may have put its own there. */
async function removeDead(path: string, dataDir: string): Promise<void> {
  const aside = `${path}.${randomUUID().slice(0, 8)}`;
  try {
    await rename(path, aside);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return;
    throw error;
  }
  const alive = await answers(aside);
  if (alive) await link(aside, path);
  await unlink(aside);
  if (alive) throw new DataDirInUse(dataDir);
}

function answers(path: string): Promise<boolean> {
  return new Promise((resolve, reject) => {
    const socket = connect(path, () => {
      socket.destroy();
      resolve(true);
    });
    socket.once('error', (error: NodeJS.ErrnoException) => {
      if (error.code === 'ECONNREFUSED' || error.code === 'ENOENT') resolve(false);
      else reject(error);
    });
  });
}

async function listen(path: string): Promise<Server> {
  const server = createServer((socket) => socket.destroy());
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen({ path }, resolve);
  });
  server.unref();
  return server;
}

function closed(server: Server): Promise<void> {
  return new Promise((resolve) => server.close(() => resolve()));
}

import { execFile, spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { chmod, chown, mkdir, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { Transform, type Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { promisify } from 'node:util';
import { DriverError } from '../../../driver.ts';

const run = promisify(execFile);

/** Images, volumes and root directories of a fake machine: real folders. */
export class FakeDisk {
  readonly #folder: string;
  #imports = 0;

  constructor(folder: string) {
    this.#folder = folder;
  }

  /** Unpacks it; the hash of its bytes. */
  async importImage(tar: Readable): Promise<string> {
    const target = join(this.#folder, `importing-${(this.#imports += 1)}`);
    await mkdir(target, { recursive: true });
    const unpack = spawn('tar', ['-x', '-p', '--numeric-owner', '-C', target], {
      stdio: ['pipe', 'ignore', 'pipe'],
    });
    let complaint = '';
    unpack.stderr.on('data', (chunk: Buffer) => (complaint += chunk.toString()));
    const ended = new Promise<number | null>((resolve, reject) => {
      unpack.once('error', reject);
      unpack.once('close', resolve);
    });
    const hash = createHash('sha256');
    const hashing = new Transform({
      transform: (chunk: Buffer, _encoding, done) => {
        hash.update(chunk);
        done(null, chunk);
      },
    });
    await pipeline(tar, hashing, unpack.stdin);
    if ((await ended) !== 0) throw new DriverError('Failed', `not a root directory in a tar: ${complaint}`);
    // What a tar says of its topmost folder is not the image's.
    await chmod(target, 0o755);
    const id = hash.digest('hex');
    const image = this.#image(id);
    await rm(image, { recursive: true, force: true });
    await mkdir(dirname(image), { recursive: true });
    await rename(target, image);
    return id;
  }

  /** Where a volume's files are; the folder is made with `makeVolume`. */
  volume(name: string): string {
    return join(this.#folder, 'volumes', name, '_data');
  }

  async makeVolume(name: string): Promise<void> {
    await mkdir(this.volume(name), { recursive: true });
  }

  async removeVolume(name: string): Promise<void> {
    await rm(dirname(this.volume(name)), { recursive: true, force: true });
  }

  /** An empty volume takes over what the image has at the target, owner and mode with it. */
  async fillVolume(name: string, imageID: string, target: string): Promise<void> {
    const volume = this.volume(name);
    const source = join(this.#image(imageID), target);
    const there = await stat(source).catch(() => undefined);
    if (there === undefined || (await readdir(volume)).length > 0) return;
    await run('cp', ['-a', `${source}/.`, volume]);
    await chown(volume, there.uid, there.gid);
    await chmod(volume, there.mode & 0o7777);
  }

  /** A root directory of a container's own. */
  async makeRoot(root: string, imageID: string): Promise<void> {
    await mkdir(dirname(root), { recursive: true });
    await run('cp', ['-a', this.#image(imageID), root]);
  }

  /** A folder, or a file where the source is one, for something to be mounted on. */
  async mountPoint(root: string, target: string, source?: string): Promise<void> {
    const isFile = source !== undefined && (await stat(source)).isFile();
    const path = join(root, target);
    await mkdir(isFile ? dirname(path) : path, { recursive: true });
    if (isFile) await writeFile(path, '', { flag: 'a' });
  }

  #image(id: string): string {
    return join(this.#folder, 'images', id.replace('sha256:', ''));
  }
}

/** Of `user:group`, by number or by name as the container's own files have them. */
export async function userOf(root: string, user: string): Promise<{ uid: number; gid: number }> {
  const [name = '', group] = user.split(':');
  if (name === '') return { uid: 0, gid: 0 };
  const found = await lookUp(join(root, 'etc/passwd'), name);
  const uid = numberOf(name) ?? numberOf(found?.[2]);
  if (uid === undefined)
    throw new DriverError('StartFailed', `unable to find user ${name}: no matching entries in passwd file`);
  if (group === undefined) return { uid, gid: numberOf(found?.[3]) ?? 0 };
  const gid = numberOf(group) ?? numberOf((await lookUp(join(root, 'etc/group'), group))?.[2]);
  if (gid === undefined)
    throw new DriverError('StartFailed', `unable to find group ${group}: no matching entries in group file`);
  return { uid, gid };
}

async function lookUp(file: string, name: string): Promise<string[] | undefined> {
  const text = await readFile(file, 'utf8').catch(() => '');
  return text
    .split('\n')
    .map((line) => line.split(':'))
    .find((fields) => fields[0] === name || fields[2] === name);
}

function numberOf(text: string | undefined): number | undefined {
  return text !== undefined && /^\d+$/.test(text) ? Number(text) : undefined;
}

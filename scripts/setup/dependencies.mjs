// Installs the npm packages of the lockfile, unless they are there already. Plain JavaScript: it runs on the machine's
// own Node (18 or newer), before the project's Node is there.
import { execFileSync, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, symlinkSync } from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { fileURLToPath } from 'node:url';

process.chdir(fileURLToPath(new URL('../..', import.meta.url)));

/** The project's Node: a package for Linux on x64 and arm64; elsewhere the machine's must be new enough. */
const nodePackage = `node-${process.platform}-${process.arch}`;
const lock = JSON.parse(readFileSync('package-lock.json', 'utf8')).packages;

if (!installed()) {
  const path = newEnough(process.version)
    ? process.env.PATH
    : `${bootstrap()}${delimiter}${process.env.PATH}`;
  console.log('Installing npm packages (npm ci) ...');
  const npm = spawnSync('npm', ['ci', '--no-audit', '--no-fund', '--loglevel=error'], {
    stdio: ['ignore', 'inherit', 'inherit'],
    env: { ...process.env, PATH: path },
  });
  if (npm.error !== undefined) fail(`npm could not be run (${npm.error.message}): install npm.`);
  if (npm.status !== 0) process.exit(npm.status ?? 1);
}
link();

/** Whether node_modules has exactly the versions of the lockfile (packages of other platforms apart). */
function installed() {
  if (!existsSync('node_modules/.package-lock.json')) return false;
  const present = JSON.parse(readFileSync('node_modules/.package-lock.json', 'utf8')).packages;
  return Object.entries(lock).every(
    ([path, { version, optional }]) =>
      path === '' || present[path]?.version === version || (optional === true && !(path in present)),
  );
}

/**
 * The folder of a Node that npm can run on. An older one would install without an error and leave out every optional
 * package that wants a newer Node: among them the programs of the linter.
 */
function bootstrap() {
  const { version, integrity } = lock[`node_modules/${nodePackage}`] ?? {};
  if (version === undefined)
    fail(
      `There is no Node package for ${process.platform} ${process.arch} and this machine's is ${process.version}: install Node 22.19 or newer.`,
    );
  const cache =
    process.env.HOLDFAST_CACHE ?? join(process.env.XDG_CACHE_HOME ?? join(homedir(), '.cache'), 'holdfast');
  const target = join(cache, `node-${version}`);
  if (existsSync(join(target, 'bin/node'))) return join(target, 'bin');
  console.log(`Downloading Node ${version} ...`);
  mkdirSync(cache, { recursive: true });
  const folder = mkdtempSync(join(tmpdir(), 'holdfast-node-'));
  try {
    const name = execFileSync('npm', ['pack', '--loglevel=error', `${nodePackage}@${version}`], {
      cwd: folder,
      encoding: 'utf8',
    }).trim();
    const tarball = readFileSync(join(folder, name));
    if (`sha512-${createHash('sha512').update(tarball).digest('base64')}` !== integrity)
      fail(`${nodePackage}@${version} does not have the integrity that package-lock.json states.`);
    const partial = mkdtempSync(`${target}.`);
    execFileSync('tar', [
      '-xzf',
      join(folder, name),
      '-C',
      partial,
      '--strip-components=1',
      'package/bin/node',
    ]);
    try {
      renameSync(partial, target);
    } catch (error) {
      if (!existsSync(join(target, 'bin/node'))) throw error; // else another download was first: as good
      rmSync(partial, { recursive: true });
    }
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
  return join(target, 'bin');
}

/** npm 9 and 10 lose the link when they skip the package of the other architecture, which has a `node` too. */
function link() {
  const program = `node_modules/${nodePackage}/bin/node`;
  if (existsSync(program)) {
    if (existsSync('node_modules/.bin/node')) return;
    rmSync('node_modules/.bin/node', { force: true });
    symlinkSync(`../${nodePackage}/bin/node`, 'node_modules/.bin/node');
  } else if (!newEnough(process.version)) {
    fail(`This machine's Node is ${process.version}: install Node 22.19 or newer.`);
  }
}

function newEnough(version) {
  const [major, minor] = version.slice(1).split('.').map(Number);
  return major > 22 || (major === 22 && minor >= 19);
}

function fail(message) {
  console.error(message);
  process.exit(1);
}

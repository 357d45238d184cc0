// Installs the npm packages of the lockfile, unless they are there already. Plain JavaScript: it runs on the machine's
// own Node (18 or newer), before the project's Node is there.
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

process.chdir(fileURLToPath(new URL('../..', import.meta.url)));

const major = Number(process.versions.node.split('.')[0]);
if (major < 18) {
  console.error(
    `Node ${process.versions.node} is too old to begin with: install Node 18 or newer, with npm.`,
  );
  process.exit(1);
}
if (!installed()) {
  console.log('Installing npm packages (npm ci) ...');
  const npm = spawnSync('npm', ['ci', '--no-audit', '--no-fund', '--loglevel=error'], { stdio: 'inherit' });
  if (npm.error !== undefined) {
    console.error(`npm could not be run (${npm.error.message}): install npm.`);
    process.exit(1);
  }
  if (npm.status !== 0) process.exit(npm.status ?? 1);
}
checkNode();

/** Whether node_modules has exactly the versions of the lockfile (packages of other platforms apart). */
function installed() {
  if (!existsSync('node_modules/.package-lock.json')) return false;
  const wanted = JSON.parse(readFileSync('package-lock.json', 'utf8')).packages;
  const present = JSON.parse(readFileSync('node_modules/.package-lock.json', 'utf8')).packages;
  return Object.entries(wanted).every(
    ([path, { version, optional }]) =>
      path === '' || present[path]?.version === version || (optional === true && !(path in present)),
  );
}

/** The project's own Node is a package for Linux on x64 and arm64; elsewhere the machine's must be new enough. */
function checkNode() {
  const own = 'node_modules/.bin/node';
  const version = existsSync(own)
    ? spawnSync(own, ['--version'], { encoding: 'utf8' }).stdout
    : process.version;
  const [have, minor] = (version ?? '').replace(/^v/, '').split('.').map(Number);
  if (have > 22 || (have === 22 && minor >= 19)) return;
  console.error(
    `There is no Node package for ${process.platform} ${process.arch} and this machine's is ${process.version}: install Node 22.19 or newer.`,
  );
  process.exit(1);
}

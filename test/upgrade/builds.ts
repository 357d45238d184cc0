import { execFileSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const ROOT = join(import.meta.dirname, '../..');
/** What a running Holdfast is made of. */
const SOURCES = [
  'bin',
  'cli',
  'controller',
  'crds',
  'kube',
  'local',
  'runtime',
  'package.json',
  'tsconfig.json',
];

/** A Holdfast that can be run: its sources, and an init program of its own. */
export interface Build {
  version: string;
  command: string;
}

/** Of the sources as they are here; the version and the init program tell it from any other build. */
export function buildHere(folder: string, version: string): Build {
  mkdirSync(folder, { recursive: true });
  for (const one of SOURCES) {
    cpSync(join(ROOT, one), join(folder, one), {
      recursive: true,
      filter: (path) => !path.includes('/init/build') && !path.endsWith('.test.ts'),
    });
  }
  return finish(folder, version);
}

/** Of a commit, a tag or a branch. */
export function buildOf(ref: string, folder: string): Build {
  mkdirSync(folder, { recursive: true });
  const tar = execFileSync('git', ['archive', ref], { cwd: ROOT, maxBuffer: 256 * 1024 * 1024 });
  execFileSync('tar', ['x', '-C', folder], { input: tar });
  return finish(folder, `0.0.0-${ref.replaceAll(/[^0-9A-Za-z-]/g, '-')}`.slice(0, 60));
}

function finish(folder: string, version: string): Build {
  const file = join(folder, 'package.json');
  const content = JSON.parse(readFileSync(file, 'utf8')) as Record<string, unknown>;
  writeFileSync(file, JSON.stringify({ ...content, version }));
  if (!existsSync(join(folder, 'node_modules'))) {
    symlinkSync(join(ROOT, 'node_modules'), join(folder, 'node_modules'));
  }
  execFileSync('make', ['-s', '-C', join(folder, 'runtime/init'), `BUILD=${version}`.slice(0, 22)], {
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  return { version, command: join(folder, 'bin/holdfast') };
}

import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import process from 'node:process';
import { generatedFiles } from './generated-files.ts';

/** `node crds/generate.ts` writes the files derived from the schemas; with `--check` it only compares them. */

const root = join(import.meta.dirname, '..');

async function main(): Promise<number> {
  const check = process.argv.includes('--check');
  const stale: string[] = [];
  for (const [name, content] of generatedFiles()) {
    const path = join(root, name);
    const present = await readFile(path, 'utf8').catch(() => undefined);
    if (present === content) continue;
    stale.push(name);
    if (check) continue;
    await mkdir(dirname(path), { recursive: true });
    await writeFile(path, content);
  }
  const verb = check ? 'differs from the schemas; run: node crds/generate.ts' : 'written';
  for (const name of stale) process.stderr.write(`${name}: ${verb}\n`);
  return check && stale.length > 0 ? 1 : 0;
}

process.exitCode = await main();

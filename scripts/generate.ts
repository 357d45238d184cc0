/** Writes the generated files, or, with --check, fails where one is not what it would be. */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { generatedFiles } from './generated-files.ts';
import { ROOT } from './setup/cache.ts';

const check = process.argv.includes('--check');
const stale: string[] = [];
for (const { path, content } of await generatedFiles()) {
  const target = join(ROOT, path);
  if (existsSync(target) && readFileSync(target, 'utf8') === content) continue;
  stale.push(path);
  if (check) continue;
  mkdirSync(dirname(target), { recursive: true });
  writeFileSync(target, content);
}
if (check && stale.length > 0) {
  console.error(`Not what \`make generate\` writes: ${stale.join(', ')}`);
  process.exit(1);
}
if (!check) console.log(stale.length === 0 ? 'Nothing changed.' : `Written: ${stale.join(', ')}`);

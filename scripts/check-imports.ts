/** Lints the direction of imports (see import-rules.ts). */
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { violations } from './import-rules.ts';

const files = execFileSync('git', ['ls-files', '--cached', '--others', '--exclude-standard', '-z', '*.ts'], {
  encoding: 'utf8',
})
  .split('\0')
  .filter((file) => file !== '' && existsSync(file));
const found = files.flatMap((file) => violations(file, readFileSync(file, 'utf8')));
for (const { file, line, specifier, why } of found)
  console.error(`${file}:${line}: imports ${specifier}: ${why}`);
if (found.length > 0) process.exit(1);

/** `make mutants`: mutation tests of the pure modules, and the score of each of them. Report: reports/mutation/. */
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from './setup/cache.ts';

interface MutationReport {
  files: Record<string, { mutants: { status: string }[] }>;
}

const stryker = spawnSync('stryker', ['run', ...process.argv.slice(2)], { cwd: ROOT, stdio: 'inherit' });
if (stryker.status !== 0) process.exit(stryker.status ?? 1);

const report = JSON.parse(
  readFileSync(join(ROOT, 'reports/mutation/mutation.json'), 'utf8'),
) as MutationReport;
const groups = new Map<string, { caught: number; all: number }>();
for (const [file, { mutants }] of Object.entries(report.files)) {
  for (const { status } of mutants) {
    const valid = ['Killed', 'Timeout', 'Survived', 'NoCoverage'].includes(status);
    const caught = status === 'Killed' || status === 'Timeout';
    for (const name of [folderOf(file), 'all']) {
      const group = groups.get(name) ?? { caught: 0, all: 0 };
      groups.set(name, { caught: group.caught + Number(caught), all: group.all + Number(valid) });
    }
  }
}
console.log('\nMutants caught:');
for (const [name, { caught, all }] of groups) {
  console.log(
    `  ${name.padEnd(28)} ${String(caught).padStart(5)} of ${String(all).padStart(5)}   ${((100 * caught) / all).toFixed(1)} %`,
  );
}

function folderOf(file: string): string {
  return file.split('/').slice(0, -1).join('/');
}

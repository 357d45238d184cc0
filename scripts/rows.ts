/** `make rows`: runs every test and writes docs/rows.md; `--last` takes the results of the last run instead. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ROWS } from './rows/required.ts';
import { markdown, outcomes } from './rows/table.ts';
import { ROOT } from './setup/cache.ts';
import { describeDaemon } from './tests/daemons.ts';
import { lastRun, runTests } from './tests/run.ts';

const { results, daemons, kubeAPIServer } = process.argv.includes('--last') ? lastRun() : await runTests();
const found = outcomes(ROWS, results);
const daemonLines = [...daemons.map(describeDaemon), kubeAPIServer].map((line) =>
  line.replaceAll(/ {2,}/g, ': '),
);
writeFileSync(join(ROOT, 'docs/rows.md'), markdown(found, daemonLines));

const problems = found.filter(({ problem }) => problem !== undefined);
for (const { row, problem } of problems) console.log(`${row.id}: ${problem}`);
console.log(`docs/rows.md: ${found.length - problems.length} rows in order, ${problems.length} not`);
process.exitCode = problems.length === 0 ? 0 : 1;

/** `make test`: every test; says which daemons were really used and ends with the line that CI reads. */
import { ALWAYS, describeDaemon } from './tests/daemons.ts';
import { closingLine, count } from './tests/results.ts';
import { runTests } from './tests/run.ts';

const { results, daemons, exitCode } = await runTests(process.argv.slice(2));
const counts = count(results);

const skipped = results.filter(({ result }) => result === 'skipped');
if (skipped.length > 0) console.log('\nSkipped:');
for (const { file, title } of skipped) console.log(`  ${file}: ${title}`);

console.log('\nDaemons used:');
for (const daemon of daemons) console.log(`  ${describeDaemon(daemon)}`);
for (const config of ALWAYS.filter((name) => !daemons.some((daemon) => daemon.config === name))) {
  console.log(`  ${config.padEnd(18)} NOT USED: no run counts without it`);
  counts.failed++;
}
// An error outside of any test, or no report at all.
if (exitCode !== 0 && counts.failed === 0) counts.failed++;

console.log(`\n${closingLine(counts)}`);
process.exitCode = counts.failed === 0 ? 0 : 1;

/** `make test`: every test; says which daemons were really used and ends with the line that CI reads. */
import { ALWAYS, describeDaemon } from './tests/daemons.ts';
import { closingLine, count, describeResult } from './tests/results.ts';
import { runTests } from './tests/run.ts';

const { results, daemons, kubeAPIServer, retried } = await runTests(process.argv.slice(2));
const counts = count(results);

for (const wanted of ['skipped', 'failed'] as const) {
  const found = results.filter(({ result }) => result === wanted);
  if (found.length > 0) console.log(`\n${wanted === 'failed' ? 'Failed' : 'Skipped'}:`);
  for (const test of found) console.log(`  ${describeResult(test)}`);
}

if (retried.length > 0) console.log('\nPassed at the second try only:');
for (const { file, title } of retried) console.log(`  ${file}: ${title}`);

console.log('\nReal parts used:');
for (const daemon of daemons) console.log(`  ${describeDaemon(daemon)}`);
console.log(`  ${kubeAPIServer}`);
for (const config of ALWAYS.filter((name) => !daemons.some((daemon) => daemon.config === name))) {
  console.log(`  ${config.padEnd(18)} NOT USED: no run counts without it`);
  counts.failed++;
}

console.log(`\n${closingLine(counts)}`);
process.exitCode = counts.failed === 0 ? 0 : 1;

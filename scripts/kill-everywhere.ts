/**
 * `make fault-points`: counts how often undisturbed runs pass each step, then kills agent, controller and API server
 * before and after every passing. FAULTS=3/8 takes the third of eight parts, FAULTS=ledger what has that in its name.
 */
import { existsSync, readFileSync } from 'node:fs';
import { passingsFile, type Passings } from '../test/fault-point-names.ts';
import { faultPoints } from './fault-points.ts';
import { count, describeResult, closingLine } from './tests/results.ts';
import { withLab, vitest } from './tests/run.ts';

const FILES = ['test/controller/fault-points.test.ts', 'test/agent/fault-points.test.ts'];
const wanted = process.argv[2] ?? '';

for (const part of ['runtime/agent', 'controller', 'local'])
  console.log(`${part}: ${faultPoints(part).length} fault points`);

const run = (name: string, more: NodeJS.ProcessEnv) =>
  withLab({ HOLDFAST_LAB: 'docker-v1,docker-v2', ...more }, (env) =>
    vitest(name, ['--retry=0', ...FILES], env),
  );

const counted = await run('faults-count', { HOLDFAST_FAULT_RUN: 'count' });
for (const what of ['docker-v1', 'docker-v2', 'story']) {
  const file = passingsFile(what);
  if (!existsSync(file)) continue;
  const runs = Object.values(JSON.parse(readFileSync(file, 'utf8')) as Passings);
  const passings = runs.flatMap((one) => Object.values(one)).reduce((sum, one) => sum + one, 0);
  const steps = new Set(runs.flatMap((one) => Object.keys(one))).size;
  console.log(`${what}: ${runs.length} undisturbed runs pass ${steps} steps ${passings} times`);
}
const killed = await run('faults-every', { HOLDFAST_FAULT_RUN: 'every', HOLDFAST_FAULTS: wanted });

const results = [...counted, ...killed].filter(({ result }) => result !== 'skipped');
for (const test of results.filter(({ result }) => result === 'failed'))
  console.log(`  ${describeResult(test)}`);
const counts = count(results);
console.log(closingLine(counts));
process.exitCode = counts.failed === 0 ? 0 : 1;

/**
 * `make mutants`: mutation tests of the pure modules, area by area, each with the tests of its own, and the score of each.
 * `node scripts/mutants.ts verdict` does one area. Reports: reports/mutation/AREA.html.
 */
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from './setup/cache.ts';

interface Area {
  name: string;
  mutate: string[];
  /** For vitest. Only tests that are fast: they run for each mutant. */
  tests: string[];
}

const AREAS: Area[] = [
  {
    name: 'limits',
    mutate: ['crds/quantity.ts', 'crds/limits.ts', 'crds/identity.ts', 'crds/spec-problem.ts'],
    tests: ['crds/{quantity,limits,identity,spec-problem}.test.ts'],
  },
  { name: 'placement', mutate: ['controller/placement/*.ts'], tests: ['controller/placement/**/*.test.ts'] },
  {
    name: 'controller',
    mutate: ['controller/sandbox/decide.ts', 'controller/sandbox/checks/*.ts'],
    tests: ['controller/sandbox/**/*.test.ts'],
  },
  { name: 'verdict', mutate: ['runtime/verdict/*.ts'], tests: ['runtime/verdict/**/*.test.ts'] },
  {
    name: 'capabilities',
    mutate: ['runtime/capabilities/*.ts'],
    tests: ['runtime/{capabilities,drivers}/**/*.test.ts'],
  },
  {
    name: 'agent',
    mutate: [
      'runtime/agent/sandbox/decide.ts',
      'runtime/agent/sandbox/checks/*.ts',
      'runtime/agent/sandbox/receipt.ts',
    ],
    tests: ['runtime/agent/sandbox/**/*.test.ts'],
  },
  {
    name: 'framing',
    mutate: ['runtime/link/frame.ts', 'runtime/link/fields.ts', 'runtime/link/messages.ts'],
    tests: ['runtime/link/{frame,protocol}.test.ts'],
  },
];

const wanted = process.argv.slice(2);
const scores = AREAS.filter(({ name }) => wanted.length === 0 || wanted.includes(name)).map(mutate);
console.log('\nMutants caught:');
for (const { name, caught, all } of scores)
  console.log(
    `  ${name.padEnd(14)} ${String(caught).padStart(5)} of ${String(all).padStart(5)}   ${((100 * caught) / all).toFixed(1)} %`,
  );

function mutate({ name, mutate: files, tests }: Area): { name: string; caught: number; all: number } {
  const folder = join(ROOT, 'reports', 'mutation');
  mkdirSync(folder, { recursive: true });
  const base = JSON.parse(readFileSync(join(ROOT, 'stryker.config.json'), 'utf8')) as object;
  const report = join(folder, `${name}.json`);
  const config = join(folder, `${name}.config.json`);
  const own = {
    mutate: [...files, '!**/*.test.ts'],
    tempDirName: `.stryker-tmp-${name}`,
    jsonReporter: { fileName: report },
    htmlReporter: { fileName: join(folder, `${name}.html`) },
    incrementalFile: join(ROOT, '.cache', `stryker-${name}.json`),
  };
  writeFileSync(config, JSON.stringify({ ...base, ...own }));
  const env = { ...process.env, MUTANTS_TESTS: JSON.stringify(tests) };
  const { status } = spawnSync('stryker', ['run', config], { cwd: ROOT, env, stdio: 'inherit' });
  if (status !== 0 || !existsSync(report)) process.exit(status ?? 1);
  return { name, ...score(report) };
}

function score(report: string): { caught: number; all: number } {
  const { files } = JSON.parse(readFileSync(report, 'utf8')) as {
    files: Record<string, { mutants: { status: string }[] }>;
  };
  const statuses = Object.values(files).flatMap(({ mutants }) => mutants.map(({ status }) => status));
  const of = (...names: string[]) => statuses.filter((status) => names.includes(status)).length;
  return { caught: of('Killed', 'Timeout'), all: of('Killed', 'Timeout', 'Survived', 'NoCoverage') };
}

/**
 * `make mutants`: mutation tests of the pure modules, area by area, each with the tests of its own, and the score of each.
 * What was found is kept in .cache/, so that only what has changed is run again (`--force`: everything).
 *
 *     node scripts/mutants.ts verdict                     one area
 *     node scripts/mutants.ts verdict judge.ts oom.ts     some files of it, the others as they were
 *     node scripts/mutants.ts --scores                    the table of what was found so far
 *
 * Reports: reports/mutation/AREA.html. Fails where an area is under its goal.
 */
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { AREAS, type Area } from './mutant-areas.ts';
import { ROOT } from './setup/cache.ts';

const COLUMNS = ['Killed', 'Endless', 'Survived', 'NoCoverage', 'Slow', 'RuntimeError'] as const;
type Fate = (typeof COLUMNS)[number];

const { values: flags, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    force: { type: 'boolean' },
    scores: { type: 'boolean' },
    concurrency: { type: 'string', default: '2' },
  },
});
const [wanted, ...files] = positionals;
const areas = AREAS.filter(({ name }) => wanted === undefined || wanted === name);
if (areas.length === 0) {
  console.error(`no area "${wanted}"; there are: ${AREAS.map(({ name }) => name).join(', ')}`);
  process.exit(2);
}
if (flags.scores !== true) for (const area of areas) mutate(area);
process.exit(table() ? 0 : 1);

function incrementalFile(area: Area): string {
  return join(ROOT, '.cache', 'mutants', `${area.name}.json`);
}

function mutate(area: Area): void {
  const folder = join(ROOT, 'reports', 'mutation');
  mkdirSync(folder, { recursive: true });
  mkdirSync(join(ROOT, '.cache', 'mutants'), { recursive: true });
  const base = JSON.parse(readFileSync(join(ROOT, 'stryker.config.json'), 'utf8')) as object;
  const config = join(folder, `${area.name}.config.json`);
  const own = {
    mutate: area.mutate.filter(
      (path) => files.length === 0 || files.some((file) => path.endsWith(`/${file}`)),
    ),
    tempDirName: `.stryker-tmp-${area.name}`,
    jsonReporter: { fileName: join(folder, `${area.name}.json`) },
    htmlReporter: { fileName: join(folder, `${area.name}.html`) },
    incrementalFile: incrementalFile(area),
    concurrency: Number(flags.concurrency),
    force: flags.force ?? false,
  };
  if (own.mutate.length === 0) {
    console.error(`no such file in ${area.name}; there are: ${area.mutate.join(', ')}`);
    process.exit(2);
  }
  writeFileSync(config, JSON.stringify({ ...base, ...own }));
  // CI: a snapshot that does not fit is a failure, and never written.
  const env = { ...process.env, CI: '1', MUTANTS_TESTS: JSON.stringify(area.tests) };
  const { status } = spawnSync('stryker', ['run', config], { cwd: ROOT, env, stdio: 'inherit' });
  if (status !== 0) process.exit(status ?? 1);
}

/** Whether every area that was run reaches its goal. */
function table(): boolean {
  const heads = ['Mutants', ...COLUMNS].map((name) => name.padStart(13)).join('');
  console.log(`\n${'Area'.padEnd(14)}${heads}   Caught`);
  let reached = true;
  for (const area of areas) {
    if (!existsSync(incrementalFile(area))) {
      console.log(`${area.name.padEnd(14)}  has not been run`);
      continue;
    }
    const fates = fatesOf(incrementalFile(area));
    const of = (fate: Fate): number => fates.filter((one) => one === fate).length;
    const caught = of('Killed') + of('Endless');
    const percent = (100 * caught) / (fates.length - of('RuntimeError'));
    const missed = percent < area.goalPercent;
    if (missed) reached = false;
    const numbers = [fates.length, ...COLUMNS.map(of)].map((count) => String(count).padStart(13)).join('');
    const goal = missed ? `   MISSED: at least ${area.goalPercent} %` : '';
    console.log(`${area.name.padEnd(14)}${numbers}   ${percent.toFixed(1)} %${goal}`);
  }
  return reached;
}

/**
 * A loop that passes the mutated code again and again is caught (Endless). A run that only took too long proves nothing:
 * the machine may have been busy (Slow, and not counted as caught).
 */
function fatesOf(report: string): Fate[] {
  const { files } = JSON.parse(readFileSync(report, 'utf8')) as {
    files: Record<string, { mutants: { status: string; statusReason?: string }[] }>;
  };
  return Object.values(files).flatMap(({ mutants }) =>
    mutants.map(({ status, statusReason = '' }): Fate => {
      if (status !== 'Timeout') return status as Fate;
      return statusReason.startsWith('Hit limit reached') ? 'Endless' : 'Slow';
    }),
  );
}

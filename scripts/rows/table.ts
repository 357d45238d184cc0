import type { TestResult } from '../tests/results.ts';
import type { Row } from './required.ts';

interface Shown {
  file: string;
  title: string;
  daemons: string[];
  result: TestResult['result'];
}

export interface RowOutcome {
  row: Row;
  tests: Shown[];
  /** Why the row does not count as shown. */
  problem: string | undefined;
}

const DAEMON = /\b(?:docker|podman)\d*-v[12](?:-[a-z]+)*\b/g;
const OTHER_PART = /\b(?:fake|embedded|kube-apiserver)\b/g;

/** What each row is shown by: tests carry row ids in square brackets, and the daemon's name, in their titles. */
export function outcomes(rows: readonly Row[], results: readonly TestResult[]): RowOutcome[] {
  return rows.map((row) => {
    const tests = merge(results.filter(({ title }) => rowIds(title).includes(row.id)));
    return { row, tests, problem: problemOf(row, tests) };
  });
}

export function rowIds(title: string): string[] {
  return [...title.matchAll(/\[([A-Z]\d+(?:[,\s]+[A-Z]\d+)*)\]/g)].flatMap(([, ids = '']) =>
    ids.split(/[,\s]+/),
  );
}

export function daemonsOf(title: string): string[] {
  // Whatever else its title names: nothing on the fake shows what a daemon does.
  if (/\bon fake\b/.test(title)) return ['fake'];
  const real = title.match(DAEMON) ?? [];
  return [...new Set([...real, ...(title.replace(DAEMON, '').match(OTHER_PART) ?? [])])];
}

/** The same test on several daemons is one line. */
function merge(results: readonly TestResult[]): Shown[] {
  const byTitle = new Map<string, Shown>();
  for (const { file, title, result } of results) {
    const daemons = daemonsOf(title);
    const plain = title.replaceAll(DAEMON, '*').replaceAll(OTHER_PART, '*');
    const key = `${file}\n${plain}\n${result}`;
    const present = byTitle.get(key);
    if (present === undefined) byTitle.set(key, { file, title: shorten(plain), daemons, result });
    else present.daemons = [...new Set([...present.daemons, ...daemons])];
  }
  return [...byTitle.values()];
}

function shorten(title: string): string {
  return (title.split(' > ').at(-1) ?? title).replaceAll(/\s*\[[A-Z]\d+[^\]]*\]\s*/g, ' ').trim();
}

function problemOf(row: Row, tests: readonly Shown[]): string | undefined {
  const failed = tests.find(({ result }) => result === 'failed');
  if (failed !== undefined) return `failed: ${failed.title}`;
  if (!row.required) return undefined;
  if (tests.length === 0) return 'no test carries it';
  const passed = tests.filter(({ result }) => result === 'passed');
  if (passed.length === 0) return 'every test of it was skipped';
  const daemons = new Set(passed.flatMap((test) => test.daemons));
  if (row.realDaemon && ![...daemons].some((name) => /-v[12]/.test(name))) return 'no real daemon shows it';
  if (daemons.size === 1 && daemons.has('fake') && passed.every((test) => test.daemons.length > 0))
    return 'only the fake driver shows it';
  return undefined;
}

export function markdown(found: readonly RowOutcome[], daemonLines: readonly string[]): string {
  return [
    '# Requirements and the tests that show them',
    '',
    'Written by `make rows` from a run of every test; do not edit. A row that is missing, failed, skipped or shown by the fake',
    'driver alone fails that target.',
    '',
    'Daemons of the run:',
    '',
    ...daemonLines.map((line) => `- ${line}`),
    '',
    '| row | statement | shown by | on | result |',
    '| --- | --- | --- | --- | --- |',
    ...found.flatMap(linesOf),
    '',
  ].join('\n');
}

function linesOf({ row, tests, problem }: RowOutcome): string[] {
  if (tests.length === 0)
    return [
      line(row.id, row.statement, '', '', problem === undefined ? 'a later version' : `**${problem}**`),
    ];
  return tests.map((test, index) => {
    const first = index === 0;
    return line(
      first ? row.id : '',
      first ? row.statement : '',
      `${test.title} (\`${test.file}\`)`,
      test.daemons.join(', ') || 'none needed',
      first && problem !== undefined ? `**${problem}**` : test.result,
    );
  });
}

function line(...cells: string[]): string {
  return `| ${cells.map((text) => text.replaceAll('|', '\\|').replaceAll('\n', ' ')).join(' | ')} |`;
}

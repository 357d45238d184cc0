import type { BenchResult } from './result.ts';

/** The results for people; MISSED marks each goal that was not met. */
export function table(results: readonly BenchResult[]): string {
  const rows = results.flatMap(({ title, lines }) => [
    [title, '', '', ''],
    ...lines.map(({ what, measured, goal, met }) => [
      `  ${what}`,
      measured,
      goal ?? '',
      met === undefined ? '' : met ? 'met' : 'MISSED',
    ]),
  ]);
  const widths = [0, 1, 2].map((column) => Math.max(...rows.map((row) => (row[column] ?? '').length)));
  return rows
    .map((row) =>
      row
        .map((cell, column) => cell.padEnd(widths[column] ?? 0))
        .join('  ')
        .trimEnd(),
    )
    .join('\n');
}

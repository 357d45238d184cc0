/** The part of vitest's JSON report that is read here. */
export interface Report {
  testResults: {
    name: string;
    status: string;
    message: string;
    assertionResults: {
      ancestorTitles: string[];
      title: string;
      status: string;
      failureMessages?: string[] | null;
    }[];
  }[];
}

export interface TestResult {
  /** Relative to the repository's root. */
  file: string;
  /** The titles from the outermost on, joined with " > ". */
  title: string;
  result: 'passed' | 'failed' | 'skipped';
  /** Why it was skipped. */
  reason?: string;
}

export interface Counts {
  passed: number;
  failed: number;
  skipped: number;
}

/** Every test of a report. A file that could not be run at all counts as one failed test. */
export function resultsOf(report: Report, root: string): TestResult[] {
  return report.testResults.flatMap(({ name, status, assertionResults }) => {
    const file = name.startsWith(`${root}/`) ? name.slice(root.length + 1) : name;
    const tests = assertionResults.map(
      (test): TestResult => ({
        file,
        title: [...test.ancestorTitles, test.title].filter((title) => title !== '').join(' > '),
        result: test.status === 'passed' ? 'passed' : test.status === 'failed' ? 'failed' : 'skipped',
      }),
    );
    const brokenFile = status === 'failed' && !tests.some(({ result }) => result === 'failed');
    return brokenFile ? [...tests, { file, title: '(the file itself)', result: 'failed' }] : tests;
  });
}

/** With the reason of each that was skipped, as the reporter noted it. */
export function explain(
  results: readonly TestResult[],
  notes: readonly { file: string; title: string; reason?: string }[],
): TestResult[] {
  const reasons = new Map(notes.map(({ file, title, reason }) => [`${file}\n${title}`, reason]));
  return results.map((test) => {
    const reason = reasons.get(`${test.file}\n${test.title}`);
    return test.result !== 'skipped' || reason === undefined ? test : { ...test, reason };
  });
}

const WEIGHT = { failed: 2, passed: 1, skipped: 0 };

/** Runs of several parts as one: a test that was skipped in one and run in another has been run; a failure stays. */
export function merge(results: readonly TestResult[]): TestResult[] {
  const byTest = new Map<string, TestResult>();
  for (const test of results) {
    const key = `${test.file}\n${test.title}`;
    const before = byTest.get(key);
    if (before === undefined || WEIGHT[test.result] > WEIGHT[before.result]) byTest.set(key, test);
  }
  return [...byTest.values()];
}

/** For the lists at the end of a run. */
export function describeResult({ file, title, result, reason }: TestResult): string {
  return `${file}: ${title}${result === 'skipped' ? ` (${reason ?? 'NO REASON GIVEN'})` : ''}`;
}

export function count(results: readonly TestResult[]): Counts {
  const of = (wanted: TestResult['result']) => results.filter(({ result }) => result === wanted).length;
  return { passed: of('passed'), failed: of('failed'), skipped: of('skipped') };
}

/** The line that CI reads. */
export function closingLine({ passed, failed, skipped }: Counts): string {
  return `${passed} passed, ${failed} failed, ${skipped} skipped`;
}

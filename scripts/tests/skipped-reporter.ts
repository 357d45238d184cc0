import { appendFileSync } from 'node:fs';
import type { Reporter, TestCase } from 'vitest/node';

declare module 'vitest' {
  interface TaskMeta {
    /** What a test that may be skipped cannot do without, as it is printed at the end: "root". */
    needs?: string;
  }
}

/** Notes why each skipped test was, a JSON line each, in the file $HOLDFAST_SKIPPED_LOG. */
export default class SkippedReporter implements Reporter {
  onTestCaseResult(test: TestCase): void {
    const file = process.env['HOLDFAST_SKIPPED_LOG'];
    const result = test.result();
    if (file === undefined || result.state !== 'skipped') return;
    const { needs } = test.meta();
    const reason = result.note ?? (needs === undefined ? undefined : `needs ${needs}`);
    const line = { file: test.module.relativeModuleId, title: test.fullName, reason };
    appendFileSync(file, `${JSON.stringify(line)}\n`);
  }
}

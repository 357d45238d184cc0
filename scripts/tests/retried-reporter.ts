import { appendFileSync } from 'node:fs';
import type { Reporter, TestCase } from 'vitest/node';

/**
 * Notes each test that passed at a later try only, a JSON line each, in the file $HOLDFAST_RETRIED_LOG: vitest's JSON
 * report does not tell, and such a test is to be seen.
 */
export default class RetriedReporter implements Reporter {
  onTestCaseResult(test: TestCase): void {
    const file = process.env['HOLDFAST_RETRIED_LOG'];
    if (file === undefined || test.diagnostic()?.flaky !== true) return;
    appendFileSync(file, `${JSON.stringify({ file: test.module.relativeModuleId, title: test.fullName })}\n`);
  }
}

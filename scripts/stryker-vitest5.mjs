/**
 * Stryker's vitest runner (9.6) narrows each run to the tests that cover a mutant by a pattern of their names, joined
 * with a space; vitest 5 joins them with ' > ', so the pattern finds no test and every mutant "survives". This runner
 * makes the pattern so that it fits both. And a test file that cannot be imported any more, which the original takes for
 * one without tests, is a failure here.
 */
import { strykerPlugins as original, strykerValidationSchema } from '@stryker-mutator/vitest-runner';

const [plugin] = original;
/** TestStatus.Failed of Stryker's API. */
const FAILED = 1;

/** The runner that the original plugin makes, with its `run` narrowed another way. */
function create(injector) {
  const runner = injector.injectFunction(plugin.factory);
  const run = runner.run.bind(runner);
  let known;
  runner.run = async (options = {}) => {
    const { testIds = [], ...rest } = options;
    runner.ctx.configOverride.testNamePattern = testIds.length === 0 ? undefined : namesOf(testIds);
    const testFiles = [...new Set(testIds.map((id) => id.slice(0, id.indexOf('#'))))];
    const result = await run(testIds.length === 0 ? options : { ...rest, testFiles });
    known ??= result.tests?.[0];
    const broken = runner.ctx.state
      .getFiles()
      .find(({ result, tasks }) => result?.state === 'fail' && tasks.length === 0);
    if (broken !== undefined) result.tests?.push(failed(testIds[0] ?? known?.id, broken));
    return result;
  };
  return runner;
}
create.inject = plugin.factory.inject;

/** Stryker knows the failure of a test alone: one of those that were to run. */
function failed(id, { filepath, result }) {
  const failureMessage = `${filepath} cannot be imported: ${result.errors?.[0]?.message ?? 'no reason given'}`;
  return { id, name: 'import', timeSpentMs: 0, status: FAILED, failureMessage };
}

/** An id is FILE#NAMES, the names of suites and test joined with a space; a title has spaces of its own. */
function namesOf(testIds) {
  const names = testIds.map((id) =>
    RegExp.escape(id.slice(id.indexOf('#') + 1)).replaceAll('\\x20', '(?: > | )'),
  );
  return new RegExp(`^(?:${names.join('|')})$`);
}

export { strykerValidationSchema };
export const strykerPlugins = [{ ...plugin, factory: create }];

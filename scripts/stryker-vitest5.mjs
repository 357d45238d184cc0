/**
 * Stryker's vitest runner (9.6) narrows each run to the tests that cover a mutant by a pattern of their names, joined
 * with a space; vitest 5 joins them with ' > ', so the pattern finds no test and every mutant "survives". This runner
 * makes the pattern so that it fits both.
 */
import { strykerPlugins as original, strykerValidationSchema } from '@stryker-mutator/vitest-runner';

const [plugin] = original;

/** The runner that the original plugin makes, with its `run` narrowed another way. */
function create(injector) {
  const runner = injector.injectFunction(plugin.factory);
  const run = runner.run.bind(runner);
  runner.run = (options = {}) => {
    const { testIds = [], ...rest } = options;
    runner.ctx.configOverride.testNamePattern = testIds.length === 0 ? undefined : namesOf(testIds);
    if (testIds.length === 0) return run(options);
    return run({ ...rest, testFiles: [...new Set(testIds.map((id) => id.slice(0, id.indexOf('#'))))] });
  };
  return runner;
}
create.inject = plugin.factory.inject;

/** An id is FILE#NAMES, the names of suites and test joined with a space; a title has spaces of its own. */
function namesOf(testIds) {
  const names = testIds.map((id) =>
    RegExp.escape(id.slice(id.indexOf('#') + 1)).replaceAll('\\x20', '(?: > | )'),
  );
  return new RegExp(`^(?:${names.join('|')})$`);
}

export { strykerValidationSchema };
export const strykerPlugins = [{ ...plugin, factory: create }];

import { defineConfig } from 'vitest/config';

/** For scripts/mutants.ts, which names the tests that are run for each mutant. */
export default defineConfig({
  test: {
    include: JSON.parse(process.env['MUTANTS_TESTS'] ?? '[]') as string[],
    testTimeout: 30_000,
  },
});

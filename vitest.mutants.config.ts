import { defineConfig } from 'vitest/config';

/** The unit tests of the pure modules that stryker.config.json mutates: all that is run for each mutant. */
export default defineConfig({
  test: {
    include: [
      '{crds,controller,runtime/verdict,runtime/capabilities,runtime/link,runtime/agent}/**/*.test.ts',
    ],
    testTimeout: 30_000,
  },
});

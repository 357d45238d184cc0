import { defineConfig } from 'vitest/config';

// In CI a test may try twice, and `make test` names each that did (docs/decisions/0003).
const retry = process.env['CI'] === undefined ? 0 : 1;

/**
 * Projects: `unit` needs nothing but Node and a C compiler; the others need what their name says and are
 * started by `make test`, which sets it up.
 */
export default defineConfig({
  test: {
    projects: [
      {
        test: {
          name: 'unit',
          include: ['{crds,kube,controller,runtime,local,cli,scripts}/**/*.test.ts'],
          testTimeout: 30_000,
          retry,
        },
      },
      {
        test: {
          name: 'integration',
          include: ['test/**/*.test.ts'],
          testTimeout: 180_000,
          hookTimeout: 180_000,
          fileParallelism: false,
          retry,
        },
      },
    ],
  },
});

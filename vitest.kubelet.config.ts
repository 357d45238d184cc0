import { defineConfig } from 'vitest/config';

/** `make test-kubelet`: too long, and needs too much, for `make test`. */
export default defineConfig({
  test: {
    include: ['test/deploy/*.suite.ts'],
    fileParallelism: false,
    testTimeout: 400_000,
    hookTimeout: 600_000,
    // Each builds on what the one before has left.
    bail: 1,
  },
});

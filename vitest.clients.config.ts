import { defineConfig } from 'vitest/config';

/** `make test-clients`: what it needs (Go, Python, helm) takes too long to get for `make test`. */
export default defineConfig({
  test: { include: ['test/clients/clients.suite.ts'], testTimeout: 900_000, hookTimeout: 180_000 },
});

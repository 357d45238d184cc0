/** `make fuzz`: fuzzes the parsers of the wire protocol for FUZZ_SECONDS (60) and prints minutes and corpus size. */
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { ROOT } from './setup/cache.ts';

const seconds = process.env['FUZZ_SECONDS'] ?? '60';
const run = spawnSync('make', ['-C', join(ROOT, 'runtime/init'), 'fuzz', `FUZZ_SECONDS=${seconds}`], {
  stdio: 'inherit',
});
process.exitCode = run.status ?? 1;

import { execFileSync } from 'node:child_process';
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from '../setup/cache.ts';

/** The lab's configurations of Docker in a guest: a container start there takes seconds. */
export function guestConfigs(): string[] {
  const list = execFileSync(join(ROOT, 'test/lab/lab'), ['list'], { encoding: 'utf8' });
  return list.split('\n').flatMap((line) => /^docker-v2\S*/.exec(line)?.[0] ?? []);
}

/** The test files that run on whatever configurations HOLDFAST_LAB names. */
export function guestFiles(): string[] {
  return globSync('test/**/*.test.ts', { cwd: ROOT }).filter((file) =>
    /selectedConfigs|rigs\.ts/.test(readFileSync(join(ROOT, file), 'utf8')),
  );
}

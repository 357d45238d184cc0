import { homedir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'vitest';
import { parts, run, type Target } from './target.ts';

const HERE = join(import.meta.dirname, 'go');

/** The program, built where it is not in the cache: minutes the first time. */
async function build(): Promise<{ program: string } | { missing: string }> {
  if ((await run('go', ['version'])).code !== 0) return { missing: 'Go is not there' };
  const cache = process.env['XDG_CACHE_HOME'] ?? join(homedir(), '.cache');
  const program = join(cache, 'holdfast', 'go-client');
  const built = await run('go', ['build', '-o', program, '.'], { cwd: HERE, timeoutMs: 900_000 });
  if (built.code === 0) return { program };
  // Without its modules there is nothing to build; anything else is a fault of the program.
  if (/dial tcp|no such host|proxy\.golang\.org/.test(built.err))
    return { missing: 'its Go modules cannot be had' };
  throw new Error(`go build: ${built.err}`);
}

export async function goClient(target: Target): Promise<string | undefined> {
  const built = await build();
  if ('missing' in built) return built.missing;
  const outcome = await run(built.program, [], { env: { KUBECONFIG: target.kubeconfig } });
  expect({ code: outcome.code, failed: outcome.out.match(/^failed: .*/m)?.[0], err: outcome.err }).toEqual({
    code: 0,
    failed: undefined,
    err: expect.any(String) as string,
  });
  expect(parts(outcome).at(-1)).toBe('the namespace goes');
  return undefined;
}

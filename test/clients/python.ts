import { existsSync, readFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { expect } from 'vitest';
import { parts, run, type Target } from './target.ts';

const HERE = join(import.meta.dirname, 'python');

/** A virtual environment outside the repository, by what is required of it. */
async function environment(): Promise<{ python: string } | { missing: string }> {
  const requirements = join(HERE, 'requirements.txt');
  const key = createHash('sha256').update(readFileSync(requirements)).digest('hex').slice(0, 12);
  const cache = process.env['XDG_CACHE_HOME'] ?? join(homedir(), '.cache');
  const folder = join(cache, 'holdfast', `python-${key}`);
  const python = join(folder, 'bin/python');
  if (existsSync(python) && (await run(python, ['-c', 'import kubernetes'])).code === 0) return { python };
  const made = await run('python3', ['-m', 'venv', folder]);
  if (made.code !== 0) return { missing: `python3 -m venv: ${lastLine(made.err) || 'python3 is not there'}` };
  const installed = await run(python, ['-m', 'pip', 'install', '-q', '-r', requirements], {
    timeoutMs: 300_000,
  });
  return installed.code === 0 ? { python } : { missing: `pip install: ${lastLine(installed.err)}` };
}

const lastLine = (text: string): string => text.trim().split('\n').at(-1) ?? '';

export async function pythonClient(target: Target): Promise<string | undefined> {
  const found = await environment();
  if ('missing' in found) return found.missing;
  const outcome = await run(found.python, [join(HERE, 'main.py')], {
    env: { KUBECONFIG: target.kubeconfig, PYTHONDONTWRITEBYTECODE: '1' },
  });
  expect({ code: outcome.code, err: outcome.err, last: parts(outcome).at(-1) }).toEqual({
    code: 0,
    err: expect.any(String) as string,
    last: 'the namespace goes',
  });
  return undefined;
}

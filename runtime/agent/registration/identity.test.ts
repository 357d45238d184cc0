import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { lockDataDir } from './identity.ts';

let dir = '';
const children: ChildProcess[] = [];
beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'holdfast-lock-'));
});
afterEach(async () => {
  for (const child of children.splice(0)) child.kill('SIGKILL');
  await rm(dir, { recursive: true });
});

/** Another process with the folder locked; in a network namespace of its own as a pod is, where that may be had. */
async function holder(folder: string, how: 'plain' | 'pod'): Promise<ChildProcess> {
  const script = `import { lockDataDir } from ${JSON.stringify(join(import.meta.dirname, 'identity.ts'))};
    await lockDataDir(${JSON.stringify(folder)}); console.log('locked'); setInterval(() => {}, 1000);`;
  const node = [process.execPath, '--input-type=module-typescript', '-e', script];
  const [program = '', ...args] = how === 'pod' ? ['unshare', '-n', ...node] : node;
  const child = spawn(program, args, { stdio: ['ignore', 'pipe', 'inherit'] });
  children.push(child);
  await Promise.race([
    once(child.stdout, 'data'),
    once(child, 'exit').then(() => Promise.reject(new Error('the holder ended'))),
  ]);
  return child;
}

describe('the lock of the data folder', () => {
  it('[K6] keeps a second agent out, and lets it in once the first has let go', async () => {
    const unlock = await lockDataDir(dir);
    await expect(lockDataDir(dir)).rejects.toThrow('another agent uses the data folder');
    await unlock();
    expect(await readdir(dir)).toEqual([]);
    await (await lockDataDir(dir))();
  });

  it.runIf(process.platform === 'linux' && process.getuid?.() === 0)(
    '[K6] keeps an agent in another network namespace out, and outlives no kill (skipped but for root on Linux)',
    { meta: { needs: 'root on Linux' } },
    async () => {
      const child = await holder(dir, 'pod');
      await expect(lockDataDir(dir)).rejects.toThrow('another agent uses the data folder');
      child.kill('SIGKILL');
      await once(child, 'exit');
      await (await lockDataDir(dir))();
    },
  );

  it('[K6] is to be had in a folder with a path longer than that of a socket may be', async () => {
    const long = join(dir, 'x'.repeat(120));
    const unlock = await lockDataDir(long);
    await expect(lockDataDir(long)).rejects.toThrow('another agent');
    await unlock();
  });

  it('[K6] is taken by one of many who find that of a killed agent', async () => {
    const child = await holder(dir, 'plain');
    child.kill('SIGKILL');
    await once(child, 'exit');
    const results = await Promise.allSettled([1, 2, 3, 4].map(() => lockDataDir(dir)));
    const locks = results.flatMap((result) => (result.status === 'fulfilled' ? [result.value] : []));
    expect(locks).toHaveLength(1);
    await locks[0]?.();
  });
});

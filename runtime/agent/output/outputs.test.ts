import { mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { FakeClock } from '../../../kube/testing/fake-clock.ts';
import { createOutputs } from './outputs.ts';
import { readOutput } from './reader.ts';

let dataDir: string;
beforeEach(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'holdfast-outputs-'));
});
afterEach(() => rm(dataDir, { recursive: true, force: true }));

async function kept(): Promise<string> {
  let all = '';
  for await (const piece of readOutput({ dataDir, uid: 'u1' })) all += piece.data.toString();
  return all;
}

describe('the output of all sandboxes', () => {
  it('goes to the folder once a file in its place is gone, and a deletion does not wait for that', async () => {
    const clock = new FakeClock();
    const outputs = createOutputs(dataDir, clock);
    const heard: string[] = [];
    const trouble = {
      lost: (error: unknown) => heard.push((error as Error).message),
      back: (lostBytes: number) => heard.push(`back, ${lostBytes} lost`),
    };
    await writeFile(join(dataDir, 'output'), 'of somebody');
    const writer = await outputs.writer('u1', 'main', trouble);
    await writer.append(1, 'stdout', 0n, Buffer.from('abc'));
    await outputs.writer('u2', 'main', trouble);
    await outputs.remove('u2');
    expect(await readFile(join(dataDir, 'output'), 'utf8')).toBe('of somebody');
    await rm(join(dataDir, 'output'));
    await clock.advance(5000);
    await writer.append(1, 'stdout', 3n, Buffer.from('def'));
    expect(await kept()).toBe('def');
    expect(heard).toEqual([
      expect.stringContaining(`${join(dataDir, 'output', 'u1', 'main')}: ENOTDIR`),
      expect.stringContaining(`${join(dataDir, 'output', 'u2', 'main')}: ENOTDIR`),
      'back, 3 lost',
    ]);
    await outputs.remove('u1');
    await expect(stat(join(dataDir, 'output', 'u1'))).rejects.toThrow('ENOENT');
  });
});

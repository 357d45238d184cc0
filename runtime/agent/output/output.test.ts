import { appendFile, mkdtemp, readdir, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { outputFolder, readOutput } from './reader.ts';
import { openOutputWriter } from './writer.ts';

let dataDir: string;
beforeEach(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'holdfast-output-'));
});
afterEach(() => rm(dataDir, { recursive: true, force: true }));

const folder = (): string => outputFolder(dataDir, 'u1', 'main');
const writer = (fileBytes = 4096, files = 3) =>
  openOutputWriter(folder(), { fileBytes, files, nowMs: () => 1 });

async function text(stream?: 'stdout' | 'stderr'): Promise<string> {
  let all = '';
  for await (const piece of readOutput({ dataDir, uid: 'u1' })) {
    if (stream === undefined || piece.stream === stream) all += piece.data.toString();
  }
  return all;
}

describe('output files', () => {
  it('give back what was written, in order, both streams', async () => {
    const out = await writer();
    await out.append(1, 'stdout', 0n, Buffer.from('one\n'));
    await out.append(1, 'stderr', 0n, Buffer.from('oops\n'));
    await out.append(1, 'stdout', 4n, Buffer.from('two\n'));
    await out.close();
    expect(await text()).toBe('one\noops\ntwo\n');
    expect(await text('stderr')).toBe('oops\n');
  });

  it('hold a chunk that is sent again once, and the new part of one that overlaps', async () => {
    const out = await writer();
    await out.append(1, 'stdout', 0n, Buffer.from('abcd'));
    await out.append(1, 'stdout', 0n, Buffer.from('abcd'));
    await out.append(1, 'stdout', 2n, Buffer.from('cdef'));
    await out.close();
    expect(await text()).toBe('abcdef');
  });

  it('hold it once after a restart of the agent as well, over rotated files', async () => {
    const first = await writer(200);
    for (let i = 0; i < 20; i += 1) await first.append(1, 'stdout', BigInt(i * 10), Buffer.alloc(10, 97 + i));
    await first.close();
    const second = await writer(200);
    expect(second.written(1, 'stdout')).toBe(200n);
    await second.append(1, 'stdout', 190n, Buffer.from('tttttttttt!'));
    await second.close();
    expect((await text()).endsWith('tttttttttt!')).toBe(true);
    expect((await text()).match(/t/g)).toHaveLength(10);
  });

  it('drop a frame that a crash cut off, so that it can come again', async () => {
    const first = await writer();
    await first.append(1, 'stdout', 0n, Buffer.from('abcd'));
    await first.close();
    await appendFile(join(folder(), '00000001.out'), '#1 o 4 4 1\nef');
    const second = await writer();
    expect(second.written(1, 'stdout')).toBe(4n);
    await second.append(1, 'stdout', 4n, Buffer.from('efgh'));
    await second.close();
    expect(await text()).toBe('abcdefgh');
  });

  it('[X8] stay within their bound', async () => {
    const out = await writer(4096, 3);
    for (let i = 0; i < 100; i += 1) await out.append(1, 'stdout', BigInt(i * 1000), Buffer.alloc(1000, 120));
    await out.close();
    const files = await readdir(folder());
    expect(files).toHaveLength(3);
    for (const file of files) expect((await stat(join(folder(), file))).size).toBeLessThanOrEqual(4096);
  });

  it('keep a new life apart from the old one', async () => {
    const out = await writer();
    await out.append(1, 'stdout', 0n, Buffer.from('old'));
    await out.append(2, 'stdout', 0n, Buffer.from('new'));
    await out.close();
    expect(await text()).toBe('oldnew');
  });

  it('can be followed from the first byte to the end of the launch', async () => {
    const out = await writer(120);
    const followed = (async () => {
      let all = '';
      for await (const piece of readOutput({ dataDir, uid: 'u1', follow: true }))
        all += piece.data.toString();
      return all;
    })();
    for (let i = 0; i < 10; i += 1) await out.append(1, 'stdout', BigInt(i * 5), Buffer.from(`abc${i}\n`));
    await out.end(1);
    await out.close();
    const all = await followed;
    expect(all.endsWith('abc9\n')).toBe(true);
  });
});

import { describe, expect, it } from 'vitest';
import { keepGoing } from './keep-going.ts';
import type { OutputWriter } from './writer.ts';

/** Files that can be opened and written to, or not. */
function setUp() {
  const state = { ms: 0, opens: true, writes: true, opened: 0, closed: 0 };
  const disk: string[] = [];
  const heard: string[] = [];
  let safe = 0n;
  const open = async (): Promise<OutputWriter> => {
    state.opened += 1;
    if (!state.opens) throw new Error('ENOTDIR');
    return {
      append: async (_life, _stream, offset, data) => {
        if (!state.writes) throw new Error('ENOSPC');
        disk.push(`${offset} ${data.toString()}`);
        safe = offset + BigInt(data.length);
      },
      end: async () => {
        if (!state.writes) throw new Error('ENOSPC');
        disk.push('end');
      },
      written: () => safe,
      close: async () => void (state.closed += 1),
    };
  };
  const make = () =>
    keepGoing(open, () => state.ms, {
      lost: (error, retryInMs) => heard.push(`${(error as Error).message}, again in ${retryInMs}`),
      back: (lostBytes) => heard.push(`back, ${lostBytes} lost`),
    });
  return { state, disk, heard, make };
}

describe('output that cannot be written', () => {
  it('is taken and dropped while the folder cannot be made, which is not tried at each chunk', async () => {
    const { state, disk, heard, make } = setUp();
    state.opens = false;
    const writer = await make();
    for (let i = 0; i < 100; i += 1) await writer.append(1, 'stdout', BigInt(i * 3), Buffer.from('abc'));
    await writer.end(1);
    expect(writer.written(1, 'stdout')).toBe(300n);
    expect(writer.written(1, 'stderr')).toBe(0n);
    expect([state.opened, disk, heard]).toEqual([1, [], ['ENOTDIR, again in 5000']]);
  });

  it('is tried again after longer and longer', async () => {
    const { state, heard, make } = setUp();
    state.opens = false;
    const writer = await make();
    for (let second = 1; second <= 3600; second += 1) {
      state.ms = second * 1000;
      await writer.append(1, 'stdout', BigInt(second), Buffer.from('a'));
    }
    const after = heard.map((line) => Number(line.split(' ').at(-1)));
    expect(after.slice(0, 8)).toEqual([5000, 10_000, 20_000, 40_000, 80_000, 160_000, 300_000, 300_000]);
    expect(after.length).toBeLessThan(20);
  });

  it('is kept again when that is possible, and what is missing is counted', async () => {
    const { state, disk, heard, make } = setUp();
    state.opens = false;
    const writer = await make();
    await writer.append(1, 'stdout', 0n, Buffer.from('abc'));
    // It comes again after a reconnect, with more.
    await writer.append(1, 'stdout', 0n, Buffer.from('abc'));
    await writer.append(1, 'stdout', 0n, Buffer.from('abcde'));
    state.opens = true;
    state.ms = 5000;
    await writer.append(1, 'stdout', 4n, Buffer.from('efg'));
    await writer.end(1);
    expect(disk).toEqual(['5 fg', 'end']);
    expect(writer.written(1, 'stdout')).toBe(7n);
    expect(heard).toEqual(['ENOTDIR, again in 5000', 'back, 5 lost']);
  });

  it('for a full disk: the files are closed, and opened anew', async () => {
    const { state, disk, heard, make } = setUp();
    const writer = await make();
    await writer.append(1, 'stdout', 0n, Buffer.from('ab'));
    state.writes = false;
    await writer.append(1, 'stdout', 2n, Buffer.from('cd'));
    await writer.append(1, 'stdout', 4n, Buffer.from('ef'));
    expect([state.opened, state.closed, writer.written(1, 'stdout')]).toEqual([1, 1, 6n]);
    // Opening alone is no sign that it is well.
    state.ms = 5000;
    await writer.append(1, 'stdout', 6n, Buffer.from('gh'));
    state.writes = true;
    state.ms = 15_000;
    await writer.append(1, 'stdout', 8n, Buffer.from('ij'));
    await writer.close();
    expect(disk).toEqual(['0 ab', '8 ij']);
    expect(heard).toEqual(['ENOSPC, again in 5000', 'ENOSPC, again in 10000', 'back, 6 lost']);
    expect([state.opened, state.closed]).toEqual([3, 3]);
  });
});

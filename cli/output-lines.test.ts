import { describe, expect, it } from 'vitest';
import { lastLines, lines, Positions } from './output-lines.ts';

type Stream = 'stdout' | 'stderr';

async function* pieces(...all: [Stream, string, number?, number?][]) {
  for (const [stream, data, offset = 0, life = 1] of all) {
    yield { stream, data: Buffer.from(data), timeMs: offset, offset: BigInt(offset), life };
  }
}

async function collect(iterable: AsyncIterable<{ stream: Stream; data: Buffer }>): Promise<string[]> {
  const seen: string[] = [];
  for await (const { stream, data } of iterable) seen.push(`${stream[3]} ${data.toString()}`);
  return seen;
}

describe('lines', () => {
  it('joins what was cut, each stream by itself, and keeps an end without a line end', async () => {
    const all = pieces(
      ['stdout', 'on'],
      ['stderr', 'bad\nwor'],
      ['stdout', 'e\ntwo\nthr'],
      ['stderr', 'se\n'],
    );
    expect(await collect(lines(all, undefined))).toEqual([
      'e bad\n',
      'o one\n',
      'o two\n',
      'e worse\n',
      'o thr',
    ]);
  });

  it('can leave one stream out', async () => {
    expect(await collect(lines(pieces(['stdout', 'a\n'], ['stderr', 'b\n']), 'stderr'))).toEqual(['e b\n']);
  });

  it('shows a line without end in parts instead of holding all of it', async () => {
    const chunk: [Stream, string] = ['stdout', 'x'.repeat(700_000)];
    const seen = await collect(lines(pieces(chunk, chunk, chunk), undefined));
    expect(seen.map((line) => line.length - 2)).toEqual([1_400_000, 700_000]);
  });

  it('gives the last ones', async () => {
    const all = (): AsyncGenerator<{ stream: Stream; data: Buffer; timeMs: number }> =>
      lines(pieces(['stdout', '1\n2\n3\n']), undefined);
    expect(await collect(lastLines(all(), 2))).toEqual(['o 2\n', 'o 3\n']);
    expect(await collect(lastLines(all(), 0))).toEqual([]);
    expect(await collect(lastLines(all(), 9))).toHaveLength(3);
  });
});

describe('Positions', () => {
  it('goes on exactly where the first reading ended, in each stream of each life', async () => {
    const positions = new Positions();
    await collect(positions.note(pieces(['stdout', 'abc'], ['stderr', 'x'])));
    const rest = positions.after(
      pieces(['stdout', 'abc'], ['stderr', 'xy'], ['stdout', 'cd', 2], ['stdout', 'new', 0, 2]),
    );
    expect(await collect(rest)).toEqual(['e y', 'o d', 'o new']);
  });
});

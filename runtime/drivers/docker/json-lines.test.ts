import { describe, expect, it } from 'vitest';
import { LineDecoder } from '../../../kube/line-decoder.ts';
import { jsonLines } from './json-lines.ts';

async function read(...chunks: string[]): Promise<unknown[]> {
  const stream = (async function* (): AsyncGenerator<Buffer> {
    for (const chunk of chunks) yield await Promise.resolve(Buffer.from(chunk));
  })();
  const documents: unknown[] = [];
  for await (const one of jsonLines(stream, new LineDecoder({ maxLineBytes: 300 }))) documents.push(one);
  return documents;
}

describe('a stream of JSON documents', () => {
  it('is read line by line, wherever it is cut, the last one without an end of line too', async () => {
    expect(await read('{"a":1}\r\n{"b"', ':2}\n', '3')).toEqual([{ a: 1 }, { b: 2 }, 3]);
    expect(await read('1\n')).toEqual([1]);
    expect(await read()).toEqual([]);
  });

  it('[L7] is Unreadable where a line is no JSON, and says which', async () => {
    await expect(read('1\n<html>\n')).rejects.toMatchObject({
      code: 'Unreadable',
      message: 'the stream holds what is not JSON: <html>',
      cause: expect.any(SyntaxError) as unknown,
    });
    const long = `<${'x'.repeat(280)}`;
    await expect(read(long)).rejects.toMatchObject({
      message: `the stream holds what is not JSON: ${long.slice(0, 200)}`,
    });
  });

  it('[L7] is Unreadable where a line does not end', async () => {
    await expect(read('x'.repeat(301))).rejects.toMatchObject({
      code: 'Unreadable',
      cause: expect.objectContaining({ code: 'TooLarge' }) as unknown,
    });
  });
});

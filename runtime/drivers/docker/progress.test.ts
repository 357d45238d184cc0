import { describe, expect, it } from 'vitest';
import type { StreamedAnswer } from './http-client.ts';
import { followProgress } from './progress.ts';

/** The lines of a stream, cut into chunks of `size` bytes. */
function answer(lines: unknown[], size = 7): StreamedAnswer {
  const text = Buffer.from(
    lines.map((line) => (typeof line === 'string' ? line : JSON.stringify(line))).join('\r\n'),
  );
  return {
    status: 200,
    headers: {},
    async *chunks() {
      for (let at = 0; at < text.length; at += size) yield text.subarray(at, at + size);
    },
    rest: () => Promise.resolve(text),
    close: () => {},
  };
}

async function follow(lines: unknown[]): Promise<string[]> {
  const said: string[] = [];
  await followProgress(answer(lines), 'PullFailed', (text) => said.push(text));
  return said;
}

const mib = (count: number): number => count * 1048576;

describe('the progress of a pull', () => {
  it('is told in layers and bytes, each text once', async () => {
    const said = await follow([
      { status: 'Pulling from library/app', id: 'latest' },
      { status: 'Pulling fs layer', progressDetail: {}, id: 'a' },
      { status: 'Pulling fs layer', progressDetail: {}, id: 'b' },
      { status: 'Downloading', progressDetail: { current: mib(1), total: mib(4) }, id: 'a' },
      { status: 'Downloading', progressDetail: { current: mib(1), total: mib(4) }, id: 'a' },
      { status: 'Download complete', progressDetail: {}, id: 'a' },
      { status: 'Extracting', progressDetail: { current: 1, total: 4 }, id: 'a' },
      { status: 'Pull complete', progressDetail: {}, id: 'a' },
      { status: 'Already exists', progressDetail: null, id: 'b' },
      { status: 'Digest: sha256:00' },
      { status: 'Status: Downloaded newer image' },
    ]);
    expect(said).toEqual([
      'Pulling from library/app',
      '0 of 1 layers',
      '0 of 2 layers',
      '0 of 2 layers, 1.0 of 4.0 MiB',
      '0 of 2 layers, 4.0 of 4.0 MiB',
      '1 of 2 layers, 4.0 of 4.0 MiB',
      '2 of 2 layers, 4.0 of 4.0 MiB',
    ]);
  });

  it('an error within the stream, whose status was 200, fails the pull with its words', async () => {
    const lines = [
      { status: 'Pulling from app' },
      { errorDetail: { message: 'toomanyrequests: slow down' }, error: 'short' },
    ];
    await expect(follow(lines)).rejects.toMatchObject({
      code: 'PullFailed',
      message: 'toomanyrequests: slow down',
    });
    await expect(follow([{ error: 'short' }])).rejects.toMatchObject({ message: 'short' });
  });

  it.each([
    ['half a line', '{"status": "Pul'],
    ['a list', '[]'],
    ['text', 'Pulling'],
  ])('%s is Unreadable', async (_says, line) => {
    await expect(follow([{ status: 'x' }, line])).rejects.toMatchObject({ code: 'Unreadable' });
  });

  it('a line without end is Unreadable, not kept', async () => {
    await expect(
      followProgress(answer(['x'.repeat(2 * 1048576)], 65_536), 'Failed', () => {}),
    ).rejects.toMatchObject({ code: 'Unreadable' });
  });
});

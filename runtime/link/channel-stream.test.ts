import { PassThrough } from 'node:stream';
import { expect, it } from 'vitest';
import { CHANNEL_WINDOW_BYTES, ChannelStream } from './channel-stream.ts';
import { Fields } from './fields.ts';
import { FrameDecoder, type Message } from './frame.ts';
import { FrameWriter } from './frame-writer.ts';
import { F, T } from './protocol.ts';
import { until } from './testing/until.ts';

function channel(sendLimit: number): { stream: ChannelStream; said: Message[]; gone: () => number } {
  const wire = new PassThrough();
  const said: Message[] = [];
  const decoder = new FrameDecoder();
  let gone = 0;
  wire.on('data', (chunk: Buffer) => decoder.push(chunk, (message) => said.push(message)));
  const stream = new ChannelStream(5, sendLimit, new FrameWriter(wire), () => gone++);
  return { stream, said, gone: () => gone };
}

const bytesSaid = (said: Message[]): number =>
  said
    .filter(({ type }) => type === T.DATA)
    .reduce((sum, { payload }) => sum + (new Fields(payload).bytes(F.DATA)?.length ?? 0), 0);
const limitSaid = (said: Message[]): number =>
  said
    .filter(({ type }) => type === T.WINDOW)
    .map(({ payload }) => new Fields(payload).number(F.LIMIT))
    .at(-1) ?? 0;

it('sends as far as it may, in parts, and goes on when it may send more', async () => {
  const { stream, said } = channel(40_000);
  let written = false;
  stream.write(Buffer.alloc(100_000), () => {
    written = true;
  });
  await until('the first window', () => bytesSaid(said) === 40_000);
  expect(written).toBe(false);
  stream.window(100_000);
  stream.window(50_000); // an older word takes nothing back
  await until('the rest', () => written);
  expect(bytesSaid(said)).toBe(100_000);
  expect(said.every(({ channel, payload }) => channel === 5 && payload.length < 65_536)).toBe(true);
});

it('grants a window, and more only as it is read', async () => {
  const { stream, said } = channel(0);
  await until('the first window', () => limitSaid(said) === CHANNEL_WINDOW_BYTES);
  for (let i = 0; i < 4; i++) expect(stream.deliver(Buffer.alloc(CHANNEL_WINDOW_BYTES / 4))).toBe(true);
  expect(limitSaid(said)).toBe(CHANNEL_WINDOW_BYTES);
  stream.resume();
  await until('a new window', () => limitSaid(said) >= 1.5 * CHANNEL_WINDOW_BYTES);
  expect(stream.deliver(Buffer.alloc(CHANNEL_WINDOW_BYTES + 1))).toBe(false);
});

it('what came before the end is read, then it ends; it says goodbye once, and only where it was its own wish', async () => {
  const { stream, said, gone } = channel(10);
  const chunks: Buffer[] = [];
  stream.on('data', (chunk: Buffer) => chunks.push(chunk));
  stream.deliver(Buffer.from('last words'));
  stream.ended();
  stream.ended();
  await until('the end', () => stream.readableEnded);
  expect(Buffer.concat(chunks).toString()).toBe('last words');
  expect([gone(), said.filter(({ type }) => type === T.CLOSE).length]).toEqual([1, 0]);

  const other = channel(0);
  other.stream.write('never sent');
  other.stream.on('error', () => undefined);
  other.stream.destroy(new Error('enough'));
  await until('the goodbye', () => other.said.some(({ type }) => type === T.CLOSE));
  other.stream.window(100);
  other.stream.ended();
  expect([other.gone(), bytesSaid(other.said)]).toEqual([1, 0]);
});

it('an end with an error ends it at once, and what is written or comes afterwards goes nowhere', async () => {
  const { stream, said } = channel(10);
  const errors: Error[] = [];
  stream.on('error', (error: Error) => errors.push(error));
  const chunks: Buffer[] = [];
  stream.on('data', (chunk: Buffer) => chunks.push(chunk));
  stream.ended(new Error('broken'));
  await until('the error', () => errors.length > 0);
  expect(errors[0]?.message).toBe('broken');
  expect(stream.deliver(Buffer.from('late'))).toBe(true);
  expect(chunks).toEqual([]);
  expect(bytesSaid(said)).toBe(0);
});

it('after a quiet end, writing is accepted and dropped until the reader has seen the end', async () => {
  const { stream, said } = channel(10);
  stream.ended();
  let written = false;
  stream.write('late', () => {
    written = true;
  });
  await until('the write', () => written);
  expect(bytesSaid(said)).toBe(0);
  expect(stream.deliver(Buffer.from('late'))).toBe(true);
});

it('ended from here, it sends what was written before, then says goodbye', async () => {
  const { stream, said, gone } = channel(100);
  stream.write('one');
  stream.end('two');
  await until('the goodbye', () => said.at(-1)?.type === T.CLOSE);
  expect([bytesSaid(said), gone()]).toEqual([6, 1]);
});

it('grants in large steps, so that reading byte by byte is not answered byte by byte', async () => {
  const { stream, said } = channel(0);
  stream.resume();
  for (let i = 0; i < 1000; i++) stream.deliver(Buffer.alloc(1));
  await until('all of it read', () => stream.readableLength === 0);
  expect(said.filter(({ type }) => type === T.WINDOW)).toHaveLength(1);
});

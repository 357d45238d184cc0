import { Writable } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { FrameWriter } from './frame-writer.ts';
import { until } from './testing/until.ts';

const FRAME = Buffer.alloc(64, 'x');

/** A reader that takes a frame only when it is told to. */
function slowReader(highWaterMark: number): { stream: Writable; taken: () => number; take: () => void } {
  let taken = 0;
  let next: (() => void) | undefined;
  const stream = new Writable({
    highWaterMark,
    write(chunk: Buffer, _encoding, callback) {
      taken += chunk.length;
      next = callback;
    },
  });
  const take = (): void => {
    const callback = next;
    next = undefined;
    callback?.();
  };
  return { stream, taken: () => taken, take };
}

describe('a writer of frames', () => {
  it('goes on at once while the reader keeps up', () => {
    const { stream, taken } = slowReader(1024);
    let called = 0;
    new FrameWriter(stream).sendThen(FRAME, () => called++);
    expect([called, taken()]).toEqual([1, FRAME.length]);
  });

  it('waits for a reader that is slow, and goes on once, when it has caught up', async () => {
    const reader = slowReader(FRAME.length);
    const writer = new FrameWriter(reader.stream);
    const called: string[] = [];
    writer.sendThen(FRAME, () => called.push('first'));
    expect(called).toEqual([]);
    reader.take();
    await until('the callback', () => called.length > 0);
    expect(called).toEqual(['first']);
    writer.sendThen(FRAME, () => called.push('second'));
    expect(called).toEqual(['first']);
    reader.take();
    await until('the callback', () => called.length > 1);
    expect(called).toEqual(['first', 'second']);
  });

  it('waits as well where it was a frame before that filled the stream, and no longer than that', async () => {
    const reader = slowReader(FRAME.length + 1);
    const writer = new FrameWriter(reader.stream);
    writer.send(FRAME);
    writer.send(FRAME);
    const called: string[] = [];
    writer.sendThen(Buffer.alloc(0), () => called.push('waited'));
    expect(called).toEqual([]);
    reader.take();
    reader.take();
    await until('the callback', () => {
      reader.take();
      return called.length > 0;
    });
    writer.sendThen(Buffer.alloc(1), () => called.push('at once'));
    expect(called).toEqual(['waited', 'at once']);
  });

  it('holds nobody up whose stream is over', async () => {
    const reader = slowReader(FRAME.length);
    const writer = new FrameWriter(reader.stream);
    const called: string[] = [];
    writer.sendThen(FRAME, () => called.push('waiting'));
    reader.stream.destroy();
    await until('the callback', () => called.length > 0);
    writer.sendThen(FRAME, () => called.push('after'));
    expect(called).toEqual(['waiting', 'after']);
    expect(reader.taken()).toBe(FRAME.length);
  });

  it('writes nothing behind the end of a stream, where that would be an error', async () => {
    const errors: unknown[] = [];
    const { stream, taken, take } = slowReader(1024);
    stream.on('error', (error) => errors.push(error));
    const writer = new FrameWriter(stream);
    writer.send(FRAME);
    stream.end();
    writer.send(FRAME);
    const closed = new Promise((resolve) => stream.once('close', resolve));
    take();
    await closed;
    expect(errors).toEqual([]);
    expect(taken()).toBe(FRAME.length);
  });
});

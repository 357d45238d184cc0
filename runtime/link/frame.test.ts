import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { encodeFields, Fields } from './fields.ts';
import {
  encodeMessage,
  FrameDecoder,
  HEADER_BYTES,
  MESSAGE_MAX_BYTES,
  type Message,
  PAYLOAD_MAX_BYTES,
} from './frame.ts';
import { LinkError } from './link-error.ts';

const message = fc.record({
  type: fc.integer({ min: 0, max: 255 }),
  channel: fc.integer({ min: 0, max: 0xffff_ffff }),
  payload: fc.uint8Array({ maxLength: 300 }).map((bytes) => Buffer.from(bytes)),
});

/** Cuts bytes at the given places, taken modulo the length. */
function cut(bytes: Buffer, places: number[]): Buffer[] {
  const ends = [...new Set(places.map((place) => place % (bytes.length + 1)))].toSorted((a, b) => a - b);
  let from = 0;
  const parts: Buffer[] = [];
  for (const end of [...ends, bytes.length]) {
    parts.push(bytes.subarray(from, end));
    from = end;
  }
  return parts;
}

function decode(chunks: Buffer[]): Message[] {
  const decoder = new FrameDecoder();
  const out: Message[] = [];
  for (const chunk of chunks) decoder.push(chunk, (one) => out.push(one));
  return out;
}

describe('frames', () => {
  it('come back as they were, wherever the stream is cut', () => {
    fc.assert(
      fc.property(fc.array(message, { maxLength: 8 }), fc.array(fc.nat()), (messages, places) => {
        const bytes = Buffer.concat(messages.map((m) => encodeMessage(m.type, m.channel, m.payload)));
        expect(decode(cut(bytes, places))).toEqual(messages);
      }),
    );
  });

  it('come back when they arrive byte by byte', () => {
    const bytes = encodeMessage(7, 9, Buffer.from('payload'));
    expect(decode([...bytes].map((byte) => Buffer.from([byte])))).toEqual([
      { type: 7, channel: 9, payload: Buffer.from('payload') },
    ]);
  });

  it.each([0, 1, PAYLOAD_MAX_BYTES - 1, PAYLOAD_MAX_BYTES, PAYLOAD_MAX_BYTES + 1, MESSAGE_MAX_BYTES])(
    'carry a message of %d bytes, in fragments where it has to be',
    (length) => {
      const payload = Buffer.alloc(length, 'abc');
      const bytes = encodeMessage(1, 2, payload);
      expect(bytes.length).toBe(length + HEADER_BYTES * Math.max(1, Math.ceil(length / PAYLOAD_MAX_BYTES)));
      const [got, ...more] = decode(cut(bytes, [5, 70_000, 131_090]));
      expect(more).toEqual([]);
      expect(got?.payload.equals(payload)).toBe(true);
    },
  );

  it('are refused when a message would be too long', () => {
    const tooLong = (): Buffer => encodeMessage(1, 2, Buffer.alloc(MESSAGE_MAX_BYTES + 1));
    expect(tooLong).toThrow(expect.objectContaining({ code: 'Invalid' }));
    expect(tooLong).toThrow('a message of 3145729 bytes is longer than the 3145728 allowed');
  });

  it('are not copied where they came whole', () => {
    const bytes = Buffer.concat([
      encodeMessage(1, 1, Buffer.from('one')),
      encodeMessage(1, 2, Buffer.from('two')),
    ]);
    expect(decode([bytes]).map(({ payload }) => payload.buffer === bytes.buffer)).toEqual([true, true]);
  });

  const header = (bytes: number[]): Buffer =>
    Buffer.concat([Buffer.from(bytes), Buffer.alloc(12 - bytes.length)]);
  it.each([
    ['another magic', header([0x47, 1]), 'not a frame'],
    ['an unknown flag', header([0x48, 1, 2]), 'unknown flags'],
    ['a reserved byte', header([0x48, 1, 0, 1]), 'unknown flags'],
    ['too long a frame', header([0x48, 1, 0, 0, 0, 0, 0, 0, 0, 1, 0, 1]), 'a frame of 65537 bytes'],
    ['an empty fragment', header([0x48, 1, 1]), 'an empty fragment'],
    [
      'fragments of two messages',
      Buffer.concat([
        header([0x48, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 1]),
        Buffer.from('x'),
        header([0x48, 2]),
        Buffer.from('x'),
      ]),
      'mixed',
    ],
    [
      'fragments for two channels',
      Buffer.concat([
        header([0x48, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 1]),
        Buffer.from('x'),
        header([0x48, 1, 0, 0, 0, 0, 0, 7]),
      ]),
      'mixed',
    ],
  ])('that are garbage are a typed error, and nothing is decoded after it: %s', (_name, bytes, why) => {
    const decoder = new FrameDecoder();
    const seen: Message[] = [];
    const push = (chunk: Buffer): void => decoder.push(chunk, (one) => seen.push(one));
    expect(() => push(bytes)).toThrow(expect.objectContaining({ code: 'Garbage' }));
    expect(() => push(bytes)).toThrow(why);
    expect(() => push(encodeMessage(1, 1, Buffer.alloc(0)))).toThrow(LinkError);
    expect(seen).toEqual([]);
  });

  it('that are garbage never do anything but throw the typed error', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 200 }), (bytes) => {
        try {
          for (const { payload } of decode([Buffer.from(bytes)])) expect(new Fields(payload)).toBeDefined();
        } catch (error) {
          expect(error).toMatchObject({ code: 'Garbage' });
        }
      }),
    );
  });

  it('whose fragments never end are refused at 3 MiB', () => {
    const decoder = new FrameDecoder();
    const fragment = encodeMessage(1, 1, Buffer.alloc(PAYLOAD_MAX_BYTES));
    fragment[2] = 1;
    const feed = (): void => {
      for (let i = 0; i < 49; i++) decoder.push(fragment, () => undefined);
    };
    expect(feed).toThrow('too long');
  });
});

describe('fields', () => {
  it('come back as they were', () => {
    const tag = fc.integer({ min: 0, max: 255 });
    const value = fc.uint8Array({ maxLength: 50 }).map((bytes) => Buffer.from(bytes));
    fc.assert(
      fc.property(fc.array(fc.tuple(tag, value)), (list) => {
        const fields = new Fields(encodeFields(list));
        for (const [one] of list) {
          expect(fields.all(one)).toEqual(list.filter(([other]) => other === one).map(([, bytes]) => bytes));
        }
      }),
    );
  });

  it('hold numbers of 64 bits, booleans, text and nested fields; what is missing is zero or empty', () => {
    const fields = new Fields(
      encodeFields([
        [1, 2n ** 63n],
        [2, true],
        [3, 'café'],
        [4, [[5, 6]]],
        [7, undefined],
      ]),
    );
    expect(fields.big(1)).toBe(2n ** 63n);
    expect(fields.number(2)).toBe(1);
    expect(fields.text(3)).toBe('café');
    expect(new Fields(fields.bytes(4) as Buffer).number(5)).toBe(6);
    expect([fields.has(7), fields.number(7), fields.optionalNumber(7), fields.text(7)]).toEqual([
      false,
      0,
      undefined,
      '',
    ]);
    expect(() => fields.number(1)).toThrow('too large');
    expect(() => fields.number(3)).toThrow('8 bytes');
  });

  it.each([
    [Buffer.from([1, 0, 0, 0]), 'cut off'],
    [Buffer.from([1, 0, 0, 0, 0, 2, 0, 0]), 'cut off'],
    [Buffer.from([1, 0, 0, 0, 2, 9]), 'longer than its message'],
  ])('that do not add up are a typed error', (bytes, why) => {
    expect(() => new Fields(bytes)).toThrow(why);
    expect(() => new Fields(bytes)).toThrow(expect.objectContaining({ code: 'Garbage' }));
  });

  it('hold no number that a JavaScript number cannot', () => {
    const fields = new Fields(
      encodeFields([
        [1, Number.MAX_SAFE_INTEGER],
        [2, 2n ** 53n],
      ]),
    );
    expect(fields.number(1)).toBe(Number.MAX_SAFE_INTEGER);
    expect(() => fields.number(2)).toThrow(expect.objectContaining({ code: 'Garbage' }));
  });
});

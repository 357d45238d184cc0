import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { TransportError } from './errors.ts';
import { LineDecoder } from './line-decoder.ts';

describe('LineDecoder', () => {
  it('[K5] gives the same lines wherever the bytes are cut, inside characters too', () => {
    const text = '{"a":"café☕"}\n\n{"b":1}\r\n\r\n{"c":"𝄞"}\n';
    const bytes = Buffer.from(text);
    for (let cut = 0; cut <= bytes.length; cut++) {
      const decoder = new LineDecoder({ maxLineBytes: 100 });
      const lines = [...decoder.push(bytes.subarray(0, cut)), ...decoder.push(bytes.subarray(cut))];
      expect(lines).toEqual(['{"a":"café☕"}', '{"b":1}', '{"c":"𝄞"}']);
      expect(decoder.pendingBytes).toBe(0);
    }
  });

  it('joins any lines from any chunks', () => {
    const line = fc.string({ unit: 'grapheme', minLength: 1 }).filter((text) => !/[\r\n]/.test(text));
    fc.assert(
      fc.property(fc.array(line), fc.array(fc.integer({ min: 1, max: 7 })), (lines, sizes) => {
        const bytes = Buffer.from(lines.map((text) => `${text}\n`).join(''));
        const decoder = new LineDecoder({ maxLineBytes: 10_000 });
        const seen: string[] = [];
        let from = 0;
        for (let turn = 0; from < bytes.length; turn++) {
          const size = sizes.length === 0 ? 3 : (sizes[turn % sizes.length] ?? 3);
          seen.push(...decoder.push(bytes.subarray(from, from + size)));
          from += size;
        }
        expect(seen).toEqual(lines.map((text) => Buffer.from(text).toString('utf8')));
      }),
    );
  });

  it('takes away the carriage return at the end of a line, and no other', () => {
    expect(new LineDecoder({ maxLineBytes: 100 }).push(Buffer.from('a\rb\r\r\n'))).toEqual(['a\rb\r']);
  });

  it('refuses a line beyond its bound, also one that never ends', () => {
    const decoder = new LineDecoder({ maxLineBytes: 8 });
    expect(decoder.push(Buffer.from('12345678\n1234'))).toEqual(['12345678']);
    expect(decoder.push(Buffer.from('5678'))).toEqual([]);
    expect(decoder.pendingBytes).toBe(8);
    expect(() => decoder.push(Buffer.from('9'))).toThrow(
      new TransportError('TooLarge', 'a line of the stream has more than 8 bytes'),
    );
  });
});

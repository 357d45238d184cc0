import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { DriverError } from '../../driver.ts';
import { Demultiplexer } from './demux.ts';

function frame(stream: number, payload: Buffer | string): Buffer {
  const bytes = Buffer.from(payload);
  const header = Buffer.alloc(8);
  header[0] = stream;
  header.writeUInt32BE(bytes.length, 4);
  return Buffer.concat([header, bytes]);
}

function takeApart(chunks: Buffer[]): { stdout: Buffer; stderr: Buffer; atBoundary: boolean } {
  const demux = new Demultiplexer();
  const out: Record<'stdout' | 'stderr', Buffer[]> = { stdout: [], stderr: [] };
  for (const chunk of chunks) demux.feed(chunk, (stream, payload) => out[stream].push(payload));
  return {
    stdout: Buffer.concat(out.stdout),
    stderr: Buffer.concat(out.stderr),
    atBoundary: demux.atBoundary,
  };
}

const cut = (bytes: Buffer, at: number): Buffer[] => [bytes.subarray(0, at), bytes.subarray(at)];

describe('Demultiplexer', () => {
  it('takes stdout and stderr apart', () => {
    const bytes = Buffer.concat([frame(1, 'a'), frame(2, 'b'), frame(1, 'c')]);
    const { stdout, stderr, atBoundary } = takeApart([bytes]);
    expect([stdout.toString(), stderr.toString(), atBoundary]).toEqual(['ac', 'b', true]);
  });

  it('does so wherever the bytes are cut, within a header and within a character', () => {
    const bytes = Buffer.concat([frame(1, 'café☕'), frame(2, 'x'), frame(1, '☕')]);
    for (let at = 0; at <= bytes.length; at++) {
      const { stdout, stderr } = takeApart(cut(bytes, at));
      expect([stdout.toString(), stderr.toString()]).toEqual(['café☕☕', 'x']);
    }
  });

  it('takes empty frames', () => {
    const { stdout, atBoundary } = takeApart([frame(1, ''), frame(2, ''), frame(1, 'x'), frame(1, '')]);
    expect([stdout.toString(), atBoundary]).toEqual(['x', true]);
  });

  it('takes stdin that is echoed for stdout', () => {
    expect(takeApart([frame(0, 'x')]).stdout.toString()).toBe('x');
  });

  it('hands a large frame on as it comes, holding nothing of it', () => {
    const demux = new Demultiplexer();
    const size = 16 * 1024 * 1024;
    let got = 0;
    let largest = 0;
    const take = (_stream: string, payload: Buffer): void => {
      got += payload.length;
      largest = Math.max(largest, payload.length);
    };
    const header = frame(1, '');
    header.writeUInt32BE(size, 4);
    demux.feed(header, take);
    const chunk = Buffer.alloc(65536);
    for (let sent = 0; sent < size; sent += chunk.length) {
      expect(demux.atBoundary).toBe(false);
      demux.feed(chunk, take);
      expect(got).toBe(sent + chunk.length);
    }
    expect([got, largest, demux.atBoundary]).toEqual([size, 65536, true]);
  });

  it.each([
    ['an unknown stream', '04000000 00000001'],
    ['text', Buffer.from('HTTP/1.1').toString('hex')],
    ['padding that is not zero', '01000100 00000001'],
    ['a length in the wrong place', '01020000 00000001'],
    ['the last byte of the padding', '01000001 00000001'],
  ])('refuses what is no header: %s', (_what, hex) => {
    const bytes = Buffer.from(hex.replace(' ', ''), 'hex');
    expect(() => takeApart([bytes])).toThrow(expect.objectContaining({ code: 'Unreadable' }));
  });

  it('throws what the daemon says went wrong', () => {
    const bytes = frame(3, 'the driver caught fire\n');
    for (let at = 0; at <= bytes.length; at++)
      expect(() => takeApart(cut(bytes, at))).toThrow(
        expect.objectContaining({ code: 'Failed', message: 'the driver caught fire' }),
      );
  });

  it('keeps only the start of what the daemon says', () => {
    try {
      takeApart([frame(3, 'x'.repeat(1024 * 1024))]);
      expect.unreachable();
    } catch (error) {
      expect(error).toBeInstanceOf(DriverError);
      expect((error as Error).message).toHaveLength(16 * 1024);
    }
  });

  it('is not at a boundary within a header', () => {
    expect(takeApart([frame(1, 'x').subarray(0, 3)]).atBoundary).toBe(false);
  });

  it('is byte-exact for any frames cut in any way', () => {
    const frames = fc.array(fc.tuple(fc.constantFrom(1, 2), fc.uint8Array({ maxLength: 40 })));
    fc.assert(
      fc.property(frames, fc.array(fc.nat({ max: 30 })), (list, sizes) => {
        let rest = Buffer.concat(list.map(([stream, payload]) => frame(stream, Buffer.from(payload))));
        const chunks: Buffer[] = [];
        for (const size of sizes) {
          chunks.push(rest.subarray(0, size));
          rest = rest.subarray(size);
        }
        const { stdout, stderr, atBoundary } = takeApart([...chunks, rest]);
        const of = (stream: number): Buffer =>
          Buffer.concat(list.filter(([one]) => one === stream).map(([, payload]) => payload));
        return atBoundary && stdout.equals(of(1)) && stderr.equals(of(2));
      }),
    );
  });
});

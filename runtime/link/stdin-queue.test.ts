import fc from 'fast-check';
import { expect, it } from 'vitest';
import { StdinQueue } from './stdin-queue.ts';

interface Sent {
  offset: bigint;
  data: Buffer | undefined;
  end: boolean;
}

function queue(received = 0n): { stdin: StdinQueue; sent: Sent[]; drains: () => number } {
  const sent: Sent[] = [];
  let drains = 0;
  const stdin = new StdinQueue(
    received,
    (offset, data, end) => sent.push({ offset, data, end }),
    () => drains++,
  );
  return { stdin, sent, drains: () => drains };
}

it('sends nothing before a grant, then just as much as is granted', () => {
  const { stdin, sent, drains } = queue(10n);
  stdin.add(Buffer.from('hello'));
  expect([sent.length, stdin.waiting]).toEqual([0, 5]);
  stdin.grant(12n);
  stdin.grant(11n);
  expect(sent).toEqual([{ offset: 10n, data: Buffer.from('he'), end: false }]);
  expect([stdin.waiting, drains()]).toEqual([3, 0]);
  stdin.grant(100n);
  expect(sent.at(-1)).toEqual({ offset: 12n, data: Buffer.from('llo'), end: false });
  expect([stdin.waiting, drains()]).toEqual([0, 1]);
});

it('says the end once, after everything else, and takes nothing more', () => {
  const { stdin, sent } = queue();
  stdin.add(Buffer.from('x'));
  stdin.add('end');
  expect(sent).toEqual([]);
  stdin.grant(9n);
  stdin.grant(10n);
  expect(sent.map(({ end }) => end)).toEqual([false, true]);
  expect(sent.at(-1)).toEqual({ offset: 1n, data: undefined, end: true });
  expect(() => stdin.add(Buffer.from('y'))).toThrow(expect.objectContaining({ code: 'Invalid' }));
});

it('keeps 1 MiB and not a byte more', () => {
  const { stdin } = queue();
  stdin.add(Buffer.alloc(1024 * 1024));
  expect(() => stdin.add(Buffer.alloc(1))).toThrow(expect.objectContaining({ code: 'Overflow' }));
  expect(stdin.waiting).toBe(1024 * 1024);
});

it('sends what it was given, in order and without a gap, however it is granted', () => {
  const chunk = fc.uint8Array({ maxLength: 40_000 }).map((bytes) => Buffer.from(bytes));
  fc.assert(
    fc.property(fc.array(chunk, { maxLength: 5 }), fc.array(fc.nat({ max: 50_000 })), (chunks, grants) => {
      const { stdin, sent } = queue();
      let limit = 0n;
      for (const one of chunks) {
        stdin.add(one);
        limit += BigInt(grants.shift() ?? 0);
        stdin.grant(limit);
      }
      stdin.grant(10n ** 9n);
      let at = 0n;
      for (const { offset, data } of sent) {
        expect(offset).toBe(at);
        expect(data?.length).toBeLessThanOrEqual(32_768);
        at += BigInt(data?.length ?? 0);
      }
      expect(Buffer.concat(sent.map(({ data }) => data ?? Buffer.alloc(0)))).toEqual(Buffer.concat(chunks));
    }),
  );
});

import { describe, expect, it } from 'vitest';
import { FakeClock } from '../kube/testing/fake-clock.ts';
import { Declines } from './declines.ts';
import { condition, sandbox } from './testing/objects.ts';

const onA = sandbox('s', { status: { nodeName: 'a' } });
const back = (...conditions: ReturnType<typeof condition>[]): typeof onA =>
  sandbox('s', { status: { conditions } });
const low = condition('StorageReserveLow', 'True', 'ReserveLow', '900 MiB free');

describe('declined handovers', () => {
  it('[S2] a node name that became empty is one, with what the agent said', () => {
    const declines = new Declines(new FakeClock());
    declines.observe(onA, back(low));
    expect(declines.of('uid-s', 'a')).toMatchObject({ about: 'Storage', message: '900 MiB free' });
    expect(declines.of('uid-s', 'b')).toBeUndefined();
    expect(declines.of('other', 'a')).toBeUndefined();
  });

  it.each([
    [
      condition('LimitUnenforceable', 'True', 'MemoryUnenforceable', 'm'),
      { about: 'Limits', limit: 'memory', unreadable: false },
    ],
    [condition('LimitUnenforceable', 'True', 'CPUUnenforceable', 'm'), { about: 'Limits', limit: 'cpu' }],
    [
      condition('LimitUnenforceable', 'True', 'RuntimeUnreadable', 'm'),
      { about: 'Limits', unreadable: true },
    ],
    [condition('Scheduled', 'False', 'Declined', 'm'), { about: 'Other', message: 'm' }],
    [condition('Scheduled', 'False', 'Declined'), { about: 'Other', message: 'it gave no reason' }],
  ])('[L9] reads the reason from the conditions: %o', (said, decline) => {
    const declines = new Declines(new FakeClock());
    declines.observe(onA, back(said));
    expect(declines.of('uid-s', 'a')).toMatchObject(decline);
  });

  it('[S2] the node is asked again after 10 s, and each time after twice as long, up to 5 min', async () => {
    const clock = new FakeClock();
    const declines = new Declines(clock);
    const waits: (number | undefined)[] = [];
    for (let i = 0; i < 7; i += 1) {
      declines.observe(onA, back(low));
      const ms = declines.nextMs('uid-s');
      waits.push(ms);
      await clock.advance(ms ?? 0);
      expect(declines.of('uid-s', 'a')).toBeUndefined();
      expect(declines.nextMs('uid-s')).toBeUndefined();
    }
    expect(waits).toEqual([10_000, 20_000, 40_000, 80_000, 160_000, 300_000, 300_000]);
  });

  it('is asked at once when something about the node changed', () => {
    const declines = new Declines(new FakeClock());
    declines.observe(onA, back(low));
    declines.forgive('b');
    expect(declines.of('uid-s', 'a')).toBeDefined();
    declines.forgive('a');
    expect(declines.of('uid-s', 'a')).toBeUndefined();
  });

  it('forgets with the sandbox, and with a new spec', () => {
    const declines = new Declines(new FakeClock());
    declines.observe(onA, back(low));
    declines.observe(back(low), { ...back(low), metadata: { ...onA.metadata, generation: 2 } });
    expect(declines.of('uid-s', 'a')).toBeUndefined();
    declines.observe(onA, back(low));
    declines.observe(back(low), undefined);
    expect(declines.of('uid-s', 'a')).toBeUndefined();
  });

  it('a binding is no decline', () => {
    const declines = new Declines(new FakeClock());
    declines.observe(undefined, back());
    declines.observe(back(), onA);
    declines.observe(onA, onA);
    expect(declines.nextMs('uid-s')).toBeUndefined();
  });
});

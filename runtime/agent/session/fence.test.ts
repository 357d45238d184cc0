import { describe, expect, it } from 'vitest';
import type { HeartbeatResult, InitHello } from '../../link/types.ts';
import { InitFence } from './fence.ts';

function setUp(hello: Partial<InitHello> = { bootMs: 500_000 }) {
  const beats: ({ fromBootMs: number; forMs: number } | undefined)[] = [];
  const at = { ms: 1000, answer: { is: 'taken', bootMs: 600_000 } as HeartbeatResult };
  const init = {
    hello: { gate: false, ...hello } as InitHello,
    heartbeat: async (beat: { fromBootMs: number; forMs: number } | undefined) => {
      beats.push(beat);
      return at.answer;
    },
  };
  return { fence: new InitFence(init, () => at.ms), beats, at };
}

describe('heartbeats to one init', () => {
  it("[K6] names init's clock at the renewal of the lease, from what it showed before", async () => {
    const { fence, beats, at } = setUp();
    at.ms = 9_000;
    expect(await fence.beat(4_000.7, 40)).toBe('taken');
    expect(beats).toEqual([{ fromBootMs: 503_000, forMs: 40_000 }]);
    expect(fence.seconds).toBe(40);
    // From now on by the clock of its answer, heard at 9 s.
    at.ms = 20_000;
    await fence.beat(19_000, 40);
    expect(beats[1]).toEqual({ fromBootMs: 610_000, forMs: 40_000 });
  });

  it('[K6] a renewal from before init told its clock proves nothing', async () => {
    const { fence, beats } = setUp();
    expect(await fence.beat(999, 40)).toBe('not-renewed');
    expect(beats).toEqual([]);
    expect(fence.seconds).toBeUndefined();
  });

  it('[K6] one that came too late is known to have ended', async () => {
    const { fence, at } = setUp();
    at.answer = { is: 'too-late' };
    expect(await fence.beat(2_000, 40)).toBe('too-late');
    expect(fence.fell).toBe(true);
    expect(setUp({ bootMs: 1, fencedAtBootMs: 1 }).fence.fell).toBe(true);
  });

  it('[K6] an older init, or a gate, cannot', async () => {
    expect(setUp({}).fence.can).toBe(false);
    expect(setUp({ bootMs: 1, gate: true }).fence.can).toBe(false);
    expect(await setUp({}).fence.beat(2_000, 40)).toBe('unsupported');
  });

  it('[K6] is lifted', async () => {
    const { fence, beats } = setUp();
    await fence.beat(2_000, 40);
    expect(await fence.lift()).toBe('taken');
    expect(beats[1]).toBeUndefined();
    expect(fence.seconds).toBeUndefined();
  });
});

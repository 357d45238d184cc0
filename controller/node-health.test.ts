import { describe, expect, it } from 'vitest';
import { FakeClock } from '../kube/testing/fake-clock.ts';
import { NodeHealth } from './node-health.ts';
import { lease } from './testing/objects.ts';

function setUp(): { clock: FakeClock; health: NodeHealth; changes: string[] } {
  const clock = new FakeClock();
  const changes: string[] = [];
  const health = new NodeHealth({ clock, onChange: (node) => changes.push(`${node} ${health.of(node)}`) });
  return { clock, health, changes };
}

describe('heartbeats', () => {
  it('[K6] a renewed lease is alive; one that is not renewed for its duration has expired, by our own clock', async () => {
    const { clock, health, changes } = setUp();
    health.observe('a', lease('a', clock.now()));
    for (let i = 0; i < 5; i += 1) {
      await clock.advance(10_000);
      health.observe('a', lease('a', clock.now()));
    }
    expect(changes).toEqual(['a Alive']);
    await clock.advance(39_000);
    expect(health.of('a')).toBe('Alive');
    await clock.advance(2_000);
    expect(changes).toEqual(['a Alive', 'a Expired']);
    health.observe('a', lease('a', clock.now()));
    expect(changes).toEqual(['a Alive', 'a Expired', 'a Alive']);
    health.stop();
    expect(clock.pending).toBe(0);
  });

  it('[K6] an old lease is not trusted until it is renewed, and not called expired before its time', async () => {
    const { clock, health } = setUp();
    const old = new Date(clock.now().getTime() - 3_600_000);
    health.observe('a', lease('a', old));
    expect(health.of('a')).toBe('Unproven');
    await clock.advance(10_000);
    health.observe('a', lease('a', new Date(old.getTime() + 10_000)));
    expect(health.of('a')).toBe('Alive');
  });

  it('[K6] a jump of the wall clock changes nothing', () => {
    const { clock, health } = setUp();
    health.observe('a', lease('a', clock.now()));
    health.observe('a', lease('a', new Date(clock.now().getTime() + 1)));
    clock.jump(86_400_000);
    expect(health.of('a')).toBe('Alive');
    clock.jump(-2 * 86_400_000);
    expect(health.of('a')).toBe('Alive');
  });

  it('knows a lease that was given back', async () => {
    const { clock, health, changes } = setUp();
    expect(health.of('a')).toBe('Missing');
    health.observe('a', lease('a', clock.now(), { holderIdentity: '' }));
    expect(health.of('a')).toBe('Released');
    await clock.advance(41_000);
    expect(changes).toEqual(['a Released', 'a Expired']);
  });

  it('[K6] a lease that was deleted counts as missing only when its time is over', async () => {
    const { clock, health, changes } = setUp();
    health.observe('a', undefined);
    expect(changes).toEqual([]);
    health.observe('a', lease('a', clock.now()));
    await clock.advance(10_000);
    health.observe('a', undefined);
    expect(health.of('a')).toBe('Released');
    await clock.advance(20_000);
    health.observe('a', lease('a', clock.now()));
    expect(health.of('a')).toBe('Alive');
    health.observe('a', undefined);
    await clock.advance(41_000);
    expect(changes).toEqual(['a Alive', 'a Released', 'a Alive', 'a Released', 'a Missing']);
    expect(clock.pending).toBe(0);
  });

  it('a lease of the same name made anew has to prove itself', () => {
    const { clock, health } = setUp();
    const old = new Date(clock.now().getTime() - 3_600_000);
    const first = lease('a', old);
    health.observe('a', first);
    health.observe('a', { ...first, metadata: { ...first.metadata, uid: 'another' } });
    expect(health.of('a')).toBe('Unproven');
  });
});

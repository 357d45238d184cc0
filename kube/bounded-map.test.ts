import { describe, expect, it } from 'vitest';
import { BoundedMap } from './bounded-map.ts';

describe('BoundedMap', () => {
  it('forgets what was not used for the longest, where reading and writing are use', () => {
    const map = new BoundedMap<string, number>(3);
    map.set('a', 1);
    map.set('b', 2);
    map.set('c', 3);
    expect(map.size).toBe(3);
    map.get('a');
    map.set('b', 20);
    map.set('d', 4);
    expect(map.size).toBe(3);
    expect(['a', 'b', 'c', 'd'].map((key) => map.get(key))).toEqual([1, 20, undefined, 4]);
  });

  it('does not grow by asking for what it does not have', () => {
    const map = new BoundedMap<string, number>(1);
    expect(map.get('a')).toBeUndefined();
    expect(map.size).toBe(0);
  });
});

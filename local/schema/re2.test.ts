import { describe, expect, it } from 'vitest';
import { matchesRE2 } from './re2.ts';

describe('matches of RE2 patterns', () => {
  it('answers the same when asked again', () => {
    for (let time = 0; time < 3; time += 1) {
      expect(matchesRE2('^a+$', 'aaa')).toBe(true);
      expect(matchesRE2('^a+$', 'aab')).toBe(false);
    }
  });

  it('tells apart where the pattern ends and the text begins', () => {
    expect(matchesRE2('a', 'bab')).toBe(true);
    expect(matchesRE2('ab', 'ab')).toBe(true);
    expect(matchesRE2('aba', 'b')).toBe(false);
  });

  it('refuses a bad pattern each time', () => {
    for (let time = 0; time < 2; time += 1) expect(() => matchesRE2('(', 'x')).toThrow(/missing/);
  });
});

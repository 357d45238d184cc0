import { describe, expect, it } from 'vitest';
import { schemaErrors } from './schema-errors.ts';

describe('what the schema refuses', () => {
  it.each<[string, unknown, string, RegExp]>([
    ['no image', {}, 'spec.image', /^spec\.image: nothing is refused; accepted: a string$/],
    ['an empty image', { image: '' }, 'spec.image', /"" is refused; accepted: at least 1 characters/],
    ['an image with a space', { image: 'a b' }, 'spec.image', /"a b" is refused; accepted: what matches/],
    [
      'an unknown runtime',
      { image: 'a', runtime: 'lxc' },
      'spec.runtime',
      /"lxc" is refused; accepted: docker, podman$/,
    ],
    [
      'a long value',
      { image: 'a', env: [{ name: 'A', value: 'x'.repeat(2 ** 20) }] },
      'spec.env[0].value',
      /^.{60,200} at most 131072 characters$/,
    ],
    [
      'many variables',
      { image: 'a', env: Array.from({ length: 513 }, () => ({ name: 'A' })) },
      'spec.env',
      /at most 512 entries$/,
    ],
    [
      'a fraction of a second',
      { image: 'a', activeDeadlineSeconds: 1.5 },
      'spec.activeDeadlineSeconds',
      /1\.5 is refused; accepted: a whole number$/,
    ],
    [
      'a negative TTL',
      { image: 'a', ttlSecondsAfterFinished: -1 },
      'spec.ttlSecondsAfterFinished',
      /-1 is refused; accepted: at least 0$/,
    ],
    [
      'a text for a truth',
      { image: 'a', suspend: 'yes' },
      'spec.suspend',
      /"yes" is refused; accepted: a boolean$/,
    ],
    ['no object', 7, 'spec', /^spec: 7 is refused; accepted: an object$/],
  ])('%s: names field, value and what is accepted', (_, spec, field, message) => {
    const [error] = schemaErrors(spec);
    expect(error?.field).toBe(field);
    expect(error?.message).toMatch(message);
  });

  it('nothing in what is right, with or without what an API server would add', () => {
    expect(schemaErrors({ image: 'busybox:1' })).toEqual([]);
    expect(schemaErrors({ image: 'busybox:1', onDrift: 'Report', setup: { command: ['a'] } })).toEqual([]);
  });

  it('leaves limits to those who know them', () => {
    expect(schemaErrors({ image: 'a', resources: { memory: 0.5 } })).toEqual([]);
  });
});

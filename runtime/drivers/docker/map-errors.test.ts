import { describe, expect, it } from 'vitest';
import { transportError } from './map-errors.ts';

describe('a failed connection', () => {
  it.each([
    ['a call that was given up', AbortSignal.abort().reason, 'Unavailable'],
    ['nobody there', Object.assign(new Error('connect ENOENT'), { code: 'ENOENT' }), 'Unavailable'],
    [
      'another protocol',
      Object.assign(new Error('Parse Error'), { code: 'HPE_INVALID_CONSTANT' }),
      'Unreadable',
    ],
    ['no error at all', undefined, 'Unavailable'],
    ['a word', 'broken', 'Unavailable'],
  ])('is told as one: %s', (_, error, code) => {
    expect(transportError(error, 'GET /info')).toMatchObject({
      code,
      message: expect.stringContaining('GET /info'),
    });
  });
});

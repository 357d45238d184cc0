import { describe, expect, it } from 'vitest';
import { ageOf, humanDuration } from './age.ts';

const second = 1000;
const minute = 60 * second;
const hour = 60 * minute;
const day = 24 * hour;

describe('humanDuration', () => {
  it.each<[number, string]>([
    [-3 * second, '<invalid>'],
    [-second, '0s'],
    [0, '0s'],
    [119 * second, '119s'],
    [2 * minute, '2m'],
    [2 * minute + second, '2m1s'],
    [10 * minute + 30 * second, '10m'],
    [179 * minute, '179m'],
    [3 * hour, '3h'],
    [7 * hour + 5 * minute, '7h5m'],
    [47 * hour, '47h'],
    [2 * day, '2d'],
    [2 * day + 3 * hour, '2d3h'],
    [8 * day + 3 * hour, '8d'],
    [729 * day, '729d'],
    [730 * day, '2y'],
    [731 * day, '2y1d'],
    [3000 * day, '8y'],
  ])('[K1] %d ms are %s', (ms, text) => {
    expect(humanDuration(ms)).toBe(text);
  });
});

describe('ageOf', () => {
  const now = new Date('2024-01-01T00:01:00Z');
  it.each<[unknown, string]>([
    ['2024-01-01T00:00:00Z', '60s'],
    [undefined, '<unknown>'],
    [null, '<unknown>'],
    ['soon', '<invalid>'],
    [5, '<invalid>'],
  ])('[K1] of %j', (value, text) => {
    expect(ageOf(value, now)).toBe(text);
  });
});

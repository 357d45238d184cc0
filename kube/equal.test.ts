import { describe, expect, it } from 'vitest';
import { deepFreeze, sameJSON } from './equal.ts';

describe('sameJSON', () => {
  it.each([
    [{ a: 1, b: undefined }, { a: 1 }, true],
    [{ a: 1 }, { a: 1, b: undefined }, true],
    [{ a: 1, b: 2 }, { b: 2, a: 1 }, true],
    [{ a: [1, { b: 2 }] }, { a: [1, { b: 2 }] }, true],
    [[1, 2], [2, 1], false],
    [[1], { 0: 1 }, false],
    [{ a: null }, {}, false],
    [{ a: undefined }, { b: undefined }, true],
    [undefined, {}, false],
    ['1', 1, false],
    [null, null, true],
    [null, {}, false],
    [{}, null, false],
    [0, -0, true],
    [{ 0: 1 }, [1], false],
    [[], {}, false],
    [{ a: 1 }, { a: 1, b: 2 }, false],
    [{ a: 1, b: 2 }, { a: 1 }, false],
    [{ a: { b: 1 } }, { a: { b: 2 } }, false],
    ['ab', ['a', 'b'], false],
    [[1], [1, 2], false],
    [{ toString: 1 }, {}, false],
    [{}, { toString: 1 }, false],
  ])('%j and %j: %s', (a, b, expected) => {
    expect(sameJSON(a, b)).toBe(expected);
  });
});

describe('deepFreeze', () => {
  it('freezes everything inside, and gives back the very value', () => {
    const value = { list: [{ a: 1 }], none: null, text: 'x' };
    expect(deepFreeze(value)).toBe(value);
    expect([value, value.list, value.list[0]].every((part) => Object.isFrozen(part))).toBe(true);
  });

  it.each([null, 'text', 1, undefined])('leaves %s as it is', (value) => {
    expect(deepFreeze(value)).toBe(value);
  });

  it('ends where a value holds itself', () => {
    const value: { self?: unknown } = {};
    value.self = value;
    expect(Object.isFrozen(deepFreeze(value))).toBe(true);
  });
});

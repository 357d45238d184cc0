import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { formatLabelSelector, matchesLabels, parseLabelSelector, SelectorError } from './label.ts';

const labels = { tier: 'front', n: '3', 'app.kubernetes.io/name': 'me' };

describe('parseLabelSelector and matchesLabels', () => {
  it.each<[string, boolean]>([
    ['', true],
    ['tier=front', true],
    ['tier==front', true],
    ['tier!=front', false],
    ['missing!=front', true],
    ['tier', true],
    ['!tier', false],
    ['!missing', true],
    ['tier in (front, back)', true],
    ['tier notin (front)', false],
    ['missing notin (front)', true],
    ['n>2', true],
    ['n<2', false],
    ['tier>2', false],
    ['app.kubernetes.io/name=me,tier=front', true],
    ['tier=front,n=4', false],
    ['tier in (,front)', true],
    ['in in (in)', false],
  ])('[K1] %s', (text, expected) => {
    expect(matchesLabels(parseLabelSelector(text), labels)).toBe(expected);
  });

  it.each([
    ['a b', "unable to parse requirement: found 'b', expected: in, notin, =, ==, !=, gt, lt"],
    ['=b', "found '=', expected: !, identifier, or 'end of string'"],
    ['a,,b', "found ',', expected: identifier after ','"],
    ['tier in (a', "unable to parse requirement: found '', expected: ',' or ')'"],
  ])('[K1] refuses %s', (text, message) => {
    expect(() => parseLabelSelector(text)).toThrow(new SelectorError(message));
  });

  it('[K1] throws nothing but a SelectorError, whatever it is given', () => {
    const piece = fc.oneof(
      fc.constantFrom('a', 'b/c', 'in', 'notin', '(', ')', ',', '!', '=', '==', '!=', '<', '>', ' ', '1'),
      fc.string(),
    );
    fc.assert(
      fc.property(fc.array(piece), (pieces) => {
        try {
          parseLabelSelector(pieces.join(''));
        } catch (error) {
          expect(error).toBeInstanceOf(SelectorError);
        }
      }),
    );
  });

  it('[K1] a selector and its canonical text select the same', () => {
    const key = fc.constantFrom('a', 'b', 'x.io/c');
    const value = fc.constantFrom('', '1', '2', 'x');
    const requirement = fc.oneof(
      key,
      key.map((name) => `!${name}`),
      fc.tuple(key, fc.constantFrom('=', '!=', '=='), value).map((parts) => parts.join('')),
      fc
        .tuple(key, fc.constantFrom('in', 'notin'), fc.array(value, { minLength: 1, maxLength: 3 }))
        .map(([name, op, values]) => `${name} ${op} (${values.join(',')})`),
    );
    fc.assert(
      fc.property(fc.array(requirement), fc.dictionary(key, value), (requirements, found) => {
        const selector = parseLabelSelector(requirements.join(','));
        const again = parseLabelSelector(formatLabelSelector(selector));
        expect(matchesLabels(again, found)).toBe(matchesLabels(selector, found));
      }),
    );
  });

  it('[K1] labels of a prototype are not labels', () => {
    expect(matchesLabels(parseLabelSelector('constructor'), {})).toBe(false);
  });
});

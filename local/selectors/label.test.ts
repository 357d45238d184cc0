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
    ['a,', "found '', expected: identifier after ','"],
    ['a b', "unable to parse requirement: found 'b', expected: in, notin, =, ==, !=, gt, lt"],
    ['a=b c', "found 'c', expected: ',' or 'end of string'"],
    ['a=(', "unable to parse requirement: found '(', expected: identifier"],
    ['!', "unable to parse requirement: found '', expected: identifier"],
    ['!!a', "unable to parse requirement: found '!', expected: identifier"],
    ['(a', "found '(', expected: !, identifier, or 'end of string'"],
    ['a in b', "unable to parse requirement: found 'b' expected: '('"],
    ['a in (=', "unable to parse requirement: found '=', expected: ',', ')' or identifier"],
    ['a in (b=', "unable to parse requirement: found '=', expected: ',' or ')'"],
    ['a in (,=', "unable to parse requirement: found '=', expected: ',', or identifier"],
    [
      'a>b',
      "unable to parse requirement: values[0]: Invalid value: \"b\": for 'Gt', 'Lt' operators, the value must be an integer",
    ],
    [
      'a<',
      "unable to parse requirement: values[0]: Invalid value: \"\": for 'Gt', 'Lt' operators, the value must be an integer",
    ],
    [
      'a>9223372036854775808',
      "unable to parse requirement: values[0]: Invalid value: \"9223372036854775808\": for 'Gt', 'Lt' operators, the value must be an integer",
    ],
    ['tier in (a', "unable to parse requirement: found '', expected: ',' or ')'"],
  ])('[K1] refuses %s', (text, message) => {
    expect(() => parseLabelSelector(text)).toThrow(new SelectorError(message));
  });

  it.each([
    ['a/b/c=d', /^unable to parse requirement: <nil>: Invalid value: "a\/b\/c": /],
    ['a=b@c', /^unable to parse requirement: values\[0\]\[a\]: Invalid value: "b@c": /],
    [
      'a in (b@,c@)',
      /^unable to parse requirement: \[values\[0\]\[a\]: Invalid value: "b@": .*, values\[1\]\[a\]: Invalid value: "c@": /,
    ],
  ])('[K1] refuses %s, and says which part', (text, message) => {
    expect(() => parseLabelSelector(text)).toThrow(message);
  });

  it.each<[string, ReturnType<typeof parseLabelSelector>]>([
    ['a=b', [{ key: 'a', operator: '=', values: ['b'] }]],
    [' a\t==\r\nb ', [{ key: 'a', operator: '==', values: ['b'] }]],
    ['a!=b', [{ key: 'a', operator: '!=', values: ['b'] }]],
    ['a=', [{ key: 'a', operator: '=', values: [''] }]],
    [
      'a=,b',
      [
        { key: 'a', operator: '=', values: [''] },
        { key: 'b', operator: 'exists', values: [] },
      ],
    ],
    ['a in (c,b,c)', [{ key: 'a', operator: 'in', values: ['b', 'c'] }]],
    ['a in ()', [{ key: 'a', operator: 'in', values: [''] }]],
    ['a in (b,)', [{ key: 'a', operator: 'in', values: ['', 'b'] }]],
    ['a in (,b)', [{ key: 'a', operator: 'in', values: ['', 'b'] }]],
    ['a in (,)', [{ key: 'a', operator: 'in', values: [''] }]],
    ['a in (b,,c)', [{ key: 'a', operator: 'in', values: ['', 'b', 'c'] }]],
    [
      'a in (b), c notin (d)',
      [
        { key: 'a', operator: 'in', values: ['b'] },
        { key: 'c', operator: 'notin', values: ['d'] },
      ],
    ],
    [
      '!a,!b',
      [
        { key: 'a', operator: '!', values: [] },
        { key: 'b', operator: '!', values: [] },
      ],
    ],
    ['a\0b', [{ key: 'a', operator: 'exists', values: [] }]],
  ])('[K1] reads %j', (text, selector) => {
    expect(parseLabelSelector(text)).toEqual(selector);
  });

  it.each<[string, string, boolean]>([
    ['n>3', '3', false],
    ['n<3', '3', false],
    ['n>3', '4', true],
    ['n<3', '2', true],
    ['n<3', '-4', true],
    ['n>3', '+4', true],
    ['n>1', '9223372036854775807', true],
    ['n>1', '9223372036854775808', false],
    ['n>9007199254740993', '9007199254740994', true],
    ['n>1', '2x', false],
    ['n>1', '', false],
  ])('[K1] %s of n=%s', (text, n, expected) => {
    expect(matchesLabels(parseLabelSelector(text), { n })).toBe(expected);
  });

  it('[K1] a number is asked of no label that is not there', () => {
    expect(matchesLabels(parseLabelSelector('n>1'), undefined)).toBe(false);
  });

  it.each(['a=b', 'a==b', 'a!=b', 'a in (b,c)', 'a notin (b)', 'a', '!a', 'a>1', 'a<1', 'a,!b,c=d'])(
    '[K1] the canonical text of %s is itself',
    (text) => {
      expect(formatLabelSelector(parseLabelSelector(text))).toBe(text);
    },
  );

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

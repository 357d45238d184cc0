import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { checkCel } from './cel-check.ts';
import { Budget, evaluate, type Scope } from './cel-eval.ts';
import { CelSyntaxError, parseCel } from './cel-parser.ts';
import { parseQuantity, quantityFloat } from './cel-quantity.ts';
import { IP, ipText, parseIP } from './cel-net.ts';
import { type CelType, DYN } from './cel-types.ts';
import { CelError, type CelValue } from './cel-values.ts';

const variables = new Map<string, CelType>([['self', DYN]]);

function run(source: string, self: CelValue = 5n, steps = 100_000): CelValue {
  const checked = checkCel(source, variables);
  if ('errors' in checked) throw new Error(checked.errors);
  const scope: Scope = { name: 'self', value: self, parent: undefined };
  return evaluate(checked.node, scope, new Budget(steps));
}

describe('CEL', () => {
  it.each<[string, CelValue]>([
    ['1 + 2 * 3', 7n],
    ['(1 + 2) * 3', 9n],
    ['-2 - -3', 1n],
    ['!!true', true],
    ['1 < 2 && 2 < 3', true],
    ['false ? 1 : true ? 2 : 3', 2n],
    ['self == 5', true],
    ['[1, 2, 3].filter(x, x > 1).map(x, x * self)', [10n, 15n]],
    ['[[1], [2, 3]].map(l, l.size())', [1n, 2n]],
    ['[1, 2].all(x, [3, 4].exists(y, y > x))', true],
    ["'äöü'.size()", 3n],
    ["'😀a'.charAt(1)", 'a'],
    ["{'a': {'b': [1, 2]}}.a.b[1]", 2n],
    ['1 / 0 == 1 || true', true],
  ])('[L1] %s', (source, expected) => {
    expect(run(source)).toEqual(expected);
  });

  it.each<[string, string]>([
    ['1 / 0', 'division by zero'],
    ['[1][1]', 'index out of bounds: 1'],
    ["{'a': 1}['b']", 'no such key: b'],
    ['self.missing', 'no such overload'],
    ['9223372036854775807 + self', 'integer overflow'],
  ])('[L1] %s fails', (source, message) => {
    expect(() => run(source)).toThrow(new CelError(message));
  });

  it('[L1] an evaluation ends when its budget does, whatever absorbs errors around it', () => {
    const nested = '[1,2,3,4,5,6,7,8,9,10]';
    const source = `${nested}.all(a, ${nested}.all(b, ${nested}.all(c, ${nested}.all(d, ${nested}.all(e, ${nested}.all(f, a + b + c + d + e + f > 0)))))) || true`;
    expect(() => run(source)).toThrow('operation cancelled: actual cost limit exceeded');
  });

  it('[L1] a pattern that would make a backtracking matcher hang is matched at once', () => {
    expect(run(`self.matches('^(a+)+$')`, `${'a'.repeat(50_000)}b`)).toBe(false);
  });

  it('[L1] nesting is bounded', () => {
    expect(() => parseCel(`${'('.repeat(500)}1${')'.repeat(500)}`)).toThrow(CelSyntaxError);
    expect(() => parseCel(`1${'.a'.repeat(5000)}`)).toThrow(CelSyntaxError);
    expect(() => parseCel('1'.repeat(200_000))).toThrow(CelSyntaxError);
  });

  const token = fc.constantFrom(
    'self',
    'x',
    '1',
    '1u',
    '1.5',
    "'a'",
    "b'a'",
    'true',
    'null',
    '(',
    ')',
    '[',
    ']',
    '{',
    '}',
    '.',
    ',',
    ':',
    '?',
    '+',
    '-',
    '*',
    '/',
    '%',
    '&&',
    '||',
    '!',
    '==',
    '<',
    'in',
    'has',
    'all',
    'map',
    'size',
    'matches',
    'optional',
    'of',
    'quantity',
    'duration',
  );

  it('[L1] the parser throws nothing but a CelSyntaxError, whatever it is given', () => {
    const source = fc.oneof(
      fc.array(token).map((tokens) => tokens.join(' ')),
      fc.string(),
    );
    fc.assert(
      fc.property(source, (text) => {
        try {
          parseCel(text);
        } catch (error) {
          expect(error).toBeInstanceOf(CelSyntaxError);
        }
      }),
      { numRuns: 2000 },
    );
  });

  it('[L1] what passes the checker evaluates to a value or a CelError', () => {
    const { expression } = fc.letrec<{ expression: string }>((tie) => ({
      expression: fc.oneof(
        { depthSize: 'small' },
        fc.constantFrom(
          'self',
          '1',
          '0',
          '2.5',
          "'a'",
          'true',
          'null',
          '[1, 2]',
          "{'a': 1}",
          "duration('1h')",
          "quantity('1')",
          '3u',
        ),
        fc
          .tuple(
            tie('expression'),
            fc.constantFrom('+', '-', '*', '/', '%', '==', '!=', '<', '>=', '&&', '||', 'in'),
            tie('expression'),
          )
          .map(([a, op, b]) => `(${a} ${op} ${b})`),
        tie('expression').map((a) => `!(${a})`),
        tie('expression').map((a) => `-(${a})`),
        fc
          .tuple(tie('expression'), tie('expression'), tie('expression'))
          .map(([a, b, c]) => `(${a} ? ${b} : ${c})`),
        fc.tuple(tie('expression'), tie('expression')).map(([a, b]) => `(${a})[${b}]`),
        fc
          .tuple(tie('expression'), fc.constantFrom('all', 'exists', 'map', 'filter'), tie('expression'))
          .map(([a, macro, b]) => `(${a}).${macro}(x, ${b})`),
        fc
          .tuple(
            fc.constantFrom('size', 'string', 'int', 'double', 'type', 'dyn', 'timestamp', 'isQuantity'),
            tie('expression'),
          )
          .map(([fn, a]) => `${fn}(${a})`),
        fc
          .tuple(
            tie('expression'),
            fc.constantFrom(
              'size()',
              'sum()',
              'isSorted()',
              "startsWith('a')",
              "split('')",
              'max()',
              'getHours()',
              'hasValue()',
            ),
          )
          .map(([a, method]) => `(${a}).${method}`),
      ),
    }));
    fc.assert(
      fc.property(
        expression,
        fc.constantFrom<CelValue>(5n, 'text', 2.5, [1n, 2n], true, null),
        (source, self) => {
          const checked = checkCel(source, variables);
          if ('errors' in checked) return;
          try {
            evaluate(checked.node, { name: 'self', value: self, parent: undefined }, new Budget(10_000));
          } catch (error) {
            expect(error).toBeInstanceOf(CelError);
          }
        },
      ),
      { numRuns: 3000 },
    );
  });
});

describe('quantities', () => {
  it('[L1] are what their text says', () => {
    const suffixes: [string, number][] = [
      ['', 1],
      ['k', 1e3],
      ['M', 1e6],
      ['Ki', 1024],
      ['Mi', 1048576],
      ['m', 1e-3],
    ];
    fc.assert(
      fc.property(
        fc.integer({ min: -99999, max: 99999 }),
        fc.constantFrom(...suffixes),
        (n, [suffix, factor]) => {
          const parsed = parseQuantity(`${n}${suffix}`);
          expect(parsed).toBeDefined();
          if (parsed !== undefined) expect(quantityFloat(parsed)).toBeCloseTo(n * factor, 3);
        },
      ),
    );
  });

  it.each(['', 'x', '1x', '1.2.3', ' 1', '1 ', '--1', '1e', '1ki', '.', '+'])('[L1] %j is none', (text) => {
    expect(parseQuantity(text)).toBeUndefined();
  });
});

describe('addresses', () => {
  it('[L1] every address reads back from its text', () => {
    const address = fc.oneof(
      fc.bigInt({ min: 0n, max: 2n ** 32n - 1n }).map((bits) => new IP(4, bits)),
      fc.bigInt({ min: 0n, max: 2n ** 128n - 1n }).map((bits) => new IP(6, bits)),
    );
    fc.assert(
      fc.property(address, (ip) => {
        fc.pre(ip.family === 4 || ip.bits >> 32n !== 0xffffn);
        expect(parseIP(ipText(ip))).toEqual(ip);
      }),
    );
  });
});

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { findJSONPath, JSONPathError, parseJSONPath, printJSONValue } from './jsonpath.ts';

const object = {
  metadata: { name: 'a', labels: { 'app.kubernetes.io/name': 'me', plain: 'x' } },
  list: [1, 2, 3, 4],
  conditions: [
    { type: 'Ready', status: 'True', count: 3 },
    { type: 'Stalled', status: 'False', count: 5 },
  ],
  nothing: null,
};

describe('JSONPath', () => {
  it.each<[string, unknown[]]>([
    ['.metadata.name', ['a']],
    ['$.metadata.name', ['a']],
    ['.metadata.labels.app\\.kubernetes\\.io/name', ['me']],
    [".metadata.labels['plain']", ['x']],
    [".metadata['labels'].plain", ['x']],
    ['.missing.at.all', []],
    ['.list[0]', [1]],
    ['.list[-1]', [4]],
    ['.list[1:3]', [2, 3]],
    ['.list[::2]', [1, 3]],
    ['.list[*]', [1, 2, 3, 4]],
    ['.list[0,2]', [1, 3]],
    ['.conditions[?(@.type=="Ready")].status', ['True']],
    [".conditions[?(@.type=='Stalled')].status", ['False']],
    ['.conditions[?(@.count>3)].type', ['Stalled']],
    ['.conditions[?(@.count<=3)].type', ['Ready']],
    ['.conditions[?(@.type!="Ready")].type', ['Stalled']],
    ['.conditions[?(@.count)].type', ['Ready', 'Stalled']],
    ['.conditions[*].type', ['Ready', 'Stalled']],
    ['..status', ['True', 'False']],
    ['.nothing', [null]],
    ['.nothing.more', []],
    ['.metadata.constructor', []],
  ])('[K1] %s', (path, expected) => {
    expect(findJSONPath(parseJSONPath(path), object)).toEqual(expected);
  });

  it.each(['.list[', '.list[x]', ".list['a", '.conditions[?(@.type', '.a[?(@.b)', '....a', 'word', '.a{'])(
    '[K1] refuses %s',
    (path) => {
      expect(() => findJSONPath(parseJSONPath(path), object)).toThrow(JSONPathError);
    },
  );

  it.each(['.list[9]', '.metadata[0]', '.metadata[?(@.a=="b")]', '.conditions[?(@.type>3)]'])(
    '[K1] says that %s does not fit the object',
    (path) => {
      expect(() => findJSONPath(parseJSONPath(path), object)).toThrow(JSONPathError);
    },
  );

  it('[K1] throws nothing but a JSONPathError, whatever it is given', () => {
    const piece = fc.oneof(
      fc.constantFrom(
        '.',
        '..',
        '[',
        ']',
        '*',
        '?(',
        ')',
        '@',
        '$',
        "'",
        '"',
        '\\',
        ',',
        ':',
        '-1',
        '0',
        'a',
        'list',
        '==',
        '<',
      ),
      fc.string({ maxLength: 3 }),
    );
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 12 }), fc.jsonValue(), (pieces, value) => {
        try {
          findJSONPath(parseJSONPath(pieces.join('')), value as null);
        } catch (error) {
          expect(error).toBeInstanceOf(JSONPathError);
        }
      }),
    );
  });

  it('[K1] finds every key by its escaped name', () => {
    fc.assert(
      fc.property(fc.stringMatching(/^[a-z./-]{1,12}$/), fc.integer(), (key, value) => {
        const path = `.${key.replace(/[.]/g, '\\.')}`;
        expect(findJSONPath(parseJSONPath(path), { [key]: value })).toEqual([value]);
      }),
    );
  });

  it.each<[unknown, string]>([
    ['a', 'a'],
    [1, '1'],
    [1.5, '1.5'],
    [true, 'true'],
    [null, 'null'],
    [{ b: 1, a: ['<'] }, '{"a":["\\u003c"],"b":1}'],
  ])('[K1] prints %j', (value, text) => {
    expect(printJSONValue(value as null)).toBe(text);
  });
});

import type { Case } from '../types.ts';
import { create, createCases, get, MERGE, quiet, widget, WIDGETS } from './make.ts';

/** Updates of the same object: the first spec is created, the second put in its place. */
function updateCases(specs: Record<string, [unknown, unknown]>): Case[] {
  return Object.entries(specs).map(([name, [before, after]]) => ({
    name,
    steps: [
      { ...quiet(create(widget('w', before))), keep: { rv: 'metadata.resourceVersion' } },
      {
        request: `PUT ${WIDGETS}/w`,
        body: widget('w', after, {}, { resourceVersion: '${rv}' }),
        view: (body) => ((body as { code?: number }).code === undefined ? 'accepted' : body),
      },
    ],
  }));
}

const many = (count: number): string[] => Array.from({ length: count }, (_, i) => String(i));

export const validation: Case[] = [
  ...createCases({
    'a valid object with defaults': { text: 'abc', choice: 'red', count: 1, port: 80 },
    'a string for an integer': { count: '1' },
    'a fraction for an integer': { count: 1.5 },
    'a number for a string': { text: 5 },
    'a boolean for a string': { text: true },
    'an object for a string': { text: {} },
    'a list for a string': { text: ['a'] },
    'a string for a boolean': { on: 'true' },
    'a string for a list': { list: 'a' },
    'a string for an object': { labels: 'a' },
    'a list for an object': { required: [] },
    'null for a string': { text: null },
    'null where it is allowed': { nothing: null },
    'null with a default': { defaulted: null },
    'null in a list': { list: [null] },
    'null in a map': { labels: { a: null } },
    'a spec that is a string': 'text',
    'a text too short': { text: 'a' },
    'a text too long': { text: 'abcdefghi' },
    'a text that does not match': { text: 'ABC' },
    'a text of wide characters': { text: 'äöü' },
    'a choice that is none': { choice: 'blue' },
    'a number for a choice': { choice: 3 },
    'a count too small': { count: 0 },
    'a count too large': { count: 11 },
    'a number beyond int32': { small: 3000000000 },
    'an odd number': { even: 3 },
    'a ratio at its exclusive limit': { ratio: 0 },
    'a ratio too large': { ratio: 1.5 },
    'a ratio that is whole': { ratio: 1 },
    'int-or-string: an int': { port: 80 },
    'int-or-string: a string': { port: 'http' },
    'int-or-string: a fraction': { port: 0.5 },
    'int-or-string: a boolean': { port: true },
    'int-or-string: null': { port: null },
    'formats that are right': {
      when: '2024-01-02T03:04:05Z',
      day: '2024-01-02',
      span: '1h30m',
      id: '6ba7b810-9dad-11d1-80b4-00c04fd430c8',
      address: '10.0.0.1',
      mail: 'a@example.com',
      link: 'https://example.com/a?b=c',
      name: 'a-b',
      blob: 'aGVsbG8=',
    },
    'a time that is none': { when: 'yesterday' },
    'a time without a zone': { when: '2024-01-02T03:04:05' },
    'a number for a time': { when: 5 },
    'an object for a time': { when: {} },
    'a day that does not exist': { day: '2024-02-30' },
    'a span that is none': { span: 'long' },
    'an id that is none': { id: 'x' },
    'an address that is none': { address: '10.0.0' },
    'an address with a leading zero': { address: '010.0.0.1' },
    'a mail that is none': { mail: 'nobody' },
    'a link that is none': { link: 'example' },
    'a name in capitals': { name: 'A' },
    'a blob that is no base64': { blob: '***' },
    'a list that is empty': { list: [] },
    'a list too long': { list: ['a', 'b', 'c', 'd'] },
    'a list with an item of the wrong type': { list: ['a', 1] },
    'a set with duplicates': { set: ['a', 'b', 'a', 'a'] },
    'a map list with duplicates': { items: [{ key: 'a' }, { key: 'b' }, { key: 'a', value: 2 }] },
    'a map list without the key': { items: [{ value: 1 }] },
    'a map list with a string': { items: ['a'] },
    'a map with too many members': { labels: { a: 'a', b: 'b', c: 'c' } },
    'a map with a member of the wrong type': { labels: { a: 1 } },
    'anything in a free object': { free: { a: { b: [1, 'c', null] } } },
    'members that are required': { required: {} },
    'one member that is required': { required: { a: 'x' } },
    'oneOf: none': { either: {} },
    'oneOf: both': { either: { a: 'x', b: 'y' } },
    'oneOf: one': { either: { a: 'x' } },
    'anyOf: none': { any: {} },
    'anyOf and allOf: too short': { any: { a: 'x' } },
    'not: both': { any: { a: 'xx', b: 1 } },
    'many errors at once': { text: 'A', choice: 'blue', count: 0, list: [], required: {} },
    'an embedded resource': {
      template: { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'p', labels: { a: 'b' } }, spec: {} },
    },
    'an embedded resource without a kind': { template: { metadata: { name: 'p' } } },
    'an embedded resource with a bad kind': {
      template: { apiVersion: 'v1', kind: 'no kind', metadata: { labels: { 'a b': 'c' } } },
    },
    'CEL: a rule between two members': { low: 5, high: 3 },
    'CEL: a field path': { rules: { a: 'bad' } },
    'CEL: reason Forbidden': { rules: { b: 'none' } },
    'CEL: reason Required': { rules: { b: 'missing' } },
    'CEL: reason Duplicate': { rules: { b: 'twice' } },
    'CEL: a message that is computed': { rules: { list: [5, 6] } },
    'CEL: a rule without a message': { rules: { list: [3, 2] } },
    'CEL: all over the keys of a map': { rules: { map: { 'x-a': '1', y: '2' } } },
    'CEL: a missing key at run time': { rules: { map: { y: '2' } } },
    'CEL: quantities': { rules: { cpu: 2 } },
    'CEL: quantities as text': { rules: { cpu: '1900m' } },
    'CEL: a quantity that is none': { rules: { cpu: 'many' } },
    'CEL: addresses': { rules: { ip: '127.0.0.1' } },
    'CEL: an address that is none': { rules: { ip: 'localhost' } },
    'CEL: times': { rules: { until: '1999-01-01T00:00:00Z' } },
    'CEL: rules are not run on an invalid object': { low: 5, high: 3, choice: 'blue' },
    'CEL: two rules fail': { low: 5, high: 3, rules: { a: 'bad', b: 'none' } },
    'an unknown member is pruned': { text: 'abc', bogus: 1, nested: { more: true } },
    'a text of 300 characters': { free: { a: many(100).join('') } },
  }),
  ...updateCases({
    'oldSelf: unchanged': [{ fixed: 'a' }, { fixed: 'a' }],
    'oldSelf: changed': [{ fixed: 'a' }, { fixed: 'b' }],
    'oldSelf: set for the first time': [{}, { fixed: 'b' }],
    'oldSelf: removed': [{ fixed: 'a' }, {}],
    'oldSelf: in a map list': [
      {
        items: [
          { key: 'a', value: 2 },
          { key: 'b', value: 5 },
        ],
      },
      {
        items: [
          { key: 'b', value: 6 },
          { key: 'a', value: 1 },
        ],
      },
    ],
    'optionalOldSelf: removed': [{ choice: 'red' }, {}],
    'optionalOldSelf: changed': [{ choice: 'red' }, { choice: 'green' }],
    'an update that breaks a rule': [
      { low: 1, high: 2 },
      { low: 3, high: 2 },
    ],
    'an update of the wrong type': [{ count: 1 }, { count: 'x' }],
  }),
  {
    name: 'fieldValidation=Strict: unknown fields',
    steps: [
      create(
        widget('w', {
          text: 'abc',
          bogus: 1,
          nested: { more: true },
          list: ['a'],
          items: [{ key: 'a', odd: 1 }],
        }),
        '?fieldValidation=Strict',
      ),
      get('w'),
    ],
  },
  {
    name: 'fieldValidation=Warn: unknown fields',
    steps: [create(widget('w', { bogus: 1, nested: { more: true } }), '?fieldValidation=Warn')],
  },
  {
    name: 'fieldValidation=Ignore: unknown fields',
    steps: [create(widget('w', { bogus: 1 }), '?fieldValidation=Ignore')],
  },
  { name: 'fieldValidation by default warns', steps: [create(widget('w', { bogus: 1 }))] },
  { name: 'fieldValidation that is none', steps: [create(widget('w', {}), '?fieldValidation=Perhaps')] },
  {
    name: 'fieldValidation=Strict: unknown metadata and top level',
    steps: [
      create(
        { ...widget('w', {}, { extra: 1 }), metadata: { name: 'w', colour: 'red' } },
        '?fieldValidation=Strict',
      ),
    ],
  },
  {
    name: 'fieldValidation=Strict: duplicate fields',
    steps: [
      {
        request: `POST ${WIDGETS}?fieldValidation=Strict`,
        body: '{"apiVersion":"contract.example.com/v1","kind":"Widget","metadata":{"name":"w"},"spec":{"text":"abc","text":"abd"}}',
      },
    ],
  },
  {
    name: 'fieldValidation=Strict: a merge patch',
    steps: [
      quiet(create(widget('w', {}))),
      {
        request: `PATCH ${WIDGETS}/w?fieldValidation=Strict`,
        contentType: MERGE,
        body: { spec: { bogus: 1 } },
        view: withoutObject,
      },
    ],
  },
];

/** The message quotes the whole patched object, managed fields and times included. */
function withoutObject(body: unknown): unknown {
  return JSON.parse(
    JSON.stringify(body).replace(
      /Invalid value: \\"\{(?:[^"\\]|\\.)*?\}\\": /g,
      'Invalid value: <the object>: ',
    ),
  );
}

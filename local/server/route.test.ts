import { expect, it } from 'vitest';
import { attributesOf, type ResourceRoute, resourceRoute, verbOf } from './route.ts';

const route = (rest: Partial<ResourceRoute>): ResourceRoute => ({
  group: '',
  version: 'v1',
  plural: '',
  namespace: undefined,
  name: undefined,
  subresource: undefined,
  watch: false,
  ...rest,
});
const things = { group: 'g.io', plural: 'things' };

it.each<[string, ResourceRoute | undefined]>([
  ['/api/v1/namespaces', route({ plural: 'namespaces' })],
  ['/api/v1/namespaces/a', route({ plural: 'namespaces', name: 'a' })],
  ['/api/v1/namespaces/a/status', route({ plural: 'namespaces', name: 'a', subresource: 'status' })],
  ['/api/v1/namespaces/a/finalize', route({ plural: 'namespaces', name: 'a', subresource: 'finalize' })],
  ['/api/v1/namespaces/a/secrets', route({ plural: 'secrets', namespace: 'a' })],
  ['/api/v1/secrets', route({ plural: 'secrets' })],
  [
    '/api/v1/watch/namespaces/a/secrets/b',
    route({ plural: 'secrets', namespace: 'a', name: 'b', watch: true }),
  ],
  ['/apis/g.io/v1/things', route(things)],
  ['/apis/g.io/v1/things/x/status', route({ ...things, name: 'x', subresource: 'status' })],
  ['/apis/g.io/v1/namespaces/a/things/x', route({ ...things, namespace: 'a', name: 'x' })],
  ['/apis/g.io/v1/namespaces/a/things/x%3Ay/', route({ ...things, namespace: 'a', name: 'x:y' })],
  ['/apis/g.io/v1/namespaces/a/things/x/status/more', undefined],
  ['/apis/g.io/v1', undefined],
  ['/apis/g.io', undefined],
  ['/api', undefined],
  ['/', undefined],
  ['/version', undefined],
  ['/apis/g.io/v1//things', undefined],
])('%s', (path, expected) => {
  expect(resourceRoute(path)).toEqual(expected);
});

it.each([
  ['GET', true, false, 'get'],
  ['GET', false, false, 'list'],
  ['GET', false, true, 'watch'],
  ['POST', false, false, 'create'],
  ['PUT', true, false, 'update'],
  ['PATCH', true, false, 'patch'],
  ['DELETE', true, false, 'delete'],
  ['DELETE', false, false, 'deletecollection'],
  ['TRACE', true, false, undefined],
])('%s, named %s, watching %s: %s', (method, named, watch, verb) => {
  expect(verbOf(method, named, watch)).toBe(verb);
});

it('asks for the right to a namespace in that namespace', () => {
  expect(attributesOf(route({ plural: 'namespaces', name: 'a' }), 'get', undefined)).toMatchObject({
    namespace: 'a',
    name: 'a',
  });
  expect(attributesOf(route({ ...things, namespace: 'n' }), 'list', 'x')).toMatchObject({
    namespace: 'n',
    name: 'x',
  });
});

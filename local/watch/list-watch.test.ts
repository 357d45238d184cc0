import fc from 'fast-check';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { StoredObject } from '../object.ts';
import { startTestServer, type TestServer, widget, WIDGETS } from '../testing.ts';

let server: TestServer;
beforeAll(async () => {
  server = await startTestServer();
});
afterAll(() => server.stop());

const MERGE = 'application/merge-patch+json';
const END = 'the-end';
const SELECTORS = [
  '',
  'fieldSelector=spec.color%3Dblue',
  'labelSelector=on',
  'labelSelector=on&fieldSelector=spec.color!%3Dblue',
];

const name = fc.constantFrom('a', 'b', 'c', 'd');
const step = fc.oneof(
  fc.record({ do: fc.constant('create' as const), name }),
  fc.record({ do: fc.constant('paint' as const), name, color: fc.constantFrom('red', 'blue') }),
  fc.record({ do: fc.constant('label' as const), name, on: fc.boolean() }),
  fc.record({ do: fc.constant('delete' as const), name }),
);

async function perform(action: typeof step extends fc.Arbitrary<infer T> ? T : never): Promise<void> {
  const path = `${WIDGETS}/${action.name}`;
  const patch = (body: unknown) => server.client.call('PATCH', path, { body, contentType: MERGE });
  if (action.do === 'create') await server.client.call('POST', WIDGETS, { body: widget(action.name) });
  else if (action.do === 'paint') await patch({ spec: { color: action.color } });
  else if (action.do === 'label') await patch({ metadata: { labels: { on: action.on ? '1' : null } } });
  else await server.client.call('DELETE', path);
}

type State = Map<string, string>;
const versionOf = (object: StoredObject): string => object.metadata.resourceVersion ?? '';

async function listed(selector: string): Promise<{ state: State; rv: string }> {
  const { body } = await server.client.call('GET', `${WIDGETS}?${selector}`);
  const items = body['items'] as StoredObject[];
  return { state: new Map(items.map((item) => [item.metadata.name, versionOf(item)])), rv: versionOf(body) };
}

/** Follows a watch from a list until END leaves it; an event that does not fit the state is an error. */
async function follow(selector: string, state: State, rv: string): Promise<State> {
  const watch = server.client.watch(`${WIDGETS}?watch=1&timeoutSeconds=60&resourceVersion=${rv}&${selector}`);
  let last = Number(rv);
  for (;;) {
    const event = await watch.next();
    if (event === undefined) throw new Error('the watch has ended');
    const { metadata } = event.object;
    const version = Number(metadata.resourceVersion);
    expect(version).toBeGreaterThan(last);
    last = version;
    expect([event.type, metadata.name, state.has(metadata.name)]).toEqual([
      event.type,
      metadata.name,
      event.type !== 'ADDED',
    ]);
    if (event.type === 'DELETED') state.delete(metadata.name);
    else state.set(metadata.name, versionOf(event.object));
    if (metadata.name === END && event.type === 'DELETED') break;
  }
  watch.close();
  return state;
}

/** An object that comes into every selection and leaves it. */
async function end(): Promise<void> {
  const body = widget(END, {
    metadata: { name: END, labels: { on: '1' } },
    spec: { size: 1, color: 'green' },
  });
  await server.client.call('POST', WIDGETS, { body });
  await server.client.call('PATCH', `${WIDGETS}/${END}`, {
    body: { spec: { color: 'blue' } },
    contentType: MERGE,
  });
  await server.client.call('PATCH', `${WIDGETS}/${END}`, {
    body: { spec: { color: 'green' } },
    contentType: MERGE,
  });
  await server.client.call('DELETE', `${WIDGETS}/${END}`);
}

it('[K5] a list and a watch from it come to the state that a later list shows, whatever happens between', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(step, { maxLength: 12 }),
      fc.array(step, { maxLength: 25 }),
      async (before, after) => {
        await Promise.all(before.map(perform));
        const begun = await Promise.all(SELECTORS.map(listed));
        const followFrom = (selector: string, i: number): Promise<State> =>
          follow(selector, new Map(begun[i]?.state), begun[i]?.rv ?? '');
        const live = SELECTORS.map(followFrom);
        await Promise.all(after.map(perform));
        await end();
        const wanted = (await Promise.all(SELECTORS.map(listed))).map(({ state }) => state);
        expect(await Promise.all(live)).toEqual(wanted);
        // And those that begin when it has all happened, and live on the history alone.
        expect(await Promise.all(SELECTORS.map(followFrom))).toEqual(wanted);
      },
    ),
    { numRuns: 25 },
  );
}, 120_000);

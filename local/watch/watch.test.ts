import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { startTestServer, type TestServer, widget, WIDGETS } from '../testing.ts';

let server: TestServer;
const create = async (name: string, extra: Record<string, unknown> = {}): Promise<string> => {
  const answer = await server.client.call('POST', WIDGETS, { body: widget(name, extra) });
  expect(answer.code).toBe(201);
  return answer.body.metadata.resourceVersion ?? '';
};
const merge = (name: string, body: unknown): Promise<unknown> =>
  server.client.call('PATCH', `${WIDGETS}/${name}`, { body, contentType: 'application/merge-patch+json' });
const watch = (query: string): ReturnType<TestServer['client']['watch']> =>
  server.client.watch(`${WIDGETS}?watch=true&${query}`);
const INITIAL = 'sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true';

beforeEach(async () => {
  server = await startTestServer({ compaction: { ageMs: 3_600_000, maxRevisions: 100_000 } });
});
afterEach(() => server.stop());

describe('where a watch begins', () => {
  it('without a resourceVersion: with what is there, as added', async () => {
    await create('a');
    const events = watch('timeoutSeconds=20');
    expect((await events.next())?.object.metadata.name).toBe('a');
    await create('b');
    expect(await events.next()).toMatchObject({ type: 'ADDED', object: { metadata: { name: 'b' } } });
  });

  it('[K5] never at a resourceVersion that is still to come: the client must list again', async () => {
    await create('a');
    const { code, body } = await server.client.call('GET', `${WIDGETS}?watch=true&resourceVersion=999999999`);
    expect([code, body]).toEqual([
      504,
      expect.objectContaining({
        reason: 'Timeout',
        message: expect.stringContaining('Too large resource version'),
      }),
    ]);
  });

  it('[K5] at a resourceVersion: with everything after it, nothing twice', async () => {
    const rv = await create('a');
    await merge('a', { spec: { size: 2 } });
    await server.client.call('DELETE', `${WIDGETS}/a`);
    await create('a');
    const events = watch(`resourceVersion=${rv}&timeoutSeconds=20`);
    const seen = [await events.next(), await events.next(), await events.next()];
    expect(seen.map((event) => event?.type)).toEqual(['MODIFIED', 'DELETED', 'ADDED']);
    const versions = seen.map((event) => Number(event?.object.metadata.resourceVersion));
    expect(versions).toEqual([...versions].sort((a, b) => a - b));
  });

  it('[K1] with sendInitialEvents: the state, then a bookmark that says that this was all', async () => {
    await create('a');
    const events = watch(`${INITIAL}&timeoutSeconds=20`);
    expect((await events.next())?.type).toBe('ADDED');
    const end = await events.next();
    expect(end).toMatchObject({
      type: 'BOOKMARK',
      object: {
        kind: 'Widget',
        apiVersion: 'example.com/v1',
        metadata: { annotations: { 'k8s.io/initial-events-end': 'true' } },
      },
    });
    await create('b');
    expect((await events.next())?.object.metadata.name).toBe('b');
  });

  it('sendInitialEvents needs resourceVersionMatch=NotOlderThan', async () => {
    const { code, text } = await server.client.call('GET', `${WIDGETS}?watch=1&sendInitialEvents=true`);
    expect([code, text]).toEqual([
      422,
      expect.stringContaining('sendInitialEvents requires setting resourceVersionMatch to NotOlderThan'),
    ]);
  });

  it('with hundreds of objects to begin with, misses none that come meanwhile', async () => {
    await Promise.all(Array.from({ length: 350 }, (_, i) => create(`n${i}`)));
    const events = watch(`${INITIAL}&timeoutSeconds=60`);
    const names = new Set<string>();
    const more = Promise.all(Array.from({ length: 50 }, (_, i) => create(`m${i}`)));
    while (names.size < 400) {
      const event = await events.next();
      if (event?.type === 'ADDED') names.add(event.object.metadata.name);
    }
    await more;
    expect(names.size).toBe(400);
  });
});

describe('what a watch sees', () => {
  it('with selectors: objects come and go as they match', async () => {
    const rv = await create('a', { spec: { size: 1, color: 'red' } });
    const fields = watch(`resourceVersion=${rv}&fieldSelector=spec.color%3Dblue&timeoutSeconds=20`);
    const labels = watch(`resourceVersion=${rv}&labelSelector=on&timeoutSeconds=20`);
    await merge('a', { spec: { color: 'blue' }, metadata: { labels: { on: '1' } } });
    await merge('a', { spec: { size: 3 } });
    await merge('a', { spec: { color: 'green' }, metadata: { labels: { on: null } } });
    for (const events of [fields, labels]) {
      expect((await events.next())?.type).toBe('ADDED');
      expect((await events.next())?.type).toBe('MODIFIED');
      const last = await events.next();
      expect(last).toMatchObject({ type: 'DELETED', object: { spec: { color: 'blue' } } });
      expect(Number(last?.object.metadata.resourceVersion)).toBe(
        server.api.token('x', []) === '' ? 0 : Number(rv) + 3,
      );
    }
  });

  it('of one object by name', async () => {
    const rv = await create('a');
    const events = watch(`resourceVersion=${rv}&fieldSelector=metadata.name%3Db&timeoutSeconds=20`);
    await merge('a', { spec: { size: 2 } });
    await create('b');
    expect((await events.next())?.object.metadata.name).toBe('b');
  });

  it('as tables, the columns named once', async () => {
    await create('a');
    const events = server.client.watch(`${WIDGETS}?watch=1&${INITIAL}&timeoutSeconds=20`, {
      accept: 'application/json;as=Table;v=v1;g=meta.k8s.io,application/json',
    });
    const first = (await events.next())?.object as unknown as {
      kind: string;
      columnDefinitions: unknown[];
      rows: { cells: unknown[] }[];
    };
    expect(first.kind).toBe('Table');
    expect(first.columnDefinitions).toHaveLength(2);
    expect(first.rows[0]?.cells[0]).toBe('a');
    const bookmark = (await events.next()) as unknown as {
      type: string;
      object: { columnDefinitions: unknown; rows: { object: unknown }[] };
    };
    expect([bookmark.type, bookmark.object.columnDefinitions]).toEqual(['BOOKMARK', null]);
    expect(bookmark.object.rows[0]?.object).toMatchObject({
      metadata: { annotations: { 'k8s.io/initial-events-end': 'true' } },
    });
  });
});

describe('how a watch ends', () => {
  it('after timeoutSeconds, with a bookmark for the next one', async () => {
    const rv = await create('a');
    const events = watch(`resourceVersion=${rv}&timeoutSeconds=1&allowWatchBookmarks=true`);
    await server.client.call('POST', '/api/v1/namespaces/default/configmaps', {
      body: { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'c' } },
    });
    const bookmark = await events.next();
    expect(bookmark?.type).toBe('BOOKMARK');
    expect(Number(bookmark?.object.metadata.resourceVersion)).toBeGreaterThan(Number(rv));
    expect(await events.next()).toBeUndefined();
  });

  it('when the server ends', async () => {
    const events = watch('timeoutSeconds=100');
    const end = events.next();
    await create('a');
    await end;
    const last = events.next();
    await server.api.close();
    expect(await last).toBeUndefined();
  });
});

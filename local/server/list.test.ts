import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { StoredObject } from '../object.ts';
import { startTestServer, type TestServer, widget, WIDGETS } from '../testing.ts';

let server: TestServer;
const get = (query: string, accept?: string) =>
  server.client.call('GET', `${WIDGETS}${query}`, accept === undefined ? {} : { accept });
const items = (body: StoredObject): StoredObject[] => body['items'] as StoredObject[];
const names = (body: StoredObject): string[] => items(body).map((item) => item.metadata.name);
const meta = (
  body: StoredObject,
): { continue?: string; remainingItemCount?: number; resourceVersion: string } =>
  body.metadata as unknown as { continue?: string; remainingItemCount?: number; resourceVersion: string };

beforeAll(async () => {
  server = await startTestServer();
  for (const [i, color] of ['red', 'blue', 'red', 'blue', 'green'].entries()) {
    await server.client.call('POST', WIDGETS, {
      body: widget(`w${i}`, {
        metadata: { name: `w${i}`, labels: { i: String(i), color } },
        spec: { size: 1, color },
      }),
    });
  }
});
afterAll(() => server.stop());

describe('pages', () => {
  it('show one state, the first page’s, and count what is left', async () => {
    const first = await get('?limit=2');
    expect(names(first.body)).toEqual(['w0', 'w1']);
    expect(meta(first.body).remainingItemCount).toBe(3);
    await server.client.call('POST', WIDGETS, { body: widget('w1a') });
    await server.client.call('DELETE', `${WIDGETS}/w4`);
    const second = await get(`?limit=2&continue=${meta(first.body).continue ?? ''}`);
    expect(names(second.body)).toEqual(['w2', 'w3']);
    const third = await get(`?limit=2&continue=${meta(second.body).continue ?? ''}`);
    expect(names(third.body)).toEqual(['w4']);
    expect(meta(third.body)).toEqual({ continue: '', resourceVersion: meta(first.body).resourceVersion });
    expect(names((await get('')).body)).toEqual(['w0', 'w1', 'w1a', 'w2', 'w3']);
  });

  it('go with selectors too', async () => {
    const first = await get('?limit=1&labelSelector=color%3Dblue');
    expect(names(first.body)).toEqual(['w1']);
    const second = await get(
      `?limit=1&labelSelector=color%3Dblue&continue=${meta(first.body).continue ?? ''}`,
    );
    expect(names(second.body)).toEqual(['w3']);
  });

  it('refuse a token that is not one', async () => {
    const { code, text } = await get('?continue=xx');
    expect([code, text]).toEqual([400, expect.stringContaining('invalid continue token')]);
  });
});

describe('selectors', () => {
  it.each([
    ['labelSelector=i%20in%20(0,2),color%3Dred', ['w0', 'w2']],
    ['labelSelector=!color', ['w1a']],
    ['fieldSelector=spec.color%3Dblue', ['w1', 'w3']],
    ['fieldSelector=spec.color!%3Dblue,metadata.name!%3Dw0', ['w1a', 'w2']],
    ['fieldSelector=metadata.name%3Dw3,metadata.namespace%3Ddefault', ['w3']],
  ])('%s', async (query, expected) => {
    expect(names((await get(`?${query}`)).body)).toEqual(expected);
  });

  it('refuse a field that cannot be selected by', async () => {
    const { code, text } = await get('?fieldSelector=spec.size%3D1');
    expect([code, text]).toEqual([400, expect.stringContaining('field label not supported: spec.size')]);
  });
});

describe('resourceVersion', () => {
  it('Exact shows that state; one from the future is 504 with a time to come back', async () => {
    const { body } = await get('');
    const rv = meta(body).resourceVersion;
    await server.client.call('POST', WIDGETS, { body: widget('x-later') });
    const exact = await get(`?resourceVersion=${rv}&resourceVersionMatch=Exact`);
    expect(names(exact.body)).not.toContain('x-later');
    expect(meta(exact.body).resourceVersion).toBe(rv);
    const future = await get('?resourceVersion=999999');
    expect([future.code, future.headers['retry-after']]).toEqual([504, '1']);
    expect(future.text).toContain('Too large resource version: 999999');
  });

  it.each([
    [
      '?resourceVersionMatch=Exact',
      422,
      'resourceVersionMatch is forbidden unless resourceVersion is provided',
    ],
    ['?resourceVersion=0&resourceVersionMatch=Exact', 422, 'is forbidden for resourceVersion'],
    ['?resourceVersion=abc', 400, 'invalid resource version'],
    ['?limit=abc', 400, 'invalid syntax'],
    ['?sendInitialEvents=true', 422, 'sendInitialEvents is forbidden for list'],
  ])('%s is %i', async (query, code, text) => {
    const answer = await get(query);
    expect([answer.code, answer.text]).toEqual([code, expect.stringContaining(text)]);
  });
});

describe('representations', () => {
  it('[K1] a Table with the columns of the definition', async () => {
    const { body, headers } = await get(
      '?limit=1',
      'application/json;as=Table;v=v1;g=meta.k8s.io,application/json',
    );
    expect(headers['content-type']).toContain('as=Table');
    expect(body).toMatchObject({ kind: 'Table', rows: [{ cells: ['w0', 'red'] }] });
  });

  it('metadata alone', async () => {
    const { body } = await get(
      '?limit=1',
      'application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io',
    );
    expect(body.kind).toBe('PartialObjectMetadataList');
    expect(Object.keys(items(body)[0] ?? {})).toEqual(['kind', 'apiVersion', 'metadata']);
  });

  it('what it does not have is 406', async () => {
    expect((await get('', 'application/foo')).code).toBe(406);
  });
});

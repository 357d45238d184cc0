import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { eventually, startTestServer, type TestServer, widget, WIDGETS } from '../testing.ts';

let server: TestServer;
const call: TestServer['client']['call'] = (...parameters) => server.client.call(...parameters);
const MERGE = 'application/merge-patch+json';

const own = (owner: { name: string; uid: string }, blocks = false): unknown => ({
  apiVersion: 'example.com/v1',
  kind: 'Widget',
  name: owner.name,
  uid: owner.uid,
  blockOwnerDeletion: blocks,
});
const create = async (
  name: string,
  metadata: Record<string, unknown> = {},
): Promise<{ name: string; uid: string }> => {
  const { body, code, text } = await call('POST', WIDGETS, {
    body: widget(name, { metadata: { name, ...metadata } }),
  });
  expect([code, code === 201 ? '' : text]).toEqual([201, '']);
  return { name, uid: body.metadata.uid ?? '' };
};
const gone = (path: string): Promise<boolean> =>
  eventually(async () => (await call('GET', path)).code === 404);

beforeAll(async () => {
  server = await startTestServer();
});
afterAll(() => server.stop());

describe('the garbage collector', () => {
  it('deletes what was owned by what is deleted, all the way down', async () => {
    const top = await create('gc-top');
    const middle = await create('gc-middle', { ownerReferences: [own(top)] });
    await create('gc-low', { ownerReferences: [own(middle)] });
    await call('DELETE', `${WIDGETS}/gc-top`);
    await gone(`${WIDGETS}/gc-middle`);
    await gone(`${WIDGETS}/gc-low`);
  });

  it('deletes what names an owner that was never there, or is there under another UID', async () => {
    const owner = await create('gc-other');
    await create('gc-lost', { ownerReferences: [own({ name: 'nobody', uid: 'u-1' })] });
    await create('gc-stale', { ownerReferences: [own({ name: owner.name, uid: 'u-2' })] });
    await gone(`${WIDGETS}/gc-lost`);
    await gone(`${WIDGETS}/gc-stale`);
  });

  it('takes away the reference to an absent owner where another one is left', async () => {
    const owner = await create('gc-one');
    await create('gc-two', { ownerReferences: [own(owner), own({ name: 'nobody', uid: 'u-3' })] });
    const references = await eventually(async () => {
      const { body } = await call('GET', `${WIDGETS}/gc-two`);
      return body.metadata.ownerReferences?.length === 1 ? body.metadata.ownerReferences : undefined;
    });
    expect(references[0]?.uid).toBe(owner.uid);
  });

  it('with Foreground the owner goes last', async () => {
    const owner = await create('gc-fore');
    await create('gc-held', { ownerReferences: [own(owner, true)], finalizers: ['example.com/hold'] });
    const marked = await call('DELETE', `${WIDGETS}/gc-fore`, { body: { propagationPolicy: 'Foreground' } });
    expect(marked.body.metadata.finalizers).toEqual(['foregroundDeletion']);
    await eventually(
      async () => (await call('GET', `${WIDGETS}/gc-held`)).body.metadata.deletionTimestamp !== undefined,
    );
    expect((await call('GET', `${WIDGETS}/gc-fore`)).code).toBe(200);
    await call('PATCH', `${WIDGETS}/gc-held`, {
      body: { metadata: { finalizers: null } },
      contentType: MERGE,
    });
    await gone(`${WIDGETS}/gc-fore`);
  });

  it('with Orphan the dependents stay, without the reference', async () => {
    const owner = await create('gc-orphan');
    await create('gc-kept', { ownerReferences: [own(owner)] });
    await call('DELETE', `${WIDGETS}/gc-orphan?propagationPolicy=Orphan`);
    await gone(`${WIDGETS}/gc-orphan`);
    expect((await call('GET', `${WIDGETS}/gc-kept`)).body.metadata.ownerReferences).toBeUndefined();
  });
});

describe('deleting a namespace', () => {
  const namespace = (name: string): unknown => ({ apiVersion: 'v1', kind: 'Namespace', metadata: { name } });
  const inside = (name: string): string => `/apis/example.com/v1/namespaces/${name}/widgets`;

  it('empties it, then it is gone', async () => {
    await call('POST', '/api/v1/namespaces', { body: namespace('emptied') });
    for (let i = 0; i < 3; i++) await call('POST', inside('emptied'), { body: widget(`w${i}`) });
    const { body } = await call('DELETE', '/api/v1/namespaces/emptied');
    expect(body).toMatchObject({ kind: 'Namespace', status: { phase: 'Terminating' } });
    await gone('/api/v1/namespaces/emptied');
    expect((await call('GET', inside('emptied'))).body['items']).toEqual([]);
  });

  it('waits for finalizers in it, and lets nothing new in', async () => {
    await call('POST', '/api/v1/namespaces', { body: namespace('held') });
    await call('POST', inside('held'), {
      body: widget('w', { metadata: { name: 'w', finalizers: ['example.com/hold'] } }),
    });
    await call('DELETE', '/api/v1/namespaces/held');
    const refused = await call('POST', inside('held'), { body: widget('late') });
    expect([refused.code, refused.text]).toEqual([
      403,
      expect.stringContaining(
        'unable to create new content in namespace held because it is being terminated',
      ),
    ]);
    await eventually(
      async () => (await call('GET', `${inside('held')}/w`)).body.metadata.deletionTimestamp !== undefined,
    );
    await call('PATCH', `${inside('held')}/w`, {
      body: { metadata: { finalizers: [] } },
      contentType: MERGE,
    });
    await gone('/api/v1/namespaces/held');
  });

  it('can be forced by taking its own finalizer away', async () => {
    await call('POST', '/api/v1/namespaces', { body: namespace('forced') });
    await call('POST', inside('forced'), {
      body: widget('w', { metadata: { name: 'w', finalizers: ['example.com/hold'] } }),
    });
    await call('DELETE', '/api/v1/namespaces/forced');
    const { body } = await call('GET', '/api/v1/namespaces/forced');
    expect(
      (await call('PUT', '/api/v1/namespaces/forced/finalize', { body: { ...body, spec: {} } })).code,
    ).toBe(200);
    expect((await call('GET', '/api/v1/namespaces/forced')).code).toBe(404);
  });

  it('is refused for those of the system', async () => {
    const { code, text } = await call('DELETE', '/api/v1/namespaces/default');
    expect([code, text]).toEqual([403, expect.stringContaining('this namespace may not be deleted')]);
  });
});

describe('definitions', () => {
  const CRDS = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
  const gadgets = (): Record<string, unknown> => ({
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: 'gadgets.example.org' },
    spec: {
      group: 'example.org',
      scope: 'Cluster',
      names: { plural: 'gadgets', kind: 'Gadget' },
      versions: [
        {
          name: 'v1',
          served: true,
          storage: true,
          schema: { openAPIV3Schema: { type: 'object', properties: { a: { type: 'string' } } } },
        },
        {
          name: 'v1beta1',
          served: true,
          storage: false,
          deprecated: true,
          schema: { openAPIV3Schema: { type: 'object', properties: { a: { type: 'string' } } } },
        },
      ],
    },
  });

  it('created through the API are served at once, in every version, and end with their objects', async () => {
    const created = await call('POST', CRDS, { body: gadgets() });
    expect(created.code).toBe(201);
    expect((created.body['status'] as { conditions: { type: string; status: string }[] }).conditions).toEqual(
      expect.arrayContaining([expect.objectContaining({ type: 'Established', status: 'True' }) as unknown]),
    );
    const old = await call('POST', '/apis/example.org/v1beta1/gadgets', {
      body: { apiVersion: 'example.org/v1beta1', kind: 'Gadget', metadata: { name: 'g' }, a: 'x' },
    });
    expect([old.code, old.headers['warning']]).toEqual([
      201,
      '299 - "example.org/v1beta1 Gadget is deprecated"',
    ]);
    const now = await call('GET', '/apis/example.org/v1/gadgets/g');
    expect(now.body).toMatchObject({ apiVersion: 'example.org/v1', a: 'x' });
    await call('DELETE', `${CRDS}/gadgets.example.org`);
    await gone(`${CRDS}/gadgets.example.org`);
    expect((await call('GET', '/apis/example.org/v1/gadgets')).code).toBe(404);
  });

  it('that are wrong are refused, naming the field', async () => {
    const bad = gadgets();
    const [version] = (bad['spec'] as { versions: object[] }).versions;
    const { code, text } = await call('POST', CRDS, {
      body: { ...bad, spec: { ...(bad['spec'] as object), versions: [{ ...version, schema: undefined }] } },
    });
    expect([code, text]).toEqual([422, expect.stringContaining('spec.versions[0].schema.openAPIV3Schema')]);
    expect((await call('POST', CRDS, { body: { ...bad, spec: 5 } })).code).toBe(400);
  });

  it('have a status that can be written, as a migration of stored objects does', async () => {
    const path = `${CRDS}/widgets.example.com`;
    const body = { status: { storedVersions: ['v1', 'v0'] } };
    const written = await call('PATCH', `${path}/status`, { body, contentType: MERGE });
    expect((written.body['status'] as { storedVersions: string[] }).storedVersions).toEqual(['v1', 'v0']);
    await call('PATCH', `${path}/status`, {
      body: { status: { storedVersions: ['v1'] } },
      contentType: MERGE,
    });
    expect((await call('GET', path)).body.metadata.generation).toBe(1);
  });

  it('cannot change what objects depend on', async () => {
    const { body } = await call('GET', `${CRDS}/widgets.example.com`);
    const { code, text } = await call('PUT', `${CRDS}/widgets.example.com`, {
      body: { ...body, spec: { ...(body['spec'] as object), scope: 'Cluster' } },
    });
    expect([code, text]).toEqual([422, expect.stringContaining('field is immutable')]);
  });
});

describe('a schema that changes', () => {
  const CRDS = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
  const parts = (properties: object): Record<string, unknown> => ({
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: 'parts.example.org' },
    spec: {
      group: 'example.org',
      scope: 'Cluster',
      names: { plural: 'parts', kind: 'Part' },
      versions: [
        {
          name: 'v1',
          served: true,
          storage: true,
          schema: {
            openAPIV3Schema: { type: 'object', properties: { spec: { type: 'object', properties } } },
          },
        },
      ],
    },
  });

  it('is what stored objects are read with: new defaults show, dropped fields do not, in lists and watches too', async () => {
    const path = '/apis/example.org/v1/parts';
    const first = await call('POST', CRDS, { body: parts({ a: { type: 'string' }, b: { type: 'string' } }) });
    const made = await call('POST', path, {
      body: { apiVersion: 'example.org/v1', kind: 'Part', metadata: { name: 'p' }, spec: { a: 'x', b: 'y' } },
    });
    const next = parts({ b: { type: 'string' }, c: { type: 'string', default: 'z' } });
    const { resourceVersion } = first.body.metadata;
    const changed = await call('PUT', `${CRDS}/parts.example.org`, {
      body: { ...next, metadata: { name: 'parts.example.org', resourceVersion } },
    });
    expect([changed.code, changed.body.metadata.generation]).toEqual([200, 2]);
    const spec = { b: 'y', c: 'z' };
    const { body } = await call('GET', `${path}/p`);
    expect([body['spec'], body.metadata.resourceVersion]).toEqual([spec, made.body.metadata.resourceVersion]);
    expect(((await call('GET', path)).body['items'] as { spec: object }[])[0]?.spec).toEqual(spec);
    const watch = server.client.watch(`${path}?watch=1&timeoutSeconds=20`);
    expect((await watch.next())?.object['spec']).toEqual(spec);
    const patched = await call('PATCH', `${path}/p`, { body: { spec: { b: 'w' } }, contentType: MERGE });
    expect(patched.body['spec']).toEqual({ b: 'w', c: 'z' });
    expect((await watch.next())?.object['spec']).toEqual({ b: 'w', c: 'z' });
    await call('DELETE', `${CRDS}/parts.example.org`);
    // The object goes first, then the kind, and with it the watch.
    expect((await watch.next())?.type).toBe('DELETED');
    expect(await watch.next()).toBeUndefined();
  });
});

import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startTestServer, type TestServer, widget, WIDGETS } from '../testing.ts';

let server: TestServer;
const call: TestServer['client']['call'] = (...parameters) => server.client.call(...parameters);
const MERGE = 'application/merge-patch+json';
const JSON_PATCH = 'application/json-patch+json';
let serial = 0;
const fresh = (): string => `w${(serial += 1)}`;
const made = async (extra: Record<string, unknown> = {}): Promise<string> => {
  const name = fresh();
  const { metadata, ...rest } = extra as { metadata?: object };
  const answer = await call('POST', WIDGETS, {
    body: widget(name, { metadata: { name, ...metadata }, ...rest }),
  });
  expect(answer.code).toBe(201);
  return name;
};

beforeAll(async () => {
  server = await startTestServer();
});
afterAll(() => server.stop());

describe('create', () => {
  it('answers 201 with UID, resourceVersion, generation 1, a creation time and defaults', async () => {
    const name = fresh();
    const { code, body } = await call('POST', WIDGETS, { body: widget(name) });
    expect(code).toBe(201);
    expect(body.metadata).toMatchObject({ name, namespace: 'default', generation: 1 });
    expect(body.metadata.uid).toMatch(/^[0-9a-f-]{36}$/);
    expect(body.metadata.creationTimestamp).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/);
    expect(Number(body.metadata.resourceVersion)).toBeGreaterThan(0);
    expect(body['spec']).toEqual({ size: 1, color: 'red' });
  });

  it('takes no status or UID from the user, and refuses a resourceVersion', async () => {
    const name = fresh();
    const { body } = await call('POST', WIDGETS, {
      body: widget(name, { metadata: { name, uid: 'mine' }, status: { phase: 'Done' } }),
    });
    expect(body['status']).toBeUndefined();
    expect(body.metadata.uid).not.toBe('mine');
    const versioned = await call('POST', WIDGETS, {
      body: widget('v', { metadata: { name: 'v', resourceVersion: '7' } }),
    });
    expect([versioned.code, versioned.text]).toEqual([
      500,
      expect.stringContaining('resourceVersion should not be set on objects to be created'),
    ]);
  });

  it('makes up a name from generateName', async () => {
    const { body } = await call('POST', WIDGETS, {
      body: widget('', { metadata: { generateName: 'gen-' } }),
    });
    expect(body.metadata.name).toMatch(/^gen-[a-z0-9]{5}$/);
  });

  it('refuses a second one with the API server’s words', async () => {
    const name = await made();
    const { code, body } = await call('POST', WIDGETS, { body: widget(name) });
    expect(code).toBe(409);
    expect(body).toMatchObject({
      reason: 'AlreadyExists',
      message: `widgets.example.com "${name}" already exists`,
      details: { name, group: 'example.com', kind: 'widgets' },
    });
  });

  it('stores nothing with dryRun=All', async () => {
    const name = fresh();
    const answer = await call('POST', `${WIDGETS}?dryRun=All`, { body: widget(name) });
    expect(answer.code).toBe(201);
    expect(answer.body.metadata.resourceVersion).toBeUndefined();
    expect((await call('GET', `${WIDGETS}/${name}`)).code).toBe(404);
  });

  it.each([
    [
      'a namespace that is not there',
      '/apis/example.com/v1/namespaces/nope/widgets',
      widget('a'),
      404,
      'namespaces "nope" not found',
    ],
    [
      'another version',
      WIDGETS,
      { ...widget('a'), apiVersion: 'example.com/v2' },
      400,
      'the API version in the data (example.com/v2) does not match the expected API version (example.com/v1)',
    ],
    [
      'another kind',
      WIDGETS,
      { ...widget('a'), kind: 'Other' },
      422,
      'Other.example.com "a" is invalid: kind: Invalid value: "Other": must be Widget',
    ],
    [
      'another namespace',
      WIDGETS,
      widget('a', { metadata: { name: 'a', namespace: 'x' } }),
      400,
      'the namespace of the provided object does not match the namespace sent on the request',
    ],
    [
      'half a body',
      WIDGETS,
      '{"spec":',
      400,
      'the object provided is unrecognized (must be of type Widget): couldn\'t get version/kind; json parse error: unexpected end of JSON input ({"spec":)',
    ],
    [
      'no kind',
      WIDGETS,
      '{}',
      400,
      "the object provided is unrecognized (must be of type Widget): Object 'Kind' is missing in '{}' ({})",
    ],
  ])('refuses %s', async (_what, path, body, code, message) => {
    const answer = await call('POST', path, { body });
    expect([answer.code, (answer.body as unknown as { message: string }).message]).toEqual([code, message]);
  });

  it('refuses a name of 254 characters, takes one of 253', async () => {
    expect((await call('POST', WIDGETS, { body: widget('a'.repeat(254)) })).code).toBe(422);
    const answer = await call('POST', WIDGETS, { body: widget('a'.repeat(253)) });
    expect(answer.code).toBe(201);
    expect((await call('DELETE', `${WIDGETS}/${'a'.repeat(253)}`)).code).toBe(200);
  });

  it('refuses names, labels and annotations that break the rules, naming the field', async () => {
    const { code, body } = await call('POST', WIDGETS, {
      body: widget('Bad_Name', { metadata: { name: 'Bad_Name', labels: { 'a b': 'c' } } }),
    });
    expect(code).toBe(422);
    const fields = (body as unknown as { details: { causes: { field: string }[] } }).details.causes.map(
      (c) => c.field,
    );
    expect(fields).toEqual(expect.arrayContaining(['metadata.name', 'metadata.labels']));
  });

  it('refuses a body over 3 MiB with 413, and goes on serving', async () => {
    const answer = await call('POST', WIDGETS, {
      body: widget('big', { metadata: { name: 'big', annotations: { a: 'x'.repeat(3 * 1024 * 1024) } } }),
    }).catch(() => undefined);
    if (answer !== undefined) expect(answer.code).toBe(413);
    expect((await call('GET', `${WIDGETS}/big`)).code).toBe(404);
  });

  it('reads YAML', async () => {
    const name = fresh();
    const yaml = `apiVersion: example.com/v1\nkind: Widget\nmetadata:\n  name: ${name}\nspec:\n  size: 3\n`;
    const { code, body } = await call('POST', WIDGETS, { body: yaml, contentType: 'application/yaml' });
    expect([code, body['spec']]).toEqual([201, { size: 3, color: 'red' }]);
  });

  it('refuses other content types with 415', async () => {
    expect((await call('POST', WIDGETS, { body: '{}', contentType: 'text/plain' })).code).toBe(415);
  });
});

describe('field validation', () => {
  const body = (name: string): unknown => ({ ...widget(name), spec: { size: 1, sizee: 2 } });

  it('[K1] Strict refuses unknown fields', async () => {
    const answer = await call('POST', `${WIDGETS}?fieldValidation=Strict`, { body: body(fresh()) });
    expect(answer.code).toBe(400);
    expect(answer.text).toContain('strict decoding error: unknown field \\"spec.sizee\\"');
  });

  it('Warn drops them and says so in a header, which is the default', async () => {
    const answer = await call('POST', WIDGETS, { body: body(fresh()) });
    expect(answer.code).toBe(201);
    expect(answer.headers['warning']).toBe('299 - "unknown field \\"spec.sizee\\""');
    expect(answer.body['spec']).toEqual({ size: 1, color: 'red' });
  });

  it('Ignore drops them', async () => {
    const answer = await call('POST', `${WIDGETS}?fieldValidation=Ignore`, { body: body(fresh()) });
    expect([answer.code, answer.headers['warning']]).toEqual([201, undefined]);
  });

  it('names fields that stand twice', async () => {
    const name = fresh();
    const text = `{"apiVersion":"example.com/v1","kind":"Widget","metadata":{"name":"${name}"},"spec":{"size":1,"size":2}}`;
    const strict = await call('POST', `${WIDGETS}?fieldValidation=Strict`, { body: text });
    expect([strict.code, strict.text]).toEqual([
      400,
      expect.stringContaining('strict decoding error: duplicate field \\"spec.size\\"'),
    ]);
    const warned = await call('POST', WIDGETS, { body: text });
    expect([warned.code, warned.headers['warning']]).toEqual([
      201,
      '299 - "duplicate field \\"spec.size\\""',
    ]);
  });

  it('goes for built-in kinds too, and so do the types of their fields', async () => {
    const path = '/api/v1/namespaces/default/configmaps';
    const map = (name: string, extra: object): object => ({
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name },
      ...extra,
    });
    const unknown = await call('POST', `${path}?fieldValidation=Strict`, {
      body: map('strict', { dat: {} }),
    });
    expect([unknown.code, unknown.text]).toEqual([400, expect.stringContaining('unknown field \\"dat\\"')]);
    const dropped = await call('POST', path, { body: map('dropped', { dat: {}, data: { a: 'b' } }) });
    expect([dropped.code, dropped.body['dat'], dropped.body['data']]).toEqual([201, undefined, { a: 'b' }]);
    const typed = await call('POST', path, { body: map('typed', { data: { a: 1 } }) });
    expect([typed.code, typed.text]).toEqual([
      400,
      expect.stringContaining('cannot unmarshal number into Go struct field ConfigMap.data'),
    ]);
  });

  it('anything else is refused', async () => {
    const answer = await call('POST', `${WIDGETS}?fieldValidation=foo&dryRun=bar`, { body: body(fresh()) });
    expect(answer.code).toBe(422);
    expect(answer.text).toContain('supported values: \\"\\", \\"Ignore\\", \\"Strict\\", \\"Warn\\"');
  });
});

describe('update', () => {
  it('needs a resourceVersion, and the newest one', async () => {
    const name = await made();
    const without = await call('PUT', `${WIDGETS}/${name}`, { body: widget(name) });
    expect([without.code, without.text]).toEqual([
      422,
      expect.stringContaining('must be specified for an update'),
    ]);
    const old = await call('PUT', `${WIDGETS}/${name}`, {
      body: widget(name, { metadata: { name, resourceVersion: '1' } }),
    });
    expect([old.code, old.text]).toEqual([
      409,
      expect.stringContaining(
        `Operation cannot be fulfilled on widgets.example.com \\"${name}\\": the object has been modified; please apply your changes to the latest version and try again`,
      ),
    ]);
  });

  it('counts a generation for a change of the spec, none for labels', async () => {
    const name = await made();
    const { body } = await call('GET', `${WIDGETS}/${name}`);
    const labelled = await call('PUT', `${WIDGETS}/${name}`, {
      body: { ...body, metadata: { ...body.metadata, labels: { a: 'b' } } },
    });
    expect(labelled.body.metadata.generation).toBe(1);
    const changed = await call('PUT', `${WIDGETS}/${name}`, {
      body: { ...labelled.body, spec: { size: 2 } },
    });
    expect(changed.body.metadata.generation).toBe(2);
    expect(changed.body.metadata.uid).toBe(body.metadata.uid);
  });

  it('[K5] writes nothing when nothing changes', async () => {
    const name = await made();
    const { body } = await call('GET', `${WIDGETS}/${name}`);
    const same = await call('PUT', `${WIDGETS}/${name}`, { body });
    expect(same.body.metadata.resourceVersion).toBe(body.metadata.resourceVersion);
    const patched = await call('PATCH', `${WIDGETS}/${name}`, {
      body: { spec: { size: 1 } },
      contentType: MERGE,
    });
    expect(patched.body.metadata.resourceVersion).toBe(body.metadata.resourceVersion);
  });

  it('leaves the status to the status subresource, and that the rest', async () => {
    const name = await made();
    const { body } = await call('GET', `${WIDGETS}/${name}`);
    const object = await call('PUT', `${WIDGETS}/${name}`, { body: { ...body, status: { phase: 'Done' } } });
    expect(object.body['status']).toBeUndefined();
    const status = await call('PUT', `${WIDGETS}/${name}/status`, {
      body: {
        ...object.body,
        metadata: { ...object.body.metadata, labels: { a: 'b' } },
        spec: { size: 9 },
        status: { phase: 'Done' },
      },
    });
    expect(status.code).toBe(200);
    expect(status.body).toMatchObject({
      spec: { size: 1 },
      status: { phase: 'Done' },
      metadata: { generation: 1 },
    });
    expect(status.body.metadata.labels).toBeUndefined();
  });

  it('does not find what is not there', async () => {
    const answer = await call('PUT', `${WIDGETS}/none`, {
      body: widget('none', { metadata: { name: 'none', resourceVersion: '1' } }),
    });
    expect(answer.code).toBe(404);
  });

  it('refuses another name or UID than the stored one’s', async () => {
    const name = await made();
    const other = await call('PUT', `${WIDGETS}/${name}`, { body: widget('other') });
    expect([other.code, other.text]).toEqual([
      400,
      expect.stringContaining(`the name of the object (other) does not match the name on the URL (${name})`),
    ]);
    const { body } = await call('GET', `${WIDGETS}/${name}`);
    const stranger = { ...body, metadata: { ...body.metadata, uid: 'x' } };
    const uid = await call('PUT', `${WIDGETS}/${name}`, { body: stranger });
    expect([uid.code, uid.text]).toEqual([
      409,
      expect.stringContaining('Precondition failed: UID in precondition: x'),
    ]);
    const patched = await call('PATCH', `${WIDGETS}/${name}`, {
      body: { metadata: { uid: 'x' } },
      contentType: MERGE,
    });
    expect([patched.code, patched.text]).toEqual([422, expect.stringContaining('field is immutable')]);
  });

  it('of two at once with one resourceVersion, one wins', async () => {
    const name = await made();
    const { body } = await call('GET', `${WIDGETS}/${name}`);
    const answers = await Promise.all(
      [2, 3, 4].map((size) => call('PUT', `${WIDGETS}/${name}`, { body: { ...body, spec: { size } } })),
    );
    expect(answers.map((answer) => answer.code).toSorted((a, b) => a - b)).toEqual([200, 409, 409]);
  });
});

describe('patch', () => {
  it('merges, and removes what is null', async () => {
    const name = await made({ metadata: { labels: { a: '1', b: '2' } } });
    const { body } = await call('PATCH', `${WIDGETS}/${name}`, {
      body: { metadata: { labels: { a: null, c: '3' } }, spec: { size: 4 } },
      contentType: MERGE,
    });
    expect(body.metadata.labels).toEqual({ b: '2', c: '3' });
    expect(body['spec']).toEqual({ size: 4, color: 'red' });
  });

  it('applies a JSON patch whole or not at all', async () => {
    const name = await made();
    const good = await call('PATCH', `${WIDGETS}/${name}`, {
      body: [
        { op: 'test', path: '/spec/size', value: 1 },
        { op: 'replace', path: '/spec/size', value: 5 },
      ],
      contentType: JSON_PATCH,
    });
    expect(good.body['spec']).toMatchObject({ size: 5 });
    const bad = await call('PATCH', `${WIDGETS}/${name}`, {
      body: [
        { op: 'replace', path: '/spec/size', value: 6 },
        { op: 'test', path: '/spec/size', value: 1 },
      ],
      contentType: JSON_PATCH,
    });
    expect([bad.code, bad.text]).toEqual([
      422,
      expect.stringContaining('the server rejected our request due to an error in our request'),
    ]);
    expect((await call('GET', `${WIDGETS}/${name}`)).body['spec']).toMatchObject({ size: 5 });
  });

  it('cannot pollute prototypes', async () => {
    const name = await made();
    await call('PATCH', `${WIDGETS}/${name}`, {
      body: '{"metadata":{"labels":{"__proto__":{"x":"y"}}}}',
      contentType: MERGE,
    });
    await call('PATCH', `${WIDGETS}/${name}`, {
      body: [{ op: 'add', path: '/__proto__/polluted', value: 1 }],
      contentType: JSON_PATCH,
    });
    expect(({} as Record<string, unknown>)['polluted']).toBeUndefined();
  });

  it('of something absent is 404; with a stale resourceVersion 409', async () => {
    expect((await call('PATCH', `${WIDGETS}/none`, { body: {}, contentType: MERGE })).code).toBe(404);
    const name = await made();
    const stale = await call('PATCH', `${WIDGETS}/${name}`, {
      body: { metadata: { resourceVersion: '1' } },
      contentType: MERGE,
    });
    expect(stale.code).toBe(409);
  });

  it('of the status leaves the spec', async () => {
    const name = await made();
    const { body } = await call('PATCH', `${WIDGETS}/${name}/status`, {
      body: { spec: { size: 8 }, status: { phase: 'Run' } },
      contentType: MERGE,
    });
    expect(body).toMatchObject({ spec: { size: 1 }, status: { phase: 'Run' }, metadata: { generation: 1 } });
  });

  it('names unknown fields of the outcome under Strict', async () => {
    const name = await made();
    const { code, text } = await call('PATCH', `${WIDGETS}/${name}?fieldValidation=Strict`, {
      body: { spec: { nope: 1 } },
      contentType: MERGE,
    });
    expect([code, text]).toEqual([
      422,
      expect.stringContaining('strict decoding error: unknown field \\"spec.nope\\"'),
    ]);
  });

  it('strategic merge is for built-in kinds', async () => {
    const name = await made();
    const strategic = await call('PATCH', `${WIDGETS}/${name}`, {
      body: {},
      contentType: 'application/strategic-merge-patch+json',
    });
    expect(strategic.code).toBe(415);
    await call('POST', '/api/v1/namespaces/default/configmaps', {
      body: { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'cm' }, data: { a: '1', b: '2' } },
    });
    const map = await call('PATCH', '/api/v1/namespaces/default/configmaps/cm', {
      body: { data: { a: null, c: '3' } },
      contentType: 'application/strategic-merge-patch+json',
    });
    expect([map.code, map.body['data']]).toEqual([200, { b: '2', c: '3' }]);
  });
});

describe('delete', () => {
  it('answers a Status, and then there is nothing', async () => {
    const name = await made();
    const { code, body } = await call('DELETE', `${WIDGETS}/${name}`);
    expect([code, body]).toEqual([
      200,
      expect.objectContaining({
        kind: 'Status',
        status: 'Success',
        details: expect.objectContaining({ name, kind: 'widgets' }) as unknown,
      }),
    ]);
    expect((await call('GET', `${WIDGETS}/${name}`)).code).toBe(404);
    expect((await call('DELETE', `${WIDGETS}/${name}`)).code).toBe(404);
  });

  it('[K3] waits for finalizers: marked first, gone when the last one is taken away', async () => {
    const name = await made({ metadata: { finalizers: ['example.com/hold'] } });
    const marked = await call('DELETE', `${WIDGETS}/${name}`);
    expect(marked.body.metadata).toMatchObject({ deletionGracePeriodSeconds: 0, generation: 2 });
    expect(marked.body.metadata.deletionTimestamp).toBeDefined();
    const added = await call('PATCH', `${WIDGETS}/${name}`, {
      body: { metadata: { finalizers: ['example.com/hold', 'example.com/more'] } },
      contentType: MERGE,
    });
    expect([added.code, added.text]).toEqual([
      422,
      expect.stringContaining('no new finalizers can be added if the object is being deleted'),
    ]);
    const again = await call('DELETE', `${WIDGETS}/${name}`);
    expect(again.body.metadata.resourceVersion).toBe(marked.body.metadata.resourceVersion);
    const released = await call('PATCH', `${WIDGETS}/${name}`, {
      body: { metadata: { finalizers: null } },
      contentType: MERGE,
    });
    expect(released.code).toBe(200);
    expect((await call('GET', `${WIDGETS}/${name}`)).code).toBe(404);
  });

  it('keeps to its preconditions', async () => {
    const name = await made();
    const uid = await call('DELETE', `${WIDGETS}/${name}`, {
      body: { kind: 'DeleteOptions', apiVersion: 'v1', preconditions: { uid: 'x' } },
    });
    expect([uid.code, uid.text]).toEqual([
      409,
      expect.stringContaining('the UID in the precondition (x) does not match the UID in record'),
    ]);
    const version = await call('DELETE', `${WIDGETS}/${name}`, {
      body: { preconditions: { resourceVersion: '1' } },
    });
    expect([version.code, version.text]).toEqual([
      409,
      expect.stringContaining('the ResourceVersion in the precondition (1) does not match'),
    ]);
    const { body } = await call('GET', `${WIDGETS}/${name}`);
    const right = await call('DELETE', `${WIDGETS}/${name}`, {
      body: { preconditions: { uid: body.metadata.uid, resourceVersion: body.metadata.resourceVersion } },
    });
    expect(right.code).toBe(200);
  });

  it('with dryRun=All changes nothing', async () => {
    const name = await made({ metadata: { finalizers: ['example.com/hold'] } });
    expect((await call('DELETE', `${WIDGETS}/${name}?dryRun=All`)).code).toBe(200);
    expect((await call('GET', `${WIDGETS}/${name}`)).body.metadata.deletionTimestamp).toBeUndefined();
  });

  it('of a collection covers what is selected', async () => {
    await made({ metadata: { labels: { lot: 'x' } } });
    await made({ metadata: { labels: { lot: 'x' } } });
    const kept = await made();
    const { code, body } = await call('DELETE', `${WIDGETS}?labelSelector=lot%3Dx`);
    expect([code, (body['items'] as unknown[]).length]).toEqual([200, 2]);
    expect((await call('GET', `${WIDGETS}/${kept}`)).code).toBe(200);
    expect((await call('GET', `${WIDGETS}?labelSelector=lot%3Dx`)).body['items']).toEqual([]);
  });
});

describe('requests with more fields than a call can have arguments', () => {
  const members = (text: (i: number) => string): string =>
    `{${Array.from({ length: 150_000 }, (_, i) => text(i)).join(',')}}`;
  const items = `[${Array.from({ length: 150_000 }, (_, i) => `"a b${i}"`).join(',')}]`;
  it.each([
    ['unknown ones', 201, `"spec":${members((i) => (i === 0 ? '"size":1' : `"k${i}":""`))}`],
    ['unknown ones beside it', 201, `"spec":{"size":1},${members((i) => `"k${i}":""`).slice(1, -1)}`],
    ['that stand twice', 201, `"spec":${members(() => '"size":1')}`],
    ['labels that are none', 422, `"metadata":{"name":"m","labels":${members((i) => `"a b${i}":""`)}}`],
    ['finalizers that are none', 422, `"metadata":{"name":"m","finalizers":${items}}`],
    [
      'owners that are none',
      422,
      `"metadata":{"name":"m","ownerReferences":[${'{"uid":""},'.repeat(90_000)}{}]}`,
    ],
  ])('%s', { timeout: 60_000 }, async (_what, code, text) => {
    const name = text.startsWith('"metadata"') ? '' : `"metadata":{"generateName":"m-"},`;
    const body = `{"apiVersion":"example.com/v1","kind":"Widget",${name}${text}}`;
    const answer = await call('POST', WIDGETS, { body });
    expect([answer.code, answer.text.slice(0, 300)]).toEqual([code, expect.any(String)]);
  });
});

describe('paths', () => {
  it.each(['/foo', '/apis/example.com/v9/widgets', '/apis/example.com/v1/gadgets'])(
    '%s is 404 page not found',
    async (path) => {
      const answer = await call('GET', path);
      expect([answer.code, answer.text]).toEqual([404, '404 page not found\n']);
    },
  );

  it.each(['/livez', '/readyz', '/healthz'])('%s is ok, for anybody', async (path) => {
    const answer = await call('GET', path, { token: undefined });
    expect([answer.code, answer.text]).toEqual([200, 'ok']);
  });

  it('a broken escape in a path is a 400', async () => {
    expect((await call('GET', `${WIDGETS}/%zz`)).code).toBe(400);
  });

  it('a subresource is not created or deleted: its object stays', async () => {
    const name = await made();
    expect((await call('DELETE', `${WIDGETS}/${name}/status`)).code).toBe(405);
    expect((await call('POST', `${WIDGETS}/${name}/status`, { body: widget('other') })).code).toBe(405);
    expect((await call('GET', `${WIDGETS}/${name}`)).code).toBe(200);
    expect((await call('DELETE', '/api/v1/namespaces/default/finalize')).code).toBe(405);
  });

  it('methods that resources do not have are 405', async () => {
    expect((await call('OPTIONS', WIDGETS)).code).toBe(405);
    expect((await call('PUT', WIDGETS, { body: widget('a') })).code).toBe(400);
  });
});

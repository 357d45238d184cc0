import { getEventListeners } from 'node:events';
import { afterEach, describe, expect, it } from 'vitest';
import { ApiError } from './client.ts';
import { isConflict, isGone, isNotFound, retryAfterMs, TransportError } from './errors.ts';
import { createKubeClient, type KubeClientOptions } from './http-client.ts';
import { NAMESPACES } from './resources.ts';
import { FakeClock } from './testing/fake-clock.ts';
import { thing, THINGS, type Thing } from './testing/fixtures.ts';
import {
  answer,
  answerList,
  answerStatus,
  openWatch,
  ScriptedServer,
  sendEvent,
  type Script,
} from './testing/scripted-server.ts';

const ends: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0)) await end();
});

async function setUp(script: Script, options: Partial<KubeClientOptions> = {}) {
  const server = await ScriptedServer.start(script);
  const clock = new FakeClock();
  const client = createKubeClient({
    server: server.url,
    caData: server.caData,
    token: 'secret',
    userAgent: 'test/1',
    clock,
    ...options,
  });
  ends.push(async () => {
    client.close();
    await server.close();
  });
  return { server, client, clock };
}

const ref = { namespace: 'default', name: 'a' };

async function errorOf(promise: Promise<unknown>): Promise<unknown> {
  return await promise.then(
    () => undefined,
    (error: unknown) => error,
  );
}

describe('calls', () => {
  it('[K5] makes one handshake for any number of calls one after the other', async () => {
    const { server, client } = await setUp((received) => answer(received, 200, thing('a')));
    for (let call = 0; call < 200; call++) await client.get(THINGS, ref);
    expect(server.requests).toHaveLength(200);
    expect(server.handshakes).toBe(1);
  });

  it('makes no more connections than its bound for calls at once', async () => {
    const { server, client } = await setUp((received) => answer(received, 200, thing('a')));
    await Promise.all(Array.from({ length: 200 }, () => client.get(THINGS, ref)));
    expect(server.handshakes).toBeLessThanOrEqual(32);
  });

  it('[L3] writes strictly, each with its own content type', async () => {
    const { server, client } = await setUp((received) => answer(received, 200, thing('a')));
    await client.create(THINGS, thing('a'));
    await client.update(THINGS, thing('a'));
    await client.update(THINGS, thing('a'), { subresource: 'status' });
    await client.patch(THINGS, ref, { spec: {} }, { type: 'merge' });
    await client.patch(THINGS, ref, [], { type: 'json', dryRun: true });
    expect(
      server.requests.map(({ method, path, query, headers }) => [
        method,
        path,
        query.get('fieldValidation'),
        query.get('dryRun'),
        headers['content-type'],
      ]),
    ).toEqual([
      [
        'POST',
        '/apis/holdfast.dev/v1alpha1/namespaces/default/sandboxes',
        'Strict',
        null,
        'application/json',
      ],
      [
        'PUT',
        '/apis/holdfast.dev/v1alpha1/namespaces/default/sandboxes/a',
        'Strict',
        null,
        'application/json',
      ],
      [
        'PUT',
        '/apis/holdfast.dev/v1alpha1/namespaces/default/sandboxes/a/status',
        'Strict',
        null,
        'application/json',
      ],
      [
        'PATCH',
        '/apis/holdfast.dev/v1alpha1/namespaces/default/sandboxes/a',
        'Strict',
        null,
        'application/merge-patch+json',
      ],
      [
        'PATCH',
        '/apis/holdfast.dev/v1alpha1/namespaces/default/sandboxes/a',
        'Strict',
        'All',
        'application/json-patch+json',
      ],
    ]);
    expect(server.requests[0]?.headers).toMatchObject({
      authorization: 'Bearer secret',
      'user-agent': 'test/1',
    });
  });

  it('asks for the token of the moment with each call', async () => {
    let turn = 0;
    const { server, client } = await setUp((received) => answer(received, 200, thing('a')), {
      token: async () => `token-${++turn}`,
    });
    await client.get(THINGS, ref);
    await client.get(THINGS, ref);
    expect(server.requests.map(({ headers }) => headers.authorization)).toEqual([
      'Bearer token-1',
      'Bearer token-2',
    ]);
  });

  it('deletes with preconditions and a policy', async () => {
    const { server, client } = await setUp((received) => answer(received, 200, { kind: 'Status' }));
    await client.delete(THINGS, ref, { uid: 'u', resourceVersion: '7', propagationPolicy: 'Background' });
    expect(JSON.parse(server.requests[0]?.body ?? '')).toEqual({
      kind: 'DeleteOptions',
      apiVersion: 'v1',
      preconditions: { uid: 'u', resourceVersion: '7' },
      propagationPolicy: 'Background',
    });
  });

  it('gives the items of a list the kind that the list has', async () => {
    const { server, client } = await setUp((received) =>
      answerList(received, [{ metadata: { name: 'a', namespace: 'default' } }], '5', 'more'),
    );
    const page = await client.list(THINGS, {
      labelSelector: 'a=b',
      fieldSelector: 'status.nodeName=n',
      limit: 1,
      continueToken: 'from',
    });
    expect(page).toEqual({
      items: [
        {
          apiVersion: 'holdfast.dev/v1alpha1',
          kind: 'Sandbox',
          metadata: { name: 'a', namespace: 'default' },
        },
      ],
      resourceVersion: '5',
      continueToken: 'more',
    });
    expect(Object.fromEntries(server.requests[0]?.query ?? [])).toEqual({
      labelSelector: 'a=b',
      fieldSelector: 'status.nodeName=n',
      limit: '1',
      continue: 'from',
    });
  });

  it.each(['', '..', '.', 'a/b', 'a%2fb'])('refuses the name "%s" before anything is sent', async (name) => {
    const { server, client } = await setUp((received) => answer(received, 200, thing('a')));
    expect(await errorOf(client.delete(THINGS, { namespace: 'default', name }))).toBeInstanceOf(TypeError);
    expect(await errorOf(client.get(THINGS, { namespace: name, name: 'a' }))).toBeInstanceOf(TypeError);
    expect(await errorOf(client.get(THINGS, { name: 'a' }))).toBeInstanceOf(TypeError);
    expect(server.requests).toHaveLength(0);
  });

  it('keeps a path in the URL of the server, and reads objects without a namespace', async () => {
    const { server } = await setUp((received) => answer(received, 200, thing('a')));
    const client = createKubeClient({
      server: `${server.url}/k8s/clusters/c-1/`,
      caData: Buffer.from(server.caData).toString('base64'),
      userAgent: 'test/1',
    });
    await client.get(NAMESPACES, { name: 'default' });
    client.close();
    expect(server.requests[0]?.path).toBe('/k8s/clusters/c-1/api/v1/namespaces/default');
  });

  it('tells of warnings', async () => {
    const warnings: string[] = [];
    const { client } = await setUp(
      (received) =>
        answer(received, 200, thing('a'), { warning: '299 - "old \\"v1\\"", 299 - "unknown field"' }),
      { onWarning: (text) => warnings.push(text) },
    );
    await client.get(THINGS, ref);
    expect(warnings).toEqual(['old "v1"', 'unknown field']);
  });
});

describe('answers that are errors', () => {
  it('gives code, reason, message and the whole Status', async () => {
    const { client } = await setUp((received) => answerStatus(received, 404, 'NotFound', 'no such thing'));
    const error = await errorOf(client.get(THINGS, ref));
    expect(isNotFound(error)).toBe(true);
    expect(error).toMatchObject({ code: 404, reason: 'NotFound', message: 'no such thing' });
    expect((error as ApiError).status?.kind).toBe('Status');
  });

  it.each([
    ['<html>502 Bad Gateway</html>', 502, ''],
    ['', 503, 'ServiceUnavailable'],
    ['{"kind":"Status"', 500, 'InternalError'],
    ['null', 409, 'Conflict'],
    ['"text"', 410, 'Gone'],
    ['\u0000\u0001', 403, 'Forbidden'],
  ])('reads what it can from the body %j with %i', async (body, code, reason) => {
    const { client } = await setUp((received) => answer(received, code, body));
    const error = await errorOf(client.get(THINGS, ref));
    expect(error).toBeInstanceOf(ApiError);
    expect(error).toMatchObject({ code, reason, status: undefined });
    expect(isConflict(error)).toBe(code === 409);
    expect(isGone(error)).toBe(code === 410);
  });

  it.each([
    ['7', 7],
    ['Thu, 01 Jan 2026 00:00:30 GMT', 30],
    ['Thu, 01 Jan 2020 00:00:30 GMT', 0],
    ['soon', undefined],
  ])('[K5] hands on Retry-After: %s', async (header, seconds) => {
    const { client } = await setUp((received) => answer(received, 429, 'slow', { 'retry-after': header }));
    const error = await errorOf(client.get(THINGS, ref));
    expect(error).toMatchObject({ code: 429, retryAfterSeconds: seconds });
    expect(retryAfterMs(error)).toBe(seconds === undefined ? undefined : seconds * 1000);
  });

  it('takes the wait from the Status where there is no header', async () => {
    const { client } = await setUp((received) =>
      answer(received, 503, { kind: 'Status', apiVersion: 'v1', details: { retryAfterSeconds: 3 } }),
    );
    expect(await errorOf(client.get(THINGS, ref))).toMatchObject({ retryAfterSeconds: 3 });
  });

  it.each(['', 'nonsense', '[]', 'null', '"x"'])('a good answer with the body %j is none', async (body) => {
    const { client } = await setUp((received) => answer(received, 200, body));
    expect(await errorOf(client.get(THINGS, ref))).toMatchObject({ code: 'Malformed' });
  });
});

describe('no answer', () => {
  it('[K5] gives up a call on which the server is silent', async () => {
    const { server, client, clock } = await setUp(() => {});
    const call = errorOf(client.get(THINGS, ref));
    await server.received(1);
    await clock.advance(30_000);
    expect(await call).toMatchObject({ name: 'TransportError', code: 'Timeout' });
    expect(clock.pending).toBe(0);
  });

  it('[K5] gives up a call whose answer stops halfway', async () => {
    const { server, client, clock } = await setUp(({ response }) => {
      response.writeHead(200, { 'content-length': '1000' });
      response.write('{"kind":');
    });
    const call = errorOf(client.get(THINGS, ref));
    await server.received(1);
    await clock.advance(30_000);
    expect(await call).toMatchObject({ code: 'Timeout' });
  });

  it('says that a connection broke, before and in the middle of an answer', async () => {
    const { client } = await setUp(({ response }) => {
      response.writeHead(200, { 'content-length': '1000' });
      response.write('{"kind":', () => response.destroy());
    });
    expect(await errorOf(client.update(THINGS, thing('a')))).toMatchObject({ code: 'Unreachable' });
    const other = await setUp((received) => other.server.reset(received));
    expect(await errorOf(other.client.update(THINGS, thing('a')))).toMatchObject({ code: 'Unreachable' });
  });

  it('says that nobody listens', async () => {
    const { server, client } = await setUp(() => {});
    await server.close();
    expect(await errorOf(client.get(THINGS, ref))).toMatchObject({ code: 'Unreachable' });
  });

  it('[K5] repeats a read whose kept connection the server had closed, and never a write', async () => {
    const { server, client } = await setUp((received) => answer(received, 200, thing('a')));
    const breakNext = (): void => {
      server.script = (received) => {
        server.script = (next) => answer(next, 200, thing('a'));
        server.reset(received);
      };
    };
    await client.get(THINGS, ref);
    breakNext();
    await client.get(THINGS, ref);
    breakNext();
    expect(await errorOf(client.update(THINGS, thing('a')))).toMatchObject({ code: 'Unreachable' });
    expect(server.requests.map(({ method }) => method)).toEqual(['GET', 'GET', 'GET', 'PUT']);
  });

  it('holds an answer to its bound', async () => {
    const { client } = await setUp((received) => answer(received, 200, thing('x'.repeat(5_000))), {
      maxAnswerBytes: 4_096,
    });
    expect(await errorOf(client.get(THINGS, ref))).toMatchObject({ code: 'TooLarge' });
  });

  it('ends with the reason of the signal, before and during a call, and leaves no listener', async () => {
    const { server, client, clock } = await setUp(() => {});
    const stop = new AbortController();
    const reason = new Error('stopped');
    const call = errorOf(client.get(THINGS, ref, { signal: stop.signal }));
    await server.received(1);
    stop.abort(reason);
    expect(await call).toBe(reason);
    expect(await errorOf(client.get(THINGS, ref, { signal: stop.signal }))).toBe(reason);
    expect(server.requests).toHaveLength(1);
    expect(clock.pending).toBe(0);
  });

  it('does not trust a certificate of somebody else', async () => {
    const { server } = await setUp((received) => answer(received, 200, thing('a')));
    const stranger = await ScriptedServer.start(() => {});
    ends.push(() => stranger.close());
    const wrong = createKubeClient({ server: server.url, caData: stranger.caData, userAgent: 'test/1' });
    expect(await errorOf(wrong.get(THINGS, ref))).toMatchObject({ code: 'Unreachable' });
    wrong.close();
    const careless = createKubeClient({
      server: server.url,
      insecureSkipTLSVerify: true,
      userAgent: 'test/1',
    });
    expect(await careless.get<Thing>(THINGS, ref)).toMatchObject({ kind: 'Sandbox' });
    careless.close();
  });

  it('refuses a URL that cannot be meant', () => {
    expect(() => createKubeClient({ server: 'ftp://x', userAgent: 't' })).toThrow(TypeError);
    expect(() => createKubeClient({ server: 'nowhere', userAgent: 't' })).toThrow(TypeError);
  });
});

describe('beforeSend', () => {
  it('[K6] is called when the connection is there; what it throws is thrown and nothing is sent', async () => {
    const { server, client } = await setUp((received) => answer(received, 200, thing('a')));
    const reason = new Error('not any more');
    const refuse = (): never => {
      throw reason;
    };
    expect(await errorOf(client.update(THINGS, thing('a'), { beforeSend: refuse }))).toBe(reason);
    expect(server.requests).toHaveLength(0);
    let asked = 0;
    const allow = (): void => void (asked += 1);
    for (let turn = 0; turn < 3; turn++) await client.update(THINGS, thing('a'), { beforeSend: allow });
    expect(asked).toBe(3);
    // On a kept connection too.
    expect(await errorOf(client.update(THINGS, thing('a'), { beforeSend: refuse }))).toBe(reason);
    expect(server.requests).toHaveLength(3);
  });
});

describe('watch', () => {
  const stop = new AbortController();
  const options = {
    resourceVersion: '5',
    allowWatchBookmarks: true,
    timeoutSeconds: 60,
    signal: stop.signal,
  };

  it('yields events cut anywhere, and ends when the server ends it', async () => {
    const { server, client } = await setUp(async (received) => {
      openWatch(received);
      const bytes = Buffer.from(
        `${JSON.stringify({ type: 'ADDED', object: thing('café☕') })}\n${JSON.stringify({ type: 'BOOKMARK', object: thing('') })}\n`,
      );
      for (let at = 0; at < bytes.length; at += 5) {
        await new Promise<void>((resolve) => {
          received.response.write(bytes.subarray(at, at + 5), () => resolve());
        });
      }
      received.response.end();
    });
    const seen: string[] = [];
    for await (const event of client.watch<Thing>(THINGS, options)) {
      seen.push(event.type === 'ERROR' ? 'ERROR' : `${event.type} ${event.object.metadata.name}`);
    }
    expect(seen).toEqual(['ADDED café☕', 'BOOKMARK ']);
    expect(Object.fromEntries(server.requests[0]?.query ?? [])).toEqual({
      watch: 'true',
      resourceVersion: '5',
      allowWatchBookmarks: 'true',
      timeoutSeconds: '60',
    });
  });

  async function drain(iterable: AsyncIterable<unknown>): Promise<number> {
    let count = 0;
    for await (const _ of iterable) count += 1;
    return count;
  }

  it('[K5] gives up a watch that went silent, after its deadline and not before', async () => {
    const { server, client, clock } = await setUp(openWatch);
    const watch = errorOf(drain(client.watch(THINGS, { ...options, idleTimeoutMs: 70_000 })));
    await server.received(1);
    await clock.timerSet(70_000);
    await clock.advance(69_999);
    await clock.advance(1);
    expect(await watch).toMatchObject({ code: 'Silent' });
    expect(clock.pending).toBe(0);
  });

  it('[K5] gives up a watch that is accepted and never answered', async () => {
    const { server, client, clock } = await setUp(() => {});
    const watch = errorOf(drain(client.watch(THINGS, options)));
    await server.received(1);
    await clock.advance(30_000);
    expect(await watch).toMatchObject({ code: 'Timeout' });
  });

  it.each([
    ['a half line', '{"type":"ADDED","obj', 'Malformed'],
    ['a line that is not JSON', 'nonsense\n', 'Malformed'],
    ['a line that is no event', '{"kind":"Status"}\n', 'Malformed'],
    ['a line without an object', '{"type":"ADDED","object":null}\n', 'Malformed'],
  ])('[K5] says so when it ends with %s', async (_, text, code) => {
    const { client } = await setUp((received) => {
      openWatch(received);
      received.response.end(text);
    });
    expect(await errorOf(drain(client.watch(THINGS, options)))).toMatchObject({ code });
  });

  it('[K5] says so when the connection is reset', async () => {
    const { server, client } = await setUp((received) => {
      openWatch(received);
      sendEvent(received, 'ADDED', thing('a'));
      received.response.write('\n', () => server.reset(received));
    });
    expect(await errorOf(drain(client.watch(THINGS, options)))).toMatchObject({ code: 'Unreachable' });
  });

  it('[K5] holds a line to its bound', async () => {
    const { client } = await setUp(
      (received) => {
        openWatch(received);
        received.response.write('x'.repeat(5_000));
      },
      { maxAnswerBytes: 4_096 },
    );
    expect(await errorOf(drain(client.watch(THINGS, options)))).toMatchObject({ code: 'TooLarge' });
  });

  it('throws what refused it, and yields an ERROR event', async () => {
    const { client } = await setUp((received) => answerStatus(received, 410, 'Expired', 'too old'));
    expect(isGone(await errorOf(drain(client.watch(THINGS, options))))).toBe(true);
    const other = await setUp((received) => {
      openWatch(received);
      sendEvent(received, 'ERROR', { kind: 'Status', code: 410, message: 'too old' });
      received.response.end();
    });
    for await (const event of other.client.watch(THINGS, options)) expect(event.type).toBe('ERROR');
  });

  it('closes its connection when aborted and when the consumer leaves', async () => {
    const { server, client, clock } = await setUp((received) => {
      openWatch(received);
      sendEvent(received, 'ADDED', thing('a'));
    });
    const own = new AbortController();
    const reason = new Error('stopped');
    const watch = errorOf(
      (async () => {
        for await (const _ of client.watch(THINGS, { ...options, signal: own.signal })) own.abort(reason);
      })(),
    );
    expect(await watch).toBe(reason);
    for await (const _ of client.watch(THINGS, options)) break;
    for (const { response } of server.requests) {
      if (!response.closed) await new Promise((resolve) => response.once('close', resolve));
    }
    expect(clock.pending).toBe(0);
  });

  it('[K5] keeps its connection from one watch to the next when the server ends them', async () => {
    const { server, client } = await setUp((received) => {
      openWatch(received);
      sendEvent(received, 'ADDED', thing('a'));
      received.response.end();
    });
    for (let turn = 0; turn < 20; turn++) expect(await drain(client.watch(THINGS, options))).toBe(1);
    expect(server.handshakes).toBe(1);
  });

  it('leaves nothing on a signal that lives as long as the process', async () => {
    const own = new AbortController();
    const { client } = await setUp((received) => {
      if (received.query.get('watch')) {
        openWatch(received);
        received.response.end();
      } else if (received.path.endsWith('/b')) {
        received.response.destroy();
      } else {
        answer(received, 200, thing('a'));
      }
    });
    for (let turn = 0; turn < 50; turn++) {
      await client.get(THINGS, ref, { signal: own.signal });
      await errorOf(client.get(THINGS, { ...ref, name: 'b' }, { signal: own.signal }));
      await drain(client.watch(THINGS, { ...options, signal: own.signal }));
    }
    expect(getEventListeners(own.signal, 'abort')).toEqual([]);
  });

  it('is not in the way of calls, however many watches there are', async () => {
    const { client } = await setUp((received) => {
      if (received.query.get('watch')) openWatch(received);
      else answer(received, 200, thing('a'));
    });
    const own = new AbortController();
    const watches = Array.from({ length: 40 }, () =>
      errorOf(drain(client.watch(THINGS, { ...options, signal: own.signal }))),
    );
    await client.get(THINGS, ref);
    own.abort();
    await Promise.all(watches);
  });
});

it('has transport errors of its own type', () => {
  expect(new TransportError('Silent', 'x')).toMatchObject({ name: 'TransportError', code: 'Silent' });
});

import { once } from 'node:events';
import { connect } from 'node:tls';
import { pino } from 'pino';
import { afterEach, describe, expect, it } from 'vitest';
import { ApiError, type KubeObject, type Resource } from '../../kube/client.ts';
import { TransportError } from '../../kube/errors.ts';
import { clientHeaders, createClientOver, createKubeClient } from '../../kube/http-client.ts';
import { FakeClock } from '../../kube/testing/fake-clock.ts';
import { startLocalAPI } from '../server.ts';
import { temporaryFolder, widget, widgetDefinition } from '../testing.ts';
import { InProcessServer } from './in-process.ts';

const WIDGETS: Resource = { group: 'example.com', version: 'v1', plural: 'widgets', namespaced: true };
const ref = { namespace: 'default', name: 'a' };

const ends: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0).toReversed()) await end();
});

async function setUp(token?: string) {
  const folder = temporaryFolder();
  const api = await startLocalAPI({
    dataDir: folder.path,
    crds: [widgetDefinition()],
    log: pino({ level: 'silent' }),
  });
  const headers = clientHeaders('test/1', token ?? api.adminToken);
  const client = createClientOver(api.transport(headers));
  const overHTTPS = createKubeClient({
    server: api.url,
    caData: api.caData,
    token: api.adminToken,
    userAgent: 'test/1',
  });
  ends.push(async () => {
    client.close();
    overHTTPS.close();
    await api.close();
    folder.remove();
  });
  return { api, client, overHTTPS };
}

const made = (name: string): KubeObject =>
  ({ ...widget(name), metadata: { name, namespace: 'default' } }) as unknown as KubeObject;

const isOverloaded = (error: unknown): boolean => error instanceof ApiError && error.code === 429;

async function errorOf(promise: Promise<unknown>): Promise<unknown> {
  return await promise.then(
    () => undefined,
    (error: unknown) => error,
  );
}

/** A server that says what the test wants. */
function scripted(handler: ConstructorParameters<typeof InProcessServer>[0], clock = new FakeClock()) {
  const server = new InProcessServer(handler);
  const transport = server.transport({}, clock);
  return { server, transport, clock, client: createClientOver(transport, { clock, maxAnswerBytes: 100 }) };
}

describe('a client in the process of its server', () => {
  it('[K1] gets the same answers and the same refusals as over HTTPS', async () => {
    const { client, overHTTPS } = await setUp();
    const written = await client.create(WIDGETS, made('a'));
    expect(await overHTTPS.get(WIDGETS, ref)).toEqual(written);
    expect(await client.list(WIDGETS, {})).toEqual(await overHTTPS.list(WIDGETS, {}));
    const refused = async (call: (from: typeof client) => Promise<unknown>) => {
      const [here, there] = [await errorOf(call(client)), await errorOf(call(overHTTPS))];
      expect(here).toEqual(there);
      return String(here);
    };
    expect(await refused((from) => from.create(WIDGETS, made('a')))).toContain('already exists');
    expect(await refused((from) => from.get(WIDGETS, { ...ref, name: 'b' }))).toContain('not found');
    const wrong = { ...made('c'), spec: { size: 0, colour: 'red' } };
    expect(await refused((from) => from.create(WIDGETS, wrong))).toContain('unknown field "spec.colour"');
  });

  it('is asked for its token like any other', async () => {
    const { client } = await setUp('hf1.nobody');
    expect(await errorOf(client.get(WIDGETS, ref))).toMatchObject({ code: 401 });
  });

  it('[K5] sees what others write in its watch, and the end of the server as the end of the stream', async () => {
    const { api, client, overHTTPS } = await setUp();
    const { resourceVersion } = await client.list(WIDGETS, {});
    const seen: string[] = [];
    const { signal } = new AbortController();
    const watching = (async () => {
      for await (const event of client.watch<KubeObject>(WIDGETS, { resourceVersion, signal }))
        if (event.type !== 'ERROR') seen.push(`${event.type} ${event.object.metadata.name}`);
    })();
    await overHTTPS.create(WIDGETS, made('a'));
    await client.create(WIDGETS, made('b'));
    await client.delete(WIDGETS, ref);
    await api.close();
    await watching;
    expect(seen).toEqual(['ADDED a', 'ADDED b', 'DELETED a']);
    expect(await errorOf(client.get(WIDGETS, ref))).toBeInstanceOf(TransportError);
  });

  it('ends a watch with the reason of its signal', async () => {
    const { client } = await setUp();
    const stop = new AbortController();
    const events = client.watch(WIDGETS, { resourceVersion: '', signal: stop.signal });
    const first = events[Symbol.asyncIterator]().next();
    stop.abort(new Error('enough'));
    expect(String(await errorOf(first))).toContain('enough');
  });

  it('sends nothing where beforeSend throws', async () => {
    const { client } = await setUp();
    const beforeSend = (): void => {
      throw new Error('not any more');
    };
    expect(String(await errorOf(client.create(WIDGETS, made('a'), { beforeSend })))).toContain(
      'not any more',
    );
    expect(await errorOf(client.get(WIDGETS, ref))).toMatchObject({ code: 404 });
  });

  it('[K5] lets everything else have its turn, however much it reads', async () => {
    const { client } = await setUp();
    await client.create(WIDGETS, made('a'));
    let turned = false;
    setImmediate(() => {
      turned = true;
    });
    for (let read = 0; read < 10; read++) await client.get(WIDGETS, ref);
    expect(turned).toBe(true);
  });
});

describe('a server that does not answer as it should', () => {
  it('is given up after the time limit', async () => {
    const { client, clock } = scripted(() => undefined);
    const failed = errorOf(client.create(WIDGETS, made('a')));
    await clock.advance(30_000);
    expect(await failed).toMatchObject({ code: 'Timeout' });
  });

  it('is given up when the client is closed', async () => {
    const { client } = scripted(() => undefined);
    const failed = errorOf(client.create(WIDGETS, made('a')));
    client.close();
    expect(await failed).toMatchObject({ code: 'Unreachable' });
  });

  it('may not answer more than was agreed', async () => {
    const { client } = scripted((_request, answer) => {
      answer.writeHead(200, {});
      answer.end('x'.repeat(101));
    });
    expect(await errorOf(client.get(WIDGETS, ref))).toMatchObject({ code: 'TooLarge' });
  });

  it('is unreachable where it breaks off', async () => {
    const { client } = scripted((_request, answer) => {
      answer.writeHead(200, {});
      answer.write('{');
      answer.destroy();
    });
    expect(await errorOf(client.get(WIDGETS, ref))).toMatchObject({ code: 'Unreachable' });
  });
});

it('[K5] a reader that does not keep up makes the server pause, and wakes it when it has', async () => {
  const said: unknown[] = [];
  const { transport } = scripted((_request, answer) => {
    answer.writeHead(200, {});
    said.push(answer.write('a'.repeat(65_536)), answer.writableNeedDrain);
    answer.on('drain', () => said.push('drain'));
  });
  const opened = await transport.stream({ method: 'GET', path: '/', timeoutMs: 1000 });
  expect(said).toEqual([false, true]);
  await opened.chunks().next();
  expect(said).toEqual([false, true, 'drain']);
  opened.close();
});

it('[K5] is served although the outside has more requests open than the server takes', async () => {
  const { api, client, overHTTPS } = await setUp();
  const { hostname, port } = new URL(api.url);
  const slow = await Promise.all(
    Array.from({ length: 600 }, async () => {
      const socket = connect({ host: hostname, port: Number(port), ca: api.caData });
      socket.on('error', () => {});
      ends.push(async () => void socket.destroy());
      await once(socket, 'secureConnect');
      socket.write(
        `POST /apis/example.com/v1/namespaces/default/widgets HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${api.adminToken}\r\nContent-Length: 9\r\n\r\n{`,
      );
      return socket;
    }),
  );
  let refused: unknown;
  while (!isOverloaded(refused)) refused = await errorOf(overHTTPS.get(WIDGETS, ref));
  expect(await client.create(WIDGETS, made('a'))).toMatchObject({ metadata: { name: 'a' } });
  for (const socket of slow) socket.destroy();
});

it('a server that stops answers what it has begun, and takes no more', async () => {
  let finish: (() => void) | undefined;
  const { client, server } = scripted((_request, answer) => {
    finish = () => {
      answer.writeHead(200, {});
      answer.end('{}');
    };
  });
  const answered = client.create(WIDGETS, made('a'));
  const stopping = server.stop();
  expect(await errorOf(client.create(WIDGETS, made('b')))).toMatchObject({ code: 'Unreachable' });
  finish?.();
  expect(await answered).toEqual({});
  await stopping;
});

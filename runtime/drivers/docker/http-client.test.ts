import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { afterEach, describe, expect, it } from 'vitest';
import { FakeClock } from '../../../kube/testing/fake-clock.ts';
import { daemonAddress } from './address.ts';
import { DaemonHTTP, type DaemonRequest } from './http-client.ts';

const cleanUps: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const cleanUp of cleanUps.splice(0)) await cleanUp();
});

interface Bench {
  http: DaemonHTTP;
  clock: FakeClock;
  server: Server;
}

async function bench(handle: (message: IncomingMessage, answer: ServerResponse) => void): Promise<Bench> {
  const folder = await mkdtemp(join(tmpdir(), 'hf-http-'));
  const socketPath = join(folder, 's');
  const server = createServer(handle);
  await new Promise<void>((resolve) => {
    server.listen(socketPath, resolve);
  });
  const clock = new FakeClock();
  const http = new DaemonHTTP(daemonAddress({ socketPath }), clock);
  cleanUps.push(async () => {
    http.close();
    server.closeAllConnections();
    server.close();
    await rm(folder, { recursive: true });
  });
  return { http, clock, server };
}

const get = (path: string, more: Partial<DaemonRequest> = {}): DaemonRequest & { maxBytes: number } => ({
  method: 'GET',
  path,
  timeoutMs: 1000,
  maxBytes: 1000,
  ...more,
});

describe('calls', () => {
  it('send JSON and a query, leaving out what is undefined', async () => {
    const { http } = await bench((message, answer) => {
      let body = '';
      message.on('data', (chunk: Buffer) => {
        body += chunk.toString();
      });
      message.on('end', () => answer.end(`${message.method} ${message.url} ${body}`));
    });
    const query = { a: 'x y', b: undefined, c: 1 };
    const answer = await http.call(get('/p', { method: 'POST', query, json: { k: 'é' } }));
    expect(answer.body.toString()).toBe('POST /p?a=x+y&c=1 {"k":"é"}');
  });

  it('share a connection', async () => {
    const ports = new Set<unknown>();
    const { http } = await bench((message, answer) => {
      ports.add(message.socket);
      answer.end();
    });
    for (let call = 0; call < 5; call++) await http.call(get('/'));
    expect(ports.size).toBe(1);
  });

  it('read no more of an answer than is allowed', async () => {
    const { http } = await bench((_message, answer) => {
      const more = (): void => {
        while (answer.write(Buffer.alloc(65_536)));
        answer.once('drain', more);
      };
      more();
    });
    await expect(http.call(get('/'))).rejects.toMatchObject({ code: 'Unreadable' });
  });

  it('end at their time limit', async () => {
    const { http, clock } = await bench(() => {});
    const call = http.call(get('/slow'));
    const outcome = expect(call).rejects.toMatchObject({
      code: 'Unavailable',
      message: 'GET /slow was not answered within 1 s',
    });
    await clock.timerSet(1000);
    await clock.advance(1000);
    await outcome;
    expect(clock.pending).toBe(0);
  });

  it('leave no timer and no listener behind', async () => {
    const { http, clock } = await bench((_message, answer) => answer.end('ok'));
    const controller = new AbortController();
    const { signal } = controller;
    let listeners = 0;
    const add = signal.addEventListener.bind(signal);
    const remove = signal.removeEventListener.bind(signal);
    signal.addEventListener = (...args: Parameters<typeof add>) => {
      listeners += 1;
      add(...args);
    };
    signal.removeEventListener = (...args: Parameters<typeof remove>) => {
      listeners -= 1;
      remove(...args);
    };
    await http.call(get('/', { signal }));
    const answer = await http.open(get('/', { signal }));
    for await (const _chunk of answer.chunks()) continue;
    expect([clock.pending, listeners]).toEqual([0, 0]);
  });

  it('end with the reason of the signal, before and during', async () => {
    const { http } = await bench(() => {});
    const reason = new Error('enough');
    await expect(http.call(get('/', { signal: AbortSignal.abort(reason) }))).rejects.toBe(reason);
    const controller = new AbortController();
    const call = http.call(get('/', { signal: controller.signal }));
    setImmediate(() => controller.abort(reason));
    await expect(call).rejects.toBe(reason);
  });

  it('are sent once more on a kept connection that was closed, but for POST', async () => {
    let calls = 0;
    const { http } = await bench((message, answer) => {
      calls += 1;
      // The second call finds the connection of the first one broken.
      if (calls === 2 || calls === 5) message.socket.destroy();
      else answer.end(String(calls));
    });
    await http.call(get('/'));
    expect((await http.call(get('/'))).body.toString()).toBe('3');
    await http.call(get('/'));
    await expect(http.call(get('/', { method: 'POST' }))).rejects.toMatchObject({ code: 'Unavailable' });
    expect(calls).toBe(5);
  });

  it('a path that cannot be sent is refused', async () => {
    const { http } = await bench((_message, answer) => answer.end());
    await expect(http.call(get('/a b\n'))).rejects.toMatchObject({ code: 'Refused' });
  });

  it('a body that fails ends the call', async () => {
    const { http } = await bench((message, answer) => {
      message.resume();
      message.on('end', () => answer.end());
    });
    const body = Readable.from(
      (function* () {
        yield Buffer.from('half');
        throw new Error('the disk broke');
      })(),
    );
    const call = http.open(get('/', { method: 'POST', stream: { body, contentType: 'application/x-tar' } }));
    await expect(call).rejects.toThrow('the disk broke');
  });
});

describe('streamed answers', () => {
  it('are given up when nothing comes for too long, but not because the reader is slow', async () => {
    let send: (text: string) => void = () => {};
    const { http, clock } = await bench((_message, answer) => {
      send = (text) => answer.write(text);
      send('first');
    });
    const answer = await http.open(get('/', { idleMs: 5000 }));
    const chunks = answer.chunks();
    expect((await chunks.next()).value?.toString()).toBe('first');
    await clock.advance(60_000);
    send('second');
    expect((await chunks.next()).value?.toString()).toBe('second');
    const next = expect(chunks.next()).rejects.toMatchObject({
      code: 'Unavailable',
      message: 'no data for 5 s',
    });
    await clock.timerSet(5000);
    await clock.advance(5000);
    await next;
  });

  it('close the connection when the reader stops', async () => {
    let closed: Promise<void> | undefined;
    const { http, clock } = await bench((message, answer) => {
      closed = new Promise((resolve) => {
        message.socket.once('close', () => resolve());
      });
      answer.write('x');
    });
    const answer = await http.open(get('/'));
    for await (const _chunk of answer.chunks()) break;
    await closed;
    expect(clock.pending).toBe(0);
  });
});

import { connect, type TLSSocket } from 'node:tls';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { eventually, startTestServer, type TestServer, widget, WIDGETS } from '../testing.ts';

let server: TestServer;
beforeEach(async () => {
  server = await startTestServer();
});
afterEach(() => server.stop());

/** A watch on a bare socket that is not read until it is told to. */
function openPaused(query: string): TLSSocket {
  const url = new URL(server.api.url);
  const socket = connect({ host: url.hostname, port: Number(url.port), ca: server.api.caData });
  socket.pause();
  socket.write(
    `GET ${WIDGETS}?watch=1&${query} HTTP/1.1\r\nHost: ${url.host}\r\nAuthorization: Bearer ${server.api.adminToken}\r\nAccept: application/json\r\n\r\n`,
  );
  return socket;
}

it('a watch that nobody reads holds nobody up; when it is read, nothing is missing', async () => {
  const first = await server.client.call('POST', WIDGETS, { body: widget('first') });
  const slow = openPaused(`resourceVersion=${first.body.metadata.resourceVersion ?? ''}&timeoutSeconds=60`);
  const padding = 'x'.repeat(200_000);
  const count = 160;
  for (let i = 0; i < count; i += 8) {
    const answers = await Promise.all(
      Array.from({ length: 8 }, (_, k) =>
        server.client.call('POST', WIDGETS, {
          body: widget(`w${i + k}`, { metadata: { name: `w${i + k}`, annotations: { padding } } }),
        }),
      ),
    );
    expect(answers.map((answer) => answer.code)).toEqual(Array.from({ length: 8 }, () => 201));
  }
  // 30 MB of events wait: far more than sockets hold.
  const names = new Set<string>();
  let rest = '';
  slow.on('data', (chunk: Buffer) => {
    rest += chunk.toString('latin1');
    for (const match of rest.matchAll(/"name":"(w\d+)"/g)) names.add(match[1] ?? '');
    rest = rest.slice(-200);
  });
  slow.resume();
  await eventually(() => names.size === count, 90_000);
  slow.destroy();
}, 120_000);

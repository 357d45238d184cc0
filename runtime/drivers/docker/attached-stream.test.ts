import { createServer, connect, type Server, type Socket } from 'node:net';
import { once } from 'node:events';
import { afterEach, describe, expect, it } from 'vitest';
import { AttachedStream } from './attached-stream.ts';

const servers: Server[] = [];
afterEach(() => {
  for (const server of servers.splice(0)) server.close();
});

/** A connection as the driver has it after the upgrade, and the daemon's end of it. */
async function pair(): Promise<{ ours: Socket; theirs: Socket }> {
  const server = createServer({ allowHalfOpen: true });
  servers.push(server);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('no port');
  const arrived = once(server, 'connection') as Promise<[Socket]>;
  const ours = connect(address.port, '127.0.0.1');
  const [theirs] = await arrived;
  theirs.on('error', () => {});
  return { ours, theirs };
}

function frame(stream: number, payload: Buffer | string): Buffer {
  const bytes = Buffer.from(payload);
  const header = Buffer.alloc(8);
  header[0] = stream;
  header.writeUInt32BE(bytes.length, 4);
  return Buffer.concat([header, bytes]);
}

async function all(stream: AttachedStream): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of stream) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString();
}

describe('AttachedStream', () => {
  it('reads what came with the upgrade first', async () => {
    const { ours, theirs } = await pair();
    const bytes = frame(1, 'hello');
    const stream = new AttachedStream(ours, bytes.subarray(0, 10), () => {});
    theirs.end(bytes.subarray(10));
    expect(await all(stream)).toBe('hello');
  });

  it('closes stdin alone at end(), and reads on', async () => {
    const { ours, theirs } = await pair();
    const stream = new AttachedStream(ours, Buffer.alloc(0), () => {});
    let got = '';
    theirs.on('data', (chunk: Buffer) => {
      got += chunk.toString();
    });
    theirs.on('end', () => theirs.end(frame(1, `after ${got}`)));
    stream.end('stdin');
    expect(await all(stream)).toBe('after stdin');
  });

  it('ends when the daemon does, stdin too', async () => {
    const { ours, theirs } = await pair();
    const stream = new AttachedStream(ours, Buffer.alloc(0), () => {});
    stream.resume();
    theirs.end();
    await once(stream, 'close');
    expect(stream.writable).toBe(false);
  });

  it('gives stderr in chunks of at most 64 KiB', async () => {
    const { ours, theirs } = await pair();
    const sizes: number[] = [];
    const stream = new AttachedStream(ours, Buffer.alloc(0), (chunk) => sizes.push(chunk.length));
    theirs.end(Buffer.concat([frame(2, Buffer.alloc(300_000)), frame(1, 'x')]));
    expect(await all(stream)).toBe('x');
    expect(sizes.reduce((sum, size) => sum + size, 0)).toBe(300_000);
    expect(Math.max(...sizes)).toBeLessThanOrEqual(65_536);
  });

  it('an end within a frame is Unavailable', async () => {
    const { ours, theirs } = await pair();
    const stream = new AttachedStream(ours, Buffer.alloc(0), () => {});
    theirs.end(frame(1, 'hello').subarray(0, 9));
    await expect(all(stream)).rejects.toMatchObject({ code: 'Unavailable' });
  });

  it('garbage is Unreadable, and closes the connection', async () => {
    const { ours, theirs } = await pair();
    const stream = new AttachedStream(ours, Buffer.alloc(0), () => {});
    const closed = once(theirs, 'close');
    theirs.write('HTTP/1.1 500 Oh no\r\n\r\n');
    await expect(all(stream)).rejects.toMatchObject({ code: 'Unreadable' });
    theirs.end();
    await closed;
  });

  it('destroy() closes the connection', async () => {
    const { ours, theirs } = await pair();
    const stream = new AttachedStream(ours, Buffer.alloc(0), () => {});
    const ended = once(theirs, 'end');
    theirs.resume();
    stream.destroy();
    await ended;
    expect(ours.destroyed).toBe(true);
    theirs.end();
  });

  it('does not read the connection while nobody reads it', async () => {
    const { ours, theirs } = await pair();
    const stream = new AttachedStream(ours, Buffer.alloc(0), () => {});
    const chunk = frame(1, Buffer.alloc(256 * 1024));
    // The kernel's buffers take the first ones; then the writer is held up.
    let written = 0;
    while (theirs.writableLength < 8 * chunk.length) {
      theirs.write(chunk);
      written += 1;
      await new Promise((resolve) => setImmediate(resolve));
    }
    expect(stream.readableLength).toBeLessThan(1024 * 1024);
    theirs.end();
    let bytes = 0;
    for await (const part of stream) bytes += (part as Buffer).length;
    expect(bytes).toBe(written * 256 * 1024);
  });
});

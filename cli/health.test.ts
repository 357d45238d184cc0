import { mkdtemp, open, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { lostSocket } from './agent.ts';
import { startHealth } from './health.ts';
import { runHoldfast } from './testing.ts';

async function served(notReady: () => string | undefined, notAlive?: () => string | undefined) {
  const health = await startHealth(
    { host: '127.0.0.1', port: 0 },
    { notReady, ...(notAlive && { notAlive }) },
  );
  const ask = async (path: string, method = 'GET'): Promise<[number, string]> => {
    const answer = await fetch(`http://127.0.0.1:${health.port}${path}`, { method });
    return [answer.status, await answer.text()];
  };
  return { ask, stop: () => health.stop() };
}

describe('the health server', () => {
  it('[K7] is alive while it is not ready, and says why it is not', async () => {
    let why: string | undefined = 'the API has not been listed yet';
    const { ask, stop } = await served(() => why);
    expect(await ask('/livez')).toEqual([200, 'ok\n']);
    expect(await ask('/readyz')).toEqual([503, 'the API has not been listed yet\n']);
    why = undefined;
    expect(await ask('/readyz?verbose')).toEqual([200, 'ok\n']);
    expect(await ask('/readyz', 'HEAD')).toEqual([200, '']);
    await stop();
  });

  it('[K7] answers nothing else', async () => {
    const { ask, stop } = await served(() => undefined);
    expect((await ask('/'))[0]).toBe(404);
    expect((await ask('/livez', 'POST'))[0]).toBe(405);
    await stop();
    await expect(ask('/livez')).rejects.toThrow();
  });

  it('[K7] is not alive where nothing but a new container would help', async () => {
    const { ask, stop } = await served(
      () => undefined,
      () => 'the socket is the old one',
    );
    expect(await ask('/livez')).toEqual([503, 'the socket is the old one\n']);
    await stop();
  });

  it.runIf(process.platform === 'linux')(
    '[K7] knows a mounted socket that was made anew outside by its lost name (skipped but on Linux)',
    async () => {
      const dir = await mkdtemp(join(tmpdir(), 'holdfast-health-'));
      const path = join(dir, 'docker.sock');
      await writeFile(path, '');
      // As a mount does, the descriptor keeps the file whose name goes.
      const held = await open(path);
      const mounted = `unix:///proc/self/fd/${held.fd}`;
      expect(lostSocket(mounted)).toBeUndefined();
      await rm(path);
      expect(lostSocket(mounted)).toContain('was removed and made anew');
      expect(lostSocket(`unix://${path}`)).toBeUndefined();
      expect(lostSocket('tcp://127.0.0.1:1')).toBeUndefined();
      expect(lostSocket(undefined)).toBeUndefined();
      await held.close();
      await rm(dir, { recursive: true });
    },
  );

  it('[K7] names the flag where its port is taken', async () => {
    const other = createServer();
    await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve));
    const { port } = other.address() as { port: number };
    await expect(startHealth({ host: '127.0.0.1', port }, { notReady: () => undefined })).rejects.toThrow(
      `--health-address 127.0.0.1:${port}: another program listens there`,
    );
    await new Promise((resolve) => other.close(resolve));
  });

  it.each(['x', '70000', ':', ':8081', '0.0.0.0:', 'a b:1', '1:2:3'])(
    '[K7] refuses the address %j',
    async (value) => {
      const { code, stderr } = await runHoldfast(['controller', `--health-address=${value}`]);
      expect(code).toBe(2);
      expect(stderr).toContain(`'${value}' is invalid. Accepted: a port from 0`);
    },
  );
});

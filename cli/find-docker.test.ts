import { once } from 'node:events';
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { createServer, type Server, type RequestListener } from 'node:http';
import os from 'node:os';
import path from 'node:path';
import { pino } from 'pino';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { FakeClock } from '../kube/testing/fake-clock.ts';
import { findDocker } from './find-docker.ts';

const log = pino({ level: 'silent' });
let dir = '';
let servers: Server[] = [];
beforeEach(async () => {
  dir = await mkdtemp(path.join(os.tmpdir(), 'find-docker-'));
});
afterEach(async () => {
  for (const server of servers) {
    server.closeAllConnections();
    server.close();
  }
  servers = [];
  await rm(dir, { recursive: true });
});

async function listen(name: string, listener: RequestListener): Promise<string> {
  const server = createServer(listener);
  servers.push(server);
  const socket = path.join(dir, name);
  server.listen(socket);
  await once(server, 'listening');
  return socket;
}

const healthy: RequestListener = (request, response) => {
  response.setHeader('api-version', '1.41');
  if (request.url?.endsWith('/_ping')) response.end('OK');
  else
    response.end(
      JSON.stringify({
        ID: 'x',
        ServerVersion: '29.1.0',
        CgroupVersion: '2',
        CgroupDriver: 'systemd',
        MemoryLimit: true,
        PidsLimit: true,
        CpuCfsQuota: true,
        CPUCfsQuota: true,
        CpuCfsPeriod: true,
        SwapLimit: true,
        SecurityOptions: [],
        Driver: 'overlay2',
        NCPU: 2,
        MemTotal: 1024,
        Architecture: 'x86_64',
        KernelVersion: '6',
        OSType: 'linux',
      }),
    );
};

describe('findDocker', () => {
  it('takes the daemon that was named', async () => {
    const socket = await listen('docker.sock', healthy);
    const found = await findDocker({ docker: `unix://${socket}` }, { env: {}, log });
    expect(found).toMatchObject({ answers: true, text: `Docker 29.1.0 at unix://${socket}, cgroup v2` });
    found.driver.close();
  });

  it('takes the first of the usual sockets that answers', async () => {
    await listen('docker.sock', (_request, response) => response.writeHead(500).end('starting'));
    await mkdir(path.join(dir, '.colima/default'), { recursive: true });
    const socket = await listen('.colima/default/docker.sock', healthy);
    const found = await findDocker(
      {},
      { env: { XDG_RUNTIME_DIR: dir, HOME: dir }, log, exists: (file) => file.startsWith(dir) },
    );
    expect(found.answers).toBe(true);
    expect(found.text).toContain(socket);
    found.driver.close();
  });

  it('looks nowhere else when one was named, and says what is wrong with it', async () => {
    const named = path.join(dir, 'none.sock');
    const found = await findDocker({}, { env: { DOCKER_HOST: `unix://${named}` }, log });
    expect(found.answers).toBe(false);
    expect(found.text).toContain(`unix://${named}: `);
    expect(found.text).toContain('--docker or DOCKER_HOST');
    expect(found.driver.address).toBe(`unix://${named}`);
    found.driver.close();
  });

  it('lists the places where it looked when there is none', async () => {
    const found = await findDocker({}, { env: { HOME: dir }, log, exists: () => false });
    expect(found.text).toContain('unix:///var/run/docker.sock: not there');
    expect(found.text).toContain(`unix://${dir}/.colima/default/docker.sock: not there`);
    expect(found.driver.address).toBe('unix:///var/run/docker.sock');
    found.driver.close();
  });

  it('[L7] does not wait for one that says nothing, and does not believe garbage', async () => {
    const clock = new FakeClock();
    let asked = (): void => {};
    const request = new Promise<void>((resolve) => (asked = resolve));
    const silent = await listen('silent.sock', () => asked());
    const finding = findDocker({ docker: `unix://${silent}` }, { env: {}, log, clock });
    await request;
    await clock.advance(3_000);
    const found = await finding;
    expect(found.answers).toBe(false);
    expect(found.text).toContain('no answer within 3000 ms');
    found.driver.close();

    const garbage = await listen('garbage.sock', (_request, response) => response.end('<html>'));
    const other = await findDocker({ docker: `unix://${garbage}` }, { env: {}, log });
    expect(other.answers).toBe(false);
    other.driver.close();
  });
});

import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Logger } from 'pino';
import { Failure } from './failure.ts';
import type { Part, Parts } from './parts.ts';

/** Where the probes of a kubelet, or of a load balancer, are answered. The host `*` is every address. */
export interface HealthAddress {
  host: string;
  port: number;
}

export interface Health {
  /** Why it is not ready yet; undefined: it is. */
  notReady(): string | undefined;
  /** Why nothing but a new container would help; undefined: nothing of the kind. */
  notAlive?(): string | undefined;
}

/**
 * `/livez`: 200 as long as this process takes requests at all and no restart would help: what it waits for comes by
 * itself. Else 503 and why.
 * `/readyz`: 200 when it does its work, or would at once if it were elected; else 503 and one line that says why.
 */
export async function startHealth(address: HealthAddress, health: Health): Promise<Part & { port: number }> {
  const server = createServer((request, response) => {
    const { status, text } = answerTo(request.method, request.url, health);
    response.writeHead(status, {
      'content-type': 'text/plain; charset=utf-8',
      'cache-control': 'no-store',
      'x-content-type-options': 'nosniff',
    });
    response.end(request.method === 'HEAD' ? undefined : `${text}\n`);
  });
  // A probe has a second or so; nothing here may be held open by whoever finds the port.
  server.requestTimeout = 5_000;
  server.headersTimeout = 5_000;
  server.keepAliveTimeout = 1_000;
  server.maxConnections = 64;
  await listen(server, address);
  return {
    name: 'health',
    port: (server.address() as AddressInfo).port,
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

function answerTo(
  method: string | undefined,
  url: string | undefined,
  health: Health,
): { status: number; text: string } {
  if (method !== 'GET' && method !== 'HEAD') return { status: 405, text: 'GET and HEAD alone' };
  const [path] = (url ?? '/').split('?', 1);
  if (path !== '/livez' && path !== '/readyz') return { status: 404, text: 'there are /livez and /readyz' };
  const why = path === '/livez' ? health.notAlive?.() : health.notReady();
  return why === undefined ? { status: 200, text: 'ok' } : { status: 503, text: why };
}

/** Where the command line names an address. */
export async function addHealth(
  parts: Parts,
  config: { healthAddress?: HealthAddress },
  { log, ...health }: Health & { log: Logger },
): Promise<void> {
  if (config.healthAddress === undefined) return;
  const { host } = config.healthAddress;
  const { port, ...part } = await startHealth(config.healthAddress, health);
  parts.add(part);
  log.info({ host, port }, 'health is served');
}

async function listen(server: Server, { host, port }: HealthAddress): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) => {
      const what = error.code === 'EADDRINUSE' ? 'another program listens there' : error.message;
      reject(new Failure(`--health-address ${host}:${port}: ${what}`, { cause: error }));
    });
    server.listen(host === '*' ? { port } : { host, port }, resolve);
  });
}

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

/** Why it is not ready yet; undefined: it is. */
type NotReady = () => string | undefined;

/**
 * `/livez`: 200 as long as this process takes requests at all: whatever it waits for comes without a restart.
 * `/readyz`: 200 when it does its work, or would at once if it were elected; else 503 and one line that says why.
 */
export async function startHealth(
  address: HealthAddress,
  notReady: NotReady,
): Promise<Part & { port: number }> {
  const server = createServer((request, response) => {
    const { status, text } = answerTo(request.method, request.url, notReady);
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
  notReady: NotReady,
): { status: number; text: string } {
  if (method !== 'GET' && method !== 'HEAD') return { status: 405, text: 'GET and HEAD alone' };
  const [path] = (url ?? '/').split('?', 1);
  if (path === '/livez') return { status: 200, text: 'ok' };
  if (path !== '/readyz') return { status: 404, text: 'there are /livez and /readyz' };
  const why = notReady();
  return why === undefined ? { status: 200, text: 'ok' } : { status: 503, text: why };
}

/** Where the command line names an address. */
export async function addHealth(
  parts: Parts,
  config: { healthAddress?: HealthAddress },
  { log, notReady }: { log: Logger; notReady: NotReady },
): Promise<void> {
  if (config.healthAddress === undefined) return;
  const { host } = config.healthAddress;
  const { port, ...part } = await startHealth(config.healthAddress, notReady);
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

import type { RequestListener } from 'node:http';
import { createServer, type Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import type { Logger } from 'pino';
import type { Clock } from '../clock.ts';
import { certificates } from '../tls/certificates.ts';

export interface HTTPSServer {
  port: number;
  /** PEM of the authority that clients are to trust. */
  ca: string;
  stop(): Promise<void>;
}

/** Connections held at once: each watch has one. */
const MAX_CONNECTIONS = 2048;
/** Requests that run when the server ends get this long. */
const CLOSE_MS = 2000;
const RENEWAL_CHECK_MS = 12 * 3_600_000;

/** Listens on `host` with a certificate of the data folder's own, and keeps that from running out. */
export async function startHTTPS(options: {
  host: string;
  port: number;
  dataDir: string;
  clock: Clock;
  log: Logger;
  handler: RequestListener;
}): Promise<HTTPSServer> {
  const { host, dataDir, clock, log } = options;
  const hosts = namesOf(host);
  let pair = certificates(dataDir, hosts, clock.now());
  const server = createServer(
    {
      cert: pair.cert,
      key: pair.key,
      minVersion: 'TLSv1.2',
      maxHeaderSize: 64 * 1024,
      requestTimeout: 60_000,
      headersTimeout: 20_000,
      // Longer than clients keep idle connections (Go: 90 s), so that none is closed under a request.
      keepAliveTimeout: 120_000,
    },
    options.handler,
  );
  server.maxConnections = MAX_CONNECTIONS;
  const port = await listen(server, options.port, host);
  const renew = (): void => {
    const next = certificates(dataDir, hosts, clock.now());
    if (next.cert === pair.cert) return;
    pair = next;
    server.setSecureContext({ cert: next.cert, key: next.key });
    log.info({ dataDir }, 'the server certificate was renewed');
  };
  const timer = setInterval(() => {
    try {
      renew();
    } catch (error) {
      log.error({ err: error }, 'the server certificate could not be renewed');
    }
  }, RENEWAL_CHECK_MS).unref();
  return {
    port,
    ca: pair.ca,
    async stop() {
      clearInterval(timer);
      await close(server);
    },
  };
}

function namesOf(host: string): string[] {
  return [
    ...new Set(['127.0.0.1', '::1', 'localhost', ...(host === '0.0.0.0' || host === '::' ? [] : [host])]),
  ];
}

function listen(server: Server, port: number, host: string): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host, () => {
      server.off('error', reject);
      resolve((server.address() as AddressInfo).port);
    });
  });
}

async function close(server: Server): Promise<void> {
  const closed = new Promise<void>((resolve) => void server.close(() => resolve()));
  server.closeIdleConnections();
  const timer = setTimeout(() => server.closeAllConnections(), CLOSE_MS).unref();
  await closed;
  clearTimeout(timer);
}

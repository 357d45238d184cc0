import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { Agent, request } from 'node:https';
import type { Socket } from 'node:net';
import type { NetworkFault } from './plan.ts';
import type { SeededRandom } from './random.ts';

/** One call that came by. */
interface SeenRequest {
  atMs: number;
  method: string;
  path: string;
  watch: boolean;
  /** What was answered to the component; undefined: nothing (yet). */
  status?: number;
  /** Of a write that the component was told has been done. */
  done?: { uid?: string; resourceVersion?: string };
}

export interface ApiProxy {
  url: string;
  requests: SeenRequest[];
  /** undefined: all is well again. */
  set(fault: NetworkFault | undefined): void;
  /** Breaks every connection; new ones work. */
  reset(): void;
  close(): Promise<void>;
}

/** Stands between one component and the API server; speaks plain HTTP towards the component. */
export async function startApiProxy(upstream: string, random: SeededRandom): Promise<ApiProxy> {
  const { hostname, port } = new URL(upstream);
  const agent = new Agent({ keepAlive: true, rejectUnauthorized: false });
  const requests: SeenRequest[] = [];
  const sockets = new Set<Socket>();
  /** Called when the silence is over. */
  let held: (() => void)[] = [];
  let fault: NetworkFault | undefined;

  const heard = (): Promise<void> =>
    fault?.kind === 'silent' ? new Promise((resolve) => held.push(resolve)) : Promise.resolve();

  const serve = async (message: IncomingMessage, answer: ServerResponse): Promise<void> => {
    const { method = 'GET', url = '/' } = message;
    const [path = '', query = ''] = url.split('?');
    const seen: SeenRequest = { atMs: Date.now(), method, path, watch: query.includes('watch=true') };
    requests.push(seen);
    const body = await read(message);
    await heard();
    if (fault?.kind === 'delay') await new Promise((resolve) => setTimeout(resolve, delayOf(fault)));
    const spoiled = fault?.kind === 'errors' && random.chance(fault.share) ? fault.status : undefined;
    // Half of the spoiled calls are done all the same: the caller must not take the answer for the truth.
    if (spoiled !== undefined && random.chance(0.5)) return refuse(answer, seen, spoiled);
    const sent = request(
      {
        agent,
        hostname,
        port,
        method,
        path: url,
        headers: { ...message.headers, host: `${hostname}:${port}` },
      },
      (reply) => {
        void (
          seen.watch && reply.statusCode === 200
            ? passWatch(reply, answer, seen)
            : passAnswer(reply, answer, seen, spoiled)
        ).catch(() => message.socket.destroy());
      },
    );
    sent.on('error', () => message.socket.destroy());
    const drop = (): void => {
      sent.destroy();
    };
    message.socket.once('close', drop);
    sent.once('close', () => message.socket.off('close', drop));
    sent.end(body);
  };

  const passAnswer = async (
    reply: IncomingMessage,
    answer: ServerResponse,
    seen: SeenRequest,
    spoiled: number | undefined,
  ): Promise<void> => {
    const body = await read(reply);
    await heard();
    if (answer.destroyed) return;
    if (spoiled !== undefined) return refuse(answer, seen, spoiled);
    const status = reply.statusCode ?? 502;
    answer.writeHead(status, reply.headers);
    answer.end(body, () => {
      seen.status = status;
      if (seen.method !== 'GET' && status < 300) seen.done = doneOf(body);
    });
  };

  const passWatch = async (
    reply: IncomingMessage,
    answer: ServerResponse,
    seen: SeenRequest,
  ): Promise<void> => {
    seen.status = 200;
    answer.writeHead(200, reply.headers);
    answer.flushHeaders();
    for await (const chunk of reply as AsyncIterable<Buffer>) {
      await heard();
      if (fault?.kind === 'delay') await new Promise((resolve) => setTimeout(resolve, delayOf(fault)));
      if (answer.destroyed) return;
      if (fault?.kind === 'truncate') {
        answer.write(chunk.subarray(0, Math.ceil(chunk.length / 2)), () => answer.destroy());
        return;
      }
      answer.write(chunk);
    }
    answer.end();
  };

  const server = createServer((message, answer) => {
    serve(message, answer).catch(() => message.socket.destroy());
  });
  server.on('connection', (socket: Socket) => {
    sockets.add(socket);
    socket.on('error', () => socket.destroy());
    socket.on('close', () => sockets.delete(socket));
  });
  server.on('clientError', (_error, socket) => socket.destroy());
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('no port');

  const reset = (): void => {
    for (const socket of sockets) socket.destroy();
  };
  const set = (next: NetworkFault | undefined): void => {
    const before = fault;
    fault = next;
    if (before?.kind !== 'silent') return;
    if (before.afterwards === 'break') reset();
    for (const go of held.splice(0)) go();
  };
  return {
    url: `http://127.0.0.1:${address.port}`,
    requests,
    set,
    reset,
    async close() {
      set(undefined);
      reset();
      agent.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

function delayOf(fault: NetworkFault | undefined): number {
  return fault?.kind === 'delay' ? fault.ms : 0;
}

async function read(message: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of message as AsyncIterable<Buffer>) chunks.push(chunk);
  return Buffer.concat(chunks);
}

const REASONS: Record<number, string> = {
  409: 'Conflict',
  410: 'Expired',
  429: 'TooManyRequests',
  500: 'InternalError',
  503: 'ServiceUnavailable',
};

function refuse(answer: ServerResponse, seen: SeenRequest, code: number): void {
  seen.status = code;
  answer.writeHead(code, {
    'content-type': 'application/json',
    ...(code === 429 && { 'retry-after': '1' }),
  });
  const status = { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Failure' };
  answer.end(
    JSON.stringify({ ...status, reason: REASONS[code], code, message: 'refused by the fault proxy' }),
  );
}

function doneOf(body: Buffer): { uid?: string; resourceVersion?: string } {
  const { metadata } = JSON.parse(body.toString()) as {
    metadata?: { uid?: string; resourceVersion?: string };
  };
  return {
    ...(metadata?.uid !== undefined && { uid: metadata.uid }),
    ...(metadata?.resourceVersion !== undefined && { resourceVersion: metadata.resourceVersion }),
  };
}

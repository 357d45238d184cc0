import { createServer, request, type IncomingMessage, type ServerResponse } from 'node:http';
import { mkdtemp, rm } from 'node:fs/promises';
import { connect, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Duplex } from 'node:stream';

/** What happens to a call instead of, or on the way to, its answer. */
export type Fault =
  /** The call is taken and never answered; the daemon never sees it. */
  | { do: 'hang' }
  /** The daemon does it, and its answer never arrives. */
  | { do: 'hang-after' }
  /** The connection breaks before anything is answered. */
  | { do: 'reset' }
  /** The daemon does it, and the connection breaks instead of the answer. */
  | { do: 'reset-after' }
  | { do: 'status'; status: number; body?: string }
  /** What comes back is not HTTP. */
  | { do: 'garbage' }
  /** HTTP, with a body that is not JSON. */
  | { do: 'garbage-body' }
  /** The body stops half-way through, and the connection breaks. */
  | { do: 'truncate' }
  /** The headers come, the body does not. */
  | { do: 'stall-body' }
  /** The body says something else, line by line as it comes; undefined leaves a line out. */
  | { do: 'edit'; line: (text: string) => string | undefined };

export interface FaultRule {
  method?: string;
  /** Of the path without its version and query, such as `/containers/create`. */
  path: RegExp;
  fault: Fault;
  /** How many calls it applies to. Default: all. */
  times?: number;
}

export interface FaultProxy {
  readonly socketPath: string;
  /** Calls seen, as "POST /containers/create". */
  readonly calls: string[];
  /** Replaces the rules; the first that matches counts. */
  set(rules: FaultRule[]): void;
  /** Breaks every connection, idle and busy; new ones work. */
  breakAll(): void;
  close(): Promise<void>;
}

/** An HTTP proxy on a unix socket in front of a daemon's socket, upgrades (attach) included. */
export async function startFaultProxy(upstream: string): Promise<FaultProxy> {
  const folder = await mkdtemp(join(tmpdir(), 'hf-proxy-'));
  const socketPath = join(folder, 'docker.sock');
  let rules: FaultRule[] = [];
  const calls: string[] = [];
  const sockets = new Set<Duplex>();
  const upstreams = new Set<{ destroy(): void }>();

  const faultFor = (message: IncomingMessage): Fault | undefined => {
    const path = (message.url ?? '').replace(/^\/v\d+\.\d+/, '').replace(/\?.*$/, '');
    calls.push(`${message.method} ${path}`);
    const rule = rules.find(
      ({ method, path: pattern, times = Infinity }) =>
        times > 0 && (method === undefined || method === message.method) && pattern.test(path),
    );
    if (rule?.times !== undefined) rule.times -= 1;
    return rule?.fault;
  };

  const server = createServer((message, answer) => {
    const fault = faultFor(message);
    const instead = spoil(fault, message.socket, answer);
    // Hold on to the request's body, or the client could not send it.
    if (instead) message.resume();
    else forward(message, answer, fault);
  });

  const forward = (message: IncomingMessage, answer: ServerResponse, fault: Fault | undefined): void => {
    const { method, url, headers } = message;
    const sent = request({ socketPath: upstream, method, path: url, headers, agent: false }, (reply) => {
      if (fault?.do === 'hang-after') return void reply.resume();
      if (fault?.do === 'reset-after') return void message.socket.destroy();
      const status = reply.statusCode ?? 502;
      if (fault?.do === 'truncate' || fault?.do === 'stall-body') {
        const { 'transfer-encoding': _chunked, ...headers } = reply.headers;
        answer.writeHead(status, { ...headers, 'content-length': '1000000' });
        reply.once('data', (chunk: Buffer) => {
          const half = chunk.subarray(0, Math.ceil(chunk.length / 2));
          answer.write(fault.do === 'truncate' ? half : '', () => {
            if (fault.do === 'truncate') message.socket.destroy();
          });
        });
        answer.flushHeaders();
        return;
      }
      if (fault?.do === 'edit') {
        const { 'content-length': _length, ...headers } = reply.headers;
        answer.writeHead(status, headers);
        answer.flushHeaders();
        const lines = createInterface({ input: reply });
        lines.on('line', (text) => {
          const edited = fault.line(text);
          if (edited !== undefined) answer.write(`${edited}\n`);
        });
        // A broken answer ends here too.
        lines.on('error', () => message.socket.destroy());
        lines.on('close', () => answer.end());
        return;
      }
      answer.writeHead(status, reply.headers);
      answer.flushHeaders();
      reply.pipe(answer);
      reply.on('error', () => message.socket.destroy());
    });
    upstreams.add(sent);
    const drop = (): void => {
      sent.destroy();
    };
    sent.on('close', () => {
      upstreams.delete(sent);
      message.socket.off('close', drop);
    });
    sent.on('error', () => message.socket.destroy());
    message.socket.once('close', drop);
    message.pipe(sent);
  };

  server.on('upgrade', (message: IncomingMessage, socket: Duplex, head: Buffer) => {
    const fault = faultFor(message);
    if (spoilUpgrade(fault, socket)) return;
    const through: Socket = connect(upstream);
    upstreams.add(through);
    const lines = [`${message.method} ${message.url} HTTP/1.1`];
    for (let at = 0; at < message.rawHeaders.length; at += 2)
      lines.push(`${message.rawHeaders[at]}: ${message.rawHeaders[at + 1]}`);
    through.write(`${lines.join('\r\n')}\r\n\r\n`);
    if (head.length > 0) through.write(head);
    through.pipe(socket);
    socket.pipe(through);
    through.on('error', () => socket.destroy());
    socket.on('error', () => through.destroy());
    through.on('close', () => {
      upstreams.delete(through);
      socket.destroy();
    });
    socket.on('close', () => through.destroy());
  });
  server.on('connection', (socket: Socket) => {
    sockets.add(socket);
    socket.on('error', () => socket.destroy());
    socket.on('close', () => sockets.delete(socket));
  });
  server.on('clientError', (_error, socket) => socket.destroy());
  await new Promise<void>((resolve) => {
    server.listen(socketPath, resolve);
  });

  const breakAll = (): void => {
    for (const socket of sockets) socket.destroy();
    for (const one of upstreams) one.destroy();
  };
  return {
    socketPath,
    calls,
    set(next) {
      rules = next.map((rule) => ({ ...rule }));
    },
    breakAll,
    async close() {
      breakAll();
      await new Promise((resolve) => server.close(resolve));
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/** true: the call was dealt with here. */
function spoil(fault: Fault | undefined, socket: Duplex, answer: ServerResponse): boolean {
  switch (fault?.do) {
    case 'hang':
      return true;
    case 'reset':
      socket.destroy();
      return true;
    case 'status':
      answer.writeHead(fault.status, { 'content-type': 'application/json' });
      answer.end(fault.body ?? JSON.stringify({ message: 'spoiled by the proxy' }));
      return true;
    case 'garbage':
      socket.end('this is no HTTP\r\n\r\n');
      return true;
    case 'garbage-body':
      answer.writeHead(200, { 'content-type': 'application/json', 'api-version': '1.41' });
      answer.end('{"half": ');
      return true;
    default:
      return false;
  }
}

function spoilUpgrade(fault: Fault | undefined, socket: Duplex): boolean {
  switch (fault?.do) {
    case 'hang':
    case 'hang-after':
    case 'stall-body':
      return true;
    case 'reset':
    case 'reset-after':
    case 'truncate':
      socket.destroy();
      return true;
    case 'status':
      socket.end(
        `HTTP/1.1 ${fault.status} Spoiled\r\nContent-Length: 24\r\nConnection: close\r\n\r\n{"message":"spoiled now"}`,
      );
      return true;
    case 'garbage':
      socket.end('this is no HTTP\r\n\r\n');
      return true;
    case 'garbage-body':
      socket.end('HTTP/1.1 200 OK\r\nContent-Length: 9\r\nConnection: close\r\n\r\n{"half": ');
      return true;
    default:
      return false;
  }
}

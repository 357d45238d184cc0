/** Where a daemon listens: how to connect, and what to put into the Host header. */
export interface DaemonAddress {
  connect: { socketPath: string } | { host: string; port: number };
  host: string;
  /** For logs and messages. */
  text: string;
}

/** Accepts `unix:///path`, `tcp://host:port`, `http://host:port` (plain TCP, port 2375 by default), or a socket's path. */
export function daemonAddress(where: { socketPath: string } | { url: string }): DaemonAddress {
  if ('socketPath' in where) return unix(where.socketPath);
  if (where.url.startsWith('unix://')) return unix(where.url.slice('unix://'.length));
  let url: URL;
  try {
    url = new URL(where.url.replace(/^tcp:/, 'http:'));
  } catch {
    throw new TypeError(`"${where.url}" is not a daemon's address: use unix:///path or tcp://host:port`);
  }
  if (url.protocol !== 'http:')
    throw new TypeError(`"${where.url}": only unix:///path and tcp://host:port can be reached`);
  const port = url.port === '' ? 2375 : Number(url.port);
  const host = url.hostname.replace(/^\[|\]$/g, '');
  return { connect: { host, port }, host: `${url.hostname}:${port}`, text: `tcp://${url.hostname}:${port}` };
}

function unix(socketPath: string): DaemonAddress {
  if (!socketPath.startsWith('/')) throw new TypeError(`"${socketPath}" is not an absolute path of a socket`);
  return { connect: { socketPath }, host: 'docker', text: `unix://${socketPath}` };
}

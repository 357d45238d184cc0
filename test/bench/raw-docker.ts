/**
 * The raw side of the comparison: a program of its own that talks to the Docker API and knows nothing of Holdfast.
 * One launch = create + attach + start + the first byte of output, on connections that are kept alive.
 *
 *   node test/bench/raw-docker.ts SOCKET IMAGE     then, on standard input, one number a line: so many launches at once;
 *                                                  each is answered with a line of JSON: milliseconds of the whole
 */
import { Agent, request } from 'node:http';
import { createInterface } from 'node:readline';
import type { Socket } from 'node:net';

const [socketPath = '', image = ''] = process.argv.slice(2);
const agent = new Agent({ keepAlive: true, maxSockets: 16 });
let made = 0;

for await (const line of createInterface({ input: process.stdin })) {
  const startedMs = performance.now();
  const launches = Array.from({ length: Number(line) }, () => launch(made++));
  const ids = await Promise.all(launches);
  const tookMs = performance.now() - startedMs;
  await Promise.all(ids.map((id) => call('DELETE', `/containers/${id}?force=1&v=1`)));
  console.log(JSON.stringify(tookMs));
}
agent.destroy();

async function launch(n: number): Promise<string> {
  const { Id } = JSON.parse(
    await call('POST', `/containers/create?name=raw-${process.pid}-${n}`, {
      Image: image,
      Cmd: ['sh', '-c', 'echo ready; exec sleep 3600'],
      AttachStdout: true,
      AttachStderr: true,
      NetworkDisabled: true,
      HostConfig: {
        Memory: 64 * 1024 * 1024,
        MemorySwap: 64 * 1024 * 1024,
        NanoCpus: 200_000_000,
        PidsLimit: 32,
        NetworkMode: 'none',
        LogConfig: { Type: 'none' },
        CapDrop: ['ALL'],
        SecurityOpt: ['no-new-privileges'],
      },
    }),
  ) as { Id: string };
  const output = await attach(Id);
  const firstOutput = new Promise<void>((resolve, reject) => {
    output.once('data', () => resolve());
    output.once('error', reject);
    output.once('end', () => reject(new Error('no output')));
  });
  await call('POST', `/containers/${Id}/start`);
  await firstOutput;
  output.destroy();
  return Id;
}

function attach(id: string): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const sent = request({
      socketPath,
      method: 'POST',
      path: `/containers/${id}/attach?stream=1&stdout=1&stderr=1`,
      headers: { host: 'docker', connection: 'Upgrade', upgrade: 'tcp' },
    });
    sent.once('upgrade', (_message, socket) => resolve(socket));
    sent.once('response', (message) => reject(new Error(`attach answers ${message.statusCode}`)));
    sent.once('error', reject);
    sent.end();
  });
}

function call(method: string, path: string, body?: unknown): Promise<string> {
  return new Promise((resolve, reject) => {
    const bytes = body === undefined ? undefined : JSON.stringify(body);
    const headers = {
      host: 'docker',
      ...(bytes && { 'content-type': 'application/json', 'content-length': Buffer.byteLength(bytes) }),
    };
    const sent = request({ socketPath, method, path, agent, headers }, (message) => {
      let answer = '';
      message.setEncoding('utf8');
      message.on('data', (chunk: string) => (answer += chunk));
      message.once('error', reject);
      message.once('end', () => {
        if ((message.statusCode ?? 500) < 300) resolve(answer);
        else reject(new Error(`${method} ${path}: ${message.statusCode} ${answer}`));
      });
    });
    sent.once('error', reject);
    sent.end(bytes);
  });
}

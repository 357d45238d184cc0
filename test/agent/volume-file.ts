import { request } from 'node:http';

const HEADER_BYTES = 512;

/**
 * A file of a volume, read through the daemon alone: its host may be another machine. A container that is made and
 * never started has the volume in its filesystem.
 */
export async function fileInVolume(socketPath: string, volume: string, file: string): Promise<string> {
  const spec = {
    Image: 'busybox:lab',
    Cmd: ['true'],
    NetworkDisabled: true,
    HostConfig: { NetworkMode: 'none', Binds: [`${volume}:/volume:ro,nocopy`] },
  };
  const made = JSON.parse(
    (await call(socketPath, 'POST', '/containers/create', JSON.stringify(spec))).toString(),
  ) as { Id: string };
  try {
    const path = encodeURIComponent(`/volume/${file}`);
    return firstFile(await call(socketPath, 'GET', `/containers/${made.Id}/archive?path=${path}`));
  } finally {
    await call(socketPath, 'DELETE', `/containers/${made.Id}?force=1`);
  }
}

/** Of a tar file; its header says in octal how long the content is. */
function firstFile(tar: Buffer): string {
  const bytes = Number.parseInt(tar.subarray(124, 136).toString('latin1'), 8);
  return tar.subarray(HEADER_BYTES, HEADER_BYTES + bytes).toString();
}

function call(socketPath: string, method: string, path: string, body?: string): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const headers = body === undefined ? {} : { 'content-type': 'application/json' };
    const sent = request({ socketPath, method, path, headers }, (answer) => {
      const chunks: Buffer[] = [];
      answer.on('data', (chunk: Buffer) => chunks.push(chunk));
      answer.on('error', reject);
      answer.on('end', () => {
        const whole = Buffer.concat(chunks);
        const status = answer.statusCode ?? 0;
        if (status >= 200 && status < 300) resolve(whole);
        else reject(new Error(`${method} ${path}: ${status} ${whole.toString()}`));
      });
    });
    sent.on('error', reject);
    sent.end(body);
  });
}

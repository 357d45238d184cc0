/** A few calls of the Docker API over its socket, for scripts; nothing of the product uses it. */
import { request } from 'node:http';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';

export interface Answer {
  status: number;
  body: string;
}

export class DockerAPI {
  readonly socketPath: string;
  constructor(socketPath: string) {
    this.socketPath = socketPath;
  }

  async call(method: string, path: string, body?: unknown): Promise<Answer> {
    const bytes = body === undefined ? undefined : Buffer.from(JSON.stringify(body));
    return this.send(method, path, bytes === undefined ? undefined : Readable.from([bytes]), {
      ...(bytes && { 'content-type': 'application/json', 'content-length': String(bytes.length) }),
    });
  }

  /** Throws where the answer is not 2xx or not JSON. */
  async json<T>(method: string, path: string, body?: unknown): Promise<T> {
    const answer = await this.call(method, path, body);
    if (answer.status >= 300)
      throw new Error(`Docker answers ${answer.status} to ${method} ${path}: ${answer.body}`);
    return JSON.parse(answer.body) as T;
  }

  /** Makes an image of a root directory in a tar; the answer has its ID. */
  importImage(tar: Readable, repository: string, tag: string): Promise<Answer> {
    const query = new URLSearchParams({ fromSrc: '-', repo: repository, tag });
    return this.send('POST', `/images/create?${query.toString()}`, tar, {
      'content-type': 'application/x-tar',
    });
  }

  private async send(
    method: string,
    path: string,
    body: Readable | undefined,
    headers: Record<string, string>,
  ) {
    const sent = request({
      socketPath: this.socketPath,
      method,
      path,
      headers: { host: 'docker', ...headers },
    });
    const answered = new Promise<Answer>((resolve, reject) => {
      sent.once('error', reject);
      sent.once('response', (message) => {
        const chunks: Buffer[] = [];
        message.on('data', (chunk: Buffer) => chunks.push(chunk));
        message.once('error', reject);
        message.once('end', () =>
          resolve({ status: message.statusCode ?? 0, body: Buffer.concat(chunks).toString('utf8') }),
        );
      });
    });
    if (body === undefined) sent.end();
    else await pipeline(body, sent);
    return answered;
  }
}

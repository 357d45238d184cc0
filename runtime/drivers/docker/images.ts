import type { Readable } from 'node:stream';
import { DriverError, type CallOptions, type ImageInfo, type RegistryAuth } from '../../driver.ts';
import { imageAnswer } from './answers.ts';
import type { DaemonConnection } from './connection.ts';
import { splitReference } from './image-reference.ts';
import { imageInfo } from './map-container.ts';
import { answerError, errorMessage } from './map-errors.ts';
import { followProgress } from './progress.ts';
import { TIMEOUTS } from './timeouts.ts';

export async function inspectImage(
  daemon: DaemonConnection,
  image: string,
  { signal }: CallOptions,
): Promise<ImageInfo | undefined> {
  const answer = await daemon.jsonIfFound(imageAnswer, {
    method: 'GET',
    path: `/images/${image.split('/').map(encodeURIComponent).join('/')}/json`,
    timeoutMs: TIMEOUTS.readMs,
    signal,
  });
  return answer && imageInfo(answer);
}

export async function pullImage(
  daemon: DaemonConnection,
  image: string,
  { signal, auth, onProgress }: CallOptions & { auth?: RegistryAuth; onProgress: (text: string) => void },
): Promise<void> {
  const { repository, tag } = splitReference(image);
  const answer = await daemon.stream(
    {
      method: 'POST',
      path: '/images/create',
      query: { fromImage: repository, tag },
      headers: auth === undefined ? {} : { 'x-registry-auth': encodeAuth(auth) },
      timeoutMs: TIMEOUTS.pullMs,
      idleMs: TIMEOUTS.pullMs,
      signal,
    },
    (status, body) =>
      status >= 400
        ? new DriverError('PullFailed', errorMessage(body))
        : answerError('POST /images/create', status, body),
  );
  await followProgress(answer, 'PullFailed', onProgress);
}

/**
 * `images/create` from a tar of a root directory: needs no registry, lets labels be set, and is done by the daemon
 * for the graph driver and containerd's image store alike (`images/load` would want a manifest of our making).
 */
export async function importImage(
  daemon: DaemonConnection,
  tar: Readable,
  { signal, image, labels }: CallOptions & { image: string; labels: Record<string, string> },
): Promise<void> {
  const { repository, tag } = splitReference(image);
  const pairs = Object.entries(labels).map(([key, value]) => `${quote(key)}=${quote(value)}`);
  const answer = await daemon.stream({
    method: 'POST',
    path: '/images/create',
    query: {
      fromSrc: '-',
      repo: repository,
      tag,
      changes: pairs.length === 0 ? undefined : `LABEL ${pairs.join(' ')}`,
    },
    stream: { body: tar, contentType: 'application/x-tar' },
    timeoutMs: TIMEOUTS.importMs,
    idleMs: TIMEOUTS.importMs,
    signal,
  });
  await followProgress(answer, 'Failed', () => {});
}

/** As a Dockerfile wants it: in double quotes, with nothing of it expanded. */
function quote(text: string): string {
  return `"${text.replaceAll(/["\\$]/g, '\\$&').replaceAll('\n', '\\\n')}"`;
}

function encodeAuth(auth: RegistryAuth): string {
  const json = JSON.stringify({
    username: auth.username,
    password: auth.password,
    serveraddress: auth.serverAddress,
  });
  // Go's URL-safe base64 with padding.
  return Buffer.from(json).toString('base64').replaceAll('+', '-').replaceAll('/', '_');
}

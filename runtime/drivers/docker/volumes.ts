import type { CallOptions, VolumeInfo } from '../../driver.ts';
import { DriverError } from '../../driver.ts';
import { volumeAnswer, volumesAnswer } from './answers.ts';
import { isSuccess, type DaemonConnection } from './connection.ts';
import { labelFilter } from './filters.ts';
import { volumeInfo } from './map-container.ts';
import { answerError, errorMessage } from './map-errors.ts';
import { TIMEOUTS } from './timeouts.ts';

type Labels = Record<string, string>;

/** Docker answers an existing volume of the name as it is, with the labels it has. */
export async function createVolume(
  daemon: DaemonConnection,
  name: string,
  { labels, signal }: CallOptions & { labels: Labels },
): Promise<VolumeInfo> {
  const json = { Name: name, Driver: 'local', Labels: labels };
  const request = {
    method: 'POST' as const,
    path: '/volumes/create',
    json,
    timeoutMs: TIMEOUTS.volumeMs,
    signal,
  };
  return volumeInfo(await daemon.json(volumeAnswer, request));
}

export async function inspectVolume(
  daemon: DaemonConnection,
  name: string,
  { signal }: CallOptions,
): Promise<VolumeInfo | undefined> {
  const answer = await daemon.jsonIfFound(volumeAnswer, {
    method: 'GET',
    path: path(name),
    timeoutMs: TIMEOUTS.readMs,
    signal,
  });
  return answer && volumeInfo(answer);
}

export async function listVolumes(
  daemon: DaemonConnection,
  { labels, signal }: CallOptions & { labels: Labels },
): Promise<VolumeInfo[]> {
  const answer = await daemon.json(volumesAnswer, {
    method: 'GET',
    path: '/volumes',
    query: { filters: labelFilter(labels) },
    timeoutMs: TIMEOUTS.readMs,
    signal,
  });
  return answer.Volumes.map(volumeInfo);
}

export async function removeVolume(
  daemon: DaemonConnection,
  name: string,
  { signal }: CallOptions,
): Promise<void> {
  const answer = await daemon.answer({
    method: 'DELETE',
    path: path(name),
    timeoutMs: TIMEOUTS.volumeMs,
    signal,
  });
  if (isSuccess(answer.status) || answer.status === 404) return;
  if (answer.status === 409) throw new DriverError('InUse', errorMessage(answer.body));
  throw answerError(`DELETE ${path(name)}`, answer.status, answer.body);
}

function path(name: string): string {
  return `/volumes/${encodeURIComponent(name)}`;
}

import type { Duplex } from 'node:stream';
import {
  DriverError,
  type CallOptions,
  type ContainerInfo,
  type ContainerSpec,
  type ContainerSummary,
  type KernelLimits,
} from '../../driver.ts';
import { createAnswer, inspectAnswer, listAnswer, waitAnswer } from './answers.ts';
import { AttachedStream } from './attached-stream.ts';
import { isSuccess, parseAnswer, type DaemonConnection } from './connection.ts';
import { labelFilter } from './filters.ts';
import type { Answer } from './http-client.ts';
import { containerInfo, containerSummary } from './map-container.ts';
import { createBody } from './map-create.ts';
import { answerError, errorMessage, isLimitRefusal, startFailureCode } from './map-errors.ts';
import { limitsForUpdate } from './map-limits.ts';
import { TIMEOUTS } from './timeouts.ts';

export async function createContainer(
  daemon: DaemonConnection,
  spec: ContainerSpec,
  { signal }: CallOptions,
): Promise<{ id: string; warnings: string[] }> {
  const answer = await daemon.answer({
    method: 'POST',
    path: '/containers/create',
    query: { name: spec.name },
    json: createBody(spec),
    timeoutMs: TIMEOUTS.createMs,
    signal,
  });
  if (isSuccess(answer.status)) {
    const created = parseAnswer(createAnswer, answer.body, 'POST /containers/create');
    return { id: created.Id, warnings: created.Warnings };
  }
  const message = errorMessage(answer.body);
  const refused = answer.status >= 400 && answer.status !== 404 && answer.status !== 409;
  if (refused && isLimitRefusal(message)) throw new DriverError('Unenforceable', message);
  throw answerError('POST /containers/create', answer.status, answer.body);
}

export async function startContainer(
  daemon: DaemonConnection,
  id: string,
  { signal }: CallOptions,
): Promise<void> {
  const answer = await post(daemon, id, 'start', {}, TIMEOUTS.startMs, signal);
  // 304: it runs already.
  if (isSuccess(answer.status) || answer.status === 304) return;
  const message = errorMessage(answer.body);
  if (answer.status < 400) throw answerError(`POST ${path(id)}/start`, answer.status, answer.body);
  throw new DriverError(startFailureCode(answer.status, message), message);
}

export async function inspectContainer(
  daemon: DaemonConnection,
  id: string,
  { signal }: CallOptions,
): Promise<ContainerInfo | undefined> {
  const answer = await daemon.jsonIfFound(inspectAnswer, {
    method: 'GET',
    path: `${path(id)}/json`,
    timeoutMs: TIMEOUTS.readMs,
    signal,
  });
  return answer && containerInfo(answer);
}

export async function listContainers(
  daemon: DaemonConnection,
  { labels, signal }: CallOptions & { labels: Record<string, string> },
): Promise<ContainerSummary[]> {
  const answer = await daemon.json(listAnswer, {
    method: 'GET',
    path: '/containers/json',
    query: { all: 1, filters: labelFilter(labels) },
    timeoutMs: TIMEOUTS.readMs,
    signal,
  });
  return answer.map(containerSummary);
}

export async function killContainer(
  daemon: DaemonConnection,
  id: string,
  { signal_, signal }: CallOptions & { signal_: NodeJS.Signals },
): Promise<void> {
  const answer = await post(daemon, id, 'kill', { signal: signal_ }, TIMEOUTS.signalMs, signal);
  // 409: it does not run.
  if (isSuccess(answer.status) || answer.status === 404 || answer.status === 409) return;
  throw answerError(`POST ${path(id)}/kill`, answer.status, answer.body);
}

export async function unpauseContainer(
  daemon: DaemonConnection,
  id: string,
  { signal }: CallOptions,
): Promise<void> {
  const answer = await post(daemon, id, 'unpause', {}, TIMEOUTS.signalMs, signal);
  if (isSuccess(answer.status)) return;
  // "is not paused" has had several status codes; what counts is the state.
  const now = await inspectContainer(daemon, id, signal === undefined ? {} : { signal });
  if (now !== undefined && now.state !== 'paused') return;
  throw answerError(`POST ${path(id)}/unpause`, answer.status, answer.body);
}

export async function removeContainer(
  daemon: DaemonConnection,
  id: string,
  { signal }: CallOptions,
): Promise<void> {
  const answer = await daemon.answer({
    method: 'DELETE',
    path: path(id),
    query: { force: 1, v: 1 },
    timeoutMs: TIMEOUTS.removeMs,
    signal,
  });
  if (isSuccess(answer.status) || answer.status === 404) return;
  const message = errorMessage(answer.body);
  if (answer.status === 409 && /removal of container .* is already in progress/i.test(message)) {
    // Somebody else removes it: gone is gone, whoever did it.
    const gone = await post(daemon, id, 'wait', { condition: 'removed' }, TIMEOUTS.removeMs, signal);
    if (isSuccess(gone.status) || gone.status === 404) return;
    throw answerError(`POST ${path(id)}/wait`, gone.status, gone.body);
  }
  throw answerError(`DELETE ${path(id)}`, answer.status, answer.body);
}

export async function updateLimits(
  daemon: DaemonConnection,
  id: string,
  limits: KernelLimits,
  { signal }: CallOptions,
): Promise<void> {
  const answer = await daemon.answer({
    method: 'POST',
    path: `${path(id)}/update`,
    json: limitsForUpdate(limits),
    timeoutMs: TIMEOUTS.updateMs,
    signal,
  });
  if (isSuccess(answer.status)) return;
  if (answer.status === 404) throw answerError(`POST ${path(id)}/update`, answer.status, answer.body);
  if (answer.status >= 400) throw new DriverError('Unenforceable', errorMessage(answer.body));
  throw answerError(`POST ${path(id)}/update`, answer.status, answer.body);
}

/** A container that was never started counts as stopped, with code 0: wait after the start. */
export async function waitContainer(
  daemon: DaemonConnection,
  id: string,
  { signal }: CallOptions,
): Promise<number> {
  const answer = await daemon.stream({
    method: 'POST',
    path: `${path(id)}/wait`,
    query: { condition: 'not-running' },
    timeoutMs: TIMEOUTS.readMs,
    signal,
  });
  const ended = parseAnswer(waitAnswer, await answer.rest(), `POST ${path(id)}/wait`);
  if (ended.Error?.Message) throw new DriverError('Failed', ended.Error.Message);
  return ended.StatusCode;
}

/** The signal counts until the stream is there; end it with `destroy()` after that. */
export async function attachContainer(
  daemon: DaemonConnection,
  id: string,
  { signal, onStderr }: CallOptions & { onStderr: (chunk: Buffer) => void },
): Promise<Duplex> {
  const { socket, head } = await daemon.upgrade({
    method: 'POST',
    path: `${path(id)}/attach`,
    query: { stream: 1, stdin: 1, stdout: 1, stderr: 1 },
    timeoutMs: TIMEOUTS.readMs,
    signal,
  });
  return new AttachedStream(socket, head, onStderr);
}

function post(
  daemon: DaemonConnection,
  id: string,
  verb: string,
  query: Record<string, string>,
  timeoutMs: number,
  signal: AbortSignal | undefined,
): Promise<Answer> {
  return daemon.answer({ method: 'POST', path: `${path(id)}/${verb}`, query, timeoutMs, signal });
}

function path(id: string): string {
  return `/containers/${encodeURIComponent(id)}`;
}

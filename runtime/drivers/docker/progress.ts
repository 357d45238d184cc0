import { LineDecoder } from '../../../kube/line-decoder.ts';
import { DriverError } from '../../driver.ts';
import { progressAnswer } from './answers.ts';
import type { StreamedAnswer } from './http-client.ts';
import { jsonLines } from './json-lines.ts';

/**
 * Reads the stream of a pull or an import to its end. The status was 200 before the work began, so a failure is a
 * line in the stream. `onProgress` gets a short text whenever it changes.
 */
export async function followProgress(
  answer: StreamedAnswer,
  failureCode: 'PullFailed' | 'Failed',
  onProgress: (text: string) => void,
): Promise<void> {
  const layers = new Map<string, { current: number; total: number; done: boolean }>();
  let last = '';
  for await (const line of jsonLines(answer.chunks(), new LineDecoder({ maxLineBytes: 1024 * 1024 }))) {
    const parsed = progressAnswer.safeParse(line);
    if (!parsed.success) throw new DriverError('Unreadable', 'a line of the progress stream is no progress');
    const step = parsed.data;
    const failure = step.errorDetail?.message ?? step.error;
    if (failure !== undefined) throw new DriverError(failureCode, failure);
    if (step.id !== undefined && step.status !== undefined && layers.size < MAX_LAYERS)
      noteLayer(layers, step.id, step.status, step.progressDetail);
    const text = layers.size === 0 ? (step.status ?? '') : summary(layers);
    if (text !== '' && text !== last) {
      last = text;
      onProgress(text);
    }
  }
}

const MAX_LAYERS = 1024;
const DONE = /^(pull complete|already exists)/i;
/** The first line of a pull has the tag as its id. */
const LAYER =
  /^(pulling fs layer|waiting|downloading|verifying|download complete|extracting|pull complete|already exists)/i;

function noteLayer(
  layers: Map<string, { current: number; total: number; done: boolean }>,
  id: string,
  status: string,
  detail: { current?: number | undefined; total?: number | undefined },
): void {
  if (!LAYER.test(status)) return;
  const layer = layers.get(id) ?? { current: 0, total: 0, done: false };
  if (DONE.test(status)) {
    layer.done = true;
    layer.current = layer.total;
  } else if (/^downloading/i.test(status)) {
    layer.current = detail.current ?? layer.current;
    layer.total = detail.total ?? layer.total;
  } else if (/^(download complete|extracting)/i.test(status)) layer.current = layer.total;
  layers.set(id, layer);
}

function summary(layers: Map<string, { current: number; total: number; done: boolean }>): string {
  let done = 0;
  let current = 0;
  let total = 0;
  for (const layer of layers.values()) {
    if (layer.done) done += 1;
    current += layer.current;
    total += layer.total;
  }
  const size = total === 0 ? '' : `, ${mebibytes(current)} of ${mebibytes(total)} MiB`;
  return `${done} of ${layers.size} layers${size}`;
}

function mebibytes(bytes: number): string {
  return (bytes / 1048576).toFixed(1);
}

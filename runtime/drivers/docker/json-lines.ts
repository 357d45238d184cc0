import { TransportError } from '../../../kube/errors.ts';
import type { LineDecoder } from '../../../kube/line-decoder.ts';
import { DriverError } from '../../driver.ts';

/** The JSON documents of a stream, one a line. `Unreadable` for a line that is none, or is too long. */
export async function* jsonLines(
  chunks: AsyncIterable<Buffer>,
  decoder: LineDecoder,
): AsyncGenerator<unknown, void, void> {
  for await (const chunk of chunks) for (const line of linesOf(decoder, chunk)) yield parse(line);
  // Docker ends every document with a newline; podman leaves out the last one.
  if (decoder.pendingBytes > 0) for (const line of linesOf(decoder, NEWLINE)) yield parse(line);
}

const NEWLINE = Buffer.from('\n');

function linesOf(decoder: LineDecoder, chunk: Buffer): string[] {
  try {
    return decoder.push(chunk);
  } catch (error) {
    if (error instanceof TransportError) throw new DriverError('Unreadable', error.message, { cause: error });
    throw error;
  }
}

function parse(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch (error) {
    throw new DriverError('Unreadable', `the stream holds what is not JSON: ${line.slice(0, 200)}`, {
      cause: error,
    });
  }
}

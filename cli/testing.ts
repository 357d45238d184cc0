import { PassThrough } from 'node:stream';
import { run } from './run.ts';
import type { Environment } from './config.ts';

export interface Ran {
  code: number;
  stdout: string;
  stderr: string;
}

/** For tests: runs a command line and answers what it printed. */
export async function runHoldfast(
  args: readonly string[],
  options: { env?: Environment; stop?: AbortSignal } = {},
): Promise<Ran> {
  const [stdout, stderr] = [new PassThrough(), new PassThrough()];
  const text = { stdout: '', stderr: '' };
  stdout.on('data', (chunk: Buffer) => (text.stdout += chunk.toString()));
  stderr.on('data', (chunk: Buffer) => (text.stderr += chunk.toString()));
  const code = await run(args, {
    stdout,
    stderr,
    env: options.env ?? {},
    stop: options.stop ?? new AbortController().signal,
  });
  // What was written is handed out in the next turn.
  await new Promise((resolve) => setImmediate(resolve));
  return { code, ...text };
}

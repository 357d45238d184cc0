import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { createInterface } from 'node:readline';

export interface RawSide {
  /** So many raw launches at once; resolves with the milliseconds of the whole when they are removed again. */
  launch(count: number): Promise<number>;
  close(): void;
}

/** Starts the raw side, a process of its own. */
export function startRawSide(socketPath: string, image: string): RawSide {
  const child = spawn(process.execPath, [join(import.meta.dirname, 'raw-docker.ts'), socketPath, image], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const answers = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  return {
    async launch(count) {
      child.stdin.write(`${count}\n`);
      const { value, done } = await answers.next();
      if (done === true) throw new Error('the raw side has ended');
      return Number(value);
    },
    close: () => child.stdin.end(),
  };
}

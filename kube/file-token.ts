import { readFile } from 'node:fs/promises';
import type { Clock } from './clock.ts';

/** Kubelets renew projected tokens long before they end: a minute is soon enough. */
const READ_AGAIN_MS = 60_000;

/** A token that something else keeps fresh in a file. The last one read is used while the file cannot be read. */
export function fileToken(file: string, clock: Clock): () => Promise<string> {
  let token: string | undefined;
  let readMs = 0;
  return async () => {
    if (token !== undefined && clock.monotonicMs() - readMs < READ_AGAIN_MS) return token;
    try {
      token = (await readFile(file, 'utf8')).trim();
      readMs = clock.monotonicMs();
    } catch (error) {
      if (token === undefined) throw error;
    }
    return token;
  };
}

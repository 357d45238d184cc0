import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Launch } from './frame.ts';
import { outputFolder } from './reader.ts';
import { openOutputWriter, OUTPUT_BOUNDS, type OutputWriter } from './writer.ts';

/** The writers of all sandboxes, each opened when it is first needed. */
export interface Outputs {
  writer(uid: string, launch: Launch): Promise<OutputWriter>;
  /** Closes the files of a sandbox that has ended; reading goes on to work. */
  close(uid: string): Promise<void>;
  remove(uid: string): Promise<void>;
  closeAll(): Promise<void>;
}

export function createOutputs(dataDir: string, nowMs: () => number): Outputs {
  const open = new Map<string, Promise<OutputWriter>>();
  const close = async (key: string): Promise<void> => {
    const writer = open.get(key);
    open.delete(key);
    if (writer !== undefined) await (await writer).close();
  };
  return {
    writer: (uid, launch) => {
      const key = `${uid}/${launch}`;
      const known = open.get(key);
      if (known !== undefined) return known;
      const opening = openOutputWriter(outputFolder(dataDir, uid, launch), {
        ...OUTPUT_BOUNDS[launch],
        nowMs,
      });
      open.set(key, opening);
      // One that failed is tried again by the next chunk.
      opening.catch(() => open.delete(key));
      return opening;
    },
    close: async (uid) => {
      await close(`${uid}/setup`);
      await close(`${uid}/main`);
    },
    remove: async (uid) => {
      await close(`${uid}/setup`);
      await close(`${uid}/main`);
      await rm(join(dataDir, 'output', uid), { recursive: true, force: true });
    },
    closeAll: async () => {
      // Its own copy: closing takes each out of the map.
      for (const key of Array.from(open.keys())) await close(key);
    },
  };
}

import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Clock } from '../../../kube/clock.ts';
import type { Launch } from './frame.ts';
import { keepGoing, type OutputTrouble } from './keep-going.ts';
import { outputFolder } from './reader.ts';
import { openOutputWriter, OUTPUT_BOUNDS, type OutputWriter } from './writer.ts';

/** The writers of all sandboxes, each opened when it is first needed. */
export interface Outputs {
  /** Never rejects, and neither does what is written with it; `trouble` of the one who asks first hears why not. */
  writer(uid: string, launch: Launch, trouble: OutputTrouble): Promise<OutputWriter>;
  /** Closes the files of a sandbox that has ended; reading goes on to work. */
  close(uid: string): Promise<void>;
  remove(uid: string): Promise<void>;
  closeAll(): Promise<void>;
}

export function createOutputs(dataDir: string, clock: Pick<Clock, 'now' | 'monotonicMs'>): Outputs {
  const open = new Map<string, Promise<OutputWriter>>();
  const close = async (key: string): Promise<void> => {
    const writer = open.get(key);
    open.delete(key);
    if (writer !== undefined) await (await writer).close();
  };
  return {
    writer: (uid, launch, trouble) => {
      const key = `${uid}/${launch}`;
      const known = open.get(key);
      if (known !== undefined) return known;
      const folder = outputFolder(dataDir, uid, launch);
      const bounds = { ...OUTPUT_BOUNDS[launch], nowMs: () => clock.now().getTime() };
      const opening = keepGoing(
        () => openOutputWriter(folder, bounds),
        () => clock.monotonicMs(),
        {
          ...trouble,
          // The system's own words name no file where a disk is full.
          lost: (error, retryInMs) =>
            trouble.lost(new Error(`${folder}: ${(error as Error).message}`, { cause: error }), retryInMs),
        },
      );
      open.set(key, opening);
      return opening;
    },
    close: async (uid) => {
      await close(`${uid}/setup`);
      await close(`${uid}/main`);
    },
    remove: async (uid) => {
      await close(`${uid}/setup`);
      await close(`${uid}/main`);
      await rm(join(dataDir, 'output', uid), { recursive: true, force: true }).catch(
        (error: NodeJS.ErrnoException) => {
          // A file in the place of the folder: there is nothing of it, and a deletion need not wait for anybody.
          if (error.code !== 'ENOTDIR') throw error;
        },
      );
    },
    closeAll: async () => {
      // Its own copy: closing takes each out of the map.
      for (const key of Array.from(open.keys())) await close(key);
    },
  };
}

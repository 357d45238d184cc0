import { type FileHandle, mkdir, open, readdir, readFile, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { LedgerRecord } from './record.ts';
import { recordOrProblem } from './record-shape.ts';

/**
 * One file a sandbox, written whole and synced before what it announces is done: a signal of ours is never read as
 * somebody else's, and user code is never begun twice (O10).
 */
export interface Ledger {
  get(uid: string): LedgerRecord | undefined;
  /** On disk when it resolves. */
  put(record: LedgerRecord): Promise<void>;
  remove(uid: string): Promise<void>;
  uids(): string[];
}

const UID = /^[A-Za-z0-9-]{1,64}$/;

/** `unread` hears of each file whose content is no record, and why; its sandbox is taken for one without a record. */
export async function openLedger(
  folder: string,
  unread: (path: string, why: string) => void,
): Promise<Ledger> {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const records = new Map<string, LedgerRecord>();
  for (const file of await readdir(folder)) {
    if (file.endsWith('.tmp')) {
      // A write that a crash cut off: what it announced was not done.
      await rm(join(folder, file), { force: true });
      continue;
    }
    if (!file.endsWith('.json')) continue;
    const path = join(folder, file);
    const record = parse(await textOf(path));
    if (typeof record === 'string') unread(path, record);
    else records.set(record.uid, record);
  }
  // Writes of one record keep their order; those of different sandboxes do not wait for each other.
  const chains = new Map<string, Promise<void>>();
  const inOrder = (uid: string, work: () => Promise<void>): Promise<void> => {
    const next = after(chains.get(uid), work);
    chains.set(uid, next);
    const settled = (): void => {
      if (chains.get(uid) === next) chains.delete(uid);
    };
    next.then(settled, settled);
    return next;
  };
  return {
    get: (uid) => records.get(uid),
    uids: () => [...records.keys()],
    put: (record) => {
      if (!UID.test(record.uid)) return Promise.reject(new Error(`not a UID: ${record.uid}`));
      const copy = structuredClone(record);
      return inOrder(copy.uid, async () => {
        await writeSynced(folder, `${copy.uid}.json`, JSON.stringify(copy));
        records.set(copy.uid, copy);
      });
    },
    remove: (uid) =>
      inOrder(uid, async () => {
        await rm(join(folder, `${uid}.json`), { force: true });
        records.delete(uid);
      }),
  };
}

async function textOf(path: string): Promise<string> {
  try {
    return await readFile(path, 'utf8');
  } catch (cause) {
    // The system's own words name no file where a folder is in its place.
    throw new Error(`the ledger's record ${path} cannot be read: ${(cause as Error).message}`, { cause });
  }
}

/** START waits for this: no step more than it takes, and the handles are closed beside them. */
async function writeSynced(folder: string, name: string, text: string): Promise<void> {
  const temporary = join(folder, `${name}.tmp`);
  const opening = open(folder, 'r');
  // Looked at where it is used; until then nobody else would.
  opening.catch(() => undefined);
  const opened: FileHandle[] = [];
  try {
    const file = await open(temporary, 'w', 0o600);
    opened.push(file);
    await file.writeFile(text);
    await file.datasync();
    await rename(temporary, join(folder, name));
    // The rename itself is in the folder's own data.
    await (await opening).sync();
  } finally {
    const directory = await opening.catch(() => undefined);
    if (directory !== undefined) opened.push(directory);
    await Promise.all(opened.map((handle) => handle.close()));
  }
}

function parse(text: string): LedgerRecord | string {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    return `not JSON: ${(error as Error).message}`;
  }
  return recordOrProblem(value);
}

async function after(earlier: Promise<void> | undefined, work: () => Promise<void>): Promise<void> {
  await earlier?.catch(() => undefined);
  await work();
}

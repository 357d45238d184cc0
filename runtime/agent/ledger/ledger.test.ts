import { mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openLedger } from './ledger.ts';
import type { LedgerRecord } from './record.ts';

let folder: string;
beforeEach(async () => {
  folder = join(await mkdtemp(join(tmpdir(), 'holdfast-ledger-')), 'ledger');
});
afterEach(() => rm(join(folder, '..'), { recursive: true, force: true }));

const record = (uid: string, more: Partial<LedgerRecord> = {}): LedgerRecord => ({
  version: 1,
  uid,
  namespace: 'default',
  name: 's',
  runtime: 'docker',
  specHash: 'a',
  limitsHash: 'b',
  generation: 1,
  retained: false,
  hasSetup: false,
  limits: { pidsDefaulted: false, swapHeld: true },
  starts: 1,
  ...more,
});

describe('the ledger', () => {
  it('[O10] has what was written when the next agent opens it', async () => {
    const first = await openLedger(folder);
    await first.put(record('u1', { stop: { reason: 'Deleted', at: 'now', signals: ['SIGTERM'] } }));
    await first.put(record('u2'));
    await first.remove('u2');
    const second = await openLedger(folder);
    expect(second.uids()).toEqual(['u1']);
    expect(second.get('u1')?.stop?.signals).toEqual(['SIGTERM']);
  });

  it('keeps the last of several writes of one record, in order', async () => {
    const ledger = await openLedger(folder);
    await Promise.all(Array.from({ length: 20 }, (_, i) => ledger.put(record('u1', { starts: i }))));
    expect((await openLedger(folder)).get('u1')?.starts).toBe(19);
  });

  it('keeps what was given, not what became of it', async () => {
    const ledger = await openLedger(folder);
    const mine = record('u1');
    const written = ledger.put(mine);
    mine.starts = 7;
    await written;
    expect(ledger.get('u1')?.starts).toBe(1);
  });

  it('that cannot be read names the file', async () => {
    await mkdir(join(folder, 'u1.json'), { recursive: true });
    await expect(openLedger(folder)).rejects.toThrow(
      `the ledger's record ${join(folder, 'u1.json')} cannot be read: EISDIR`,
    );
  });

  it('has the old record where a crash cut a write off', async () => {
    const ledger = await openLedger(folder);
    await ledger.put(record('u1'));
    await writeFile(join(folder, 'u1.json.tmp'), '{"version":1,"uid":"u1","sta');
    const next = await openLedger(folder);
    expect(next.get('u1')?.starts).toBe(1);
    expect(await readdir(folder)).toEqual(['u1.json']);
  });

  it('does not read what is no record', async () => {
    await openLedger(folder);
    await writeFile(join(folder, 'x.json'), 'garbage');
    await writeFile(join(folder, 'y.json'), '{"version":2,"uid":"y"}');
    expect((await openLedger(folder)).uids()).toEqual([]);
  });

  it('refuses a UID that would be a path', async () => {
    const ledger = await openLedger(folder);
    await expect(ledger.put(record('../evil'))).rejects.toThrow('not a UID');
  });

  it('is for its owner alone', async () => {
    const ledger = await openLedger(folder);
    await ledger.put(record('u1'));
    expect((await stat(folder)).mode & 0o777).toBe(0o700);
    expect((await stat(join(folder, 'u1.json'))).mode & 0o777).toBe(0o600);
    expect(await readFile(join(folder, 'u1.json'), 'utf8')).toContain('"uid":"u1"');
  });
});

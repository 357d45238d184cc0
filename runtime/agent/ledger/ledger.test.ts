import { mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openLedger } from './ledger.ts';
import type { Termination } from '../../../crds/limits-status.ts';
import type { ProcessExit } from '../../link/types.ts';
import { exit } from '../sandbox/testing/observations.ts';
import type { LedgerRecord } from './record.ts';

const AT = '2026-01-01T00:00:00.000Z';
let folder: string;
beforeEach(async () => {
  folder = join(await mkdtemp(join(tmpdir(), 'holdfast-ledger-')), 'ledger');
});
afterEach(() => rm(join(folder, '..'), { recursive: true, force: true }));

let unread: string[] = [];
const open = () => {
  unread = [];
  return openLedger(folder, (path, why) => unread.push(`${path.slice(folder.length + 1)}: ${why}`));
};

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

const EXIT: ProcessExit = {
  ...exit(0),
  exitCode: undefined,
  signal: 9,
  endedBy: 'agent',
  outside: { signal: 15, atBootMs: 1 },
};

describe('the ledger', () => {
  it('[O10] has what was written when the next agent opens it', async () => {
    const first = await open();
    await first.put(record('u1', { stop: { reason: 'Deleted', at: AT, signals: ['SIGTERM'] } }));
    await first.put(record('u2'));
    await first.remove('u2');
    const second = await open();
    expect(second.uids()).toEqual(['u1']);
    expect(second.get('u1')?.stop?.signals).toEqual(['SIGTERM']);
  });

  it('keeps the last of several writes of one record, in order', async () => {
    const ledger = await open();
    await Promise.all(Array.from({ length: 20 }, (_, i) => ledger.put(record('u1', { starts: i }))));
    expect((await open()).get('u1')?.starts).toBe(19);
  });

  it('keeps what was given, not what became of it', async () => {
    const ledger = await open();
    const mine = record('u1');
    const written = ledger.put(mine);
    mine.starts = 7;
    await written;
    expect(ledger.get('u1')?.starts).toBe(1);
  });

  it('that cannot be read names the file', async () => {
    await mkdir(join(folder, 'u1.json'), { recursive: true });
    await expect(open()).rejects.toThrow(
      `the ledger's record ${join(folder, 'u1.json')} cannot be read: EISDIR`,
    );
  });

  it('has the old record where a crash cut a write off', async () => {
    const ledger = await open();
    await ledger.put(record('u1'));
    await writeFile(join(folder, 'u1.json.tmp'), '{"version":1,"uid":"u1","sta');
    const next = await open();
    expect(next.get('u1')?.starts).toBe(1);
    expect(await readdir(folder)).toEqual(['u1.json']);
  });

  it('does not read what is no record', async () => {
    await open();
    await writeFile(join(folder, 'x.json'), 'garbage');
    await writeFile(join(folder, 'y.json'), '{"version":2,"uid":"y"}');
    expect((await open()).uids()).toEqual([]);
    expect(unread.toSorted()).toEqual([
      expect.stringMatching(/^x\.json: not JSON: /),
      expect.stringMatching(/^y\.json: version: /),
    ]);
  });

  it.each<[string, object]>([
    ['stop', { stop: 7 }],
    ['stop.reason', { stop: { reason: 'Whim', at: AT, signals: [] } }],
    ['stop.signals', { stop: { reason: 'Deleted', at: AT, signals: 'SIGTERM' } }],
    ['main.intendedAt', { main: { intendedAt: 'soon', start: 1 } }],
    ['main.exit.endedBy', { main: { intendedAt: AT, start: 1, exit: { ...EXIT, endedBy: 'nobody' } } }],
    ['outcome.termination', { outcome: { ended: 'Failed' } }],
    ['limits', { limits: [] }],
    ['limits.memoryBytes', { limits: { memoryBytes: '64Mi', pidsDefaulted: false, swapHeld: true } }],
    ['starts', { starts: null }],
    ['refusal.reason', { refusal: { reason: 1, message: '' } }],
    ['hasSetup', { hasSetup: undefined }],
    ['uid', { uid: '../evil' }],
  ])('[O10] takes a record whose %s is wrong for none, and names file and field', async (field, wrong) => {
    const ledger = await open();
    await ledger.put(record('u2'));
    await writeFile(join(folder, 'u1.json'), JSON.stringify({ ...record('u1'), ...wrong }));
    expect((await open()).uids()).toEqual(['u2']);
    expect(unread).toHaveLength(1);
    expect(unread[0]).toContain(`u1.json: ${field}: `);
  });

  it('[O10] gives back a record with everything in it, and what a newer agent has added', async () => {
    const termination: Termination = {
      launch: 'Main',
      cause: 'Exited',
      verdict: 'Confirmed',
      message: 'm',
      evidence: ['e'],
      finishedAt: '2026-01-01T00:00:00.123456789Z',
    };
    const counters = { oomKills: 1, readings: [{ path: '/p', content: 'c' }] };
    const launch = { intendedAt: AT, start: 1, flagBefore: false, baseline: counters, exit: EXIT };
    const whole = {
      ...record('u1', {
        bootID: 'b',
        fence: { seconds: 40, fellAt: AT },
        setup: { ...launch, termination, oom: { verdict: 'Unconfirmed', message: 'm' } },
        main: { ...launch, startedAt: AT, deadlineSeconds: 1, endedAt: AT, closing: counters },
        stop: { reason: 'Drained', at: AT, signals: ['SIGTERM'] },
        outcome: { termination, ended: 'Anew' },
        refusedLimits: { hash: 'h', reason: 'ReadBackMismatch', message: 'm', restored: true },
        refusal: { reason: 'InvalidSpec', message: 'm' },
      }),
      added: { by: 'a newer agent' },
    };
    const ledger = await open();
    await ledger.put(whole);
    expect((await open()).get('u1')).toEqual(JSON.parse(JSON.stringify(whole)));
    expect(unread).toEqual([]);
  });

  it('refuses a UID that would be a path', async () => {
    const ledger = await open();
    await expect(ledger.put(record('../evil'))).rejects.toThrow('not a UID');
  });

  it('is for its owner alone', async () => {
    const ledger = await open();
    await ledger.put(record('u1'));
    expect((await stat(folder)).mode & 0o777).toBe(0o700);
    expect((await stat(join(folder, 'u1.json'))).mode & 0o777).toBe(0o600);
    expect(await readFile(join(folder, 'u1.json'), 'utf8')).toContain('"uid":"u1"');
  });
});

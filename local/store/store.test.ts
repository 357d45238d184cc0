import { statSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { StoredObject } from '../object.ts';
import { temporaryFolder } from '../testing.ts';
import type { Change } from './change.ts';
import { StoreError } from './errors.ts';
import { Store } from './store.ts';

const T = '/things';
let folder: ReturnType<typeof temporaryFolder>;
let store: Store;
let now = 0;
const clock = { now: () => new Date(now) };
const open = (): Store => Store.open(join(folder.path, 'state.db'), { clock });

const thing = (name: string, extra: Record<string, unknown> = {}): StoredObject => ({
  apiVersion: 'v1',
  kind: 'Thing',
  metadata: { name },
  ...extra,
});
const put = (key: string, extra: Record<string, unknown> = {}): Promise<void> =>
  store.write((tx) => tx.put(T, key, thing(key, extra)));
const remove = (key: string): Promise<void> =>
  store.write((tx) => {
    const object = tx.get(T, key);
    if (object !== undefined) tx.remove(T, key, object);
  });
const keys = (options: { at?: number; after?: string; limit?: number } = {}): string[] =>
  store.page(T, { prefix: '', limit: -1, ...options }).map((row) => row.key);

beforeEach(() => {
  folder = temporaryFolder();
  now = 0;
  store = open();
});
afterEach(() => {
  store.close();
  folder.remove();
});

describe('writes', () => {
  it('gives every change a resourceVersion of its own, in order, and puts it into the object', async () => {
    await Promise.all([put('a'), put('b'), put('a')]);
    expect(store.rv).toBe(3);
    expect(store.get(T, 'a')?.metadata.resourceVersion).toBe('3');
    expect(store.get(T, 'b')?.metadata.resourceVersion).toBe('2');
  });

  it('keeps nothing of a write that throws half-way, and everything of those beside it', async () => {
    const failed = store.write((tx) => {
      tx.put(T, 'half', thing('half'));
      throw new Error('no');
    });
    const whole = put('whole');
    await expect(failed).rejects.toThrow('no');
    await whole;
    expect(keys()).toEqual(['whole']);
    expect(store.rv).toBe(1);
  });

  it('lets a write see what it has written itself, and what was written before it in the same commit', async () => {
    const first = put('a', { n: 1 });
    const second = store.write((tx) => {
      const seen = tx.get(T, 'a')?.['n'];
      tx.put(T, 'a', thing('a', { n: 2 }));
      return [seen, tx.get(T, 'a')?.['n']];
    });
    await first;
    expect(await second).toEqual([1, 2]);
  });

  it('resolves only after the commit: another reader of the file would see it', async () => {
    await put('a');
    store.close();
    const db = new DatabaseSync(join(folder.path, 'state.db'));
    expect(db.prepare('SELECT count(*) AS n FROM current').get()?.['n']).toBe(1);
    db.close();
  });

  it('goes on counting where it was after a restart, compaction of the last deletion included', async () => {
    await put('a');
    await remove('a');
    expect(store.rv).toBe(2);
    store.compact(2, 100);
    store.close();
    store = open();
    expect(store.rv).toBe(2);
    await put('a');
    expect(store.get(T, 'a')?.metadata.resourceVersion).toBe('3');
  });

  it('tells listeners of a commit once, in order, with the object before the change', async () => {
    const heard: Change[] = [];
    store.subscribe((changes) => heard.push(...changes));
    await Promise.all([put('a', { n: 1 }), put('a', { n: 2 }), remove('a')]);
    expect(heard.map((change) => [change.rv, change.type, change.previous?.['n']])).toEqual([
      [1, 'ADDED', undefined],
      [2, 'MODIFIED', 1],
      [3, 'DELETED', 2],
    ]);
  });
});

it('a listener that throws keeps the news from nobody, nor the answer from the writer', async () => {
  store.close();
  const errors: unknown[] = [];
  store = Store.open(join(folder.path, 'state.db'), {
    clock,
    onListenerError: (error) => errors.push(error),
  });
  let heard = 0;
  store.subscribe(() => {
    throw new Error('listener');
  });
  store.subscribe(() => (heard += 1));
  await put('a');
  expect([errors.length, heard]).toEqual([1, 1]);
});

describe('a disk that is full', () => {
  it('fails the write with Full, loses nothing that was there, and works again when there is room', async () => {
    await put('before', { data: 'x'.repeat(1000) });
    const limit = (pages: number): void => {
      store.close();
      store = Store.open(join(folder.path, 'state.db'), { clock, maxPages: pages });
    };
    limit(20);
    const errors: unknown[] = [];
    for (let i = 0; i < 200 && errors.length === 0; i++) {
      await put(`k${i}`, { data: 'y'.repeat(4000) }).catch((error: unknown) => errors.push(error));
    }
    expect(errors[0]).toBeInstanceOf(StoreError);
    expect((errors[0] as StoreError).code).toBe('Full');
    expect(store.get(T, 'before')).toBeDefined();
    const count = keys().length;
    const { rv } = store;
    limit(100_000);
    expect(keys().length).toBe(count);
    expect(store.rv).toBe(rv);
    await put('after');
    expect(store.get(T, 'after')?.metadata.resourceVersion).toBe(String(rv + 1));
  });
});

describe('pages', () => {
  it('shows the state at a revision, whatever has happened since', async () => {
    for (const key of ['a', 'b', 'c', 'd']) await put(key);
    const at = store.rv;
    await remove('b');
    await put('bb');
    await put('c', { n: 2 });
    expect(keys({ at, limit: 2 })).toEqual(['a', 'b']);
    expect(keys({ at, after: 'b' })).toEqual(['c', 'd']);
    expect(store.count(T, { prefix: '', after: 'b', at })).toBe(2);
    expect(keys()).toEqual(['a', 'bb', 'c', 'd']);
  });

  it('keeps a namespace apart from one whose name begins with its name', async () => {
    for (const key of ['n/a', 'n-1/a', 'n0/a', 'nn/a']) await put(key);
    expect(store.page(T, { prefix: 'n/', limit: -1 }).map((row) => row.key)).toEqual(['n/a']);
  });
});

describe('compaction', () => {
  it('drops what was replaced and what was deleted, keeps what is there and the history after it', async () => {
    await put('a', { n: 1 });
    await put('a', { n: 2 });
    await put('gone');
    await remove('gone');
    await put('a', { n: 3 });
    while (store.compact(4, 1));
    expect(store.compacted).toBe(4);
    expect(store.get(T, 'a')?.['n']).toBe(3);
    const [change] = store.history(T, 4, '', 10);
    expect([change?.type, change?.object['n'], change?.previous?.['n']]).toEqual(['MODIFIED', 3, 2]);
    expect(keys({ at: 4 })).toEqual(['a']);
  });

  it('gives the space back to the file system, step by step', async () => {
    for (let i = 0; i < 100; i++) await put('a', { data: 'x'.repeat(20_000) });
    const pages = (): number => statSync(join(folder.path, 'state.db')).size / 4096;
    store.close();
    store = open();
    const before = pages();
    while (store.compact(store.rv, 30));
    while (store.shrink({ step: 50, spare: 10 }));
    store.close();
    expect(pages()).toBeLessThan(before / 4);
    store = open();
    expect(store.get(T, 'a')?.['data']).toHaveLength(20_000);
  });

  it('finds the revision that is older than a moment', async () => {
    await put('a');
    now = 10_000;
    await put('b');
    expect(store.revisionBefore(new Date(5000))).toBe(1);
    expect(store.revisionBefore(new Date(20_000))).toBe(2);
  });
});

describe('the data folder', () => {
  it('belongs to one server: a second one is refused', () => {
    expect(() => open()).toThrow(expect.objectContaining({ code: 'Locked' }) as Error);
  });

  it('written by a newer version is refused, and named so', () => {
    store.close();
    const db = new DatabaseSync(join(folder.path, 'state.db'));
    db.exec('PRAGMA user_version = 99');
    db.close();
    expect(() => open()).toThrow(/newer version/);
    const back = new DatabaseSync(join(folder.path, 'state.db'));
    back.exec('PRAGMA user_version = 1');
    back.close();
    store = open();
  });
});

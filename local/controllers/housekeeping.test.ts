import { statSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { StoredObject } from '../object.ts';
import { Store } from '../store/store.ts';
import { eventually, temporaryFolder } from '../testing.ts';
import { Compactor } from './compactor.ts';
import { EventExpirer } from './event-expirer.ts';

let folder: ReturnType<typeof temporaryFolder>;
let store: Store;
let now = Date.parse('2026-01-01T00:00:00Z');
const clock = { now: () => new Date(now) };
const HOUR_MS = 3_600_000;

beforeEach(() => {
  folder = temporaryFolder();
  store = Store.open(join(folder.path, 'state.db'), { clock });
});
afterEach(() => {
  store.close();
  folder.remove();
});

const put = (resource: string, name: string, extra: object = {}): Promise<void> =>
  store.write((tx) => {
    const object: StoredObject = { apiVersion: 'v1', kind: 'X', metadata: { name }, ...extra };
    tx.put(resource, name, object);
  });

describe('the compactor', () => {
  it('keeps history for its time, then cuts it, and then leaves the disk alone', async () => {
    const compactor = new Compactor(store, clock, { ageMs: HOUR_MS, maxRevisions: 1000 });
    for (let i = 0; i < 20; i++) await put('/things', 'a', { i });
    compactor.run();
    expect(store.compacted).toBe(0);
    now += 2 * HOUR_MS;
    await put('/things', 'a', { i: 20 });
    compactor.run();
    await eventually(() => store.compacted === 20);
    const modified = (): number => statSync(join(folder.path, 'state.db-wal')).mtimeMs;
    const before = modified();
    for (let i = 0; i < 3; i++) compactor.run();
    await new Promise<void>((resolve) => void setImmediate(resolve));
    expect(modified()).toBe(before);
    compactor.stop();
  });

  it('cuts a history that grows too long by itself', async () => {
    const compactor = new Compactor(store, clock, { ageMs: HOUR_MS, maxRevisions: 100 });
    for (let round = 0; round < 4; round++) {
      await Promise.all(Array.from({ length: 200 }, (_, i) => put('/things', `k${i}`, { round })));
    }
    await eventually(() => store.rv - store.compacted <= 700);
    expect(store.count('/things', { prefix: '' })).toBe(200);
    compactor.stop();
  });
});

describe('events', () => {
  it('go an hour after they were last seen', async () => {
    const expirer = new EventExpirer(store, clock);
    const at = (ms: number): string => new Date(now + ms).toISOString();
    await put('/events', 'ns/old', { lastTimestamp: at(-2 * HOUR_MS) });
    await put('/events', 'ns/young', { lastTimestamp: at(-HOUR_MS / 2) });
    await put('/events', 'ns/series', { eventTime: at(-5 * HOUR_MS), series: { lastObservedTime: at(0) } });
    await expirer.run();
    expect(store.page('/events', { prefix: '', limit: -1 }).map((row) => row.key)).toEqual([
      'ns/series',
      'ns/young',
    ]);
    const { rv } = store;
    await expirer.run();
    expect(store.rv).toBe(rv);
    await expirer.stop();
  });
});

import { join } from 'node:path';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import type { StoredObject } from '../object.ts';
import { temporaryFolder } from '../testing.ts';
import { Store } from './store.ts';

/** The store against a model of it: a list of all changes, from which every question has a plain answer. */

const RESOURCES = ['/a', '/b'];
const clock = { now: () => new Date(0) };

interface Event {
  rv: number;
  resource: string;
  key: string;
  type: 'ADDED' | 'MODIFIED' | 'DELETED';
  value: number;
}

const key = fc.constantFrom('n/x', 'n/y', 'n-1/x', 'm/x', 'z');
const resource = fc.constantFrom(...RESOURCES);
const command = fc.oneof(
  { weight: 5, arbitrary: fc.record({ do: fc.constant('put' as const), resource, key, value: fc.nat(9) }) },
  { weight: 3, arbitrary: fc.record({ do: fc.constant('remove' as const), resource, key }) },
  {
    weight: 1,
    arbitrary: fc.record({
      do: fc.constant('compact' as const),
      back: fc.nat(6),
      step: fc.integer({ min: 1, max: 4 }),
    }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('reopen' as const) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('fail' as const), resource, key }) },
);

class Model {
  readonly events: Event[] = [];
  compacted = 0;

  get rv(): number {
    return this.events.at(-1)?.rv ?? 0;
  }

  state(resource: string, at: number): Map<string, number> {
    const out = new Map<string, number>();
    for (const event of this.events) {
      if (event.resource !== resource || event.rv > at) continue;
      if (event.type === 'DELETED') out.delete(event.key);
      else out.set(event.key, event.value);
    }
    return out;
  }

  add(resource: string, key: string, value: number | undefined): void {
    const before = this.state(resource, this.rv).get(key);
    if (value === undefined && before === undefined) return;
    const type = value === undefined ? 'DELETED' : before === undefined ? 'ADDED' : 'MODIFIED';
    this.events.push({ rv: this.rv + 1, resource, key, type, value: value ?? before ?? 0 });
  }
}

function write(store: Store, resource: string, key: string, value: number | undefined): Promise<void> {
  return store.write((tx) => {
    const object: StoredObject = { apiVersion: 'v1', kind: 'X', metadata: { name: key }, value };
    if (value !== undefined) tx.put(resource, key, object);
    else {
      const stored = tx.get(resource, key);
      if (stored !== undefined) tx.remove(resource, key, stored);
    }
  });
}

function compare(store: Store, model: Model): void {
  expect([store.rv, store.compacted]).toEqual([model.rv, model.compacted]);
  for (const resource of RESOURCES) {
    for (let at = model.compacted; at <= model.rv; at++) {
      const rows = store.page(resource, { prefix: '', limit: -1, at });
      const state = [...model.state(resource, at)].toSorted(([a], [b]) => (a < b ? -1 : 1));
      expect(rows.map((row) => [row.key, (JSON.parse(row.body) as { value: number }).value])).toEqual(state);
      expect(store.count(resource, { prefix: 'n/', at })).toBe(
        state.filter(([k]) => k.startsWith('n/')).length,
      );
      const history = store.history(resource, at, '', 1000);
      const wanted = model.events.filter((event) => event.resource === resource && event.rv > at);
      expect(history.map((change) => [change.rv, change.key, change.type, change.object['value']])).toEqual(
        wanted.map((event) => [event.rv, event.key, event.type, event.value]),
      );
      // What was there before a change is known as long as the change is.
      for (const change of history) {
        expect(change.previous?.['value']).toBe(model.state(resource, change.rv - 1).get(change.key));
      }
    }
  }
}

it('answers as a plain list of all changes would, whatever is written, compacted, refused and reopened', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(fc.array(command, { maxLength: 4 }), { maxLength: 10 }), async (batches) => {
      const folder = temporaryFolder();
      const open = (): Store => Store.open(join(folder.path, 'state.db'), { clock });
      let store = open();
      const model = new Model();
      try {
        for (const batch of batches) {
          const pending: Promise<unknown>[] = [];
          for (const step of batch) {
            if (step.do === 'put' || step.do === 'remove') {
              const value = step.do === 'put' ? step.value : undefined;
              pending.push(write(store, step.resource, step.key, value));
              model.add(step.resource, step.key, value);
            } else if (step.do === 'fail') {
              const failed = store.write((tx) => {
                tx.put(step.resource, step.key, {
                  apiVersion: 'v1',
                  kind: 'X',
                  metadata: { name: step.key },
                });
                throw new Error('refused');
              });
              pending.push(expect(failed).rejects.toThrow('refused'));
            } else {
              await Promise.all(pending.splice(0));
              if (step.do === 'reopen') {
                store.close();
                store = open();
              } else {
                const target = Math.max(0, model.rv - step.back);
                while (store.compact(target, step.step));
                model.compacted = Math.max(model.compacted, target);
              }
            }
          }
          await Promise.all(pending);
          compare(store, model);
        }
      } finally {
        store.close();
        folder.remove();
      }
    }),
    { numRuns: 60 },
  );
}, 120_000);

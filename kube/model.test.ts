import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ApiError } from './client.ts';
import { isConflict, isNotFound, TransportError } from './errors.ts';
import { keyOf, Lister } from './lister.ts';
import { done, lookAgainAfter, TerminalError } from './reconcile.ts';
import { Reflector } from './reflector.ts';
import { FakeKubeClient } from './testing/fake-client.ts';
import { FakeClock } from './testing/fake-clock.ts';
import { half, silent, thing, THINGS, type Thing } from './testing/fixtures.ts';
import { WorkQueue } from './work-queue.ts';

type Step =
  | { do: 'create' | 'touch' | 'delete' | 'replace'; name: string }
  | { do: 'fail'; how: 'gone' | 'broken' | 'busy'; calls: number }
  | { do: 'close' }
  | { do: 'wait'; ms: number };

const name = fc.constantFrom('a', 'b', 'c');
const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 5, arbitrary: fc.record({ do: fc.constantFrom('create', 'touch', 'delete', 'replace'), name }) },
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constant('fail' as const),
      how: fc.constantFrom('gone', 'broken', 'busy'),
      calls: fc.integer({ min: 1, max: 3 }),
    }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('close' as const) }) },
  {
    weight: 3,
    arbitrary: fc.record({ do: fc.constant('wait' as const), ms: fc.integer({ min: 0, max: 40_000 }) }),
  },
);

const FAULTS = {
  gone: () => new ApiError('too old', { code: 410, reason: 'Expired' }),
  broken: () => new TransportError('Unreachable', 'reset'),
  busy: () => new ApiError('busy', { code: 429, retryAfterSeconds: 2 }),
};

describe('Reflector and Lister against any history', () => {
  it('[K5] end with what the API has, and tell each life of an object from its add to its delete', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 40 }), async (steps) => {
        const clock = new FakeClock();
        const api = new FakeKubeClient();
        const seenBy = new FakeView(api);
        const lister = new Lister<Thing>({ log: silent });
        /** key -> the UID that is alive in the eyes of a handler */
        const alive = new Map<string, string | undefined>();
        const wrong: string[] = [];
        lister.onChange((key, old, object) => {
          // What a handler throws the lister catches: it is looked at in the end.
          if (alive.get(key) !== old?.metadata.uid) wrong.push(`${key}: another was alive`);
          if (object) {
            if (old && object.metadata.uid !== old.metadata.uid) wrong.push(`${key}: changed its UID`);
            alive.set(key, object.metadata.uid);
          } else {
            alive.delete(key);
          }
        });
        const reflector = new Reflector<Thing>({
          client: seenBy,
          resource: THINGS,
          lister,
          clock,
          random: half,
          log: silent,
          pageSize: 2,
        });
        const stop = new AbortController();
        const running = reflector.run(stop.signal);
        for (const one of steps) await take(one, { api, seenBy, clock });
        seenBy.failures = [];
        await clock.advance(60_000);
        const { items } = await api.list<Thing>(THINGS, {});
        expect(
          new Map(lister.list().map((object) => [keyOf(object), object.metadata.resourceVersion])),
        ).toEqual(new Map(items.map((object) => [keyOf(object), object.metadata.resourceVersion])));
        expect(alive.size).toBe(items.length);
        expect(wrong).toEqual([]);
        stop.abort();
        await running;
      }),
      { numRuns: 150 },
    );
  });
});

/** The API as the reflector has it: with faults that come when they are told to. */
class FakeView extends FakeKubeClient {
  failures: (() => Error)[] = [];
  readonly #api: FakeKubeClient;

  constructor(api: FakeKubeClient) {
    super();
    this.#api = api;
  }

  override async list(...args: Parameters<FakeKubeClient['list']>): Promise<never> {
    this.#fail();
    return (await this.#api.list(...args)) as never;
  }

  override async *watch(...args: Parameters<FakeKubeClient['watch']>): AsyncGenerator<never, void, void> {
    this.#fail();
    for await (const event of this.#api.watch(...args)) {
      // Before it is seen: what happened meanwhile must be found by a list.
      this.#fail();
      yield event as never;
    }
  }

  #fail(): void {
    const failure = this.failures.shift();
    if (failure) throw failure();
  }
}

async function take(
  one: Step,
  { api, seenBy, clock }: { api: FakeKubeClient; seenBy: FakeView; clock: FakeClock },
): Promise<void> {
  const ignored = (error: unknown): void => {
    if (!isNotFound(error) && !(error instanceof ApiError && error.code === 409)) throw error;
  };
  switch (one.do) {
    case 'create': {
      await api.create(THINGS, thing(one.name)).catch(ignored);
      return;
    }
    case 'touch': {
      const ref = { namespace: 'default', name: one.name };
      const labels = { at: String(Math.random()) };
      await api.patch(THINGS, ref, { metadata: { labels } }, { type: 'merge' }).catch(ignored);
      return;
    }
    case 'delete': {
      await api.delete(THINGS, { namespace: 'default', name: one.name }).catch(ignored);
      return;
    }
    case 'replace': {
      await api.delete(THINGS, { namespace: 'default', name: one.name }).catch(ignored);
      await api.create(THINGS, thing(one.name)).catch(ignored);
      return;
    }
    case 'fail': {
      seenBy.failures = Array.from({ length: one.calls }, () => FAULTS[one.how]);
      return;
    }
    case 'close': {
      api.closeWatches();
      await clock.advance(0);
      return;
    }
    case 'wait': {
      await clock.advance(one.ms);
    }
  }
}

describe('WorkQueue against any use', () => {
  const use = fc.oneof(
    fc.record({ do: fc.constant('add' as const), key: name }),
    fc.record({ do: fc.constant('addAfter' as const), key: name, ms: fc.integer({ min: -1, max: 5_000 }) }),
    fc.record({ do: fc.constant('wait' as const), ms: fc.integer({ min: 0, max: 3_000 }) }),
  );
  const outcome = fc.constantFrom('done', 'again', 'throw', 'terminal', 'conflict');

  it('[K5] never gives a key to two workers, and works on each add after it was made', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(use, { maxLength: 40 }),
        fc.array(outcome, { maxLength: 30 }),
        fc.integer({ min: 1, max: 3 }),
        async (uses, outcomes, workers) => {
          const clock = new FakeClock();
          const queue = new WorkQueue({ name: 'model', clock, random: half, log: silent });
          const stop = new AbortController();
          const active = new Set<string>();
          /** key -> the adds that no run has begun after */
          const owed = new Set<string>();
          const left = [...outcomes];
          const wrong: string[] = [];
          const running = queue.run(
            workers,
            async (key) => {
              // What a reconcile throws the queue catches: it is looked at in the end.
              if (active.has(key)) wrong.push(`${key} has two workers`);
              if (active.size >= workers) wrong.push('more than the workers there are');
              active.add(key);
              owed.delete(key);
              await new Promise<void>((resolve) => clock.setTimer(10, resolve));
              active.delete(key);
              const next = left.shift();
              if (next === 'again') return lookAgainAfter(50);
              if (next === 'throw') throw new Error('no');
              if (next === 'terminal') throw new TerminalError('never');
              if (next === 'conflict') throw new ApiError('lost', { code: 409, reason: 'Conflict' });
              return done();
            },
            stop.signal,
          );
          for (const one of uses) {
            if (one.do === 'wait') {
              await clock.advance(one.ms);
              continue;
            }
            owed.add(one.key);
            if (one.do === 'add') queue.add(one.key);
            else queue.addAfter(one.key, one.ms);
          }
          await clock.advance(600_000);
          expect([...owed]).toEqual([]);
          expect(wrong).toEqual([]);
          expect(queue.stats).toMatchObject({ depth: 0, active: 0, delayed: 0 });
          stop.abort();
          await running;
          expect(clock.pending).toBe(0);
        },
      ),
      { numRuns: 200 },
    );
  });
});

it('knows a lost race from a name that is taken', () => {
  expect(isConflict(new ApiError('', { code: 409, reason: 'AlreadyExists' }))).toBe(false);
});

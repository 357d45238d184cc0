import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { pino } from 'pino';
import type { Condition } from '../../crds/meta.ts';
import type { Sandbox } from '../../crds/sandbox.ts';
import type { KubeClient, KubeObject } from '../../kube/client.ts';
import { systemClock } from '../../kube/clock.ts';
import { setCondition } from '../../kube/conditions.ts';
import { ConflictError, isAlreadyExists, isConflict, isNotFound } from '../../kube/errors.ts';
import { EventRecorder } from '../../kube/events.ts';
import { LeaseHolder } from '../../kube/lease.ts';
import { Lister } from '../../kube/lister.ts';
import { Reflector } from '../../kube/reflector.ts';
import { EVENTS, LEASES, NAMESPACES, SANDBOXES } from '../../kube/resources.ts';
import { writeStatus } from '../../kube/status.ts';
import { inProcessAPI, type RunningAPI, testAPIs } from '../controller/apis.ts';
import { until } from '../until.ts';

const log = pino({ level: 'silent' });
const parts = { clock: systemClock, random: Math.random, log };

describe.each([...testAPIs(), inProcessAPI])('kube/ on the API server: $name', ({ start }) => {
  let api: RunningAPI;
  let client: KubeClient;
  const namespace = `kube-test-${process.pid}`;

  beforeAll(async () => {
    api = await start();
    client = api.client;
    await client.create(NAMESPACES, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } });
  });
  afterAll(async () => {
    await client.delete(NAMESPACES, { name: namespace }).catch(() => {});
    await api.stop();
  });

  function sandbox(name: string, more: object = {}): Sandbox {
    return {
      apiVersion: 'holdfast.dev/v1alpha1',
      kind: 'Sandbox',
      metadata: { name, namespace },
      spec: { image: 'busybox' },
      ...more,
    } as Sandbox;
  }

  async function errorOf(promise: Promise<unknown>): Promise<unknown> {
    return await promise.then(
      () => undefined,
      (error: unknown) => error,
    );
  }

  function follow(options: { labelSelector?: string; fieldSelector?: string } = {}) {
    const lister = new Lister<Sandbox>({ log });
    const seen: string[] = [];
    lister.onChange((_key, old, object) => {
      seen.push(`${object ? (old ? 'set' : 'add') : 'delete'} ${(object ?? old)?.metadata.name}`);
    });
    const reflector = new Reflector<Sandbox>({
      ...parts,
      client,
      resource: SANDBOXES,
      options: { namespace, ...options },
      lister,
      pageSize: 3,
    });
    const stop = new AbortController();
    const running = reflector.run(stop.signal);
    return {
      lister,
      seen,
      reflector,
      end: async () => {
        stop.abort();
        await running;
      },
    };
  }

  it('creates, reads, changes and deletes, and knows each refusal', async () => {
    const made = await client.create<Sandbox>(SANDBOXES, sandbox('one'));
    expect(made.metadata.generation).toBe(1);
    expect(isAlreadyExists(await errorOf(client.create(SANDBOXES, sandbox('one'))))).toBe(true);
    const ref = { namespace, name: 'one' };
    const patched = await client.patch<Sandbox>(
      SANDBOXES,
      ref,
      { metadata: { labels: { a: 'b' } } },
      { type: 'merge' },
    );
    expect(patched.metadata.labels).toEqual({ a: 'b' });
    const replaced = await client.patch<Sandbox>(
      SANDBOXES,
      ref,
      [{ op: 'replace', path: '/metadata/labels/a', value: 'c' }],
      { type: 'json' },
    );
    expect(replaced.metadata.labels).toEqual({ a: 'c' });
    expect(isConflict(await errorOf(client.update(SANDBOXES, made)))).toBe(true);
    expect(isConflict(await errorOf(client.delete(SANDBOXES, ref, { uid: 'another' })))).toBe(true);
    await client.delete(SANDBOXES, ref, { dryRun: true });
    await client.get(SANDBOXES, ref);
    const { uid } = made.metadata;
    await client.delete(SANDBOXES, ref, { ...(uid !== undefined && { uid }) });
    expect(isNotFound(await errorOf(client.get(SANDBOXES, ref)))).toBe(true);
    expect(isNotFound(await errorOf(client.delete(SANDBOXES, ref)))).toBe(true);
  });

  it('[L3] an unknown field is refused, and named, in every kind of write', async () => {
    const wrong = sandbox('wrong', { spec: { image: 'busybox', memroy: '64Mi' } });
    const error = await errorOf(client.create(SANDBOXES, wrong));
    expect(String(error)).toContain('spec.memroy');
    const made = await client.create<Sandbox>(SANDBOXES, sandbox('wrong'));
    const changed = { ...made, spec: { ...made.spec, memroy: '64Mi' } };
    expect(String(await errorOf(client.update(SANDBOXES, changed)))).toContain('spec.memroy');
    const patch = client.patch(
      SANDBOXES,
      { namespace, name: 'wrong' },
      { spec: { memroy: '64Mi' } },
      { type: 'merge' },
    );
    expect(String(await errorOf(patch))).toContain('spec.memroy');
  });

  it('[K5] a reflector lists in pages, follows, and asks for no list again', async () => {
    for (let index = 0; index < 8; index++) {
      await client.create(
        SANDBOXES,
        sandbox(`page-${index}`, { metadata: { name: `page-${index}`, namespace, labels: { page: 'yes' } } }),
      );
    }
    const followed = follow({ labelSelector: 'page=yes' });
    await followed.reflector.synced;
    expect(followed.lister.size).toBe(8);
    expect(followed.reflector.stats.lists).toBe(3);
    followed.seen.length = 0;
    const ref = { namespace, name: 'page-0' };
    await client.patch(SANDBOXES, ref, { metadata: { annotations: { x: 'y' } } }, { type: 'merge' });
    await client.patch(SANDBOXES, ref, { metadata: { labels: { page: 'no' } } }, { type: 'merge' });
    await client.delete(SANDBOXES, { namespace, name: 'page-1' });
    await client.create(SANDBOXES, {
      ...sandbox('page-1'),
      metadata: { name: 'page-1', namespace, labels: { page: 'yes' } },
    });
    await until('the changes', async () => followed.seen.length === 4);
    expect(followed.seen).toEqual(['set page-0', 'delete page-0', 'delete page-1', 'add page-1']);
    expect(followed.reflector.stats).toMatchObject({ lists: 3, failures: 0 });
    await followed.end();
  });

  it('[K3] a reflector of one node sees what is bound to it, by a field selector', async () => {
    const followed = follow({ fieldSelector: 'status.nodeName=node-a' });
    await followed.reflector.synced;
    const made = await client.create<Sandbox>(SANDBOXES, sandbox('bound'));
    await writeStatus(client, SANDBOXES, made, { nodeName: 'node-a' });
    await until('the binding', async () => followed.lister.get(`${namespace}/bound`) !== undefined);
    const bound = await client.get<Sandbox>(SANDBOXES, { namespace, name: 'bound' });
    await writeStatus(client, SANDBOXES, bound, {});
    await until('the unbinding', async () => followed.lister.get(`${namespace}/bound`) === undefined);
    await followed.end();
  });

  it('[K3] both writers of a status at once, 50 times each: the conditions of both survive', async () => {
    await client.create(SANDBOXES, sandbox('contested'));
    let conflicts = 0;
    const write = async (type: 'Ready' | 'Scheduled'): Promise<void> => {
      for (let turn = 1; turn <= 50; turn++) {
        for (;;) {
          const now = await client.get<Sandbox>(SANDBOXES, { namespace, name: 'contested' });
          const conditions = setCondition(
            now.status?.conditions,
            { type, status: turn % 2 ? 'True' : 'False', reason: 'Running', message: `turn ${turn}` },
            { now: new Date(), observedGeneration: now.metadata.generation },
          );
          try {
            await writeStatus(client, SANDBOXES, now, { ...now.status, conditions });
            break;
          } catch (error) {
            if (!(error instanceof ConflictError)) throw error;
            conflicts += 1;
          }
        }
      }
    };
    await Promise.all([write('Ready'), write('Scheduled')]);
    const end = await client.get<Sandbox>(SANDBOXES, { namespace, name: 'contested' });
    const messages = (end.status?.conditions ?? []).map((one: Condition) => `${one.type} ${one.message}`);
    expect(messages).toEqual(['Ready turn 50', 'Scheduled turn 50']);
    expect(conflicts).toBeGreaterThan(0);
  });

  it('[K5] a status that says the same is not written: the resourceVersion stays', async () => {
    const made = await client.create<Sandbox>(SANDBOXES, sandbox('same'));
    const conditions = setCondition(
      undefined,
      { type: 'Ready', status: 'False', reason: 'Pending' },
      { now: new Date(), observedGeneration: 1 },
    );
    const written = await writeStatus(client, SANDBOXES, made, { conditions });
    const read = await client.get<Sandbox>(SANDBOXES, { namespace, name: 'same' });
    const again = setCondition(
      read.status?.conditions,
      { type: 'Ready', status: 'False', reason: 'Pending' },
      { now: new Date(Date.now() + 60_000), observedGeneration: 1 },
    );
    expect(await writeStatus(client, SANDBOXES, read, { conditions: again })).toBe(read);
    expect(read.metadata.resourceVersion).toBe(written.metadata.resourceVersion);
  });

  it('[K6] of two holders of one lease the second is refused until the first gives it back', async () => {
    const contender = (identity: string) => {
      const said: string[] = [];
      const stop = new AbortController();
      const holder = new LeaseHolder({
        ...parts,
        client,
        namespace,
        name: 'node-a',
        identity,
        durationSeconds: 15,
        renewEveryMs: 100,
      });
      const running = holder.run(stop.signal, {
        onHeld: (lost) => {
          said.push('held');
          return new Promise((resolve) => lost.addEventListener('abort', () => resolve()));
        },
        onRefused: (by) => said.push(`refused by ${by}`),
      });
      return {
        said,
        end: async () => {
          stop.abort();
          await running;
        },
      };
    };
    const first = contender('first');
    await until('the first holds it', async () => first.said.includes('held'));
    const renewed = async (): Promise<string | undefined> =>
      (await client.get<KubeObject & { spec: { renewTime?: string } }>(LEASES, { namespace, name: 'node-a' }))
        .spec.renewTime;
    const before = await renewed();
    const second = contender('second');
    await until('the second is refused', async () => second.said.length > 0);
    await until('it is renewed', async () => (await renewed()) !== before);
    expect(second.said).toEqual(['refused by first']);
    await first.end();
    await until('the second holds it', async () => second.said.includes('held'));
    await second.end();
  });

  it('[O4] events are written, counted up, and found by the object they are about', async () => {
    const made = await client.create<Sandbox>(SANDBOXES, sandbox('told'));
    const recorder = new EventRecorder({
      ...parts,
      client,
      component: 'holdfast-agent',
      instance: 'node-a',
    });
    recorder.record(made, 'Warning', 'OOMKilled', 'killed');
    await until('it is written', async () => recorder.stats.written === 1);
    recorder.record(made, 'Warning', 'OOMKilled', 'killed');
    await recorder.stop();
    expect(recorder.stats).toEqual({ written: 2, dropped: 0 });
    const { items } = await client.list<KubeObject & { count: number; reason: string }>(EVENTS, {
      namespace,
      fieldSelector: `involvedObject.uid=${made.metadata.uid}`,
    });
    expect(items.map(({ reason, count }) => [reason, count])).toEqual([['OOMKilled', 2]]);
  });
});

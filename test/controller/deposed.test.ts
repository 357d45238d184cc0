import { type ChildProcess, fork } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { sandboxNode } from '../../controller/testing/objects.ts';
import { eventually, World } from '../../controller/testing/world.ts';
import type { Sandbox } from '../../crds/sandbox.ts';
import { systemClock } from '../../kube/clock.ts';
import type { Lease } from '../../kube/lease.ts';
import { LEASES, NAMESPACES, SANDBOX_NODES, SANDBOXES } from '../../kube/resources.ts';
import { type RunningAPI, testAPIs } from './apis.ts';
import type { Write } from './controller-process.ts';
import { sharedMs } from './shared-clock.ts';

const SYSTEM = 'holdfast-system';

class ControllerProcess {
  readonly writes: Write[] = [];
  readonly #child: ChildProcess;
  #answers = 0;

  constructor(api: RunningAPI, identity: string, clockOffMs: number, leaseSeconds: number) {
    this.#child = fork(
      join(import.meta.dirname, 'controller-process.ts'),
      [JSON.stringify(api.connection), identity, String(clockOffMs), String(leaseSeconds)],
      { execArgv: ['--disable-warning=ExperimentalWarning'] },
    );
    this.#child.on('message', (message: Write | 'alive') => {
      if (message === 'alive') this.#answers += 1;
      else this.writes.push(message);
    });
  }

  get placed(): number {
    return this.writes.filter(({ plural, done }) => plural === 'sandboxes' && done).length;
  }

  /** Once it has had a turn. */
  async answers(): Promise<void> {
    const before = this.#answers;
    this.#child.send('alive?');
    await eventually(() => this.#answers > before);
  }

  signal(signal: 'SIGSTOP' | 'SIGCONT'): void {
    this.#child.kill(signal);
  }

  async end(): Promise<void> {
    this.#child.kill('SIGCONT');
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) return;
    const gone = once(this.#child, 'exit');
    this.#child.kill('SIGTERM');
    await gone;
  }
}

/** Two controllers, each a process with a clock of its own; one is stopped in the middle of its work. */
describe.each(testAPIs())('two controllers on the $name API', ({ name, start }) => {
  // The real durations where it counts most; elsewhere the same in short.
  const leaseSeconds = name === 'kube-apiserver' ? 15 : 3;
  let api: RunningAPI;
  let world: World;
  const all: ControllerProcess[] = [];
  const run = randomBytes(4).toString('hex');
  const launch = (identity: string, clockOffMs: number): ControllerProcess => {
    const made = new ControllerProcess(api, `${identity}-${run}`, clockOffMs, leaseSeconds);
    all.push(made);
    return made;
  };
  const leader = async (): Promise<string | undefined> =>
    api.client.get<Lease>(LEASES, { namespace: SYSTEM, name: 'holdfast-controller' }).then(
      ({ spec }) => spec?.holderIdentity,
      () => undefined,
    );
  const bound = async (): Promise<number> =>
    (await api.client.list<Sandbox>(SANDBOXES, { namespace: world.namespace })).items.filter(
      ({ status }) => (status?.nodeName ?? '') !== '',
    ).length;
  const create = (from: number, count: number): Promise<unknown> =>
    Promise.all(Array.from({ length: count }, (_, i) => world.create(`s${from + i}`)));

  beforeAll(async () => {
    api = await start();
    const namespace = `test-${run}`;
    await api.client.create(NAMESPACES, {
      apiVersion: 'v1',
      kind: 'Namespace',
      metadata: { name: namespace },
    });
    world = new World({ client: api.client, clock: systemClock, namespace });
    await world.node(sandboxNode(`a-${run}`, { spec: { maxSandboxes: 1000 } }));
  });

  afterAll(async () => {
    await Promise.all(all.map((one) => one.end()));
    const { items } = await api.client.list<Sandbox>(SANDBOXES, { namespace: world.namespace });
    for (const { metadata } of items) {
      const ref = { namespace: world.namespace, name: metadata.name };
      await api.client.patch(SANDBOXES, ref, { metadata: { finalizers: null } }, { type: 'merge' });
      await api.client.delete(SANDBOXES, ref).catch(() => undefined);
    }
    await api.client.delete(SANDBOX_NODES, { name: `a-${run}` });
    await api.stop();
  });

  it('[K6] clocks apart by a minute, the leader stopped past its lease in the midst of its work: continued, it writes nothing', async () => {
    const first = launch('first', -30_000);
    await eventually(async () => (await leader()) === `first-${run}`);
    launch('second', 30_000);
    await create(0, 20);
    await eventually(() => first.placed >= 10);
    // With work under way, and more to come that it will hear of when it goes on.
    const creating = create(20, 40);
    first.signal('SIGSTOP');
    await creating;
    await world.beat(`a-${run}`);
    await eventually(async () => (await leader()) === `second-${run}`);
    await world.beat(`a-${run}`);
    await eventually(async () => (await bound()) === 60);
    await create(60, 20);
    const continuedMs = sharedMs();
    first.signal('SIGCONT');
    await eventually(async () => (await bound()) === 80);
    await create(80, 20);
    await world.beat(`a-${run}`);
    await eventually(async () => (await bound()) === 100);
    // It has gone on, for everything that it does in one turn at least.
    await first.answers();
    expect(first.writes.filter(({ sentMs }) => sentMs !== undefined && sentMs >= continuedMs)).toEqual([]);
    expect(await leader()).toBe(`second-${run}`);
  });

  it('[K6] the leadership outlives the deletion of its namespace', async () => {
    const uid = async (): Promise<string | undefined> =>
      api.client.get<Lease>(LEASES, { namespace: SYSTEM, name: 'holdfast-controller' }).then(
        ({ metadata }) => metadata.uid,
        () => undefined,
      );
    const before = await uid();
    await api.client.delete(NAMESPACES, { name: SYSTEM });
    await eventually(async () => ![undefined, before].includes(await uid()));
    await eventually(async () => {
      await world.beat(`a-${run}`).catch(() => undefined);
      await world.create('after').catch(() => undefined);
      return (await world.get('after'))?.status?.nodeName === `a-${run}`;
    });
  });
});

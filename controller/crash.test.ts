import { describe, expect, it } from 'vitest';
import { FINALIZER } from '../crds/group.ts';
import type { Sandbox } from '../crds/sandbox.ts';
import { SANDBOXES } from '../kube/resources.ts';
import { FakeClock } from '../kube/testing/fake-clock.ts';
import { FakeKubeClient } from '../kube/testing/fake-client.ts';
import { condition as conditionObject, docker, sandboxNode } from './testing/objects.ts';
import { mortalClient } from './testing/mortal-client.ts';
import { condition, eventually, World } from './testing/world.ts';

const Gi = 1024 ** 3;
const NEVER = Number.POSITIVE_INFINITY;

/**
 * One story: three sandboxes, two nodes with room for one each; then one is deleted and the third gets its room, and one ends by its time
 * to live. The controller is killed once, at a given call, and another begins. Answers how many calls the first made.
 */
async function story(call: number, when: 'before' | 'after'): Promise<number> {
  const clock = new FakeClock();
  const api = new FakeKubeClient({ now: () => clock.now() });
  const world = new World({ client: api, clock });
  for (const node of ['a', 'b'])
    await world.node(sandboxNode(node, { runtimes: [docker({ memoryBytes: Gi })] }));
  const watching = new AbortController();
  const { homes, ended } = follow(api, watching.signal);
  for (const name of ['s0', 's1', 's2'])
    await world.create(name, { resources: { memory: '1g' }, command: ['true'] });

  let died = false;
  const first = mortalClient(api, { call, when, onDeath: () => (died = true) });
  const victim = world.start({ client: first.client });
  const controllers = [victim];
  const stops: Promise<void>[] = [];
  const passing = async (holds: () => Promise<boolean>): Promise<void> =>
    eventually(async () => {
      await clock.advance(20);
      if (died && controllers.length === 1) {
        stops.push(victim.stop());
        controllers.push(world.start({ identity: 'controller-2' }));
      }
      return holds();
    });
  const all = async (): Promise<Sandbox[]> =>
    (await Promise.all(['s0', 's1', 's2'].map(async (name) => world.get(name)))).filter(
      (one) => one !== undefined,
    );
  const count = (sandboxes: Sandbox[], state: string): number =>
    sandboxes.filter((sandbox) => condition(sandbox, 'Scheduled') === state).length;

  await passing(
    async () => count(await all(), 'True Bound') === 2 && count(await all(), 'False Unschedulable') === 1,
  );
  const [goes, stays] = (await all())
    .filter((sandbox) => (sandbox.status?.nodeName ?? '') !== '')
    .map(({ metadata }) => metadata.name);
  await world.delete(goes ?? '');
  const gone = conditionObject('ContainerGone', 'True', 'ContainerRemoved');
  await world.agentSays(goes ?? '', (status) => ({
    ...status,
    conditions: [...(status.conditions ?? []), gone],
  }));
  await passing(
    async () => (await world.get(goes ?? '')) === undefined && count(await all(), 'True Bound') === 2,
  );
  await world.edit(stays ?? '', { ttlSecondsAfterFinished: 1 });
  await world.agentSays(stays ?? '', (status) => ({
    ...status,
    finishedAt: clock.now().toISOString(),
    conditions: [conditionObject('Complete', 'True', 'Succeeded'), gone],
  }));
  await passing(async () => (await all()).length === 1);
  for (const sandbox of await all()) expect(sandbox.metadata.finalizers).toEqual([FINALIZER]);
  // Nothing was bound twice: no sandbox has ever been given to more than one node.
  await eventually(() => homes.size === 3);
  watching.abort();
  await ended;
  for (const nodes of homes.values()) expect(nodes.size).toBe(1);
  stops.push(...controllers.map(async (controller) => controller.stop()));
  let stopped = false;
  const stopping = Promise.all(stops).then(() => (stopped = true));
  await eventually(async () => {
    await clock.advance(1_000);
    return stopped;
  });
  await stopping;
  return first.calls();
}

/** Every node that each sandbox was ever given to, by uid. */
function follow(
  api: FakeKubeClient,
  signal: AbortSignal,
): { homes: Map<string, Set<string>>; ended: Promise<void> } {
  const homes = new Map<string, Set<string>>();
  const read = async (): Promise<void> => {
    for await (const { type, object } of api.watch<Sandbox>(SANDBOXES, { resourceVersion: '1', signal })) {
      if (type === 'ERROR') continue;
      const home = object.status?.nodeName ?? '';
      const uid = object.metadata.uid ?? '';
      if (home !== '') homes.set(uid, (homes.get(uid) ?? new Set()).add(home));
    }
  };
  return { homes, ended: read().catch(() => {}) };
}

describe('a controller that is killed', { timeout: 180_000 }, () => {
  it('[K5] at any of its calls, before or after it took effect: the next one comes to the same end', async () => {
    const calls = await story(NEVER, 'before');
    expect(calls).toBeGreaterThan(12);
    for (let call = 1; call <= calls; call += 1) {
      for (const when of ['before', 'after'] as const) {
        await story(call, when).catch((error: unknown) => {
          throw new Error(`killed ${when} call ${call} of ${calls}`, { cause: error });
        });
      }
    }
  });
});
